//! Prompts and events of a turn that come between its messages.
//!
//! The model keeps them apart from the messages, each with its line; every view that shows a turn in
//! order merges them with this.

use backstory_model::{Event, Interjection, Turn};

/// What is between two messages.
pub(crate) enum Next<'a> {
    /// A prompt typed while the model worked.
    Prompt(&'a Interjection),
    /// Neither a prompt nor an answer.
    Event(&'a Event),
}

/// Prompts and events that fall between the steps of a turn, by line.
pub(crate) struct Between<'a> {
    waiting: std::vec::IntoIter<(u64, Next<'a>)>,
    next: Option<(u64, Next<'a>)>,
}

impl<'a> Between<'a> {
    /// All of a turn.
    pub(crate) fn of(turn: &'a Turn) -> Between<'a> {
        let prompts = turn.interjections.iter().map(|one| (one.line, Next::Prompt(one)));
        let events = turn.events.iter().map(|event| (event.line, Next::Event(event)));
        let mut all: Vec<_> = prompts.chain(events).collect();
        all.sort_by_key(|(line, _)| *line);
        let mut waiting = all.into_iter();
        let next = waiting.next();
        Between { waiting, next }
    }

    /// The next one, if it comes before this line.
    pub(crate) fn before(&mut self, line: u64) -> Option<Next<'a>> {
        let (_, next) = self.next.take_if(|(place, _)| *place <= line)?;
        self.next = self.waiting.next();
        Some(next)
    }
}
