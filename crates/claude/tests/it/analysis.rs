//! The analysis states exactly what was put into the sessions.

use backstory_claude::analyze::report;
use backstory_claude::analyze::report::AnalysisJson;
use backstory_claude::analyze::{Analysis, Grouping, Others, Profile};
use backstory_store::ReadContext;
use backstory_testkit::{discover_in, testdata};
use backstory_text::document;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What one generated session holds.
#[derive(Debug, Clone)]
struct Plan {
    regime: Regime,
    turns: usize,
    /// Calls per turn, each with its result.
    calls: usize,
    /// Prompts that were typed again under the same parent.
    edited: usize,
    /// A call at the end that nothing answers.
    cut_off: bool,
    /// Results whose call is nowhere.
    stray_results: usize,
    /// Lines that are no JSON.
    broken_lines: usize,
    /// Records whose parent is nowhere.
    lost_parents: usize,
}

/// How a client writes the records of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Regime {
    /// No stop reason anywhere, the same placeholder everywhere.
    Old,
    /// On the last record only, which has the final count.
    Middle,
    /// On every record, with the final count.
    New,
}

impl Regime {
    fn version(self) -> &'static str {
        match self {
            Regime::Old => "2.1.30",
            Regime::Middle => "2.1.70",
            Regime::New => "2.1.143",
        }
    }
}

fn plan() -> impl Strategy<Value = Plan> {
    let regime = prop_oneof![Just(Regime::Old), Just(Regime::Middle), Just(Regime::New)];
    (regime, 1..5usize, 0..4usize, 0..3usize, any::<bool>(), 0..3usize, 0..3usize, 0..3usize)
        .prop_map(
            |(regime, turns, calls, edited, cut_off, stray_results, broken_lines, lost_parents)| {
                Plan {
                    regime,
                    turns,
                    calls,
                    edited,
                    cut_off,
                    stray_results,
                    broken_lines,
                    lost_parents,
                }
            },
        )
}

struct Writer {
    text: String,
    plan: Plan,
    session: usize,
    next: usize,
}

impl Writer {
    fn id(&mut self) -> String {
        self.next += 1;
        format!("{:08x}-0000-4000-8000-{:012x}", self.session, self.next)
    }

    fn record(&mut self, kind: &str, parent: Option<&str>, message: Value) -> String {
        let uuid = self.id();
        let record = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/work",
            "sessionId": format!("{:08x}-0000-4000-8000-000000000000", self.session),
            "version": self.plan.regime.version(), "type": kind, "message": message,
            "uuid": uuid, "timestamp": "2026-01-01T00:00:00.000Z",
        });
        let _ = writeln!(self.text, "{record}");
        uuid
    }

    fn user(&mut self, parent: Option<&str>, content: Value) -> String {
        self.record("user", parent, json!({ "role": "user", "content": content }))
    }

    /// A message of several blocks; the uuids of its records.
    fn assistant(&mut self, parent: &str, blocks: &[Value]) -> Vec<String> {
        let message = self.id();
        let mut uuids: Vec<String> = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            let last = at + 1 == blocks.len();
            let (stop, output) = match self.plan.regime {
                Regime::Old => (Value::Null, 1),
                Regime::Middle if last => (json!("end_turn"), 50),
                Regime::Middle => (Value::Null, 2),
                Regime::New => (json!("end_turn"), 50),
            };
            let parent = uuids.last().map_or(parent, String::as_str).to_owned();
            uuids.push(self.record("assistant", Some(&parent), json!({
                "role": "assistant", "id": format!("msg_{message}"), "model": "claude-x", "type": "message",
                "content": [block], "stop_reason": stop, "stop_sequence": null,
                "usage": { "input_tokens": 5, "output_tokens": output },
            })));
        }
        uuids
    }
}

fn write(session: usize, plan: &Plan) -> String {
    let mut writer = Writer { text: String::new(), plan: plan.clone(), session, next: 0 };
    let mut parent: Option<String> = None;
    for turn in 0..plan.turns {
        if turn > 0 && turn <= plan.edited {
            // The first wording of a prompt, left behind.
            writer.user(parent.as_deref(), json!(format!("first wording {turn}")));
        }
        let mut at = writer.user(parent.as_deref(), json!(format!("prompt {turn}")));
        for call in 0..plan.calls {
            let id = format!("toolu_{session}_{turn}_{call}");
            let text = json!({ "type": "text", "text": "looking" });
            let use_block = json!({ "type": "tool_use", "id": id, "name": "Read", "input": { "file_path": "/x" } });
            let records = writer.assistant(&at, &[text, use_block]);
            let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": "ok" }]);
            at = writer.user(records.last().map(String::as_str), result);
        }
        let done = json!({ "type": "text", "text": "done" });
        let records = writer.assistant(
            &at,
            &[json!({ "type": "thinking", "thinking": "", "signature": "s" }), done],
        );
        parent = records.last().cloned();
    }
    for stray in 0..plan.stray_results {
        let result = json!([{ "type": "tool_result", "tool_use_id": format!("toolu_none_{session}_{stray}"), "content": "?" }]);
        parent = Some(writer.user(parent.as_deref(), result));
    }
    for _ in 0..plan.broken_lines {
        writer.text.push_str("{\"type\":\"user\",\"message\":\n");
    }
    for lost in 0..plan.lost_parents {
        let nobody = format!("ffffffff-0000-4000-8000-{lost:012x}");
        let record = writer.user(Some(&nobody), json!("continues something lost"));
        parent = Some(record);
    }
    if plan.cut_off {
        let block = json!({ "type": "tool_use", "id": format!("toolu_cut_{session}"), "name": "Bash", "input": {} });
        let at = parent.unwrap_or_default();
        writer.assistant(&at, &[block]);
    }
    writer.text
}

fn analyze(folder: &Path) -> Analysis {
    analyze_all(&[folder.to_path_buf()])
}

fn analyze_all(roots: &[PathBuf]) -> Analysis {
    let found = discover_in(roots);
    let mut analysis = Analysis::new(Grouping::None);
    let mut number = 0;
    for files in &found.sessions {
        let (session, examined, failures) =
            backstory_claude::examine(files, &mut ReadContext::default()).unwrap();
        assert!(failures.is_empty());
        let count = examined.len() as u32;
        analysis.add(number, &session, examined);
        number += count;
    }
    analysis.sort_lists();
    analysis
}

/// A figure summed over versions, sessions and subagents.
fn figure(data: &Value, name: &str) -> u64 {
    let versions = data["groups"][""]["versions"].as_object().unwrap();
    let of = |part: &Value| part[name].as_u64().unwrap_or(0);
    versions.values().map(|version| of(&version["sessions"]) + of(&version["subagents"])).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn analysis_states_what_was_put_into_sessions(plans in prop::collection::vec(plan(), 1..5)) {
        let folder = tempfile::tempdir().unwrap();
        for (at, plan) in plans.iter().enumerate() {
            let name = format!("{at:08x}-0000-4000-8000-000000000000.jsonl");
            std::fs::write(folder.path().join(name), write(at, plan)).unwrap();
        }
        let analysis = analyze(folder.path());
        let data = serde_json::to_value(AnalysisJson::new(&analysis, Others::default())).unwrap();
        let sum = |count: &dyn Fn(&Plan) -> usize| plans.iter().map(count).sum::<usize>() as u64;

        let calls = sum(&|plan| plan.turns * plan.calls + usize::from(plan.cut_off));
        prop_assert_eq!(figure(&data, "pairing.calls"), calls);
        prop_assert_eq!(figure(&data, "pairing.one-to-one"), sum(&|plan| plan.turns * plan.calls));
        prop_assert_eq!(figure(&data, "pairing.orphan-call.end-of-file"), sum(&|plan| usize::from(plan.cut_off)));
        prop_assert_eq!(figure(&data, "pairing.orphan-result"), sum(&|plan| plan.stray_results));
        prop_assert_eq!(
            figure(&data, "chain.branch.prompt-edited"),
            sum(&|plan| plan.edited.min(plan.turns - 1))
        );
        prop_assert_eq!(figure(&data, "chain.parent.missing"), sum(&|plan| plan.lost_parents));
        prop_assert_eq!(data["references"]["missing_parents"]["nowhere"].as_u64(), Some(sum(&|plan| plan.lost_parents)));

        let messages = |plan: &Plan| plan.turns * (plan.calls + 1) + usize::from(plan.cut_off);
        let of = |regime: Regime| sum(&|plan| if plan.regime == regime { messages(plan) } else { 0 });
        let cut = sum(&|plan| usize::from(plan.cut_off && plan.regime == Regime::Middle));
        prop_assert_eq!(figure(&data, "streaming.stop-reason.nowhere"), of(Regime::Old));
        prop_assert_eq!(figure(&data, "streaming.stop-reason.last-entry-only"), of(Regime::Middle) - cut);
        prop_assert_eq!(figure(&data, "streaming.stop-reason.every-entry"), of(Regime::New) + cut);
        let output = |plan: &Plan| messages(plan) * if plan.regime == Regime::Old { 1 } else { 50 };
        prop_assert_eq!(figure(&data, "streaming.output.largest"), sum(&output));

        for (row, plan) in data["sessions"].as_array().unwrap().iter().zip(&plans) {
            let torn = row["problems"]["torn-line"].as_u64().unwrap_or(0);
            prop_assert_eq!(torn, plan.broken_lines as u64);
            prop_assert_eq!(row["versions"].as_array().unwrap().len(), 1);
        }
        let records = sum(&|plan| write(0, plan).lines().count() - plan.broken_lines);
        let kinds = data["groups"][""]["kinds"].as_object().unwrap();
        let counted: u64 = ["user", "assistant"].iter().filter_map(|kind| kinds.get(*kind)).map(|kind| kind["count"].as_u64().unwrap()).sum();
        prop_assert_eq!(counted, records);

        // The document says the same in words.
        let text = document::markdown(&report::document(&analysis));
        prop_assert!(text.contains(&format!("{calls} calls, ")), "{}", text);
    }
}

fn drift(folder: &Path) -> Vec<String> {
    drift_of(&analyze(folder))
}

fn drift_of(analysis: &Analysis) -> Vec<String> {
    let found = Profile::shipped().unwrap().drift(&Profile::of(analysis));
    let line = |found: &backstory_claude::analyze::Difference| {
        format!("{} {} {} {}", found.kind.name(), found.of, found.path, found.detail)
            .trim_end()
            .to_owned()
    };
    found.iter().map(line).collect()
}

/// The sessions of `testdata` in which nothing is wrong on purpose, copied to a folder.
fn sound_testdata() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(testdata("sessions")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("fault-") && !name.starts_with("unknown-") {
            std::fs::copy(&path, folder.path().join(name)).unwrap();
        }
    }
    folder
}

#[test]
fn the_shipped_profile_knows_the_test_sessions() {
    let sessions = sound_testdata();
    let trees = std::fs::read_dir(testdata("trees")).unwrap();
    let trees =
        trees.map(|tree| tree.unwrap().path()).filter(|tree| tree.join("projects").is_dir());
    let mut roots: Vec<PathBuf> = trees.collect();
    assert!(roots.len() > 10);
    roots.push(sessions.path().to_path_buf());
    roots.push(testdata("sample"));
    // One file holds a made-up sub-type on purpose.
    assert_eq!(drift_of(&analyze_all(&roots)), ["new-type system/something_new"]);
}

#[test]
fn analyze_reports_faulty_sessions_as_drift() {
    let found = drift(&testdata("sessions"));
    for expected in [
        "new-type hologram",
        "new-type thought",
        "changed-type assistant uuid number",
        "changed-type user message.content number",
        "new-field assistant elapsed",
    ] {
        assert!(found.iter().any(|line| line == expected), "{expected}: {found:#?}");
    }
}

/// Every sort of change that a new version can bring.
#[test]
fn every_mutation_is_found() {
    let sample = testdata(
        "sample/projects/-home-dev-field-notes/5931ab08-5ffc-4edc-ae4a-50e733ce8063.jsonl",
    );
    let original = std::fs::read_to_string(sample).unwrap();
    type Mutation = (&'static str, fn(&mut Value) -> bool);
    let mutations: [Mutation; 12] = [
        ("new-type brand-new", |record| set(record, "mode", &["type"], json!("brand-new"))),
        ("new-type system/novel", |record| set(record, "system", &["subtype"], json!("novel"))),
        ("new-type attachment/novel", |record| {
            set(record, "attachment", &["attachment", "type"], json!("novel"))
        }),
        ("new-type block/hologram", |record| {
            set(record, "assistant", &["message", "content", "0", "type"], json!("hologram"))
        }),
        ("new-field user mood", |record| set(record, "user", &["mood"], json!("fine"))),
        ("new-field assistant message.usage.brain_tokens", |record| {
            set(record, "assistant", &["message", "usage", "brain_tokens"], json!(3))
        }),
        ("new-field file-history-snapshot snapshot.checksum", |record| {
            set(record, "file-history-snapshot", &["snapshot", "checksum"], json!("x"))
        }),
        ("changed-type assistant message.usage.input_tokens string", |record| {
            set(record, "assistant", &["message", "usage", "input_tokens"], json!("3"))
        }),
        ("changed-type user timestamp number", |record| {
            set(record, "user", &["timestamp"], json!(1))
        }),
        ("new-value assistant message.stop_reason bored", |record| {
            set(record, "assistant", &["message", "stop_reason"], json!("bored"))
        }),
        ("new-value user permissionMode yolo", |record| {
            set(record, "user", &["permissionMode"], json!("yolo"))
        }),
        ("vanished-field assistant sessionId", |record| {
            record["type"] == "assistant"
                && record.as_object_mut().unwrap().remove("sessionId").is_some()
        }),
    ];
    for (expected, mutate) in mutations {
        let mut applied = 0;
        let mut text = String::new();
        for line in original.lines() {
            let mut record: Value = serde_json::from_str(line).unwrap();
            applied += usize::from(mutate(&mut record));
            let _ = writeln!(text, "{record}");
        }
        assert!(applied > 0, "{expected}: nothing to change");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mutated.jsonl"), text).unwrap();
        assert_eq!(drift(folder.path()), [expected]);
    }
}

/// A field that only a version newer than all known ones leaves out is missed as well.
#[test]
fn drift_finds_a_field_that_new_versions_drop() {
    let sample = testdata(
        "sample/projects/-home-dev-field-notes/5931ab08-5ffc-4edc-ae4a-50e733ce8063.jsonl",
    );
    let folder = tempfile::tempdir().unwrap();
    let mut new = String::new();
    for line in std::fs::read_to_string(&sample).unwrap().lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if record.get("version").is_some() {
            record["version"] = json!("99.0.0");
            record.as_object_mut().unwrap().remove("isSidechain").unwrap();
        }
        let _ = writeln!(new, "{record}");
    }
    std::fs::copy(&sample, folder.path().join("old.jsonl")).unwrap();
    assert_eq!(drift(folder.path()), [""; 0]);
    std::fs::write(folder.path().join("new.jsonl"), new).unwrap();
    let found = drift(folder.path());
    assert!(found.contains(&"vanished-field user isSidechain".to_owned()), "{found:?}");
    assert!(found.iter().all(|line| line.ends_with("isSidechain")), "{found:?}");
}

/// Sets a value in records of a type; whether there was one.
fn set(record: &mut Value, kind: &str, path: &[&str], value: Value) -> bool {
    if record["type"] != kind {
        return false;
    }
    let (last, inner) = path.split_last().unwrap();
    let mut at = record;
    for key in inner {
        at = match at {
            Value::Array(list) => match list.get_mut(key.parse::<usize>().unwrap()) {
                Some(item) => item,
                None => return false,
            },
            Value::Object(_) => match at.get_mut(*key) {
                Some(inner) => inner,
                None => return false,
            },
            _ => return false,
        };
    }
    at[*last] = value;
    true
}

#[test]
fn a_profile_survives_its_file_and_takes_updates() {
    let whole = Profile::of(&analyze(sound_testdata().path()));
    let text = whole.to_json().unwrap();
    assert_eq!(Profile::from_json(&text).unwrap(), whole);
    // A version measured again replaces itself and nothing else.
    let some = whole.only(|version| version.as_str().starts_with("2.1"));
    let mut updated = whole.clone();
    updated.update(&some);
    assert_eq!(updated, whole);
    let mut rebuilt = whole.only(|version| !version.as_str().starts_with("2.1"));
    rebuilt.update(&some);
    assert_eq!(rebuilt, whole);
}

#[test]
fn profiles_hold_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let secret = "hunter2 is my pass word";
    let record = json!({
        "type": "user", "version": "2.1.143", "uuid": "00000000-0000-4000-8000-000000000001",
        "message": { "role": "user", "content": secret }, "cwd": "/home/someone/secret-project",
        "toolUseResult": { "answers": { "What is the pass word?": secret }, "/etc/passwd": 1, "a key with spaces": 2 },
        "permissionMode": "my pass word is hunter2", "origin": { "kind": "/home/someone" },
    });
    std::fs::write(folder.path().join("s.jsonl"), format!("{record}\n")).unwrap();
    let analysis = analyze(folder.path());
    let profile = Profile::of(&analysis).to_json().unwrap();
    let text = document::markdown(&report::document(&analysis));
    for word in ["hunter2", "pass word", "someone", "/etc", "key with"] {
        assert!(!profile.contains(word), "{word}: {profile}");
        assert!(!text.contains(word), "{word}: {text}");
    }
}
