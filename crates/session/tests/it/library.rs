//! The API at the top of the crate, over all bundled sessions.

use backstory_model::{Block, Session};
use backstory_session::stats::Dimension;
use backstory_session::{OpenError, PartKind, Sessions, conversation};
use backstory_testkit::{all_sessions, discover_at, testdata};
use std::collections::BTreeMap;

/// How often each kind must come, counted in the model.
fn expected(session: &Session) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    let mut add = |name, number| *counts.entry(name).or_default() += number;
    for turn in &session.turns {
        let typed = turn.prompt.blocks.iter().filter(|one| matches!(one.block, Block::Text(_)));
        add("prompt", typed.count() + turn.interjections.len());
        for block in turn.steps.iter().flat_map(|step| &step.blocks) {
            match block {
                Block::Text(_) => add("answer", 1),
                Block::Thinking { .. } => add("thinking", 1),
                Block::Call(call) => {
                    add("call", 1);
                    add("result", usize::from(call.result.is_some()));
                }
                _ => {}
            }
        }
    }
    counts.retain(|_, count| *count > 0);
    counts
}

#[test]
fn conversation_has_every_text_of_every_turn_once() {
    let all = all_sessions();
    let mut parts = 0;
    for session in all.iter().flat_map(Session::walk) {
        let mut seen = BTreeMap::new();
        let mut turn = 1;
        for part in conversation(session).unwrap() {
            let part = part.unwrap();
            assert!(part.turn >= turn, "{}", session.id);
            turn = part.turn;
            let name = match part.kind {
                PartKind::Prompt | PartKind::Context => "prompt",
                PartKind::Answer => "answer",
                PartKind::Thinking => "thinking",
                PartKind::Call => "call",
                PartKind::Result => "result",
                kind => panic!("{kind:?}"),
            };
            *seen.entry(name).or_default() += 1;
            parts += 1;
        }
        assert_eq!(seen, expected(session), "{}", session.id);
    }
    assert!(parts > 1000, "{parts}");
}

#[test]
fn conversation_puts_what_was_typed_meanwhile_where_it_was_typed() {
    let sessions = Sessions::open([testdata("sessions/attachment-queued-command.jsonl")]).unwrap();
    let (session, _) = sessions.read(sessions.iter().next().unwrap()).unwrap();
    assert!(session.turns.iter().any(|turn| !turn.interjections.is_empty()));
    let lines: Vec<u64> =
        conversation(&session).unwrap().filter_map(|part| part.unwrap().line).collect();
    assert!(lines.is_sorted(), "{lines:?}");
}

#[test]
fn sessions_are_those_that_discovery_finds() {
    let folder = testdata("sample");
    let sessions = Sessions::open([&folder]).unwrap();
    let found = discover_at(&folder);
    assert_eq!(sessions.iter().count(), found.sessions.len() + found.stray_agents.len());
    for one in sessions.iter() {
        let (session, notices) = sessions.read(one).unwrap();
        assert_eq!((session.id.as_str(), notices.len()), (one.id(), 0));
    }
}

#[test]
fn sessions_open_names_a_missing_root() {
    let missing = testdata("no-such-folder");
    match Sessions::open([&missing]) {
        Err(OpenError::Missing(path)) => assert_eq!(path, missing),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sessions_stats_of_one_are_part_of_those_of_all() {
    let sessions = Sessions::open([testdata("sample")]).unwrap();
    let (all, notices) = sessions.stats(sessions.iter(), Dimension::Session).unwrap();
    assert!(notices.is_empty() && all.total.tokens() > 0);
    let one = sessions.get("59aba946").unwrap();
    let (one, _) = sessions.stats([one], Dimension::Session).unwrap();
    let row = all.rows.iter().find(|row| row.key == one.rows[0].key).unwrap();
    assert_eq!(row.figures.tokens(), one.total.tokens());
}
