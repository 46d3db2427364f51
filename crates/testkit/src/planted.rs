//! A session with something at any of its places, in any form.

use crate::{base64, discover_at};
use backstory_model::SessionFiles;
use serde_json::{Value, json};
use std::path::Path;

const ID: &str = "11111111-1111-4111-8111-111111111111";

/// Where something of a session can stand.
pub const PLACES: [&str; 28] = [
    "prompt",
    "prompt block",
    "answer",
    "thinking",
    "input",
    "deep input",
    "key",
    "result",
    "result block",
    "second result block",
    "structured result",
    "structured key",
    "patch",
    "file path",
    "file content",
    "branch",
    "folder",
    "title",
    "summary",
    "attachment",
    "queue",
    "subagent prompt",
    "subagent answer",
    "subagent result",
    "subagent meta",
    "unknown record",
    "unknown field",
    "tool name",
];

/// The forms in which a secret may stand.
pub const FORMS: [&str; 11] = [
    "raw",
    "escaped",
    "twice",
    "url",
    "url lower",
    "base64 0",
    "base64 1",
    "base64 2",
    "wrapped",
    "wrapped base64",
    "hex",
];

pub fn form(secret: &str, form: &str) -> String {
    let percent = |upper: bool| -> String {
        secret
            .bytes()
            .map(|byte| match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => {
                    char::from(byte).to_string()
                }
                byte if upper => format!("%{byte:02X}"),
                byte => format!("%{byte:02x}"),
            })
            .collect()
    };
    let escaped = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let wrapped = |text: &str| {
        let cut = text.len() / 2;
        format!("{}\n  {}", &text[..cut], &text[cut..])
    };
    match form {
        "raw" => secret.to_owned(),
        "escaped" => escaped(secret),
        "twice" => escaped(&escaped(secret)),
        "url" => percent(true),
        "url lower" => percent(false),
        "base64 0" => base64(secret.as_bytes()),
        "base64 1" => base64(format!("x{secret}yz").as_bytes()),
        "base64 2" => base64(format!("us{secret}q").as_bytes()),
        "wrapped" => wrapped(secret),
        "wrapped base64" => wrapped(&base64(secret.as_bytes())),
        _ => secret.bytes().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// A session with a subagent, alone in its folder; `planted` gives the text of a place.
pub fn write_session(folder: &Path, planted: &dyn Fn(&str) -> Option<String>) -> SessionFiles {
    write_records(folder, ID, planted);
    let found = discover_at(folder);
    assert_eq!((found.sessions.len(), found.sessions[0].agents.len()), (1, 1));
    found.sessions[0].clone()
}

/// The files of such a session, under an id.
pub fn write_records(folder: &Path, id: &str, planted: &dyn Fn(&str) -> Option<String>) {
    let at = |place: &str, usual: &str| planted(place).unwrap_or_else(|| usual.to_owned());
    let common = |uuid: &str, parent: Option<&str>, kind: &str, mut more: Value| {
        let fields = json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": id, "version": "2.1.325",
            "cwd": at("folder", "/srv/app"), "gitBranch": at("branch", "main"),
            "timestamp": "2026-10-01T10:00:00.000Z",
        });
        for (name, value) in fields.as_object().unwrap() {
            more[name] = value.clone();
        }
        more
    };
    let assistant = |id: &str, content: Value| {
        json!({ "message": {
            "role": "assistant", "id": id, "model": "claude-opus-4-6", "stop_reason": "tool_use",
            "usage": { "input_tokens": 1, "output_tokens": 1 }, "content": content,
        } })
    };
    let user = |content: Value| json!({ "message": { "role": "user", "content": content } });
    let path = at("file path", "/srv/app/a.txt");
    let file = at("file content", "one\ntwo\n");
    let mut field = user(json!([
        { "type": "text", "text": at("prompt", "please do") },
        { "type": "text", "text": at("prompt block", "and more") },
    ]));
    field["novelField"] = json!({ "inner": [at("unknown field", "x")] });
    let mut result = user(json!([{ "type": "tool_result", "tool_use_id": "t1", "content": [
        { "type": "text", "text": at("result block", "fine") },
        { "type": "text", "text": at("second result block", "fine too") },
    ] }]));
    result["toolUseResult"] =
        json!({ "stdout": at("structured result", "ok"), at("structured key", "stderr"): "" });
    let mut wrote = user(json!([
        { "type": "tool_result", "tool_use_id": "t2", "content": at("result", "done") },
    ]));
    wrote["toolUseResult"] = json!({
        "type": "create", "filePath": path, "content": file,
        "structuredPatch": [{ "oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 1,
            "lines": [format!("+{}", at("patch", "one"))] }],
    });
    let mut came = user(json!([
        { "type": "tool_result", "tool_use_id": "t3", "content": at("subagent result", "found") },
    ]));
    came["toolUseResult"] = json!({ "agentId": "abc123", "status": "completed" });
    let records = [
        json!({ "type": "summary", "summary": at("summary", "what it was about"), "leafUuid": "u2" }),
        json!({ "type": "custom-title", "customTitle": at("title", "a title"), "sessionId": id }),
        json!({ "type": "queue-operation", "operation": "enqueue", "sessionId": id,
            "timestamp": "2026-10-01T10:00:00.000Z", "content": at("queue", "later") }),
        common("u1", None, "user", field),
        common(
            "u1a",
            Some("u1"),
            "attachment",
            json!({ "attachment": { "type": "file", "filename": "n.txt",
                "content": at("attachment", "notes") } }),
        ),
        common(
            "u2",
            Some("u1"),
            "assistant",
            assistant(
                "m1",
                json!([
                    { "type": "thinking", "thinking": at("thinking", "hm"), "signature": "c2ln" },
                    { "type": "text", "text": at("answer", "I will") },
                    { "type": "tool_use", "id": "t1", "name": at("tool name", "Bash"), "input": {
                        "command": at("input", "ls"),
                        "options": [[{ at("key", "k"): [{ "deep": at("deep input", "d") }] }]],
                    } },
                ]),
            ),
        ),
        common("u3", Some("u2"), "user", result),
        common(
            "u4",
            Some("u3"),
            "assistant",
            assistant(
                "m2",
                json!([{ "type": "tool_use", "id": "t2", "name": "Write",
                    "input": { "file_path": path, "content": file } }]),
            ),
        ),
        common("u5", Some("u4"), "user", wrote),
        common(
            "u6",
            Some("u5"),
            "assistant",
            assistant(
                "m3",
                json!([{ "type": "tool_use", "id": "t3", "name": "Task", "input": {
                    "subagent_type": "Explore", "prompt": at("subagent prompt", "look around") } }]),
            ),
        ),
        common("u7", Some("u6"), "user", came),
        common(
            "u8",
            Some("u7"),
            "novel-record",
            json!({ "payload": { "list": [at("unknown record", "y")] } }),
        ),
    ];
    let mut agent = vec![
        common("a1", None, "user", user(json!(at("subagent prompt", "look around")))),
        common(
            "a2",
            Some("a1"),
            "assistant",
            assistant("m9", json!([{ "type": "text", "text": at("subagent answer", "seen") }])),
        ),
    ];
    for record in &mut agent {
        record["isSidechain"] = true.into();
        record["agentId"] = "abc123".into();
    }
    let lines = |records: &[Value]| -> String {
        records.iter().map(|record| format!("{record}\n")).collect()
    };
    let project = folder.join("projects/-srv-app");
    let agents = project.join(id).join("subagents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(project.join(format!("{id}.jsonl")), lines(&records)).unwrap();
    std::fs::write(agents.join("agent-abc123.jsonl"), lines(&agent)).unwrap();
    let meta = json!({ "agentType": "Explore", "description": at("subagent meta", "a look"), "toolUseId": "t3" });
    std::fs::write(agents.join("agent-abc123.meta.json"), meta.to_string()).unwrap();
}
