//! The messages of one conversation, and which of them a history has.

use super::Tokenizer;
use crate::rows::Piece;
use backstory_format::slice::{Part, item};
use std::ops::Range;

/// The messages of one conversation so far.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// The system prompt as a message.
    pub(crate) system: Vec<u8>,
    system_weight: u64,
    pub(crate) bytes: Vec<u8>,
    /// Where each message ends in `bytes`, and what all messages up to it weigh.
    ends: Vec<(usize, u64)>,
    /// Messages that begin a turn.
    turns: Vec<usize>,
    /// Messages of the model that have their results behind them.
    steps: Vec<usize>,
    /// Messages before this one were replaced by a summary.
    pub(crate) start: usize,
    /// States of the compact layout, one after the other.
    pub(crate) states: Vec<u8>,
    /// The last result was a failure.
    pub(crate) failed: bool,
    pub(crate) began: bool,
}

/// Messages of a history: single prompts, then all of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) kept: Vec<usize>,
    pub(crate) range: Range<usize>,
    pub(crate) tokens: u64,
}

/// Which prompt stays when the front of a history goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The first one, and that of the turn whose steps go.
    FirstPrompt,
    /// That of the turn alone, so that no two prompts follow each other.
    TurnsPrompt,
}

impl Window {
    /// Whether there is no message in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.range.is_empty()
    }

    /// Whether nothing went.
    pub(crate) fn is_whole(&self, conversation: &Conversation) -> bool {
        self.kept.is_empty() && self.range.start == conversation.start
    }
}

const BETWEEN: &[u8] = b", ";

fn append(item: &[u8], list: &mut Vec<u8>) {
    if !list.is_empty() {
        list.extend_from_slice(BETWEEN);
    }
    list.extend_from_slice(item);
}

impl Conversation {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn push(&mut self, message: &[u8], tokenizer: &Tokenizer<'_>) {
        append(message, &mut self.bytes);
        self.end_message(message.len(), tokenizer);
    }

    /// A message that is written right here.
    pub(crate) fn write<E>(
        &mut self,
        tokenizer: &Tokenizer<'_>,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        append(b"", &mut self.bytes);
        let start = self.bytes.len();
        write(&mut self.bytes)?;
        self.end_message(self.bytes.len() - start, tokenizer);
        Ok(())
    }

    fn end_message(&mut self, length: usize, tokenizer: &Tokenizer<'_>) {
        let end = self.bytes.len();
        let weight = tokenizer.weigh(self.bytes.part(end - length..));
        self.ends.push((end, self.weight_upto(self.len()) + weight));
    }

    pub(crate) fn push_state(&mut self, state: &[u8]) {
        append(state, &mut self.states);
    }

    pub(crate) fn begin_turn(&mut self) {
        self.turns.push(self.ends.len());
    }

    pub(crate) fn begin_step(&mut self) {
        self.steps.push(self.ends.len());
    }

    /// Begins with a system prompt, if there is one.
    pub(crate) fn begin(&mut self, system: Option<Vec<u8>>, tokenizer: &Tokenizer<'_>) {
        self.began = true;
        self.system = system.unwrap_or_default();
        self.system_weight = tokenizer.weigh(&self.system);
    }

    fn end(&self, count: usize) -> (usize, u64) {
        count.checked_sub(1).map(|at| item(&self.ends, at)).unwrap_or_default()
    }

    fn weight_upto(&self, count: usize) -> u64 {
        self.end(count).1
    }

    /// Where messages of a range stand in `bytes`.
    fn part(&self, range: &Range<usize>) -> Range<usize> {
        let begin = match self.end(range.start).0 {
            0 => 0,
            begin => begin + BETWEEN.len(),
        };
        let end = self.end(range.end).0;
        begin.min(end)..end
    }

    /// Which messages a history of at most so many tokens has; none if nothing fits. Whole turns go
    /// from the front. Where the last turn alone is too long, its oldest steps go, each with its
    /// results. The first prompt and that of the last turn stay.
    pub(crate) fn window(
        &self,
        most: Option<u64>,
        keep: Keep,
        tokenizer: &Tokenizer<'_>,
    ) -> Option<Window> {
        let upto = self.len();
        let weight = |range: Range<usize>| {
            self.weight_upto(range.end).saturating_sub(self.weight_upto(range.start))
        };
        let window = |kept: &[usize], from: usize| {
            let kept_weight: u64 = kept.iter().map(|at| weight(*at..at + 1)).sum();
            let tokens = tokenizer.tokens(self.system_weight + kept_weight + weight(from..upto));
            Window { kept: kept.to_vec(), range: from..upto, tokens }
        };
        let whole = window(&[], self.start);
        let Some(most) = most.filter(|most| whole.tokens > *most) else { return Some(whole) };
        let first = self.start;
        // The later it begins, the shorter a history is.
        let shortest = |starts: &[usize], kept: &[usize]| {
            let fits = starts.partition_point(|from| window(kept, *from).tokens > most);
            starts.get(fits).map(|from| window(kept, *from))
        };
        let later = |starts: &'_ [usize], than: usize| starts.partition_point(|at| *at <= than);
        let turns = self.turns.part(later(&self.turns, first)..);
        let front: &[usize] = if keep == Keep::FirstPrompt { &[first] } else { &[] };
        if let Some(window) = shortest(turns, front) {
            return Some(window);
        }
        let last = turns.last().copied().unwrap_or(first);
        let kept = match keep {
            Keep::FirstPrompt if last != first => vec![first, last],
            _ => vec![last],
        };
        shortest(self.steps.part(later(&self.steps, last)..), &kept)
    }

    /// The pieces of a list of messages, without its brackets; `at` is where this conversation's
    /// shared buffers stand.
    pub(crate) fn pieces(&self, window: &Window, at: usize, pieces: &mut Vec<Piece>) {
        let system = Piece::Shared(at, 0..self.system.len());
        self.listed(system, window, at, pieces);
    }

    /// The same without the system prompt.
    pub(crate) fn pieces_without_system(
        &self,
        window: &Window,
        at: usize,
        pieces: &mut Vec<Piece>,
    ) {
        self.listed(Piece::Shared(at, 0..0), window, at, pieces);
    }

    fn listed(&self, system: Piece, window: &Window, at: usize, pieces: &mut Vec<Piece>) {
        let kept = window.kept.iter().map(|kept| *kept..kept + 1);
        let parts = kept.chain([window.range.clone()]);
        let parts = parts.map(|range| Piece::Shared(at + 1, self.part(&range)));
        let mut any = false;
        for part in std::iter::once(system).chain(parts) {
            if matches!(&part, Piece::Shared(_, range) if range.is_empty()) {
                continue;
            }
            if std::mem::replace(&mut any, true) {
                pieces.push(Piece::Own(BETWEEN.to_vec()));
            }
            pieces.push(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_turns_go_and_the_first_prompt_stays() {
        let tokenizer = Tokenizer::Estimate;
        let mut conversation = Conversation::default();
        for turn in 0..4 {
            conversation.begin_turn();
            for message in 0..3 {
                if message > 0 {
                    conversation.begin_step();
                }
                conversation
                    .push(format!("{turn}{message}{}", "x".repeat(38)).as_bytes(), &tokenizer);
            }
        }
        let window = |most| conversation.window(Some(most), Keep::FirstPrompt, &tokenizer);
        let expected =
            |kept: &[usize], range, tokens| Some(Window { kept: kept.to_vec(), range, tokens });
        assert_eq!(window(120), expected(&[], 0..12, 120));
        assert_eq!(window(119), expected(&[0], 3..12, 100));
        assert_eq!(window(75), expected(&[0], 6..12, 70));
        assert_eq!(window(40), expected(&[0], 9..12, 40));
        assert_eq!(window(39), expected(&[0, 9], 11..12, 30));
        assert_eq!(window(29), None);
        let turns = conversation.window(Some(39), Keep::TurnsPrompt, &tokenizer);
        assert_eq!(turns, expected(&[], 9..12, 30));
        let turns = conversation.window(Some(29), Keep::TurnsPrompt, &tokenizer);
        assert_eq!(turns, expected(&[9], 11..12, 20));
        let mut pieces = Vec::new();
        conversation.pieces(&window(30).unwrap(), 0, &mut pieces);
        let rows = crate::rows::Rows::new(vec![Vec::new(), conversation.bytes.clone()], pieces);
        let mut out = Vec::new();
        rows.copy_to(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let begins: Vec<&str> = text.split(", ").map(|message| &message[..2]).collect();
        assert_eq!(begins, ["00", "30", "32"]);
        assert_eq!(rows.len(), text.len() as u64);
    }
}
