//! Consensus and fates against an oracle that knows actions only as numbers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;
use crate::journal::{Call, Entry, Failure, Run, Skip, TeacherNote};
use backstory_model::Money;
use backstory_redact::{Classes, Config};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

mod rows;

/// Action number `number`, written in one of several ways that are the same.
fn action(number: u8, way: u8) -> String {
    let input = match (number, way % 3) {
        (0, _) => return ["Done.", "I am done.", "All is done."][usize::from(way % 3)].to_owned(),
        (1, 0) => json!({"name": "Bash", "input": {"command": "cargo test"}}),
        (1, 1) => {
            json!({"name": "execute_bash", "input": {"command": "cd /w/app && cargo test 2>&1 | tail -5"}})
        }
        (1, _) => {
            json!({"name": "Bash", "input": {"command": "cargo test --all", "description": "x"}})
        }
        (number, 0) => json!({"name": "Read", "input": {"file_path": format!("src/f{number}.rs")}}),
        (number, 1) => {
            json!({"name": "Read", "input": {"file_path": format!("/w/app/src/f{number}.rs")}})
        }
        (number, _) => {
            json!({"name": "view", "input": {"path": format!("./src/f{number}.rs"), "limit": 5}})
        }
    };
    let mut block = input;
    block["type"] = "tool_use".into();
    json!([{"type": "text", "text": "Let me see."}, block]).to_string()
}

#[derive(Debug, Clone)]
struct Asked {
    student: u8,
    /// By teacher, in the order of the journal: no call, a failure, or an action.
    votes: Vec<Option<Option<u8>>>,
    gated: bool,
}

fn call(state: usize, teacher: usize, answer: Option<String>) -> Entry {
    let error = answer.is_none().then(|| Failure {
        what: "http".to_owned(),
        status: Some(500),
        message: "no".to_owned(),
    });
    Entry::Call(Call {
        state_id: format!("s:{state}"),
        teacher_id: format!("t{teacher}"),
        model: "m".to_owned(),
        prompt_hash: "0".to_owned(),
        action: answer,
        raw: Value::Null,
        finish_reason: None,
        usage: None,
        cost_usd: Some(Money::from_nanos(7)),
        unsure_usd: Money::ZERO,
        latency_ms: 1,
        attempts: 1,
        error,
        at: "2026-01-01T00:00:00Z".to_owned(),
    })
}

/// Writes a journal and its states.
fn written(folder: &Path, asked: &[Asked], teachers: usize) -> (PathBuf, PathBuf) {
    let note = |at| TeacherNote {
        id: format!("t{at}"),
        model: "m".to_owned(),
        api: "openai".to_owned(),
        price: None,
    };
    let run = Entry::Run(Run {
        v: 1,
        id: "r".to_owned(),
        at: "2026-01-01T00:00:00Z".to_owned(),
        program: "0".to_owned(),
        states: "run.states.jsonl".to_owned(),
        teachers: (0..teachers).map(note).collect(),
        budget_usd: None,
        limit: None,
        gate: None,
    });
    let mut journal = run.line().unwrap();
    let mut states = Vec::new();
    let mut messages = Vec::new();
    for (at, state) in asked.iter().enumerate() {
        messages.push(json!({"role": "user", "content": format!("Number {at}, please.")}));
        states.push(json!({"state_id": format!("s:{at}"), "student_action": action(state.student, at as u8),
            "kept": [], "from": 0, "upto": messages.len(), "meta": {"cwd": "/w/app", "model": "student", "tools": []}}));
        messages.push(json!({"role": "assistant", "content": "Yes."}));
        for (teacher, vote) in state.votes.iter().enumerate() {
            let Some(vote) = vote else { continue };
            let answer = vote.map(|number| action(number, (at + teacher) as u8));
            journal.push_str(&call(at, teacher, answer).line().unwrap());
        }
        if state.gated {
            let skip = Skip {
                state_id: format!("s:{at}"),
                teacher_id: None,
                why: "gate".to_owned(),
                at: String::new(),
            };
            journal.push_str(&Entry::Skip(skip).line().unwrap());
        }
    }
    journal.push_str("{\"kind\":\"call\",\"torn");
    let line = json!({"session_id": "s", "system": [], "tools": [], "messages": messages, "states": states});
    let (one, two) = (folder.join("run.jsonl"), folder.join("run.states.jsonl"));
    std::fs::write(&one, journal).unwrap();
    std::fs::write(&two, format!("{line}\n")).unwrap();
    (one, two)
}

fn redactor() -> &'static Redactor {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| {
        let salt = b"salt of the test".to_vec();
        let classes = Classes::SECRETS;
        let config = Config { classes, salt, home: None, user: None, own_rules: Vec::new() };
        Redactor::new(&config).unwrap()
    });
    &REDACTOR
}

fn options(format: PairFormat) -> PairOptions<'static> {
    PairOptions {
        format,
        level: Level::NameTarget,
        min_agree: None,
        priority: Vec::new(),
        bounds: Bounds::default(),
        dedup: Dedup::Off,
        redactor: redactor(),
    }
}

fn rows(journal: &Path, states: &Path, options: &PairOptions<'_>) -> (Vec<Value>, Figures) {
    let mut out = Vec::new();
    let figures = make(journal, states, options, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(figures.add_up(), "{figures:?}");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len() as u64, figures.rows);
    (rows, figures)
}

/// What the rules say, from the numbers alone: the fate, who spoke for the group, and its size.
fn oracle(
    state: &Asked,
    order: &[usize],
    min_agree: Option<usize>,
) -> (&'static str, Option<(usize, usize)>) {
    if state.votes.iter().all(Option::is_none) {
        return (if state.gated { "gated" } else { "not_asked" }, None);
    }
    let mut answered: Vec<(usize, u8)> = Vec::new();
    for teacher in order {
        if let Some(Some(Some(number))) = state.votes.get(*teacher) {
            answered.push((*teacher, *number));
        }
    }
    if answered.is_empty() {
        return ("all_errors", None);
    }
    let majority = answered.len() / 2 + 1;
    let needed = min_agree.unwrap_or(if majority < 2 { 2 } else { majority });
    if answered.len() < needed {
        return ("too_few_answers", None);
    }
    let size = |number: u8| answered.iter().filter(|(_, other)| *other == number).count();
    let largest = answered.iter().map(|(_, number)| size(*number)).max().unwrap();
    if largest < needed {
        return ("no_consensus", None);
    }
    let (teacher, number) = *answered.iter().find(|(_, number)| size(*number) == largest).unwrap();
    if number == state.student {
        return ("agree_with_student", None);
    }
    ("pair", Some((teacher, largest)))
}

fn asked() -> impl Strategy<Value = (Vec<Asked>, usize)> {
    (1usize..6).prop_flat_map(|teachers| {
        let vote = prop_oneof![
            1 => Just(None),
            1 => Just(Some(None)),
            8 => (0u8..4).prop_map(|number| Some(Some(number))),
        ];
        let votes = prop::collection::vec(vote, teachers);
        let state = (0u8..4, votes, any::<bool>()).prop_map(|(student, votes, gated)| Asked {
            student,
            votes,
            gated,
        });
        (prop::collection::vec(state, 1..20), Just(teachers))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn fates_are_what_the_rules_say(
        (asked, teachers) in asked(),
        min_agree in prop::option::of(1usize..5),
        turned in any::<bool>(),
        dearer in 0usize..6,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (journal, states) = written(folder.path(), &asked, teachers);
        prop_assert_eq!(states_path(&journal).unwrap(), states.clone());
        let mut order: Vec<usize> = (0..teachers).collect();
        let mut priority = Vec::new();
        if turned {
            order.reverse();
            priority = order.iter().map(|at| format!("t{at}")).collect();
        } else if dearer < teachers {
            order.retain(|at| *at != dearer);
            order.insert(0, dearer);
            priority = vec![format!("t{dearer}")];
        }
        let options = PairOptions { min_agree, priority, ..options(PairFormat::Native) };
        let (rows, figures) = rows(&journal, &states, &options);
        let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
        let mut pairs = Vec::new();
        for (at, state) in asked.iter().enumerate() {
            let (fate, pair) = oracle(state, &order, min_agree);
            *expected.entry(fate).or_default() += 1;
            pairs.extend(pair.map(|(teacher, size)| (format!("s:{at}"), format!("t{teacher}"), size as u64, state)));
        }
        let mut found: BTreeMap<&str, u64> =
            figures.reasons.iter().map(|(reason, count)| (reason.name(), *count)).collect();
        if figures.pairs > 0 {
            found.insert("pair", figures.pairs);
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(rows.len(), pairs.len());
        for (row, (state, teacher, size, asked)) in rows.iter().zip(&pairs) {
            prop_assert_eq!(&row["state_id"], state);
            prop_assert_eq!(&row["meta"]["chosen_by"], teacher);
            prop_assert_eq!(&row["n_teachers_agreeing"], size);
            prop_assert_eq!(row["meta"]["teachers"].as_array().unwrap().len() as u64, *size);
            let own = &row["meta"]["rejected_action"];
            let number: usize = state[2..].parse().unwrap();
            prop_assert_eq!(own, &action(asked.student, number as u8));
        }
        // One line was torn, none was lost.
        prop_assert_eq!(figures.journal.unreadable, 1);
        let calls = asked.iter().flat_map(|state| &state.votes).flatten().count() as u64;
        prop_assert_eq!(figures.journal.calls, calls);
        prop_assert_eq!(figures.journal.cost_usd, Money::from_nanos(7 * calls));
        let answers: u64 = figures.agreement.teachers.iter().map(|teacher| teacher.counts.answers + teacher.errors).sum();
        prop_assert_eq!(answers, calls);
        let by_tool: u64 = figures.agreement.tools.values().map(|counts| counts.answers).sum();
        let by_teacher: u64 = figures.agreement.teachers.iter().map(|teacher| teacher.counts.answers).sum();
        prop_assert_eq!(by_tool, by_teacher);
    }
}
