//! What is read in agents' files, in figures and words.

use backstory_model::Session;

/// Turns, steps, calls, results and failed calls.
pub(crate) fn figures(session: &Session) -> [u64; 5] {
    let counts = &session.counts;
    [counts.turns, counts.steps, counts.calls, counts.results, counts.errors]
}

/// Input, output, and what came from a cache.
pub(crate) fn tokens(session: &Session) -> [u64; 3] {
    [session.usage.input, session.usage.output, session.usage.cache_read]
}

/// What happened beside prompts and answers.
pub(crate) fn events(session: &Session) -> Vec<String> {
    let mut reader = session.source.open().unwrap();
    let events = session.turns.iter().flat_map(|turn| &turn.events);
    let mut shown = |event: &backstory_model::Event| match &event.text {
        Some(text) => format!("{}: {}", event.kind, reader.text(text).unwrap()),
        None => event.kind.to_string(),
    };
    events.map(&mut shown).collect()
}
