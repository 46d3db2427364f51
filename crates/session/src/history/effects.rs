//! Effects that the reader of another agent's traces found.

use super::edit::{Edit, Event, EventKind, Provenance, Rename, Sighting, SightingSource};
use super::extract::Extractor;
use super::lines::unix;
use super::path::normal_path;
use backstory_model::{Call, Change, Content, Effect, FileEdit, Hunk, Step};
use std::sync::Arc;

impl Extractor<'_, '_, '_> {
    pub(super) fn effects(
        &mut self,
        call: &Call,
        step: &Step,
        tool: &Arc<str>,
        turn: Option<u32>,
        prompt: &Option<Content>,
    ) {
        let time = call.result.as_ref().and_then(|result| result.timestamp).or(step.timestamp);
        let when = self.order.of_call(call);
        let base = self.member.cwds.first().cloned();
        for effect in &call.effects {
            match effect {
                Effect::Shell { command } => {
                    if let Some(command) = self.content(command) {
                        self.command(&command, call, time);
                    }
                }
                Effect::Read { path, content } => {
                    let path = normal_path(path, base.as_deref());
                    if let Some(content) = self.content(content).filter(|_| (self.wanted)(&path)) {
                        let sighting = Sighting { content, source: SightingSource::Read };
                        self.out.events.push(Event {
                            path: path.into(),
                            time,
                            when,
                            call: call.native_id().map(Into::into),
                            kind: EventKind::Seen(sighting),
                        });
                    }
                }
                Effect::Edit(edit) => {
                    let path = normal_path(&edit.path, base.as_deref());
                    if let Change::Move { to } = &edit.change {
                        let to = normal_path(to, base.as_deref());
                        self.out.renames.push(Rename { from: path, to, when });
                        continue;
                    }
                    if !(self.wanted)(&path) {
                        continue;
                    }
                    let by = self.provenance(step, call, tool, turn, prompt);
                    let Some(edit) = self.file_edit(edit, by) else { continue };
                    self.out.events.push(Event {
                        path: path.into(),
                        time,
                        when,
                        call: call.native_id().map(Into::into),
                        kind: EventKind::Edit(Box::new(edit)),
                    });
                }
            }
        }
    }

    /// An edit with its texts.
    pub(super) fn file_edit(&mut self, edit: &FileEdit, by: Provenance) -> Option<Edit> {
        let mut text = |content: &Content| self.content(content).ok_or(());
        let change = match edit.change.with_texts(&mut text).ok()? {
            // A file that is removed keeps no line.
            Change::Delete => Change::Write { content: String::new(), created: false },
            Change::Move { .. } => return None,
            change => change,
        };
        let proposed = edit.proposed.as_ref().map(|change| change.with_texts(&mut text));
        Some(Edit {
            change,
            proposed: proposed.and_then(Result::ok),
            original: edit.before.as_ref().and_then(|text| self.content(text)),
            updated: edit.after.as_ref().and_then(|text| self.content(text)),
            hunks: placed(edit.hunks.clone().unwrap_or_default()),
            by,
        })
    }

    pub(super) fn content(&mut self, content: &Content) -> Option<String> {
        self.reader.text(content).ok().map(unix)
    }
}

/// Hunks of which the place is known.
pub(super) fn placed(mut hunks: Vec<Hunk>) -> Vec<Hunk> {
    hunks.retain(|hunk| hunk.place.is_some());
    hunks
}
