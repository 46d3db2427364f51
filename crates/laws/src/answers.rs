//! What must hold for a teacher's answer and for a journal: both protocols mean the same by the
//! same words and calls, what is no answer is refused in few words, an answer stands in the journal
//! as it came, and a journal with any lines in it can be read and continued.

use backstory_replay::Money;
use backstory_replay::journal::{Call, CallState, Entry, Journal, Known};
use backstory_replay::teacher::Api;
use backstory_replay::wire::{Answer, Names, NoAnswer, read_answer};
use backstory_store::Guard;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The longest text of an error, in letters.
const LONGEST: usize = 600;

/// Reads the data as a body, and as words and calls in the bodies of both protocols.
pub fn answers(data: &[u8]) {
    let names = Names::default();
    for api in [Api::OpenAi, Api::Anthropic] {
        match read_answer(data, api, &names) {
            Ok(answer) => journalled(&answer),
            Err(NoAnswer::Refused(_, text) | NoAnswer::Unreadable(text)) => {
                assert!(text.chars().count() <= LONGEST, "{text}");
            }
        }
    }
    let text = String::from_utf8_lossy(data);
    let mut parts = text.split('\0');
    let (words, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let input = json!({"first": parts.next(), "rest": parts.collect::<Vec<_>>(), words: name});
    let call = json!({"function": {"name": name, "arguments": input.to_string()}});
    let openai = json!({"choices": [{"message": {"content": words, "tool_calls": [call]}}]});
    let use_ = json!({"type": "tool_use", "name": name, "input": input});
    let anthropic = json!({"content": [{"type": "text", "text": words}, use_]});
    let read = |body: &Value, api| {
        read_answer(body.to_string().as_bytes(), api, &names).expect("an answer").action
    };
    let (one, two) = (read(&openai, Api::OpenAi), read(&anthropic, Api::Anthropic));
    assert_eq!(one, two);
    let blocks: Vec<Value> = serde_json::from_str(&one).expect("a list of blocks");
    let last = blocks.last().expect("the call");
    assert_eq!((&last["name"], &last["input"]), (&json!(name), &input));
}

/// An answer stands in a journal as it came.
fn journalled(answer: &Answer) {
    let entry = Entry::Call(Call {
        state_id: "s:u".to_owned(),
        teacher_id: "cheap".to_owned(),
        model: "m".to_owned(),
        prompt_hash: "00".to_owned(),
        action: Some(answer.action.clone()),
        raw: answer.raw.clone(),
        finish_reason: answer.finish_reason.clone(),
        usage: answer.usage,
        cost_usd: answer.cost,
        unsure_usd: Money::ZERO,
        latency_ms: 5,
        attempts: 1,
        error: None,
        at: "2026-01-01T00:00:00Z".to_owned(),
    });
    let line = entry.line().expect("a line");
    assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "{line}");
    assert_eq!(Entry::parse(&line).expect("a line of ours"), entry);
}

/// Reads the data as a journal, and adds a line to it.
pub fn journal(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.jsonl");
    std::fs::write(&path, data).expect("a file");
    check(&Known::read(&path).expect("a journal"), data);
    let last = Entry::parse(
        r#"{"kind":"sent","state_id":"last","teacher_id":"t","prompt_hash":"h","attempt":1,"reserved_usd":1.5,"at":""}"#,
    );
    let last = last.expect("a line");
    let place = Guard::default().file(&path).expect("a place");
    Journal::open(&place).expect("a journal").add(&last).expect("room");
    let longer = std::fs::read(&path).expect("a file");
    assert!(longer.starts_with(data) && longer.ends_with(last.line().expect("a line").as_bytes()));
    let known = Known::read(&path).expect("a journal");
    check(&known, &longer);
    let Entry::Sent(last) = &last else { return };
    let CallState::Open { lost, .. } = known.state(&last.key()) else {
        panic!("the last line is lost")
    };
    assert_eq!(lost, Money::from_nanos(1_500_000_000));
}

/// Counts the lines in the plainest way.
fn check(known: &Known, data: &[u8]) {
    let mut unreadable = 0;
    let mut calls = BTreeMap::new();
    let mut spent = Money::ZERO;
    for line in data.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let entry = std::str::from_utf8(line).ok().and_then(|line| Entry::parse(line).ok());
        let Some(entry) = entry else {
            unreadable += 1;
            continue;
        };
        let again = Entry::parse(&entry.line().expect("a line")).expect("a line of ours");
        assert_eq!(again, entry);
        match entry {
            Entry::Call(call) => {
                spent += call.cost_usd.unwrap_or_default();
                calls.insert(call.key(), (call, false));
            }
            Entry::Sent(sent) => {
                if let Some(over) = calls.get_mut(&sent.key()) {
                    over.1 = true;
                }
            }
            Entry::Dropped(dropped) => {
                if let Some(over) = calls.get_mut(&dropped.key()) {
                    over.1 = true;
                }
            }
            Entry::Run(_) | Entry::Skip(_) => {}
        }
    }
    assert_eq!((known.unreadable, known.len(), known.spent), (unreadable, calls.len(), spent));
    for (key, (call, open)) in calls {
        assert_eq!(known.call(&key).expect("the file").as_ref(), Some(&call));
        match known.state(&key) {
            CallState::Open { .. } => assert!(open),
            CallState::Answered => assert!(!open && call.action.is_some()),
            CallState::Failed { .. } => assert!(!open && call.action.is_none()),
        }
    }
}
