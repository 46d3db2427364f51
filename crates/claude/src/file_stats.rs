//! Figures about one file for the analysis: links, pairs, streaming, turns, by client version.
//!
//! Everything is counted from the rows, so it can be traced to records; what the model says of
//! turns is taken from the model.

use crate::analyze::{Ambiguity, Counts, FileFigures, Scope};
use crate::names::Name;
use crate::rows::is_message;
use crate::rows::{PromptShape, Row, RowIndex, Rows};
use backstory_format::ProblemId;
use backstory_format::claude::{BlockKind, RecordKind};
use backstory_model::{CallOutcome, InterjectionSource, Outcome, Session, Turn, TurnKind};
use hashbrown::{HashMap, HashSet};
use std::hash::BuildHasher;

/// Unanswered calls this close to the end of the file were cut off with it.
const TAIL: usize = 5;
/// Ambiguous records listed per file.
const MAX_LISTED: usize = 20;

/// Counts everything in a file.
pub(super) fn file_figures(rows: &Rows, session: &Session) -> FileFigures {
    let parents = rows.rows.iter().filter_map(|row| row.parent.some()).collect();
    let (figures, by_version) = (FileFigures::default(), HashMap::new());
    let mut counter = FigureCounter { rows, session, figures, by_version, parents };
    counter.links();
    counter.branches();
    counter.pairs();
    counter.messages();
    counter.prompts();
    for turn in &session.turns {
        counter.turn(turn);
    }
    counter.finish()
}

struct FigureCounter<'a> {
    rows: &'a Rows,
    session: &'a Session,
    figures: FileFigures,
    by_version: HashMap<(Name, Scope), Counts>,
    /// Every uuid that some record names as its parent.
    parents: HashSet<Name>,
}

impl FigureCounter<'_> {
    fn counts(&mut self, row: &Row) -> &mut Counts {
        let scope =
            if row.flags.sidechain || self.session.kind != backstory_model::SessionKind::Session {
                Scope::Agent
            } else {
                Scope::Main
            };
        self.by_version.entry((row.version, scope)).or_default()
    }

    fn hash(&self, name: Name) -> u64 {
        foldhash::fast::FixedState::default().hash_one(self.rows.names.bytes(name))
    }

    /// Parents: null, here, elsewhere; how far away.
    fn links(&mut self) {
        let rows = self.rows;
        for (at, row) in rows.rows.iter().enumerate() {
            if row.repeated {
                self.counts(row).one("chain.duplicate-uuid.different");
                continue;
            }
            let uuid = self.hash(row.uuid);
            self.figures.uuids.push(uuid);
            let parent = row.parent.some().map(|parent| rows.find(parent));
            let counts = self.counts(row);
            counts.one("chain.records");
            match parent {
                None => {
                    counts.one("chain.parent.null");
                    counts.one(root_cause(rows, at, row));
                }
                Some(None) => {
                    counts.one("chain.parent.missing");
                    let missing = self.hash(row.parent);
                    self.figures.missing.push(missing);
                }
                Some(Some(parent)) => {
                    counts.one("chain.parent.found");
                    counts.one(distance(at, parent as usize));
                }
            }
        }
        for title in rows.titles.iter().filter(|title| title.leaf.is_some()) {
            match rows.find(title.leaf) {
                Some(_) => self.figures.leaves_here += 1,
                None => {
                    let leaf = self.hash(title.leaf);
                    self.figures.leaves.push(leaf);
                }
            }
        }
    }

    /// Records with more than one child, by what the children are.
    fn branches(&mut self) {
        let rows = self.rows;
        let mut children: HashMap<Name, Vec<RowIndex>> = HashMap::new();
        for (at, row) in rows.rows.iter().enumerate().filter(|(_, row)| !row.repeated) {
            if row.parent.is_some() && rows.find(row.parent).is_some() {
                children.entry(row.parent).or_default().push(at as RowIndex);
            }
        }
        for (parent, children) in &children {
            let Some(row) = rows.find(*parent).and_then(|at| rows.row(at)) else { continue };
            if children.len() > 1 {
                let cause = branch_cause(rows, row, children);
                let counts = self.counts(row);
                counts.one("chain.branches");
                counts.one(cause);
            }
        }
    }

    /// Calls and results.
    fn pairs(&mut self) {
        let rows = self.rows;
        let mut calls: HashMap<Name, Vec<RowIndex>> = HashMap::new();
        let mut results: HashMap<Name, Vec<RowIndex>> = HashMap::new();
        for (at, row) in rows.rows.iter().enumerate().filter(|(_, row)| !row.repeated) {
            let (mut uses, mut answers) = (0, 0);
            for block in rows.blocks_of(row) {
                match block.kind {
                    BlockKind::ToolUse => {
                        uses += 1;
                        calls.entry(block.id).or_default().push(at as RowIndex);
                        let tool = rows.names.text(block.name).unwrap_or_default();
                        self.counts(row).below("pairing.calls-of", &tool, 1);
                    }
                    BlockKind::ToolResult => {
                        answers += 1;
                        results.entry(block.id).or_default().push(at as RowIndex);
                        let outcome = outcome_name(block.outcome);
                        self.counts(row).one(outcome);
                    }
                    _ => {}
                }
            }
            let counts = self.counts(row);
            counts.add("pairing.calls", uses);
            counts.add("pairing.results", answers);
            if uses > 0 {
                counts.one(if uses == 1 {
                    "pairing.calls-per-entry.1"
                } else {
                    "pairing.calls-per-entry.2+"
                });
            }
            if answers > 0 {
                counts.one(if answers == 1 {
                    "pairing.results-per-entry.1"
                } else {
                    "pairing.results-per-entry.2+"
                });
            }
        }
        for (call, made) in &calls {
            let Some(row) = made.first().and_then(|at| rows.row(*at)) else { continue };
            let answers = results.get(call).map_or(&[][..], |answers| answers);
            let first = made.first().copied().unwrap_or(0);
            let name = match (made.len(), answers.len()) {
                (1, 1) => "pairing.one-to-one",
                (1, 0) => self.orphan_cause(first, row),
                (1, _) => "pairing.several-results",
                _ => "pairing.id-used-again",
            };
            let counts = self.counts(row);
            counts.one(name);
            if let Some(answer) = answers.first() {
                if *answer < first {
                    counts.one("pairing.result-before-call");
                }
                let own = rows.row(*answer).is_some_and(|answer| answer.parent == row.uuid);
                counts.one(if own {
                    "pairing.result-parent.its-call"
                } else {
                    "pairing.result-parent.other"
                });
            }
        }
        for (_, answers) in results.iter().filter(|(call, _)| !calls.contains_key(*call)) {
            for row in answers.iter().filter_map(|at| rows.row(*at)) {
                self.counts(row).one("pairing.orphan-result");
            }
        }
    }

    fn orphan_cause(&self, at: RowIndex, row: &Row) -> &'static str {
        let rows = self.rows;
        let later = || rows.rows.iter().skip(at as usize + 1).filter(|other| is_message(other));
        if later().take(TAIL).count() < TAIL {
            return "pairing.orphan-call.end-of-file";
        }
        let interrupted = later().take(TAIL).any(|other| {
            rows.message(other).is_some_and(|part| {
                matches!(part.prompt, PromptShape::Interrupted | PromptShape::InterruptedForTool)
            })
        });
        if interrupted {
            "pairing.orphan-call.interrupted"
        } else if !self.parents.contains(&row.uuid) {
            "pairing.orphan-call.left-branch"
        } else {
            "pairing.orphan-call.other"
        }
    }

    /// Entries that share a `message.id`.
    fn messages(&mut self) {
        let rows = self.rows;
        let mut groups: Vec<Group> = Vec::new();
        let mut by_id: HashMap<Name, usize> = HashMap::new();
        let mut last_group = None;
        for (at, row) in rows.rows.iter().enumerate().filter(|(_, row)| !row.repeated) {
            let Some(part) = rows.message(row) else { continue };
            if row.kind != RecordKind::Assistant {
                last_group = None;
                continue;
            }
            let entry = Entry {
                stopped: part.stop_reason.is_some(),
                output: part.usage.map(|usage| usage.output),
                usage: part
                    .usage
                    .map(|usage| (usage.input, usage.output, usage.cache_read, usage.cache_write)),
                blocks: u64::from(part.block_count),
            };
            let blocks = match part.block_count {
                0 => "streaming.blocks-per-entry.0",
                1 => "streaming.blocks-per-entry.1",
                _ => "streaming.blocks-per-entry.2+",
            };
            let synthetic = rows.names.bytes(part.model) == b"<synthetic>";
            let format = id_format(part.id.some().map(|id| rows.names.bytes(id)));
            let counts = self.counts(row);
            counts.one("streaming.entries");
            counts.one(blocks);
            if synthetic {
                counts.one("streaming.synthetic");
                continue;
            }
            counts.one(format);
            let group = match part.id.some() {
                Some(id) => *by_id.entry(id).or_insert(groups.len()),
                None => groups.len(),
            };
            if group == groups.len() {
                groups.push(Group::new(at as RowIndex));
            }
            if let Some(found) = groups.get_mut(group) {
                found.interleaved |= !found.entries.is_empty() && last_group != Some(group);
                found.entries.push(entry);
            }
            last_group = Some(group);
        }
        for group in &groups {
            let Some(row) = rows.row(group.first) else { continue };
            let counts = self.counts(row);
            group.count(counts);
        }
    }

    /// User records by the rule that decides what they are, and those that could be read otherwise.
    fn prompts(&mut self) {
        let rows = self.rows;
        for row in rows.rows.iter().filter(|row| row.kind == RecordKind::User && !row.repeated) {
            let Some(part) = rows.message(row) else { continue };
            self.counts(row).one(shape_name(part.prompt));
            let blocks = rows.blocks(part);
            let has = |kind| blocks.iter().any(|block| block.kind == kind);
            if has(BlockKind::ToolResult) && has(BlockKind::Text) {
                self.ambiguous(row, "a tool result and text in one record; taken as a result");
            }
        }
        let identical = self.session.problems.counts().get(&ProblemId::DuplicateUuid).copied();
        let different = rows.rows.iter().filter(|row| row.repeated).count() as u64;
        if let (Some(all), Some(row)) = (identical, rows.rows.first()) {
            self.counts(row).add("chain.duplicate-uuid.identical", all.saturating_sub(different));
        }
        for (id, name) in [
            (ProblemId::ParentCycle, "chain.cycles"),
            (ProblemId::ForeignSessionId, "chain.foreign-session-id"),
            (ProblemId::OddUsage, "streaming.odd-usage"),
        ] {
            let count = self.session.problems.counts().get(&id).copied().unwrap_or(0);
            if let Some(row) = rows.rows.first() {
                self.counts(row).add(name, count);
            }
        }
    }

    fn ambiguous(&mut self, row: &Row, why: &'static str) {
        self.figures.ambiguous_count += 1;
        if self.figures.ambiguous.len() < MAX_LISTED {
            self.figures.ambiguous.push(Ambiguity { line: u64::from(row.line), why });
        }
    }

    fn turn(&mut self, turn: &Turn) {
        let rows = self.rows;
        let lines =
            turn.line.into_iter().chain(turn.steps.iter().flat_map(|step| step.lines.clone()));
        let line = lines.min().unwrap_or(0);
        let at = rows.rows.partition_point(|row| u64::from(row.line) < line);
        let Some(row) = rows.rows.get(at).or_else(|| rows.rows.last()) else { return };
        if turn.kind == TurnKind::Continuation {
            self.ambiguous(row, "model output with no prompt before it; told as a turn of its own");
        }
        let loops = turn.steps.iter().filter(|step| step.calls().next().is_some()).count() as u64;
        let queued = |source| {
            turn.interjections.iter().filter(|found| found.source == source).count() as u64
        };
        let by_queue = queued(InterjectionSource::QueueOperation);
        let by_attachment = queued(InterjectionSource::Attachment);
        let ended = turn.steps.last().and_then(|step| step.stop_reason.clone());
        let counts = self.counts(row);
        counts.one("turns.all");
        counts.below("turns.kind", turn.kind.name(), 1);
        counts.below("turns.outcome", turn.outcome.name(), 1);
        counts.add("turns.steps", turn.steps.len() as u64);
        counts.add("turns.loops", loops);
        counts.add("turns.calls", turn.calls().count() as u64);
        counts.add("turns.mid-turn-prompts.queue-operation", by_queue);
        counts.add("turns.mid-turn-prompts.attachment", by_attachment);
        if turn.outcome == Outcome::Completed {
            counts.below("turns.completed-with", ended.as_deref().unwrap_or("null"), 1);
        }
    }

    fn finish(mut self) -> FileFigures {
        let by_version = std::mem::take(&mut self.by_version);
        for ((version, scope), counts) in by_version {
            let version = self.rows.names.text(version).unwrap_or_default();
            self.figures.counts.push((version, scope, counts));
        }
        self.figures.counts.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        self.figures
    }
}

/// One entry of a message.
struct Entry {
    stopped: bool,
    output: Option<u64>,
    usage: Option<(u64, u64, u64, u64)>,
    blocks: u64,
}

/// All entries of a message.
struct Group {
    first: RowIndex,
    entries: Vec<Entry>,
    interleaved: bool,
}

impl Group {
    fn new(first: RowIndex) -> Group {
        Group { first, entries: Vec::new(), interleaved: false }
    }

    fn count(&self, counts: &mut Counts) {
        let entries = &self.entries;
        counts.one("streaming.messages");
        counts.add("streaming.blocks", entries.iter().map(|entry| entry.blocks).sum());
        counts.one(match entries.len() {
            1 => "streaming.entries-per-message.1",
            2 => "streaming.entries-per-message.2",
            3 => "streaming.entries-per-message.3",
            4..=6 => "streaming.entries-per-message.4-6",
            _ => "streaming.entries-per-message.7+",
        });
        let stopped = entries.iter().filter(|entry| entry.stopped).count();
        let last_stopped = entries.last().is_some_and(|entry| entry.stopped);
        counts.one(match stopped {
            0 => "streaming.stop-reason.nowhere",
            all if all == entries.len() => "streaming.stop-reason.every-entry",
            1 if last_stopped => "streaming.stop-reason.last-entry-only",
            _ => "streaming.stop-reason.some-entries",
        });
        if stopped == 0 {
            counts.one("streaming.incomplete");
        }
        let outputs: Vec<u64> = entries.iter().filter_map(|entry| entry.output).collect();
        let largest = outputs.iter().max().copied().unwrap_or(0);
        let (first, last) = (outputs.first().copied(), outputs.last().copied());
        counts.add("streaming.output.sum-over-entries", outputs.iter().sum());
        counts.add("streaming.output.first-entry", first.unwrap_or(0));
        counts.add("streaming.output.last-entry", last.unwrap_or(0));
        counts.add("streaming.output.largest", largest);
        if entries.len() > 1 {
            counts.one("streaming.split-messages");
            if self.interleaved {
                counts.one("streaming.interleaved");
            }
            let same = entries.windows(2).all(|pair| match pair {
                [one, two] => one.usage == two.usage,
                _ => true,
            });
            counts.one(match (same, last == Some(largest)) {
                _ if outputs.is_empty() => "streaming.usage.absent",
                (true, _) => "streaming.usage.same-on-every-entry",
                (false, true) => "streaming.usage.last-is-largest",
                (false, false) => "streaming.usage.falls",
            });
        }
    }
}

fn distance(at: usize, parent: usize) -> &'static str {
    match at.checked_sub(parent) {
        None => "chain.distance.forward",
        Some(0) => "chain.distance.itself",
        Some(1) => "chain.distance.1",
        Some(2) => "chain.distance.2",
        Some(3..=5) => "chain.distance.3-5",
        Some(6..=20) => "chain.distance.6-20",
        Some(_) => "chain.distance.21+",
    }
}

fn root_cause(rows: &Rows, at: usize, row: &Row) -> &'static str {
    let summary = rows.message(row).is_some_and(|part| part.prompt == PromptShape::CompactSummary);
    let boundary = rows
        .notice(row)
        .is_some_and(|notice| rows.names.bytes(notice.subtype) == b"compact_boundary");
    if summary || boundary {
        "chain.root.compaction"
    } else if row.flags.sidechain {
        "chain.root.subagent"
    } else if at == 0 {
        "chain.root.first-record"
    } else if is_message(row) {
        "chain.root.message"
    } else {
        "chain.root.other-record"
    }
}

fn branch_cause(rows: &Rows, parent: &Row, children: &[RowIndex]) -> &'static str {
    let mut progress = 0;
    let mut results = 0;
    let mut attachments = 0;
    let mut prompts = 0;
    let mut answers = 0;
    for child in children.iter().filter_map(|child| rows.row(*child)) {
        match child.kind {
            RecordKind::Progress => progress += 1,
            RecordKind::Attachment => attachments += 1,
            RecordKind::Assistant => answers += 1,
            RecordKind::User => match rows.message(child).map(|part| part.prompt) {
                Some(PromptShape::ToolResult) => results += 1,
                _ => prompts += 1,
            },
            _ => {}
        }
    }
    let call = rows.blocks_of(parent).iter().any(|block| block.kind == BlockKind::ToolUse);
    if progress > 0 && (results > 0 || answers > 0) {
        "chain.branch.progress-beside-result"
    } else if attachments > 0 && results + answers + prompts > 0 {
        "chain.branch.attachment-beside-message"
    } else if call && results > 0 && (answers > 0 || results > 1) {
        "chain.branch.parallel-tools"
    } else if prompts > 1 {
        "chain.branch.prompt-edited"
    } else if answers > 1 {
        "chain.branch.answered-again"
    } else {
        "chain.branch.other"
    }
}

fn outcome_name(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Ok => "pairing.outcome.ok",
        CallOutcome::Error => "pairing.outcome.error",
        CallOutcome::Rejected => "pairing.outcome.rejected",
        CallOutcome::Interrupted => "pairing.outcome.interrupted",
        CallOutcome::Cancelled => "pairing.outcome.cancelled",
    }
}

fn id_format(id: Option<&[u8]>) -> &'static str {
    match id {
        None => "streaming.id-format.absent",
        Some(id) if id.starts_with(b"msg_") => "streaming.id-format.msg_…",
        Some(id) if id.len() == 36 && id.iter().filter(|byte| **byte == b'-').count() == 4 => {
            "streaming.id-format.uuid"
        }
        Some(id) if id.iter().all(u8::is_ascii_hexdigit) => "streaming.id-format.hex",
        Some(_) => "streaming.id-format.other",
    }
}

fn shape_name(shape: PromptShape) -> &'static str {
    match shape {
        PromptShape::ToolResult => "turns.rule.tool-result",
        PromptShape::CompactSummary => "turns.rule.compact-summary",
        PromptShape::Meta => "turns.rule.meta",
        PromptShape::Command => "turns.rule.command",
        PromptShape::CommandOutput => "turns.rule.command-output",
        PromptShape::BashInput => "turns.rule.bash-input",
        PromptShape::BashOutput => "turns.rule.bash-output",
        PromptShape::Interrupted => "turns.rule.interrupted",
        PromptShape::InterruptedForTool => "turns.rule.interrupted-for-tool-use",
        PromptShape::TaskNotification => "turns.rule.task-notification",
        PromptShape::Teammate => "turns.rule.teammate",
        PromptShape::Harness => "turns.rule.harness-markup",
        PromptShape::Empty => "turns.rule.empty",
        PromptShape::Prompt => "turns.rule.prompt",
        PromptShape::None => "turns.rule.none",
    }
}
