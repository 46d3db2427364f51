//! History that a client wrote more than once.
//!
//! Clients around 1.0.80 that take several prompts in one process write the whole conversation
//! again before each prompt, into the same file and under new uuids. The last writing is the
//! conversation. An earlier one that says nothing else is not a branch that somebody left.

use crate::conversation::Abandoned;
use crate::names::Name;
use crate::recovery::Link;
use crate::rows::{PromptShape, Row, Rows};
use backstory_format::claude::{BlockKind, RecordKind};
use backstory_model::Recovered;

/// Something that was said, under whatever uuid it was written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Prompt(u64),
    /// A block of a message of the model, or of a record of the client's own.
    Block(Name, u64),
    Result(Name),
}

/// The conversation as a list of what was said in it.
#[derive(Debug)]
pub(super) struct Transcript {
    said: Vec<Said>,
}

impl Transcript {
    pub(super) fn new(rows: &Rows, links: &[Link]) -> Transcript {
        Transcript { said: said(rows, links).collect() }
    }

    /// Whether a branch is an earlier writing of the beginning of this conversation: it hangs from
    /// nothing and holds the same prompts, messages and results in the same order, with at least
    /// one answer of a model. An answer without an id proves nothing: two models may say the same.
    pub(super) fn is_written_in(&self, rows: &Rows, branch: &Abandoned) -> bool {
        let links = &branch.links;
        let root = links.first().and_then(|(at, _)| rows.row(*at));
        let mut own = self.said.iter();
        branch.from.is_none()
            && root.is_some_and(|row| !row.parent.is_some())
            && said(rows, links).all(|one| own.next() == Some(&one))
            && has_known_answers(rows, links)
    }
}

fn original_rows<'a>(rows: &'a Rows, links: &'a [Link]) -> impl Iterator<Item = &'a Row> {
    let originals = links.iter().filter(|(_, why)| *why != Some(Recovered::Copy));
    originals.filter_map(|(at, _)| rows.row(*at))
}

fn has_known_answers(rows: &Rows, links: &[Link]) -> bool {
    let answers = original_rows(rows, links).filter(|row| row.kind == RecordKind::Assistant);
    let mut known = answers.map(|row| rows.message(row).is_some_and(|part| part.id.is_some()));
    known.next() == Some(true) && known.all(|known| known)
}

fn said<'a>(rows: &'a Rows, links: &'a [Link]) -> impl Iterator<Item = Said> + 'a {
    original_rows(rows, links).flat_map(|row| {
        let part = rows.message(row);
        let prompt = part.filter(|part| part.prompt == PromptShape::Prompt);
        let prompt = prompt.map(|part| Said::Prompt(part.text_hash));
        let others = part.filter(|_| prompt.is_none());
        let blocks = others.into_iter().flat_map(|part| {
            rows.blocks(part).iter().map(|block| match block.kind {
                BlockKind::ToolResult => Said::Result(block.id),
                _ => Said::Block(part.id, block.hash),
            })
        });
        prompt.into_iter().chain(blocks)
    })
}
