//! Records in story order to turns and steps.

use super::calls::{self, Results};
use super::names::Name;
use super::queue::Queue;
use super::recovery::{Groups, Link};
use super::rows::{MessagePart, Notice, PromptShape, Row, Rows};
use crate::model::{
    Block, Call, Content, Event, Interjection, Outcome, Prompt, PromptBlock, Recovered, Span, Step,
    Turn, TurnKind, UsageTotal,
};
use backstory_format::claude::{BlockKind, RecordKind};
use hashbrown::{HashMap, HashSet};
use std::sync::Arc;

/// Whose conversation it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Person,
    /// Prompts come from the agent that started this one.
    ParentAgent,
}

/// Everything turns are made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Material<'a> {
    pub(super) rows: &'a Rows,
    pub(super) groups: &'a Groups<'a>,
    pub(super) results: &'a Results,
    pub(super) queue: &'a Queue,
    pub(super) speaker: Speaker,
}

/// Turns of one sequence of records, and which lines belong to which.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) turns: Vec<Turn>,
    /// (line, turn), sorted by line.
    places: Vec<(u32, usize)>,
    /// Events before the first turn.
    early: Vec<Event>,
}

impl Material<'_> {
    /// Whether a row belongs to this conversation rather than to a subagent's in the same file.
    pub(super) fn speaks(&self, row: &Row) -> bool {
        self.speaker == Speaker::ParentAgent || !row.flags.sidechain
    }

    pub(super) fn tell(&self, links: &[Link]) -> Told {
        let mut teller = Teller {
            material: self,
            told: Told::default(),
            steps: HashMap::new(),
            uses: HashMap::new(),
            seen: HashSet::new(),
        };
        for (index, recovered) in links {
            if let Some(row) = self.rows.row(*index) {
                teller.row(row, *recovered);
            }
        }
        teller.finish()
    }
}

struct Teller<'a> {
    material: &'a Material<'a>,
    told: Told,
    /// Turn and step of each message.
    steps: HashMap<Name, (usize, usize)>,
    /// How often a call id that several messages use was met.
    uses: HashMap<Name, usize>,
    /// Blocks of the messages told so far, by message and hash.
    seen: HashSet<(Name, u64)>,
}

impl Teller<'_> {
    fn row(&mut self, row: &Row, recovered: Option<Recovered>) {
        let rows = self.material.rows;
        match row.kind {
            RecordKind::User => self.user(row),
            RecordKind::Assistant => self.assistant(row, recovered),
            RecordKind::System => {
                if let Some(notice) = rows.notice(row) {
                    let last = self.told.turns.len().checked_sub(1);
                    self.told.add_notice(rows, row, notice, last);
                }
            }
            _ => {}
        }
        if let Some(last) = self.told.turns.len().checked_sub(1) {
            self.told.places.push((row.line, last));
        }
    }

    fn user(&mut self, row: &Row) {
        let rows = self.material.rows;
        let Some(part) = rows.message(row) else { return };
        let kind = match part.prompt {
            // 1.0 copies of a resumed session lose the mark on the text a command stands for.
            PromptShape::Prompt if self.expands_command(row) => {
                return self.event(row, part, "meta");
            }
            PromptShape::Prompt => self.prompt_kind(row, part),
            PromptShape::Command => TurnKind::Command,
            PromptShape::BashInput => TurnKind::Bash,
            PromptShape::CompactSummary => TurnKind::Compact,
            PromptShape::TaskNotification => TurnKind::TaskNotification,
            PromptShape::Teammate => TurnKind::Teammate,
            PromptShape::Interrupted => return self.event(row, part, "interrupted"),
            PromptShape::InterruptedForTool => {
                return self.event(row, part, "interrupted-for-tool-use");
            }
            PromptShape::CommandOutput => return self.event(row, part, "local-command-output"),
            PromptShape::BashOutput => return self.event(row, part, "bash-output"),
            PromptShape::Meta => return self.event(row, part, "meta"),
            PromptShape::Harness => return self.event(row, part, "injected"),
            PromptShape::ToolResult | PromptShape::Empty | PromptShape::None => return,
        };
        let blocks = rows.blocks(part).iter();
        let blocks = blocks.filter_map(|part| {
            Some(PromptBlock { block: calls::block(rows, part)?, context: part.context })
        });
        self.told.turns.push(Turn {
            kind,
            uuid: rows.names.text(row.uuid),
            line: Some(u64::from(row.line)),
            timestamp: row.timestamp,
            prompt: Prompt { blocks: blocks.collect() },
            prompt_id: rows.names.shared(part.prompt_id),
            permission_mode: rows.names.shared(part.permission_mode),
            origin: rows.names.shared(part.origin),
            ..empty_turn(kind)
        });
    }

    /// Whether the record hangs directly off a slash command that nothing answered yet.
    fn expands_command(&self, row: &Row) -> bool {
        let rows = self.material.rows;
        let parent = row.parent.some().and_then(|uuid| rows.row(rows.find(uuid)?));
        let command = parent
            .and_then(|parent| rows.message(parent))
            .is_some_and(|part| part.prompt == PromptShape::Command);
        command
            && self
                .told
                .turns
                .last()
                .is_some_and(|turn| turn.kind == TurnKind::Command && turn.steps.is_empty())
    }

    fn prompt_kind(&self, row: &Row, part: &MessagePart) -> TurnKind {
        let rows = self.material.rows;
        if self.material.speaker == Speaker::ParentAgent {
            return TurnKind::Task;
        }
        let marked =
            part.prompt_source.is_some() && rows.names.bytes(part.prompt_source) == b"queued";
        if marked || self.material.queue.waited(rows, row.line, part.text_hash) {
            TurnKind::Queued
        } else {
            TurnKind::Human
        }
    }

    fn event(&mut self, row: &Row, part: &MessagePart, kind: &str) {
        let text = self.material.rows.blocks(part).first().and_then(|block| block.text);
        let last = self.told.turns.len().checked_sub(1);
        self.told.add_event(event(row, kind, text), last);
    }

    fn assistant(&mut self, row: &Row, recovered: Option<Recovered>) {
        let rows = self.material.rows;
        let Some(part) = rows.message(row) else { return };
        let place = match part.id.some().and_then(|id| self.steps.get(&id).copied()) {
            Some(place) => place,
            None => self.new_step(row, part),
        };
        let blocks = self.blocks(part);
        let Some(step) =
            self.told.turns.get_mut(place.0).and_then(|turn| turn.steps.get_mut(place.1))
        else {
            return;
        };
        step.uuids.extend(rows.names.text(row.uuid));
        step.lines.push(u64::from(row.line));
        step.on_chain |= recovered.is_none();
        step.blocks.extend(blocks);
    }

    fn new_step(&mut self, row: &Row, part: &MessagePart) -> (usize, usize) {
        let rows = self.material.rows;
        if self.told.turns.is_empty() {
            self.told.turns.push(empty_turn(TurnKind::Continuation));
        }
        let turn = self.told.turns.len() - 1;
        let members = Members::of(self.material, row, part);
        let names = &rows.names;
        let synthetic = part.model.is_some() && names.bytes(part.model) == b"<synthetic>";
        let failed = row.flags.api_error || part.error.is_some();
        let error =
            failed.then(|| names.shared(part.error).unwrap_or_else(|| Arc::from("unknown")));
        let step = Step {
            message_id: names.text(part.id),
            uuids: Vec::new(),
            lines: Vec::new(),
            model: names.shared(part.model),
            timestamp: row.timestamp,
            request_id: names.text(members.request),
            stop_reason: names.shared(members.stop_reason),
            synthetic,
            error,
            on_chain: false,
            usage: members
                .usage
                .map(|usage| UsageTotal::of(&usage, !synthetic && !members.stop_reason.is_some())),
            service_tier: names.shared(members.service_tier),
            speed: names.shared(members.speed),
            blocks: Vec::new(),
        };
        let Some(steps) = self.told.turns.get_mut(turn).map(|turn| &mut turn.steps) else {
            return (turn, 0);
        };
        steps.push(step);
        let place = (turn, steps.len() - 1);
        if let Some(id) = part.id.some() {
            self.steps.insert(id, place);
        }
        place
    }

    /// Blocks of one record that its message does not have yet.
    fn blocks(&mut self, part: &MessagePart) -> Vec<Block> {
        let rows = self.material.rows;
        let mut blocks = Vec::new();
        for block in rows.blocks(part) {
            if part.id.is_some() && !self.seen.insert((part.id, block.hash)) {
                continue;
            }
            if block.kind != BlockKind::ToolUse {
                blocks.extend(calls::block(rows, block));
                continue;
            }
            let nth = self.nth_use(block.id);
            let result = self.material.results.find_nth(rows, block.id, nth);
            blocks.push(Block::Call(Box::new(Call {
                id: rows.names.text(block.id),
                name: rows.names.shared(block.name),
                input: block.payload.map(Content::Json),
                result: result.map(|(row, block)| calls::result(rows, row, block)),
                subagent: None,
            })));
        }
        blocks
    }

    /// How many calls used this id before.
    fn nth_use(&mut self, call: Name) -> usize {
        if !self.material.groups.is_ambiguous(call) {
            return 0;
        }
        let uses = self.uses.entry(call).or_insert(0);
        *uses += 1;
        *uses - 1
    }

    fn finish(mut self) -> Told {
        self.told.fold_unanswered();
        for turn in &mut self.told.turns {
            turn.outcome = outcome(turn);
        }
        self.told.places.sort_by_key(|(line, _)| *line);
        self.told
    }
}

/// Facts that any record of a message may hold.
struct Members {
    usage: Option<backstory_format::claude::Usage>,
    stop_reason: Name,
    request: Name,
    service_tier: Name,
    speed: Name,
}

impl Members {
    /// One rule serves all three regimes of usage: the record with the largest output count holds
    /// the truest numbers, and without any stop reason none of them is final.
    fn of(material: &Material<'_>, row: &Row, part: &MessagePart) -> Members {
        let mut members = Members {
            usage: None,
            stop_reason: Name::NONE,
            request: Name::NONE,
            service_tier: Name::NONE,
            speed: Name::NONE,
        };
        let rows = material.rows;
        if !part.id.is_some() || row.repeated {
            members.add(part);
        } else {
            for part in
                material.groups.members(part.id).filter_map(|at| rows.message(rows.row(at)?))
            {
                members.add(part);
            }
        }
        members
    }

    fn add(&mut self, part: &MessagePart) {
        if let Some(usage) = part.usage
            && self.usage.is_none_or(|known| usage.output >= known.output)
        {
            self.usage = Some(usage);
            self.service_tier = part.service_tier;
            self.speed = part.speed;
        }
        if !self.stop_reason.is_some() {
            self.stop_reason = part.stop_reason;
        }
        if !self.request.is_some() {
            self.request = part.request;
        }
    }
}

impl Told {
    fn add_event(&mut self, event: Event, turn: Option<usize>) {
        match turn.and_then(|turn| self.turns.get_mut(turn)) {
            Some(turn) => turn.events.push(event),
            None => self.early.push(event),
        }
    }

    fn add_notice(&mut self, rows: &Rows, row: &Row, notice: &Notice, turn: Option<usize>) {
        let kind = rows.names.text(notice.subtype);
        if kind.as_deref() != Some("turn_duration") {
            let kind = kind.as_deref().unwrap_or("notice").replace('_', "-");
            return self.add_event(event(row, &kind, notice.text), turn);
        }
        if let Some(turn) = turn.and_then(|turn| self.turns.get_mut(turn)) {
            turn.duration_ms = turn.duration_ms.or(notice.duration_ms);
        }
    }

    /// Adds a notice that hangs off the story to the turn that was running at its line.
    pub(super) fn add_late_notice(&mut self, rows: &Rows, row: &Row, notice: &Notice) {
        let turn = self.turn_at(row.line);
        if turn.is_some() {
            self.add_notice(rows, row, notice, turn);
        }
    }

    /// Adds the events of a branch that has no turns.
    pub(super) fn add_late_events(&mut self, branch: Told) {
        for event in branch.early {
            let turn = self.turn_at(event.line.min(u64::from(u32::MAX)) as u32);
            self.add_event(event, turn);
        }
    }

    pub(super) fn add_interjection(&mut self, interjection: &Interjection) {
        let line = interjection.line.min(u64::from(u32::MAX)) as u32;
        if let Some(turn) = self.turn_at(line).and_then(|turn| self.turns.get_mut(turn)) {
            turn.interjections.push(interjection.clone());
        }
    }

    fn turn_at(&self, line: u32) -> Option<usize> {
        let after = self.places.partition_point(|(place, _)| *place <= line);
        let turn = match after.checked_sub(1) {
            Some(at) => self.places.get(at)?.1,
            None => 0,
        };
        (turn < self.turns.len()).then_some(turn)
    }

    /// Commands, summaries and notifications that the model did not answer are events, not turns.
    fn fold_unanswered(&mut self) {
        let mut kept: Vec<Turn> = Vec::with_capacity(self.turns.len());
        let mut moved = Vec::with_capacity(self.turns.len());
        let mut waiting = std::mem::take(&mut self.early);
        for mut turn in self.turns.drain(..) {
            if !turn.steps.is_empty() || turn.kind.stands_alone() {
                waiting.append(&mut turn.events);
                turn.events = std::mem::take(&mut waiting);
                kept.push(turn);
            } else {
                let mut events = vec![prompt_event(&turn)];
                events.append(&mut turn.events);
                match kept.last_mut() {
                    Some(before) => before.events.append(&mut events),
                    None => waiting.append(&mut events),
                }
            }
            moved.push(kept.len().saturating_sub(1));
        }
        match kept.last_mut() {
            Some(last) => last.events.append(&mut waiting),
            None => self.early = waiting,
        }
        self.turns = kept;
        for (_, turn) in &mut self.places {
            *turn = moved.get(*turn).copied().unwrap_or(0);
        }
    }
}

fn prompt_event(turn: &Turn) -> Event {
    let kind = match turn.kind {
        TurnKind::Command => "local-command",
        TurnKind::Compact => "compacted",
        other => other.name(),
    };
    let text = turn.prompt.blocks.iter().find_map(|part| match &part.block {
        Block::Text(text) => Some(text.clone()),
        _ => None,
    });
    Event { kind: Arc::from(kind), line: turn.line.unwrap_or(0), timestamp: turn.timestamp, text }
}

fn event(row: &Row, kind: &str, text: Option<Span>) -> Event {
    Event {
        kind: Arc::from(kind),
        line: u64::from(row.line),
        timestamp: row.timestamp,
        text: text.map(Content::Text),
    }
}

fn outcome(turn: &Turn) -> Outcome {
    if turn.events.iter().any(|event| event.kind.starts_with("interrupted")) {
        return Outcome::Interrupted;
    }
    let Some(last) = turn.steps.last() else { return Outcome::Unanswered };
    if last.error.is_some() {
        return Outcome::ApiError;
    }
    let final_stop = last.stop_reason.as_deref().is_some_and(|reason| reason != "tool_use");
    if final_stop || matches!(last.blocks.last(), Some(Block::Text(_))) {
        Outcome::Completed
    } else {
        Outcome::Open
    }
}

fn empty_turn(kind: TurnKind) -> Turn {
    Turn {
        kind,
        uuid: None,
        line: None,
        timestamp: None,
        prompt: Prompt::default(),
        prompt_id: None,
        permission_mode: None,
        origin: None,
        steps: Vec::new(),
        interjections: Vec::new(),
        events: Vec::new(),
        outcome: Outcome::Open,
        duration_ms: None,
    }
}
