//! Random sessions, random options: every clone resumes, and a clone of a clone is the same.

use super::support::resumes;
use backstory_claude::clone::{
    Band, Branches, Category, CloneError, Droppable, Level, Older, Options, Speakers, Thinking,
    ToolMode, Tools, UpTo,
};
use backstory_testkit::clones::{Place, SOURCE, records};
use backstory_testkit::or_slow;
use proptest::prelude::*;
use serde_json::{Value, json};

/// One answer of the model.
#[derive(Debug, Clone)]
struct Step {
    thinking: bool,
    text: bool,
    calls: Vec<(u8, u16)>,
    /// Results hang off their own calls, as newer clients write them.
    fanned: bool,
    /// A result is missing, so that the source needs repair.
    lost: bool,
    progress: bool,
}

#[derive(Debug, Clone)]
struct Exchange {
    prompt: u8,
    steps: Vec<Step>,
    attachment: bool,
    meta: bool,
    rewound: bool,
    compacted: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let calls = prop::collection::vec((0u8..4, 0u16..2_000), 0..4);
    (any::<bool>(), any::<bool>(), calls, any::<bool>(), prop::bool::weighted(0.05), any::<bool>())
        .prop_map(|(thinking, text, calls, fanned, lost, progress)| Step {
            text: text || calls.is_empty(),
            thinking,
            calls,
            fanned,
            lost,
            progress,
        })
}

fn exchange() -> impl Strategy<Value = Exchange> {
    let flags = (
        any::<bool>(),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.08),
    );
    (0u8..6, prop::collection::vec(step(), 0..4), flags).prop_map(
        |(prompt, steps, (attachment, meta, rewound, compacted))| Exchange {
            prompt,
            steps,
            attachment,
            meta,
            rewound,
            compacted,
        },
    )
}

/// Writes records one below the other.
struct Writer {
    out: String,
    parent: Option<String>,
    count: u32,
}

impl Writer {
    fn add(&mut self, kind: &str, parent: Option<String>, more: Value) -> String {
        self.count += 1;
        let uuid = format!("{:08x}-0000-4000-8000-000000000000", self.count);
        let mut record = json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": uuid,
            "timestamp": format!("2026-01-01T{:02}:{:02}:{:02}.000Z", self.count / 3600 % 24, self.count / 60 % 60, self.count % 60),
            "cwd": "/home/dev/kiln", "sessionId": SOURCE, "version": "2.1.207", "gitBranch": "main",
        });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.out.push_str(&format!("{record}\n"));
        uuid
    }

    fn next(&mut self, kind: &str, more: Value) -> String {
        let uuid = self.add(kind, self.parent.clone(), more);
        self.parent = Some(uuid.clone());
        uuid
    }
}

fn prompt(kind: u8) -> Value {
    match kind {
        0 => {
            json!([{ "type": "text", "text": "Look at this" }, { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=".repeat(20) } }])
        }
        1 => json!("<command-name>/review</command-name>"),
        2 => json!("Please explain the kiln's controller.\n".repeat(12)),
        _ => json!("Fix the burner"),
    }
}

fn session(exchanges: &[Exchange]) -> String {
    let mut writer = Writer { out: String::new(), parent: None, count: 0 };
    for (turn, exchange) in exchanges.iter().enumerate() {
        if exchange.compacted && turn > 0 {
            let logical = writer.parent.take();
            writer.next("system", json!({ "subtype": "compact_boundary", "logicalParentUuid": logical, "content": "Conversation compacted", "compactMetadata": { "trigger": "auto", "preTokens": 9 } }));
            writer.next("user", json!({ "isCompactSummary": true, "message": { "role": "user", "content": "This session is being continued from a previous conversation" } }));
        }
        let before = writer.parent.clone();
        writer.next(
            "user",
            json!({ "message": { "role": "user", "content": prompt(exchange.prompt) } }),
        );
        if exchange.attachment {
            writer.next("attachment", json!({ "attachment": { "type": "todo", "content": "x" } }));
        }
        if exchange.meta {
            writer.next("user", json!({ "isMeta": true, "message": { "role": "user", "content": "injected words" } }));
        }
        for (number, step) in exchange.steps.iter().enumerate() {
            answer(&mut writer, step, turn, number);
        }
        if exchange.rewound {
            writer.parent = before;
        }
    }
    writer.out.push_str(&format!("{{\"type\":\"permission-mode\",\"permissionMode\":\"default\",\"sessionId\":\"{SOURCE}\"}}\n"));
    writer.out
}

fn answer(writer: &mut Writer, step: &Step, turn: usize, number: usize) {
    let id = format!("msg_{turn}_{number}");
    let stop = if step.calls.is_empty() { "end_turn" } else { "tool_use" };
    let record = |block: Value| json!({ "message": { "id": id, "role": "assistant", "model": "claude-opus-5", "type": "message", "content": [block], "stop_reason": stop, "usage": { "input_tokens": 3, "output_tokens": 9 } } });
    if step.thinking {
        writer.next(
            "assistant",
            record(json!({ "type": "thinking", "thinking": "hm", "signature": "c2lnbmVk" })),
        );
    }
    if step.text {
        let text =
            "I decided to use a queue because src/zones.rs writes twice.\nThat is how it is.\n"
                .repeat(1 + turn % 5);
        writer.next("assistant", record(json!({ "type": "text", "text": text })));
    }
    let mut made = Vec::new();
    for (at, (tool, length)) in step.calls.iter().enumerate() {
        let call = format!("toolu_{turn}_{number}_{at}");
        let name = ["Bash", "Read", "Edit", "mcp__kiln__fire"][usize::from(*tool)];
        let input = json!({ "command": "x ".repeat(usize::from(*length) / 4), "deep": { "list": ["y".repeat(300), 7] } });
        let uuid = writer.next(
            "assistant",
            record(json!({ "type": "tool_use", "id": call, "name": name, "input": input })),
        );
        made.push((call, uuid, *length));
    }
    for (at, (call, uuid, length)) in made.iter().enumerate() {
        if step.lost && at == 0 {
            continue;
        }
        if step.progress {
            let below = Some(uuid.clone());
            writer.add("progress", below, json!({ "toolUseID": call, "data": { "type": "hook" } }));
        }
        let content = match length % 3 {
            0 => {
                json!([{ "type": "text", "text": "line of output\n".repeat(usize::from(*length) / 15) + "end" }, { "type": "image", "source": { "type": "base64", "data": "A".repeat(400) } }])
            }
            _ => json!("line of output\n".repeat(usize::from(*length) / 15) + "end"),
        };
        let more = json!({ "sourceToolAssistantUUID": uuid, "toolUseResult": { "stdout": "o".repeat(usize::from(*length)) }, "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": call, "content": content }] } });
        if step.fanned {
            let last = writer.add("user", Some(uuid.clone()), more);
            if at + 1 == made.len() {
                writer.parent = Some(last);
            }
        } else {
            writer.next("user", more);
        }
    }
}

fn tools() -> impl Strategy<Value = Tools> {
    let mode = prop_oneof![Just(ToolMode::Keep), Just(ToolMode::Truncate), Just(ToolMode::Remove)];
    let named = prop::collection::btree_map(
        prop_oneof![Just("Bash".to_owned()), Just("mcp__*".to_owned())],
        mode.clone(),
        0..2,
    );
    (mode, 0u32..5, 0u8..=100, named).prop_map(|(mode, count, truncate_percent, by_name)| Tools {
        mode,
        older: Older::ButLast(count),
        truncate_percent,
        by_name,
    })
}

fn options() -> impl Strategy<Value = Options> {
    let drop = prop::collection::btree_set(
        prop_oneof![
            Just(Droppable::Meta),
            Just(Droppable::Progress),
            Just(Droppable::Snapshots),
            Just(Droppable::Images)
        ],
        0..4,
    );
    (tools(), any::<bool>(), drop).prop_map(|(tools, thinking, drop)| Options {
        tools,
        thinking: if thinking { Thinking::Remove } else { Thinking::Keep },
        drop,
        ..Options::default()
    })
}

/// What a clone says, without ids.
fn said(path: &std::path::Path) -> Vec<Value> {
    let all = records(path).into_iter().filter(|record| record["uuid"].is_string());
    all.map(|record| {
        json!([record["type"], record["message"], record["toolUseResult"], record["attachment"]])
    })
    .collect()
}

fn non_growing(report: &backstory_claude::clone::Report) {
    for category in Category::ALL {
        let (before, after) =
            (report.before.estimate.of(category), report.after.estimate.of(category));
        // A picture that goes leaves three words in its place.
        let words =
            if category == Category::Images { 0 } else { 40 * report.counts.images_removed };
        assert!(after.bytes <= before.bytes + words, "{category:?}: {before:?} {after:?}");
    }
    let ids = 400 * report.after.records + 4_000;
    assert!(report.after.bytes <= report.before.bytes + ids);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(or_slow(75, 300)) })]

    #[test]
    fn a_clone_resumes_and_a_clone_of_it_changes_nothing_more(
        exchanges in prop::collection::vec(exchange(), 1..9),
        options in options(),
    ) {
        let place = Place::new(session(&exchanges).as_bytes());
        let report = match place.clone(&place.source, &options) {
            Ok(report) => report,
            Err(error) => {
                prop_assert!(!resumes(&place.source), "{error}");
                prop_assert_eq!(place.names().len(), 1);
                return Ok(());
            }
        };
        let first = report.path.clone().unwrap();
        prop_assert!(resumes(&first));
        non_growing(&report);
        let again = place.clone(&first, &options).unwrap();
        let second = again.path.clone().unwrap();
        prop_assert_eq!(said(&first), said(&second));
        prop_assert_eq!(again.counts.calls_removed, 0);
        prop_assert_eq!(&again.title, &report.title);
    }

    #[test]
    fn other_options_give_clones_that_resume_too(
        exchanges in prop::collection::vec(exchange(), 1..9),
        mut options in options(),
        which in 0u8..6,
        number in 1u64..9,
    ) {
        match which {
            0 => options.branches = Branches::All,
            1 => options.up_to = Some(UpTo::Turn(number)),
            2 => options.up_to = Some(UpTo::Record(format!("{:08x}", number * 3))),
            3 => options.start = backstory_claude::clone::Start::LastCompaction,
            4 => options.tools.older = Older::Percent((number * 11) as u8),
            _ => {
                options.bands = vec![Band { start: 0, end: (number * 10) as u8, level: Level::Compress }];
                options.speakers = Speakers::Everyone;
            }
        }
        let place = Place::new(session(&exchanges).as_bytes());
        match place.clone(&place.source, &options) {
            Ok(report) => {
                prop_assert!(resumes(report.path.as_ref().unwrap()));
                // The end of another branch, or of what was compacted, is not part of the whole.
                if which >= 3 {
                    non_growing(&report);
                }
            }
            // A record that answers something may be at the start of what is left.
            Err(CloneError::NoTurn { .. } | CloneError::NoRecord(_) | CloneError::NeverCompacted | CloneError::Nothing) => {
                prop_assert_eq!(place.names().len(), 1);
            }
            Err(error) => prop_assert!(!resumes(&place.source), "{error}"),
        }
    }
}
