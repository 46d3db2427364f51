//! Token counts of clones: the client judges by them whether to compact.

use backstory_claude::clone::{Options, Preset};
use backstory_testkit::clones::{Place, SOURCE, conversation, records, uuid, written};
use serde_json::{Value, json};
use std::path::Path;

/// What a client takes for the size of the conversation.
fn judged(path: &Path) -> u64 {
    let counts =
        ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];
    let all = records(path);
    let last = all.iter().rfind(|record| record["message"]["usage"].is_object()).unwrap();
    counts.iter().map(|name| last["message"]["usage"][name].as_u64().unwrap()).sum()
}

#[test]
fn the_counts_of_a_trimmed_clone_fit_what_it_holds() {
    let place = Place::new(&written(&conversation(14)));
    assert!(judged(&place.source) > 170_000);
    let mut trimmed = 0;
    for preset in Preset::ALL {
        let report = place.clone(&place.source, &preset.options()).unwrap();
        let (before, after) = (report.before.estimate.tokens(), report.after.estimate.tokens());
        let fitting = judged(&place.source) * after / before;
        let judged = judged(report.path.as_ref().unwrap());
        assert!(
            judged.abs_diff(fitting) <= fitting / 50 + 20,
            "{preset:?}: {judged}, not {fitting}"
        );
        trimmed += u32::from(judged < 20_000);
    }
    assert!(trimmed >= 2, "{trimmed}");
}

#[test]
fn messages_before_the_first_cut_keep_their_counts() {
    let all = conversation(6);
    let place = Place::new(&written(&all));
    let options = Options {
        tools: backstory_claude::clone::Tools {
            by_name: [("Write".to_owned(), backstory_claude::clone::ToolMode::Remove)].into(),
            ..Default::default()
        },
        ..Options::default()
    };
    // No call is of that name, so nothing is cut.
    let whole = place.clone(&place.source, &options).unwrap();
    let kept = records(whole.path.as_ref().unwrap());
    let kept = kept.iter().filter(|record| record["message"].is_object());
    let source = all.iter().map(|record| &record["message"]);
    assert!(kept.map(|record| &record["message"]).eq(source));
}

#[test]
fn clone_keeps_the_counts_of_the_source() {
    let place = Place::new(&written(&conversation(14)));
    let report = place.clone(&place.source, &Preset::Extreme.options()).unwrap();
    let path = report.path.unwrap();
    let source = records(&place.source);
    let mut fitted = 0;
    for record in records(&path).iter().filter(|record| record["message"]["id"].is_string()) {
        let id = &record["message"]["id"];
        let original = source.iter().find(|one| one["message"]["id"] == *id).unwrap();
        fitted += 1;
        assert_eq!(record["message"]["sourceUsage"], original["message"]["usage"]);
    }
    assert_eq!(fitted, 14);
    // A clone of the clone keeps the first numbers, not those that were fitted.
    let again = place.clone(&path, &Options::default()).unwrap();
    for (one, two) in records(&path).iter().zip(records(again.path.as_ref().unwrap())) {
        assert_eq!(one["message"], two["message"]);
    }
}

#[test]
fn clone_counts_what_a_compaction_kept_without_what_it_dropped() {
    let mut all = conversation(10);
    let kept: Vec<Value> = [36, 37, 38, 39].map(uuid).map(Value::from).to_vec();
    let fields = |number: usize, parent: Value| {
        json!({
            "uuid": uuid(number), "parentUuid": parent, "timestamp": "2026-01-01T11:00:00.000Z", "isSidechain": false,
            "cwd": "/home/dev/kiln", "sessionId": SOURCE, "version": "2.1.207",
        })
    };
    let mut boundary = fields(100, Value::Null);
    boundary.as_object_mut().unwrap().extend(
        json!({ "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": uuid(39),
            "compactMetadata": { "trigger": "auto", "preTokens": 122_000,
                "preservedMessages": { "anchorUuid": uuid(101), "uuids": kept } } })
        .as_object()
        .unwrap()
        .clone(),
    );
    let mut summary = fields(101, uuid(100).into());
    summary.as_object_mut().unwrap().extend(
        json!({ "type": "user", "isCompactSummary": true, "message": { "role": "user", "content": "What was done so far." } })
            .as_object()
            .unwrap()
            .clone(),
    );
    all.extend([boundary, summary]);
    let place = Place::new(&written(&all));
    let report = place.clone(&place.source, &Options::default()).unwrap();
    let path = report.path.unwrap();
    let held = records(&path).iter().filter(|one| one["message"]["usage"].is_object()).count();
    assert_eq!(held, 2, "{:?}", records(&path));
    assert_eq!(judged(&path), report.after.estimate.tokens());
}
