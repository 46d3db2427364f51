//! The content of a turn in the order in which it is shown, with runs of reads and searches found.

use crate::between::{Between, Next};
use backstory_agents as agents;
use backstory_model::{ActionKind, Agent, Block, Call, CallOutcome, Step, Turn};
use backstory_text::figures::counted;

/// Something in a turn.
pub(super) enum Item<'a> {
    Between(Next<'a>),
    /// A message that reports an error of the API.
    Error(&'a str),
    Block(&'a Block),
}

/// All items of a turn.
pub(super) fn items(turn: &Turn) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut between = Between::of(turn);
    for step in &turn.steps {
        let line = step.lines.first().copied().unwrap_or(0);
        while let Some(next) = between.before(line) {
            items.push(Item::Between(next));
        }
        push_step(step, &mut items);
    }
    while let Some(next) = between.before(u64::MAX) {
        items.push(Item::Between(next));
    }
    items
}

fn push_step<'a>(step: &'a Step, items: &mut Vec<Item<'a>>) {
    items.extend(step.error.as_deref().map(Item::Error));
    items.extend(step.blocks.iter().map(Item::Block));
}

/// A run of calls that only look at something.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    /// How many items belong to it.
    pub(super) items: usize,
    pub(super) reads: usize,
    pub(super) searches: usize,
}

/// Shorter runs are shown call by call.
const SHORTEST: usize = 3;

impl Group {
    /// The run that these items begin with, if it is long enough. Thoughts between its calls belong
    /// to it.
    pub(super) fn at_start(items: &[Item<'_>], agent: Agent) -> Option<Group> {
        let mut group = Group::default();
        let (mut reads, mut searches) = (0, 0);
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::Block(Block::Call(call)) if is_quiet(call, agent, ActionKind::Read) => {
                    reads += 1;
                }
                Item::Block(Block::Call(call)) if is_quiet(call, agent, ActionKind::Search) => {
                    searches += 1;
                }
                Item::Block(Block::Thinking { .. }) if reads + searches > 0 => continue,
                _ => break,
            }
            group = Group { items: at + 1, reads, searches };
        }
        (group.calls() >= SHORTEST).then_some(group)
    }

    pub(super) fn calls(&self) -> usize {
        self.reads + self.searches
    }

    /// `5 reads, 2 searches`
    pub(super) fn words(&self) -> String {
        let kinds = [(self.reads, "read", "reads"), (self.searches, "search", "searches")];
        let words = kinds.iter().filter(|(count, ..)| *count > 0);
        let words: Vec<String> =
            words.map(|(count, one, many)| counted(*count as u64, one, many)).collect();
        words.join(", ")
    }
}

/// Whether a call did nothing but look, and worked.
fn is_quiet(call: &Call, agent: Agent, kind: ActionKind) -> bool {
    let worked = call.result.as_ref().is_some_and(|result| result.outcome == CallOutcome::Ok);
    worked && call.subagent.is_none() && agents::does(agent, call, kind)
}
