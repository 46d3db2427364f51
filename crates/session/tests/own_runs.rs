//! What clients run for themselves, where the session it belongs to is gone.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::disallowed_methods)]

use backstory_agents as agents;
use backstory_export::{
    Document, Format, Options, Repositories, Secrets, Skipped, StateOptions, export,
};
use backstory_format::Limits;
use backstory_model::{Session, SessionKind};
use backstory_redact::Raw;
use backstory_session::discover::{Root, discover};
use backstory_session::stats::{Dimension, Origin, Prices, gather};
use serde_json::{Value, json};

const OWNER: &str = "55555555-5555-4555-8555-555555555555";

/// A subagent's file: words of a person or the client, then an answer each. `parent` is what the
/// first record names.
fn file(prompts: &[&str], parent: Value, more: &Value) -> String {
    let mut out = String::new();
    let mut before = parent;
    let mut add = |kind: &str, message: Value, more: &Value| {
        let uuid = format!("{:08x}-0000-4000-8000-000000000000", out.lines().count());
        let mut record = json!({
            "type": kind, "uuid": uuid, "parentUuid": before, "sessionId": OWNER, "isSidechain": true,
            "agentId": "a1", "cwd": "/w", "version": "2.1.112", "message": message,
            "timestamp": format!("2026-01-01T10:00:{:02}.000Z", out.lines().count()),
        });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        out.push_str(&format!("{record}\n"));
        before = uuid.into();
    };
    for (at, prompt) in prompts.iter().enumerate() {
        add("user", json!({ "role": "user", "content": prompt }), more);
        let usage = json!({ "input_tokens": 7, "output_tokens": 5 });
        let answer = json!({ "id": format!("msg_{prompt:.9}_{at}"), "role": "assistant", "model": "claude-sonnet-4-5",
            "content": [{ "type": "text", "text": "Answered." }], "stop_reason": "end_turn", "usage": usage });
        add("assistant", answer, &json!({}));
    }
    out
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(files: &[(&str, String)]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let agents = folder.path().join("projects/-w").join(OWNER).join("subagents");
        std::fs::create_dir_all(&agents).unwrap();
        for (name, text) in files {
            std::fs::write(agents.join(format!("agent-{name}.jsonl")), text).unwrap();
        }
        Place { folder }
    }

    fn read(&self) -> Vec<Session> {
        let found = discover(&[Root { path: self.folder.path().to_path_buf() }]);
        let limits = Limits::default();
        let read = |file| agents::read_stray(file, limits, &mut Vec::new()).unwrap();
        assert!(found.sessions.is_empty());
        found.stray_agents.iter().map(read).collect()
    }
}

fn states(session: &Session) -> Document {
    let prices = Prices::bundled().unwrap();
    let options = Options {
        format: Format::TraceState(StateOptions::default()),
        generation: 0,
        max_observation: None,
        repositories: Repositories::Leave,
        prices: &prices,
    };
    export(session, &options, Secrets::Kept(Raw::the_user_said_raw())).unwrap()
}

const ELSEWHERE: &str = "ffffffff-0000-4000-8000-000000000000";

/// Files with the kind that each is.
fn samples() -> Vec<(&'static str, String, SessionKind)> {
    use SessionKind::{ClientRun, Compaction, PromptSuggestion, SideQuestion, Task, Warmup};
    let none = json!({});
    let copied = |last: &str| file(&["Fire the kiln", last], Value::Null, &none);
    let suggestion = "[SUGGESTION MODE: Suggest what comes next.]";
    let side = "<system-reminder>This is a side question from the user. Answer it.</system-reminder>\n\nHow hot?";
    let summary = "Your task is to create a detailed summary of the conversation so far.";
    let typed = json!({ "permissionMode": "default" });
    vec![
        // By name, whatever they hold.
        (
            "aprompt_suggestion-0a1b2c3d4e5f6a7b",
            file(&["x"], ELSEWHERE.into(), &none),
            PromptSuggestion,
        ),
        ("acompact-0a1b2c3d4e5f6a7b", copied("y"), Compaction),
        ("aside_question-0a1b2c3d4e5f6a7b", copied("How hot?"), SideQuestion),
        ("asession_memory-0a1b2c3d4e5f6a7b", copied("Note it"), ClientRun),
        // By what they ask.
        ("a0000001", copied(suggestion), PromptSuggestion),
        ("a0000002", copied(side), SideQuestion),
        ("a0000003", copied(summary), Compaction),
        ("a0000004", file(&["Warmup"], Value::Null, &none), Warmup),
        // By what they copy, under a name nobody knows yet.
        ("anew_purpose-0a1b2c3d4e5f6a7b", file(&["Go on"], ELSEWHERE.into(), &none), ClientRun),
        (
            "aother_purpose-0a1b2c3d4e5f6a7b",
            file(&["Fire", "Sum up"], Value::Null, &typed),
            ClientRun,
        ),
        // Tasks, one of them with a name.
        ("a0000005", file(&["Count the bricks"], Value::Null, &none), Task),
        ("abrick-counter-0a1b2c3d4e5f6a7b", file(&["Count bricks"], Value::Null, &none), Task),
        ("a0000006", file(&["Say what [SUGGESTION MODE means"], Value::Null, &none), Task),
    ]
}

#[test]
fn runs_of_the_client_are_named_for_what_they_are() {
    for (name, text, kind) in samples() {
        let read = Place::new(&[(name, text)]).read();
        assert_eq!(read.iter().map(|one| one.kind).collect::<Vec<_>>(), [kind], "{name}");
    }
}

#[test]
fn they_are_no_training_data() {
    let files: Vec<_> = samples().into_iter().map(|(name, text, _)| (name, text)).collect();
    let (mut made, mut left_out) = (0, 0);
    for session in Place::new(&files).read() {
        let document = states(&session);
        let figures = &document.figures.states;
        assert!(figures.add_up());
        let expected = if session.kind == SessionKind::Task { 0 } else { figures.messages };
        assert_eq!(figures.skipped(Skipped::ClientRun), expected, "{}", session.id);
        assert_eq!(document.is_empty, expected > 0);
        made += figures.states;
        left_out += figures.skipped(Skipped::ClientRun);
    }
    assert_eq!((made, left_out), (3, 17));
}

#[test]
fn an_answer_to_nothing_is_no_state() {
    let text = file(&["Count the bricks"], Value::Null, &json!({}));
    let answer: String = text.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let later = text.replace("00000000-0000", "10000000-0000").replace("msg_", "msg_later_");
    let later = later.replace("00000001-0000", "20000000-0000");
    let later = later.replacen(
        "\"parentUuid\":null",
        "\"parentUuid\":\"00000001-0000-4000-8000-000000000000\"",
        1,
    );
    let place = Place::new(&[("a0000007", answer + &later)]);
    let read = place.read();
    let document = states(&read[0]);
    let figures = &document.figures.states;
    assert_eq!((figures.messages, figures.states, figures.skipped(Skipped::NoPrompt)), (2, 1, 1));
}

#[test]
fn what_they_took_is_counted() {
    let files: Vec<_> = samples().into_iter().map(|(name, text, _)| (name, text)).collect();
    let place = Place::new(&files);
    let found = discover(&[Root { path: place.folder.path().to_path_buf() }]);
    let ledger = gather(&[], &found.stray_agents, Dimension::Model, Limits::default(), |_| {});
    let own = ledger.sources.iter().filter(|one| one.origin == Origin::Housekeeping).count();
    assert_eq!(own, 4);
    assert!(ledger.messages.iter().all(|message| message.spent.is_some()));
    assert!(!ledger.messages.is_empty());
}

/// Around 2.0.22 the warm-up of a subagent is in the session's own file.
#[test]
fn a_warm_up_inside_the_session_is_no_task() {
    let folder = tempfile::tempdir().unwrap();
    let own = file(&["Fire the kiln"], Value::Null, &json!({})).replace(":true", ":false");
    let inside = |prompt: &str, digit: &str| {
        let text = file(&[prompt], Value::Null, &json!({})).replace("\"agentId\":\"a1\",", "");
        text.replace("-0000-4000-8000-", &format!("-{digit}000-4000-8000-"))
    };
    let text =
        own.replace("\"agentId\":\"a1\",", "") + &inside("Warmup", "1") + &inside("Count", "2");
    let path = folder.path().join(format!("{OWNER}.jsonl"));
    std::fs::write(&path, text).unwrap();
    let found = discover(&[Root { path }]);
    let (session, _) =
        agents::read(&found.sessions[0], Limits::default(), &mut Vec::new()).unwrap();
    let kinds: Vec<_> = session.subagents.iter().map(|agent| agent.kind).collect();
    assert_eq!(kinds, [SessionKind::Warmup, SessionKind::Task]);
}
