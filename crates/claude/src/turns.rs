//! Records in conversation order to turns and steps.

use crate::calls;
use crate::calls::Results;
use crate::names::Name;
use crate::queue::Queue;
use crate::recovery::{Groups, Link};
use crate::rows::{MessagePart, PromptShape, Row, Rows};
use crate::turn_builder::{TurnBuilder, event};
use backstory_format::claude::{BlockKind, RecordKind};
use backstory_model::{
    Block, Call, Content, IdOrigin, Outcome, Prompt, PromptBlock, Recovered, Step, Turn, TurnKind,
    UsageTotal,
};
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

impl Material<'_> {
    /// Whether a row belongs to this conversation rather than to a subagent's in the same file.
    pub(super) fn speaks(&self, row: &Row) -> bool {
        self.speaker == Speaker::ParentAgent || !row.flags.sidechain
    }

    /// The kind of event if the row is the mark of an interruption.
    pub(super) fn interruption(&self, row: &Row) -> Option<&'static str> {
        match self.rows.message(row)?.prompt {
            PromptShape::Interrupted => Some("interrupted"),
            PromptShape::InterruptedForTool => Some("interrupted-for-tool-use"),
            _ => None,
        }
    }

    pub(super) fn turns(&self, links: &[Link]) -> TurnBuilder {
        let mut assembler = TurnAssembler {
            material: self,
            builder: TurnBuilder::default(),
            steps: HashMap::new(),
            uses: HashMap::new(),
            seen: HashSet::new(),
        };
        for (index, recovered) in links.iter().filter(|(_, why)| *why != Some(Recovered::Copy)) {
            if let Some(row) = self.rows.row(*index).filter(|row| self.speaks(row)) {
                assembler.row(row, *recovered);
            }
        }
        assembler.finish()
    }
}

struct TurnAssembler<'a> {
    material: &'a Material<'a>,
    builder: TurnBuilder,
    /// Turn and step of each message.
    steps: HashMap<Name, (usize, usize)>,
    /// How often a call id that several messages use was met.
    uses: HashMap<Name, usize>,
    /// Blocks of the messages read so far, by message and hash.
    seen: HashSet<(Name, u64)>,
}

impl TurnAssembler<'_> {
    fn row(&mut self, row: &Row, recovered: Option<Recovered>) {
        let rows = self.material.rows;
        match row.kind {
            RecordKind::User => self.user(row),
            RecordKind::Assistant => self.assistant(row, recovered),
            RecordKind::System => {
                if let Some(notice) = rows.notice(row) {
                    let last = self.builder.turns.len().checked_sub(1);
                    self.builder.add_notice(rows, row, notice, last);
                }
            }
            _ => {}
        }
        if let Some(last) = self.builder.turns.len().checked_sub(1) {
            self.builder.places.push((row.line, last));
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
            PromptShape::Interrupted | PromptShape::InterruptedForTool => {
                let kind = self.material.interruption(row).unwrap_or("interrupted");
                return self.event(row, part, kind);
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
        self.builder.turns.push(Turn {
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
                .builder
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
        let last = self.builder.turns.len().checked_sub(1);
        self.builder.add_event(event(row, kind, text), last);
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
            self.builder.turns.get_mut(place.0).and_then(|turn| turn.steps.get_mut(place.1))
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
        if self.builder.turns.is_empty() {
            self.builder.turns.push(empty_turn(TurnKind::Continuation));
        }
        let turn = self.builder.turns.len() - 1;
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
            version: names.shared(row.version),
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
        let Some(steps) = self.builder.turns.get_mut(turn).map(|turn| &mut turn.steps) else {
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
                effects: Vec::new(),
                id: rows.names.text(block.id),
                id_origin: IdOrigin::Trace,
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

    fn finish(mut self) -> TurnBuilder {
        self.builder.fold_unanswered();
        self.builder.finish_turns();
        self.builder.places.sort_by_key(|(line, _)| *line);
        self.builder
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
