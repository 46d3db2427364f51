//! Exports tell the session, are what their hash says, and hold no secret.

use crate::support::{make, raw, rows_of_trainers};
use backstory_agents as agents;
use backstory_export::{
    AtifSchema, Format, Input, Layout, OpenTracesSchema, Options, Repositories, Secrets,
    StateOptions, digest,
};
use backstory_model::{Call, CallOutcome, Effect, Session};
use backstory_redact::{Classes, Config, Raw, Redactor};
use backstory_session::stats::Prices;
use backstory_store::ReadContext;
use backstory_testkit::{
    agent_forms, all_sessions, claude_sessions, discover_at, sessions, testdata,
};
use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::path::Path;

const FORMATS: [Format<'static>; 5] = [
    Format::OpenTraces(OpenTracesSchema::V0_9),
    Format::OpenTraces(OpenTracesSchema::V0_3),
    Format::Atif(AtifSchema::V1_7),
    Format::Atif(AtifSchema::V1_8),
    Format::AgentTrace,
];

/// A value whose objects must have their keys in order, none twice.
struct Sorted;

impl<'de> Deserialize<'de> for Sorted {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Sorted, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Sorted;
            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("a value with sorted keys")
            }
            fn visit_unit<E>(self) -> Result<Sorted, E> {
                Ok(Sorted)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Sorted, E> {
                Ok(Sorted)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Sorted, E> {
                Ok(Sorted)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Sorted, E> {
                Ok(Sorted)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Sorted, E> {
                Ok(Sorted)
            }
            fn visit_str<E>(self, _: &str) -> Result<Sorted, E> {
                Ok(Sorted)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Sorted, A::Error> {
                while list.next_element::<Sorted>()?.is_some() {}
                Ok(Sorted)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sorted, A::Error> {
                let mut last: Option<String> = None;
                while let Some((name, _)) = map.next_entry::<String, Sorted>()? {
                    if last.as_ref().is_some_and(|last| *last >= name) {
                        let message = format!("`{name}` after `{}`", last.unwrap_or_default());
                        return Err(serde::de::Error::custom(message));
                    }
                    last = Some(name);
                }
                Ok(Sorted)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// The package hashes the record without hash and id, its keys sorted, as Python prints it. What
/// Python prints is checked against Python by `scripts/conformance/exports.py`.
#[test]
fn the_hash_is_over_the_sorted_record() {
    for session in &all_sessions() {
        for schema in [OpenTracesSchema::V0_9, OpenTracesSchema::V0_3] {
            let (text, record) = raw(session, Format::OpenTraces(schema));
            assert!(text.is_ascii() && text.ends_with("}\n") && text.lines().count() == 1);
            let (hashed, _) = text.rsplit_once(", \"content_hash\": ").unwrap();
            let hashed = format!("{hashed}}}");
            serde_json::from_str::<Sorted>(&hashed)
                .unwrap_or_else(|error| panic!("{}: {error}", session.source.path().display()));
            let hash: String =
                digest(&[hashed.as_bytes()]).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(record["content_hash"], hash);
        }
    }
}

#[test]
fn exports_hold_each_step_and_call_once() {
    for session in &all_sessions() {
        let members: Vec<&Session> = session
            .walk()
            .into_iter()
            .filter(|one| !one.kind.is_housekeeping() || std::ptr::eq(*one, session))
            .collect();
        let turns = || members.iter().flat_map(|member| &member.turns);
        let steps = || turns().flat_map(|turn| &turn.steps);
        let calls: usize = steps().map(|step| step.calls().count()).sum();
        let (_, record) = raw(session, Format::OpenTraces(OpenTracesSchema::V0_9));
        let exported = record["steps"].as_array().unwrap();
        let place = session.source.path().display();
        assert_eq!(record["metrics"]["total_steps"], exported.len(), "{place}");
        let agents = exported.iter().filter(|step| step["model"] != Value::Null).count();
        let models = steps().filter(|step| step.model.is_some() && !step.synthetic).count();
        assert_eq!(agents, models, "{place}");
        let listed = exported.iter().map(|step| step["tool_calls"].as_array().unwrap().len());
        assert_eq!(listed.sum::<usize>(), calls, "{place}");
        for (at, step) in exported.iter().enumerate() {
            assert_eq!(step["step_index"], at + 1);
        }
        let (_, trajectory) = raw(session, Format::Atif(AtifSchema::V1_7));
        assert_eq!(count_atif(&trajectory), (agents, calls), "{place}");
    }
}

/// Steps of models and calls of a trajectory and those inside it.
fn count_atif(trajectory: &Value) -> (usize, usize) {
    let none = Vec::new();
    let exported = trajectory["steps"].as_array().unwrap();
    let mut agents = exported.iter().filter(|step| step.get("model_name").is_some()).count();
    let calls = |step: &Value| step["tool_calls"].as_array().map_or(0, Vec::len);
    let mut called = exported.iter().map(calls).sum();
    for inside in trajectory["subagent_trajectories"].as_array().unwrap_or(&none) {
        let (more_agents, more_calls) = count_atif(inside);
        agents += more_agents;
        called += more_calls;
    }
    (agents, called)
}

#[test]
fn export_puts_subagents_after_their_call() {
    let mut linked = 0;
    for session in &all_sessions() {
        let (_, record) = raw(session, Format::OpenTraces(OpenTracesSchema::V0_9));
        for step in record["steps"].as_array().unwrap() {
            if let Some(parent) = step["parent_step"].as_u64() {
                linked += 1;
                assert_eq!(step["call_type"], "subagent");
                assert!(parent < step["step_index"].as_u64().unwrap());
                let parent = &record["steps"][parent as usize - 1];
                assert!(parent["subagent_trajectory_ref"].is_string());
            }
        }
    }
    assert!(linked > 10, "{linked}");
}

#[test]
fn the_newest_sample_names_its_lines() {
    let all = sessions(&testdata("sample"));
    let mut ranges = 0;
    for session in &all {
        let (_, record) = raw(session, Format::OpenTraces(OpenTracesSchema::V0_9));
        let (_, trace) = raw(session, Format::AgentTrace);
        for file in record["attribution"]["files"].as_array().into_iter().flatten() {
            assert!(!file["path"].as_str().unwrap().starts_with('/'), "below the project");
            for talk in file["conversations"].as_array().unwrap() {
                assert_eq!(talk["contributor"]["type"], "ai");
                let url = talk["url"].as_str().unwrap();
                assert!(url.contains(record["trace_id"].as_str().unwrap()));
                for range in talk["ranges"].as_array().unwrap() {
                    ranges += 1;
                    assert!(range["content_hash"].as_str().unwrap().starts_with("murmur3:"));
                }
            }
        }
        let files = record["attribution"]["files"].as_array().map_or(0, Vec::len);
        assert_eq!(trace["files"].as_array().unwrap().len(), files);
        let patches = record["patches"].as_array().unwrap();
        assert!(patches.iter().all(|patch| patch["tool_call_id"].is_string()));
    }
    assert!(ranges > 0);
}

/// A session with one text in every place where sessions hold text.
fn planted(folder: &Path, secret: &str) -> Session {
    let quoted = serde_json::to_string(secret).unwrap();
    let record = |parent: &str, uuid: &str, rest: String| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"11111111-1111-4111-8111-111111111111","uuid":"{uuid}","timestamp":"2026-01-01T00:00:0{}Z","cwd":"/w/x {secret}","gitBranch":"b {secret}","version":"2.1.0",{rest}}}"#,
            uuid.len() % 10
        )
    };
    let lines = [
        record(
            "null",
            "a",
            format!(r#""type":"user","message":{{"role":"user","content":"use {secret} please"}}"#),
        ),
        record(
            "\"a\"",
            "bb",
            format!(
                r#""type":"assistant","message":{{"id":"m1","role":"assistant","model":"claude-opus-4-6","content":[{{"type":"thinking","thinking":"it is {secret}","signature":"s"}},{{"type":"text","text":"ok {secret}"}},{{"type":"tool_use","id":"t1","name":"Write","input":{{"file_path":"/w/y {secret}/f.py","content":"key = '{secret}'\n","k {secret}":[{quoted}]}}}},{{"type":"tool_use","id":"t2","name":"Bash","input":{{"command":"pip install {secret}"}}}}],"usage":{{"input_tokens":1,"output_tokens":2}},"stop_reason":"tool_use"}}"#
            ),
        ),
        record(
            "\"bb\"",
            "ccc",
            format!(
                r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":"File created successfully at {secret}"}}]}},"toolUseResult":{{"type":"create","filePath":"/w/y {secret}/f.py","content":"key = '{secret}'\n","structuredPatch":[]}}"#
            ),
        ),
        record(
            "\"bb\"",
            "dddd",
            format!(
                r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t2","content":[{{"type":"text","text":"{filler}{secret} done"}}]}}]}},"toolUseResult":{{"stdout":{quoted}}}"#,
                filler = "x ".repeat(95)
            ),
        ),
        format!(
            r#"{{"type":"custom-title","customTitle":"about {secret}","sessionId":"11111111-1111-4111-8111-111111111111"}}"#
        ),
    ];
    let path = folder.join("11111111-1111-4111-8111-111111111111.jsonl");
    #[allow(clippy::disallowed_methods)]
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    sessions(&path).remove(0)
}

#[test]
fn a_planted_secret_is_in_no_export() {
    let folder = tempfile::tempdir().unwrap();
    let secret = "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";
    let session = planted(folder.path(), secret);
    let config = Config { classes: Classes::ALL, ..Config::default() };
    let redactor = Redactor::new(&config).unwrap();
    let states = StateOptions::default();
    let compact = StateOptions { layout: Layout::Compact, ..states };
    let more = [Format::TraceState(states), Format::TraceState(compact)];
    let more = more.into_iter().chain(rows_of_trainers(states).map(Format::Sft));
    for format in FORMATS.into_iter().chain(more) {
        let (open, _) = make(&session, format, Secrets::Kept(Raw::requested_by_user()));
        assert!(open.contains(secret), "{format:?}: the test itself");
        let (text, document) = make(&session, format, Secrets::TakenOut(&redactor));
        // Half of it is as bad.
        let (first, last) = secret.split_at(secret.len() / 2);
        for part in [secret, first, last] {
            assert!(!text.contains(part), "{format:?}: {text}");
        }
        assert!(!document.redacted.is_empty());
        let again = make(&session, format, Secrets::TakenOut(&redactor)).0;
        assert_eq!(text, again);
    }
}

/// The record of the only session of a folder, made of its files, which may be several.
fn read_and_made(folder: &Path, format: Format<'_>, secrets: Secrets<'_>) -> Value {
    let found = discover_at(folder);
    let read = Input::read(&found.sessions[0], format, secrets, &mut ReadContext::default());
    let prices = Prices::bundled().unwrap();
    let (generation, max_observation, repositories) = (0, None, Repositories::Leave);
    let options = Options { format, generation, max_observation, repositories, prices: &prices };
    let mut out = Vec::new();
    read.unwrap().0.export(&options, secrets).unwrap().copy_to(&mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn redaction_changes_no_id() {
    let redactor = Redactor::new(&Config { classes: Classes::ALL, ..Config::default() }).unwrap();
    let format = Format::OpenTraces(OpenTracesSchema::V0_9);
    let mut pairs: Vec<(Value, Value)> = Vec::new();
    for session in &claude_sessions() {
        let (text, _) = make(session, format, Secrets::TakenOut(&redactor));
        pairs.push((raw(session, format).1, serde_json::from_str(&text).unwrap()));
    }
    for folder in agent_forms().into_iter().map(|form| form.folder) {
        let cleared = read_and_made(&folder, format, Secrets::TakenOut(&redactor));
        let open = read_and_made(&folder, format, Secrets::Kept(Raw::requested_by_user()));
        pairs.push((open, cleared));
    }
    for (open, cleared) in pairs {
        let ids = |record: &Value| {
            let mut ids = vec![record["session_id"].clone(), record["trace_id"].clone()];
            for step in record["steps"].as_array().unwrap() {
                for call in step["tool_calls"].as_array().unwrap() {
                    ids.push(call["tool_call_id"].clone());
                }
                for seen in step["observations"].as_array().unwrap() {
                    ids.push(seen["source_call_id"].clone());
                }
            }
            ids
        };
        assert_eq!(ids(&open), ids(&cleared));
        assert_eq!(cleared["security"]["scanned"], true);
        assert_eq!(open["security"]["scanned"], false);
    }
}

#[test]
fn a_session_with_an_unreadable_part_is_exported_raw_only() {
    let found = discover_at(testdata("sample"));
    let mut files = found.sessions.iter().find(|files| !files.agents.is_empty()).unwrap().clone();
    let mut gone = files.agents[0].clone();
    gone.path.set_file_name("agent-0123456789abcdef0.jsonl");
    files.agents.push(gone);
    let redactor = Redactor::new(&Config {
        classes: Classes::ALL,
        salt: b"salt".to_vec(),
        home: None,
        user: None,
        own_rules: Vec::new(),
    })
    .unwrap();
    let read = |secrets| Input::read(&files, FORMATS[0], secrets, &mut ReadContext::default());
    let (_, missing) = read(Secrets::Kept(Raw::requested_by_user())).unwrap();
    assert_eq!(missing.len(), 1);
    let refused = read(Secrets::TakenOut(&redactor)).unwrap_err();
    assert!(refused.path().ends_with("agent-0123456789abcdef0.jsonl"));
}

/// A session of another agent with one answer, of which only totals are known.
fn benchmarked(folder: &Path) -> Session {
    let path = folder.join("run.traj");
    let text = serde_json::json!({
        "environment": "main",
        "trajectory": [{
            "action": "ls\n", "observation": "mill.py\n", "response": "Look.\n```\nls\n```",
            "thought": "Look.", "state": {}, "query": [],
        }],
        "history": [
            { "role": "user", "content": "Mend the mill.", "agent": "main" },
            { "role": "assistant", "content": "Look.\n```\nls\n```", "thought": "Look.",
              "action": "ls\n", "agent": "main" },
            { "role": "user", "content": "mill.py\n", "agent": "main" },
        ],
        "info": {
            "exit_status": "submitted", "submission": "diff --git a/mill.py b/mill.py\n",
            "model_stats": { "instance_cost": 0.25, "tokens_sent": 1000,
                             "tokens_received": 50, "api_calls": 1 },
        },
    });
    #[allow(clippy::disallowed_methods)]
    std::fs::write(&path, text.to_string()).unwrap();
    let found = discover_at(&path);
    agents::read(&found.sessions[0], &mut ReadContext::default()).unwrap().0
}

#[test]
fn export_holds_sums_and_judgements_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let session = benchmarked(folder.path());
    assert_eq!(session.usage.input, 1000, "only the sum is known");
    let (_, record) = raw(&session, FORMATS[0]);
    assert_eq!(record["metrics"]["total_input_tokens"], 1000);
    assert_eq!(record["metrics"]["total_output_tokens"], 50);
    assert_eq!(record["metrics"]["estimated_cost_usd"], 0.25);
    let metadata = &record["metadata"];
    assert_eq!(metadata["reported_cost_usd"], 0.25);
    assert_eq!(metadata["usage_incomplete"], false);
    assert_eq!(metadata["benchmark"]["exit_status"], "submitted");
    assert_eq!(metadata["benchmark"]["patch"], "diff --git a/mill.py b/mill.py\n");
    let (_, older) = raw(&session, FORMATS[1]);
    assert_eq!(older["outcome"]["patch"], "diff --git a/mill.py b/mill.py\n");
    let (_, trajectory) = raw(&session, FORMATS[2]);
    let sums = &trajectory["final_metrics"];
    assert_eq!(sums["total_prompt_tokens"], 1000);
    assert_eq!(sums["total_cost_usd"], 0.25);
    assert_eq!(trajectory["extra"]["benchmark"]["exit_status"], "submitted");
}

#[test]
fn exports_leave_out_figures_that_were_never_counted() {
    let alone = |session: &Session| session.usage.output > 0 && session.walk().len() == 1;
    let mut session = all_sessions().into_iter().find(alone).unwrap();
    session.usage = backstory_model::UsageTotal::default();
    for turn in &mut session.turns {
        turn.steps.iter_mut().for_each(|step| step.usage = None);
    }
    let (_, record) = raw(&session, FORMATS[0]);
    assert_eq!(record["metadata"]["usage_incomplete"], true);
    let (_, trajectory) = raw(&session, FORMATS[2]);
    let sums = trajectory["final_metrics"].as_object().unwrap();
    assert!(!sums.contains_key("total_prompt_tokens"), "{sums:?}");
    assert_eq!(sums["extra"]["tokens_incomplete"], true);
}

#[test]
fn export_names_the_code_of_every_agent() {
    let mut agents = std::collections::BTreeSet::new();
    for session in sessions(&testdata("agents")) {
        let fine = |call: &&Call| {
            call.result.as_ref().is_some_and(|result| result.outcome == CallOutcome::Ok)
        };
        let calls = session.turns.iter().flat_map(|turn| turn.calls()).filter(fine);
        let effects: Vec<&Effect> = calls.flat_map(|call| &call.effects).collect();
        let edits = effects.iter().any(|effect| matches!(effect, Effect::Edit(_)));
        let (_, record) = raw(&session, FORMATS[0]);
        let steps = record["steps"].as_array().unwrap();
        let snippets = steps.iter().flat_map(|step| step["snippets"].as_array().unwrap());
        let paths: Vec<&str> = snippets.map(|one| one["file_path"].as_str().unwrap()).collect();
        let languages = record["environment"]["language_ecosystem"].as_array().unwrap();
        assert_eq!(edits, paths.iter().any(|path| path.ends_with("mill.py")), "{paths:?}");
        assert_eq!(edits, languages.iter().any(|language| language == "python"));
        agents.extend(edits.then(|| session.agent.name()));
    }
    assert!(agents.len() > 5, "{agents:?}");
}
