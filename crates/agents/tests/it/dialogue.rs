//! Questions, plans and lists of what is to be done, whichever agent's client asked.

use backstory_model::{Dialogue, Session, TodoState, Todos, Verdict};
use backstory_testkit::codex::{ROLLOUT, codex_line};
use backstory_testkit::{Sample, agent, lines, sessions, testdata, texts};
use serde_json::{Value, json};

fn dialogues(session: &Session) -> Vec<Dialogue> {
    let mut reader = session.source.open().unwrap();
    let calls = session.turns.iter().flat_map(|turn| turn.calls());
    let all = calls.map(|call| backstory_agents::dialogue(session.agent, call, &mut reader));
    all.filter_map(Result::unwrap).collect()
}

/// Options that were chosen, and words of the person.
fn answers(dialogues: &[Dialogue]) -> Vec<(Vec<&str>, Option<&str>)> {
    let questions = dialogues.iter().filter_map(|one| match one {
        Dialogue::Questions(asked) => Some(asked),
        _ => None,
    });
    let all = questions.flatten().map(|question| {
        let chosen = question.options.iter().filter(|option| option.chosen);
        (chosen.map(|option| option.label.as_str()).collect(), question.own_words.as_deref())
    });
    all.collect()
}

#[test]
fn dialogue_of_claude_code() {
    let session = sessions(&testdata("sessions/dialogue.jsonl")).remove(0);
    let told = dialogues(&session);
    assert_eq!(
        answers(&told),
        [
            (vec!["Low (Recommended)"], None),
            (vec!["Door open", "Too hot"], Some("and at noon")),
            (vec![], None),
        ]
    );
    let verdicts = told.iter().filter_map(|one| match one {
        Dialogue::Plan(plan) => Some((plan.text.clone().unwrap(), plan.verdict.clone())),
        _ => None,
    });
    let verdicts: Vec<_> = verdicts.collect();
    assert_eq!(verdicts[0].1, Verdict::Rejected(Some("Test it without the fan first.".into())));
    assert_eq!(verdicts[1].1, Verdict::Approved(None));
    assert!(verdicts[1].0.ends_with("1. Test without the fan.\n2. Beep on relay 3."));
    let todos: Vec<_> = told.iter().filter(|one| matches!(one, Dialogue::Todos(_))).collect();
    assert_eq!(todos.len(), 3);
    let Dialogue::Todos(Todos::One(last)) = todos[2] else { panic!("{todos:?}") };
    assert_eq!((last.id.as_deref(), last.state), (Some("1"), Some(TodoState::Done)));
    let objection = Dialogue::Objection("Name the constant ALARM_RELAY.".into());
    assert_eq!(told.iter().filter(|one| **one == objection).count(), 1);
}

/// Clients that wrote the answer into the words for the model alone.
#[test]
fn dialogue_is_in_the_words_for_the_model_too() {
    let text = std::fs::read_to_string(testdata("sessions/dialogue.jsonl")).unwrap();
    let records = text.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record.as_object_mut().unwrap().remove("toolUseResult");
        record
    });
    let records: Vec<Value> = records.collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dialogue.jsonl");
    std::fs::write(&path, lines(&records)).unwrap();
    let stripped = sessions(&path).remove(0);
    let whole = sessions(&testdata("sessions/dialogue.jsonl")).remove(0);
    let is_asked = |one: &Dialogue| !matches!(one, Dialogue::Todos(_));
    let all = |session: &Session| -> Vec<Dialogue> {
        dialogues(session).into_iter().filter(is_asked).collect()
    };
    let (stripped, whole) = (all(&stripped), all(&whole));
    assert_eq!(stripped, whole);
}

#[test]
fn dialogue_of_codex() {
    let item = |payload| codex_line("response_item", payload);
    let call = |id: &str, name: &str, arguments: Value| {
        item(json!({ "type": "function_call", "name": name, "call_id": id,
            "arguments": arguments.to_string() }))
    };
    let output = |id: &str, output: &str| {
        item(json!({ "type": "function_call_output", "call_id": id, "output": output }))
    };
    let records = [
        codex_line(
            "session_meta",
            json!({ "id": "11111111-aaaa-4bbb-8ccc-000000000001", "cwd": "/w" }),
        ),
        item(json!({ "type": "message", "role": "user",
            "content": [{ "type": "input_text", "text": "Plan it" }] })),
        call(
            "c1",
            "update_plan",
            json!({ "explanation": "Start", "plan": [
            { "step": "Look", "status": "completed" }, { "step": "Write", "status": "in_progress" }] }),
        ),
        output("c1", "Plan updated"),
        call(
            "c2",
            "request_user_input",
            json!({ "questions": [{ "id": "tone", "header": "Tone",
            "question": "Which?", "options": [{ "label": "Low", "description": "440" }, { "label": "High" }] }] }),
        ),
        output("c2", r#"{"answers":{"tone":{"answers":["High","user_note: but not at night"]}}}"#),
    ];
    let sample = Sample { agent: agent("codex"), files: vec![(ROLLOUT, lines(&records))] };
    let (_folder, sessions) = sample.sessions();
    let told = dialogues(&sessions[0]);
    let Dialogue::Todos(Todos::Whole(list)) = &told[0] else { panic!("{told:?}") };
    let list: Vec<_> = list.iter().map(|one| (one.text.as_deref().unwrap(), one.state)).collect();
    let states = [("Look", Some(TodoState::Done)), ("Write", Some(TodoState::Active))];
    assert_eq!(list, states);
    assert_eq!(answers(&told), [(vec!["High"], Some("but not at night"))]);
}

#[test]
fn dialogue_of_cline() {
    let messages = json!([
        { "role": "user", "content": [{ "type": "text", "text": "<task>\nFix it\n</task>" }] },
        { "role": "assistant", "content": [{ "type": "text",
            "text": "<ask_followup_question>\n<question>Which tone?</question>\n<options>[\"Low\", \"High\"]</options>\n</ask_followup_question>" }] },
        { "role": "user", "content": [
            { "type": "text", "text": "[ask_followup_question for 'Which tone?'] Result:" },
            { "type": "text", "text": "<answer>\nHigh\n</answer>" }] },
    ]);
    let file = "tasks/1769851800000/api_conversation_history.json";
    let sample =
        Sample { agent: agent("cline"), files: vec![(file, messages.to_string().into_bytes())] };
    let (_folder, sessions) = sample.sessions();
    let told = dialogues(&sessions[0]);
    let Dialogue::Questions(asked) = &told[0] else { panic!("{told:?}") };
    let labels: Vec<_> = asked[0].options.iter().map(|option| option.label.as_str()).collect();
    assert_eq!((asked[0].text.as_str(), labels), ("Which tone?", vec!["Low", "High"]));
    assert_eq!(texts(&sessions[0]).last().unwrap(), "user: High", "the answer is a prompt");
}
