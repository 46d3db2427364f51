//! Effects that the reader of another agent's traces found.

use super::edit::{
    self, Edit, Event, Hunk, Provenance, Rename, Replacement, Sighting, SightingSource, What,
};
use super::extract::Extractor;
use super::lines::unix;
use super::path::normal_path;
use backstory_model::{Call, Change, Content, Effect, FileEdit, Step};
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
                            what: What::Seen(sighting),
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
                        what: What::Edit(Box::new(edit)),
                    });
                }
            }
        }
    }

    fn file_edit(&mut self, edit: &FileEdit, by: Provenance) -> Option<Edit> {
        let change = match &edit.change {
            Change::Write { content, created } => {
                edit::Change::Write { content: self.content(content)?, created: *created }
            }
            Change::Replace(list) => {
                let mut replacements = Vec::with_capacity(list.len());
                for part in list {
                    let (old, new) = (self.content(&part.old)?, self.content(&part.new)?);
                    replacements.push(Replacement { old, new, all: part.all });
                }
                edit::Change::Replace(replacements)
            }
            Change::Delete => edit::Change::Write { content: String::new(), created: false },
            Change::Move { .. } => return None,
        };
        let hunks = edit.places.iter().map(|place| Hunk {
            old_start: place.old_start,
            old_lines: place.old_lines,
            new_start: place.new_start,
            new_lines: place.new_lines,
            old: String::new(),
        });
        Some(Edit {
            change,
            original: edit.before.as_ref().and_then(|text| self.content(text)),
            updated: edit.after.as_ref().and_then(|text| self.content(text)),
            hunks: hunks.collect(),
            added_lines: Vec::new(),
            proposed: None,
            by,
        })
    }

    fn content(&mut self, content: &Content) -> Option<String> {
        self.reader.text(content).ok().map(unix)
    }
}
