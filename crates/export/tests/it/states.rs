//! Training states and rows hold every message once, and never their own answer.

use crate::support::{make, rows_of_trainers};
use backstory_export::{
    Chain, CountTokens, Document, Format, Granularity, Layout, MessageStyle, OnUnknown, Records,
    Secrets, SftFormat, Skipped, StateOptions, Subagents, Tokenizer, VersionRange,
};
use backstory_model::Session;
use backstory_redact::Raw;
use backstory_testkit::{all_sessions, claude_sessions, sessions, testdata};
use serde_json::Value;

fn lines(session: &Session, states: StateOptions<'_>) -> (Vec<Value>, Document) {
    let secrets = Secrets::Kept(Raw::requested_by_user());
    let (text, document) = make(session, Format::TraceState(states), secrets);
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), document)
}

#[test]
fn states_are_all_messages_and_never_hold_their_own_answer() {
    let mut states = 0;
    for session in &all_sessions() {
        let place = session.source.path().display();
        for granularity in [Granularity::Step, Granularity::ToolUse] {
            let options = StateOptions { granularity, ..StateOptions::default() };
            let (found, document) = lines(session, options);
            let figures = document.figures.states;
            assert!(figures.add_up(), "{place}: {figures:?}");
            assert_eq!(figures.states, found.len() as u64);
            states += found.len();
            let mut ids = std::collections::HashSet::new();
            for state in &found {
                assert!(ids.insert(state["state_id"].as_str().unwrap().to_owned()), "{place}");
                let last = state["messages"].as_array().unwrap().last();
                let role = last.map(|message| message["role"].as_str().unwrap());
                assert_ne!(role, Some("system"));
            }
        }
        // The calls of a state are in no message of its own history.
        let (found, _) = lines(session, StateOptions::default());
        let steps = session.turns.iter().flat_map(|turn| &turn.steps);
        for step in steps.filter(|step| step.on_chain && !step.synthetic) {
            let Some(uuid) = step.uuids.first() else { continue };
            let id = format!("{}:{uuid}", session.id);
            let Some(state) = found.iter().find(|state| state["state_id"] == id) else { continue };
            let history = state["messages"].to_string();
            for call in step.calls().filter_map(|call| call.id.as_deref()) {
                let own = format!("\"id\":\"{call}\"");
                let used = session.turns.iter().flat_map(|turn| turn.calls());
                let once = used.filter(|other| other.id.as_deref() == Some(call)).count() == 1;
                assert!(!once || !history.contains(&own), "{place}: {call}");
            }
        }
    }
    assert!(states > 300, "{states}");
}

#[test]
fn the_compact_form_expands_to_the_full_one() {
    for session in &all_sessions() {
        for messages in [MessageStyle::OpenAi, MessageStyle::Anthropic, MessageStyle::Text] {
            for max_history_tokens in [None, Some(200)] {
                let options = StateOptions {
                    messages,
                    max_history_tokens,
                    subagents: Subagents::Separate,
                    ..StateOptions::default()
                };
                let (full, _) = lines(session, options);
                let compact = StateOptions { layout: Layout::Compact, ..options };
                let mut expanded = Vec::new();
                for talk in lines(session, compact).0 {
                    let all = talk["messages"].as_array().unwrap();
                    for state in talk["states"].as_array().unwrap() {
                        let mut messages = talk["system"].as_array().unwrap().clone();
                        let number = |name: &str| state[name].as_u64().map(|n| n as usize);
                        let kept = state["kept"].as_array().unwrap().iter();
                        messages.extend(kept.map(|at| all[at.as_u64().unwrap() as usize].clone()));
                        let range = number("from").unwrap()..number("upto").unwrap();
                        messages.extend_from_slice(&all[range]);
                        let mut state = state.as_object().unwrap().clone();
                        for name in ["kept", "from", "upto"] {
                            state.remove(name);
                        }
                        state.insert("messages".into(), messages.into());
                        expanded.push(Value::Object(state));
                    }
                }
                assert_eq!(full, expanded, "{}", session.source.path().display());
            }
        }
    }
}

fn messages_of(row: &Value) -> Vec<Value> {
    let list = |name: &str| row.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    [list("messages"), list("prompt"), list("completion")].concat()
}

#[test]
fn rows_of_trainers_are_whole_and_alternate() {
    let (mut rows, mut calls) = (0, 0);
    for session in &all_sessions() {
        let place = session.source.path().display();
        for options in rows_of_trainers(StateOptions::default()) {
            let raw = Secrets::Kept(Raw::requested_by_user());
            let (text, document) = make(session, Format::Sft(options), raw);
            let figures = &document.figures.states;
            assert!(figures.add_up(), "{place}: {figures:?}");
            assert_eq!(text.lines().count() as u64, figures.rows, "{place}");
            for line in text.lines() {
                rows += 1;
                let row: Value = serde_json::from_str(line).unwrap();
                if options.format == SftFormat::LlamaFactory {
                    let turns = row["conversations"].as_array().unwrap();
                    assert!(turns.len().is_multiple_of(2), "{place}: {line}");
                    for (at, turn) in turns.iter().enumerate() {
                        let from = turn["from"].as_str().unwrap();
                        let asks = ["human", "observation"].contains(&from);
                        assert_eq!(asks, at % 2 == 0, "{place}: {line}");
                    }
                    continue;
                }
                let found = messages_of(&row);
                assert_eq!(found.last().unwrap()["role"], "assistant", "{place}: {line}");
                let mut before = "assistant".to_owned();
                let (mut open, mut role) = (Vec::new(), String::new());
                for message in &found {
                    assert!(message["content"].is_string(), "{place}: {line}");
                    role = message["role"].as_str().unwrap().to_owned();
                    assert!(role != "user" || before != "user", "{place}: {line}");
                    match role.as_str() {
                        "tool" => assert_eq!(open.remove(0), message["tool_call_id"], "{place}"),
                        _ => assert_eq!(open, Vec::<Value>::new(), "{place}: {line}"),
                    }
                    for call in message["tool_calls"].as_array().into_iter().flatten() {
                        calls += 1;
                        let arguments = &call["function"]["arguments"];
                        match options.format {
                            SftFormat::OpenAi => {
                                let text = arguments.as_str().unwrap();
                                assert!(serde_json::from_str::<Value>(text).unwrap().is_object());
                            }
                            _ => assert!(arguments.is_object(), "{place}: {line}"),
                        }
                        open.push(call["id"].clone());
                    }
                    before.clone_from(&role);
                }
                assert_eq!(role, "assistant");
            }
        }
    }
    assert!(rows > 3000 && calls > 1000, "{rows} rows, {calls} calls");
}

#[test]
fn every_record_has_one_fate() {
    let (mut records, mut reasons) = (0, std::collections::BTreeSet::new());
    for session in &claude_sessions() {
        let place = session.source.path().display();
        for subagents in [Subagents::Skip, Subagents::Separate] {
            let states =
                StateOptions { subagents, records: Records::Count, ..StateOptions::default() };
            let census = lines(session, states).1.figures.census.unwrap();
            assert!(census.adds_up(), "{place}: {census:?}");
            // Old clients wrote subagents into the session's own file.
            let mut files = session.walk();
            let mut seen = std::collections::HashSet::new();
            files.retain(|file| seen.insert(file.source.path()));
            assert_eq!(census.files, files.len() as u64);
            let sum = |of: fn(&Session) -> u64| files.iter().map(|file| of(file)).sum::<u64>();
            assert_eq!(census.records, sum(|file| file.file.records), "{place}");
            assert_eq!(census.lines, sum(|file| file.file.lines), "{place}");
            assert_eq!(census.bytes, sum(|file| file.file.bytes), "{place}");
            records += census.records;
            reasons.extend(census.skipped.into_keys());
        }
    }
    assert!(records > 2000, "{records}");
    for reason in ["meta", "not_conversation", "off_chain", "subagent", "synthetic", "unknown_type"]
    {
        assert!(reasons.contains(reason), "{reason}: {reasons:?}");
    }
}

#[test]
fn before_a_compaction_there_are_states_only_when_asked_for() {
    let (mut active, mut story) = (0, 0);
    for session in &all_sessions() {
        let chain = |chain| lines(session, StateOptions { chain, ..StateOptions::default() });
        let (found, document) = chain(Chain::Active);
        active += found.len();
        let (all, whole) = chain(Chain::Story);
        story += all.len();
        let off = document.figures.states.skipped(Skipped::OffChain);
        assert!(all.len() as u64 <= found.len() as u64 + off);
        assert_eq!(whole.figures.states.skipped(Skipped::OffChain), 0);
        assert!(found.iter().all(|state| all.contains(state)));
    }
    assert!(story > active + 10, "{story} {active}");
}

#[derive(Debug)]
struct Words;

impl CountTokens for Words {
    fn name(&self) -> &str {
        "words"
    }

    fn count(&self, text: &str) -> u64 {
        text.split_whitespace().count() as u64
    }
}

#[test]
fn histories_keep_to_the_tokens_of_a_named_tokenizer() {
    let (mut cut, mut whole) = (0, 0);
    for session in &sessions(&testdata("sample")) {
        let options = StateOptions {
            max_history_tokens: Some(150),
            tokenizer: Tokenizer::Named(&Words),
            ..StateOptions::default()
        };
        let (found, document) = lines(session, options);
        assert!(document.figures.states.add_up());
        cut += document.figures.states.cut_histories;
        let (all, _) = lines(session, StateOptions { max_history_tokens: None, ..options });
        for state in &found {
            assert!(state["meta"]["n_tokens_est"].as_u64().unwrap() <= 150);
            let full = all.iter().find(|other| other["state_id"] == state["state_id"]).unwrap();
            let (kept, had) = (messages_of(state), messages_of(full));
            whole += u64::from(kept == had);
            assert_eq!(kept.first(), had.first(), "the first prompt stays");
            assert_eq!(kept.last(), had.last());
            let mut rest = had.iter();
            assert!(kept.iter().all(|one| rest.any(|other| one == other)), "in order");
            // A result without its call would be half a pair.
            let text = Value::from(kept.clone()).to_string();
            for message in kept.iter().filter(|message| message["role"] == "tool") {
                assert!(text.contains(&format!("\"id\":{}", message["tool_call_id"])));
            }
        }
    }
    assert!(cut > 3 && whole > 3, "{cut} {whole}");
}

#[test]
fn versions_outside_a_range_are_counted_or_skipped() {
    let range = VersionRange::parse("2.1.x").unwrap();
    let (mut inside, mut outside) = (0, 0);
    for session in &sessions(&testdata("sample")) {
        let with = |what| {
            let versions = Some((&range, what));
            lines(session, StateOptions { versions, ..StateOptions::default() })
        };
        let (found, document) = with(OnUnknown::Skip);
        let figures = &document.figures.states;
        assert!(figures.add_up());
        assert_eq!(figures.outside.values().sum::<u64>(), figures.skipped(Skipped::Version));
        for state in &found {
            assert!(state["meta"]["version"].as_str().unwrap().starts_with("2.1."));
        }
        inside += found.len();
        outside += figures.skipped(Skipped::Version);
        let (all, document) = with(OnUnknown::Warn);
        assert_eq!(all.len() as u64, found.len() as u64 + figures.skipped(Skipped::Version));
        assert_eq!(document.figures.states.outside, figures.outside);
    }
    assert!(inside > 0 && outside > 0, "{inside} {outside}");
}
