//! Token counts of a clone's messages.
//!
//! Clients take the counts of the last answer for the size of the conversation, and compact it before
//! they send anything when those are near the model's limit. Counts that were made for a larger
//! conversation are therefore brought into proportion. The source's own counts stay in the message as
//! `sourceUsage`, which is what readers of ours go by.

use super::estimate::row_tokens;
use super::take::is_compaction;
use crate::rows::{RowIndex, Rows};
use backstory_format::claude::Usage;
use backstory_format::json::{Kind, Splice, Value};
use hashbrown::HashMap;

/// How large the source's conversation is at a record, by the same estimate as the clone's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    /// Of the record itself.
    pub(super) own: u64,
    /// From the last compaction up to and with the record.
    pub(super) tokens: u64,
    /// The record is a compaction: what is before it is not sent.
    pub(super) begins: bool,
    /// The record is older than the compaction that it follows, and so are its counts.
    pub(super) moved: bool,
}

/// Contexts of the records of the conversation that a resume continues.
#[derive(Debug, Default)]
pub(super) struct Contexts(HashMap<RowIndex, Context>);

impl Contexts {
    pub(super) fn new(rows: &Rows, conversation: &[RowIndex]) -> Contexts {
        let (mut tokens, mut compacted) = (0, None);
        let mut all = HashMap::with_capacity(conversation.len());
        for at in conversation {
            let Some(row) = rows.row(*at) else { continue };
            let begins = is_compaction(rows, row);
            if begins {
                (tokens, compacted) = (0, Some(row.line));
            }
            let own = row_tokens(rows, row);
            tokens += own;
            let moved = compacted.is_some_and(|line| row.line < line);
            all.insert(*at, Context { own, tokens, begins, moved });
        }
        Contexts(all)
    }

    pub(super) fn of(&self, row: RowIndex) -> Option<Context> {
        self.0.get(&row).copied()
    }
}

impl Context {
    /// Whether counts of the record are right for a conversation of this size.
    pub(super) fn fits(&self, sent: u64) -> bool {
        !self.moved && self.tokens == sent
    }
}

/// The counts of a message brought into proportion to what the clone sends up to it.
pub(super) fn fit(message: Value<'_>, context: Context, sent: u64) -> Option<Splice> {
    let usage = message.get("usage").filter(|usage| usage.kind() == Kind::Object)?;
    let counts = Usage::read(usage);
    let all = [counts.input, counts.output, counts.cache_read, counts.cache_write];
    let total = all.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let wanted = if context.moved {
        sent
    } else {
        let scaled = u128::from(total) * u128::from(sent) / u128::from(context.tokens.max(1));
        u64::try_from(scaled).unwrap_or(total)
    };
    if wanted == total {
        return None;
    }
    let output = counts.output.min(wanted);
    let mut with = format!(
        r#"{{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":{},"output_tokens":{output}}}"#,
        wanted - output
    )
    .into_bytes();
    if message.get("sourceUsage").is_none() {
        with.extend_from_slice(b",\"sourceUsage\":");
        with.extend_from_slice(usage.raw());
    }
    Some(Splice { range: usage.span(), with })
}
