//! What one session says about files.

use super::call_cache::{CallCache, CallCacheBuilder, CallTarget};
use super::edit::{Backup, Edit, Event, EventKind, Provenance, Rename};
use super::effects::placed;
use super::lazy_reads::PendingRead;
use super::order::{Order, When};
use super::path::normal_path;
use super::shell::{ShellTouch, touched};
use backstory_agents as agents;
use backstory_claude::actions::EditResult;
use backstory_format::Limits;
use backstory_format::json::{Tape, Value, scan};
use backstory_format::slice::Part;
use backstory_model::{
    Action, ActionKind, Block, Call, CallOutcome, CallResult, Content, Session, SessionKind, Step,
    Turn, TurnKind,
};
use backstory_model::{AgentFile, SessionFiles};
use backstory_store::{ReadContext, Source, SourceReader, StoreError};
use hashbrown::HashMap;
use jiff::Timestamp;
use std::path::Path;
use std::sync::Arc;

/// Whether a file is wanted, by its normal path.
pub type Wanted<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// What a session says about the wanted files.
#[derive(Debug, Default)]
pub struct Extracted {
    pub events: Vec<Event>,
    pub(super) reads: Vec<PendingRead>,
    pub backups: Vec<Backup>,
    pub shell: Vec<ShellTouch>,
    pub renames: Vec<Rename>,
}

const LONGEST_COMMAND: usize = 400;

/// Reads a session with its subagents for what it says about the wanted files.
pub fn read(
    files: &SessionFiles,
    context: &mut ReadContext,
    wanted: Wanted<'_>,
) -> Result<(Extracted, Vec<StoreError>), StoreError> {
    let mut caches = CallCacheBuilder::new(wanted);
    let (session, failures) = agents::read_observed(files, context, &mut caches)?;
    Ok((extract_cached(&session, wanted, &mut caches.into_caches()), failures))
}

/// The same for a subagent's file by itself.
pub fn read_stray(
    agent: &AgentFile,
    context: &mut ReadContext,
    wanted: Wanted<'_>,
) -> Result<Extracted, StoreError> {
    let mut caches = CallCacheBuilder::new(wanted);
    let session = agents::read_stray_observed(agent, context, &mut caches)?;
    Ok(extract_cached(&session, wanted, &mut caches.into_caches()))
}

/// Takes everything about the wanted files out of a session that was read already.
pub fn extract(session: &Session, wanted: Wanted<'_>) -> Extracted {
    extract_cached(session, wanted, &mut [])
}

/// The same with caches that were taken of its files.
pub fn extract_cached(
    session: &Session,
    wanted: Wanted<'_>,
    caches: &mut [CallCache<'_>],
) -> Extracted {
    let mut out = Extracted::default();
    let members = session.walk();
    let homes = homes(&members);
    let order = Order::of(&members);
    for member in &members {
        let Ok(reader) = member.source.open() else { continue };
        let lead = lead(session, member, &members, &homes);
        let path = member.source.path();
        let cache = caches.iter_mut().find(|cache| cache.path() == path);
        let mut extractor = Extractor {
            root: session,
            member,
            reader,
            tape: Tape::new(),
            cache,
            lead,
            order: &order,
            wanted,
            out: &mut out,
        };
        extractor.run();
    }
    out
}

/// Turn of the person's session and its prompt.
type Lead = (Option<u32>, Option<(Source, Content)>);

/// Member and turn of every call that started a subagent.
fn homes<'s>(members: &[&'s Session]) -> HashMap<&'s str, (usize, usize)> {
    let mut homes = HashMap::new();
    for (at, member) in members.iter().enumerate() {
        for (number, turn) in member.turns.iter().enumerate() {
            for call in turn.calls().filter(|call| call.subagent.is_some()) {
                homes.extend(call.id.as_deref().map(|id| (id, (at, number))));
            }
        }
    }
    homes
}

/// What a person asked for that led to a subagent.
fn lead(
    root: &Session,
    member: &Session,
    members: &[&Session],
    homes: &HashMap<&str, (usize, usize)>,
) -> Option<Lead> {
    if std::ptr::eq(root, member) {
        return None;
    }
    let mut at = member;
    for _ in 0..members.len() {
        let call = at.parent.as_ref().and_then(|parent| parent.call.as_deref())?;
        let (holder, turn) = *homes.get(call)?;
        let parent = *members.get(holder)?;
        if std::ptr::eq(parent, root) {
            let prompt = prompting(&root.turns, turn);
            return Some((Some(turn as u32 + 1), prompt.map(|text| (root.source.clone(), text))));
        }
        at = parent;
    }
    None
}

/// The prompt of a turn; that of the last turn before it that has one where the client went on by
/// itself.
fn prompting(turns: &[Turn], at: usize) -> Option<Content> {
    let turns = turns.get(..=at)?.iter().rev();
    let mut asked = turns.skip_while(|turn| {
        matches!(turn.kind, TurnKind::Compact | TurnKind::Continuation | TurnKind::TaskNotification)
    });
    asked.next().and_then(prompt_text)
}

fn prompt_text(turn: &Turn) -> Option<Content> {
    let typed = turn.prompt.blocks.iter().filter(|block| !block.context);
    typed.into_iter().find_map(|block| match &block.block {
        Block::Text(text) => Some(text.clone()),
        _ => None,
    })
}

pub(super) struct Extractor<'a, 'n, 'w> {
    root: &'a Session,
    pub(super) member: &'a Session,
    pub(super) reader: SourceReader,
    tape: Tape,
    cache: Option<&'n mut CallCache<'w>>,
    lead: Option<Lead>,
    pub(super) order: &'a Order,
    pub(super) wanted: Wanted<'a>,
    pub(super) out: &'a mut Extracted,
}

impl Extractor<'_, '_, '_> {
    fn run(&mut self) {
        let member = self.member;
        for (number, turn) in member.turns.iter().enumerate() {
            let prompt = prompting(&member.turns, number);
            self.turn(turn, Some(number as u32 + 1), prompt);
        }
        for branch in &member.abandoned {
            for (number, turn) in branch.turns.iter().enumerate() {
                self.turn(turn, None, prompting(&branch.turns, number));
            }
        }
        self.backups();
    }

    fn turn(&mut self, turn: &Turn, number: Option<u32>, prompt: Option<Content>) {
        for step in &turn.steps {
            for call in step.calls() {
                let Some(tool) = call.name.clone() else { continue };
                if !call.effects.is_empty() {
                    self.effects(call, step, &tool, number, &prompt);
                    continue;
                }
                let Some(result) = &call.result else { continue };
                let fine = result.outcome == CallOutcome::Ok;
                let agent = self.root.agent;
                let does = |kind| agents::does(agent, call, kind);
                if fine && does(ActionKind::Edit) {
                    let by = self.provenance(step, call, &tool, number, &prompt);
                    self.edit(call, result, step, by);
                } else if fine && does(ActionKind::Read) {
                    self.read(call, result);
                } else if does(ActionKind::Shell) {
                    self.shell(call, result);
                }
            }
        }
    }

    pub(super) fn provenance(
        &self,
        step: &Step,
        call: &Call,
        tool: &Arc<str>,
        turn: Option<u32>,
        prompt: &Option<Content>,
    ) -> Provenance {
        let abandoned = turn.is_none();
        let own = prompt.clone().map(|text| (self.member.source.clone(), text));
        let housekeeping = self.member.kind.is_housekeeping();
        let (turn, prompt, task) = match &self.lead {
            Some((turn, prompt)) => (*turn, prompt.clone(), own),
            None if self.member.kind == SessionKind::Session => (turn, own, None),
            None => (None, None, own),
        };
        let inside = !std::ptr::eq(self.root, self.member) && !housekeeping;
        Provenance {
            agent: self.root.agent,
            session: self.root.id.as_str().into(),
            subagent: inside.then(|| self.member.id.as_str().into()),
            call: call.id.clone(),
            tool: tool.clone(),
            model: step.model.clone().filter(|_| !step.synthetic),
            version: step.version.clone(),
            turn,
            prompt,
            task,
            file: self.member.source.clone(),
            line: call
                .result
                .as_ref()
                .map_or_else(|| step.lines.last().copied().unwrap_or(0), |result| result.line),
            uuid: call.result.as_ref().and_then(|result| result.uuid.clone()),
            also_in: Vec::new(),
            abandoned,
            may_be_copy: !self.root.continues.is_empty() || self.root.forked_from.is_some(),
        }
    }

    /// Reads a JSON object of the session's file.
    fn object<T>(
        &mut self,
        content: Option<&Content>,
        read: impl FnOnce(&Value<'_>) -> Option<T>,
    ) -> Option<T> {
        let Some(Content::Json(span)) = content else { return None };
        let bytes = self.reader.bytes(*span).ok()?;
        scan(bytes, 0, Limits::DEPTH, &mut self.tape).ok()?;
        read(&self.tape.root(bytes)?)
    }

    /// What was noted of a call's input.
    fn named(&self, call: &Call) -> Option<&CallTarget> {
        let Some(Content::Json(span)) = &call.input else { return None };
        self.cache.as_deref()?.input(span.offset)
    }

    /// The action of a call, for which there is no note.
    fn action<'c>(&mut self, call: &'c Call) -> Option<Action<'c>> {
        let found = agents::actions(self.root.agent, call, &mut self.reader).ok()?;
        found.into_iter().next()
    }

    fn wanted_path(&mut self, call: &Call) -> Option<String> {
        let base = self.member.cwds.first().cloned();
        let path = match self.named(call) {
            Some(CallTarget::Path(path)) => path.clone(),
            Some(CallTarget::Command(_) | CallTarget::Nothing) => return None,
            None => match self.action(call)? {
                Action::Edit(edit) => edit.path.to_string(),
                Action::Read { path } => path.into_owned(),
                Action::Shell { .. } | Action::Subagent(_) => return None,
            },
        };
        let path = Some(path).filter(|path| !path.is_empty())?;
        let path = normal_path(&path, base.as_deref());
        (self.wanted)(&path).then_some(path)
    }

    fn edit(&mut self, call: &Call, result: &CallResult, step: &Step, by: Provenance) {
        let Some(path) = self.wanted_path(call) else { return };
        let noted = match (&result.structured, &mut self.cache) {
            (Some(Content::Json(span)), Some(cache)) => cache.take_result(span.offset),
            _ => None,
        };
        // What was asked for matters only where it may not be what was done.
        let edit = match noted.filter(EditResult::is_complete) {
            Some(EditResult { done: Some(change), original, updated, hunks, .. }) => {
                Some(Edit { change, original, updated, hunks: placed(hunks), proposed: None, by })
            }
            _ => {
                let edits = agents::edits(self.root.agent, call, &mut self.reader);
                let edit = edits.ok().and_then(|edits| edits.into_iter().next());
                edit.and_then(|edit| self.file_edit(&edit, by))
            }
        };
        let Some(edit) = edit else { return };
        self.out.events.push(Event {
            path: path.into(),
            time: result.timestamp.or(step.timestamp),
            when: self.order.of_call(call),
            call: call.id.clone().or_else(|| result.uuid.clone()),
            kind: EventKind::Edit(Box::new(edit)),
        });
    }

    fn read(&mut self, call: &Call, result: &CallResult) {
        let Some(path) = self.wanted_path(call) else { return };
        self.out.reads.push(PendingRead {
            path: path.into(),
            time: result.timestamp,
            when: self.order.of_call(call),
            call: call.id.clone().or_else(|| result.uuid.clone()),
            source: self.member.source.clone(),
            input: call.input.clone(),
            structured: result.structured.clone(),
            text: result.text.first().cloned(),
        });
    }

    fn shell(&mut self, call: &Call, result: &CallResult) {
        let command = match self.named(call) {
            Some(CallTarget::Command(command)) => Some(command.clone()),
            Some(CallTarget::Path(_) | CallTarget::Nothing) => None,
            None => match self.action(call) {
                Some(Action::Shell { command }) => {
                    self.reader.text(&command).ok().map(|command| command.into_owned())
                }
                _ => None,
            },
        };
        if let Some(command) = command {
            self.command(&command, call, result.timestamp);
        }
    }

    pub(super) fn command(&mut self, command: &str, call: &Call, time: Option<Timestamp>) {
        let when = self.order.of_call(call);
        let folder = self.member.cwds.first().cloned();
        let touched = touched(command, folder.as_deref());
        for (from, to) in touched.renames {
            self.out.renames.push(Rename { from, to, when });
        }
        let mut paths = touched.paths;
        paths.retain(|path| (self.wanted)(path));
        if paths.is_empty() && !touched.any_file {
            return;
        }
        let end = command.char_indices().nth(LONGEST_COMMAND).map_or(command.len(), |(at, _)| at);
        self.out.shell.push(ShellTouch {
            command: command.part(..end).into(),
            session: self.root.id.as_str().into(),
            call: call.native_id().map(Into::into),
            time,
            when,
            paths,
            any_file: touched.any_file,
        });
    }

    /// Backups that the client's records name; `<configuration>/file-history/<session>/<name>`.
    fn backups(&mut self) {
        let source = self.member.source.clone();
        let Some(home) = source.path().ancestors().nth(3) else { return };
        let folder = home.join("file-history").join(&self.root.id);
        if self.member.file_history.is_empty() || !folder.is_dir() {
            return;
        }
        let base = self.member.cwds.first().cloned();
        for span in &self.member.file_history {
            let found = self.object(Some(&Content::Json(*span)), |record| {
                Some(backups_of(record, base.as_deref(), &folder))
            });
            let (wanted, order, path) = (self.wanted, self.order, source.path());
            let found = found.unwrap_or_default().into_iter();
            self.out.backups.extend(found.filter(|backup| wanted(&backup.path)).map(|backup| {
                let when = order.at(path, backup.time);
                Backup { when, ..backup }
            }));
        }
    }
}

fn backups_of(record: &Value<'_>, base: Option<&str>, folder: &Path) -> Vec<Backup> {
    let read = |path: &str, value: &Value<'_>| {
        let name = value.get_text("backupFileName")?;
        // A name, never a path that leads elsewhere.
        if name.contains(['/', '\\']) || name.starts_with('.') {
            return None;
        }
        let time = value.get_text("backupTime").and_then(|time| time.parse().ok());
        let (path, file) = (normal_path(path, base), folder.join(&*name));
        Some(Backup { path, file, time, when: When::default() })
    };
    let mut found = Vec::new();
    let tracked = record.get("snapshot").and_then(|value| value.get("trackedFileBackups"));
    for (key, value) in tracked.iter().flat_map(|tracked| tracked.fields()) {
        found.extend(read(&key.text(), &value));
    }
    if let (Some(path), Some(value)) = (record.get_text("trackingPath"), record.get("backup")) {
        found.extend(read(&path, &value));
    }
    found
}
