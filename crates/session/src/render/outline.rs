//! The head of a turn: its number, what it is called, and its figures.

use super::heading::{money, usage};
use super::sink::RenderError;
use super::view::View;
use super::words::typed;
use crate::stats::Cost;
use backstory_model::{Block, Outcome, Turn, TurnKind, UsageTotal};
use backstory_store::SourceReader;
use backstory_text::figures::{counted, duration};
use backstory_text::title::{of_prompt, short};
use jiff::Timestamp;

/// What is shown about a turn before and after its content.
#[derive(Debug, Clone)]
pub(super) struct TurnView {
    /// Unique in the document.
    pub(super) anchor: String,
    pub(super) number: usize,
    pub(super) kind: TurnKind,
    /// The first words of its prompt.
    pub(super) title: String,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
    pub(super) outcome: Outcome,
    pub(super) usage: UsageTotal,
    /// What it cost, where that is known.
    pub(super) cost: Option<String>,
    pub(super) duration_ms: Option<u64>,
    pub(super) calls: usize,
    pub(super) failed: usize,
}

/// Bytes of a prompt that are read for its first words.
const TITLE_BYTES: usize = 600;
const TITLE_CHARACTERS: usize = 80;

pub(super) fn turn(
    prefix: &str,
    number: usize,
    turn: &Turn,
    view: &View,
    reader: &mut SourceReader,
) -> Result<TurnView, RenderError> {
    let text =
        turn.prompt.blocks.iter().filter(|part| !part.context).find_map(|part| match &part.block {
            Block::Text(text) => Some(text),
            _ => None,
        });
    let head = match text {
        Some(text) => reader.head(text, TITLE_BYTES)?,
        None => String::new(),
    };
    let failed = turn.calls().filter(|call| {
        call.result
            .as_ref()
            .is_some_and(|result| result.outcome != backstory_model::CallOutcome::Ok)
    });
    let ended = turn
        .steps
        .iter()
        .rev()
        .find_map(|step| step.timestamp)
        .max(turn.calls().filter_map(|call| call.result.as_ref()?.timestamp).max());
    let lasted = turn
        .timestamp
        .zip(ended)
        .and_then(|(start, end)| u64::try_from(end.as_millisecond() - start.as_millisecond()).ok());
    let usage = turn.usage();
    let cost = view
        .prices
        .as_deref()
        .and_then(|prices| money(Cost::of_messages(turn.steps.iter(), prices), usage.incomplete));
    Ok(TurnView {
        anchor: format!("{prefix}turn-{number}"),
        number,
        kind: turn.kind,
        title: title(turn.kind, &head),
        timestamp: turn.timestamp,
        ended,
        outcome: turn.outcome,
        usage,
        cost,
        duration_ms: turn.duration_ms.or(lasted),
        calls: turn.calls().count(),
        failed: failed.count(),
    })
}

impl TurnView {
    /// When it was, how long it took, what was done in it and what it cost.
    pub(super) fn figures(&self, view: &View) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.timestamp.map(|time| view.time(time)));
        words.extend(self.duration_ms.map(duration));
        if self.calls > 0 {
            words.push(counted(self.calls as u64, "tool call", "tool calls"));
        }
        if self.failed > 0 {
            words.push(format!("{} failed", self.failed));
        }
        words.extend(self.spent());
        words
    }

    /// Tokens and money.
    pub(super) fn spent(&self) -> impl Iterator<Item = String> {
        let tokens = (self.usage.messages > 0).then(|| usage(&self.usage));
        tokens.into_iter().chain(self.cost.clone())
    }
}

fn title(kind: TurnKind, head: &str) -> String {
    let named = match kind {
        TurnKind::Compact => Some("continued after compaction"),
        TurnKind::TaskNotification => Some("a background task reported back"),
        TurnKind::Continuation => Some("went on without a prompt"),
        _ => None,
    };
    if let Some(named) = named {
        return format!("({named})");
    }
    let title = short(&of_prompt(&typed(kind, head).text), TITLE_CHARACTERS);
    if title.is_empty() { "(no text)".to_owned() } else { title }
}
