//! Every record of a clone beside the record it was made from, span by span.

use backstory_claude::clone::{Droppable, Older, Options, Preset, Thinking, ToolMode, Tools};
use backstory_format::json::{Tape, Value, scan};
use backstory_testkit::clones::Place;
use backstory_testkit::{discover_at, testdata};
use std::collections::HashMap;
use std::path::Path;

/// Fields that hold ids of the session or of its records, or tie a record to the source.
const ID_FIELDS: [&str; 10] = [
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "sessionId",
    "session_id",
    "forkedFrom",
    "sourceToolAssistantUUID",
    "teamName",
    "agentName",
    "slug",
];

struct Parsed {
    bytes: Vec<u8>,
    tape: Tape,
}

impl Parsed {
    fn all(path: &Path) -> Vec<Parsed> {
        let bytes = std::fs::read(path).unwrap();
        let mut all = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            let mut tape = Tape::new();
            let start = line.iter().position(|byte| *byte == b'{');
            // Records that share a line with damage are not compared here.
            if start == Some(0)
                && scan(line, 0, 4096, &mut tape)
                    .is_ok_and(|end| line[end..].iter().all(|byte| byte.is_ascii_whitespace()))
            {
                all.push(Parsed { bytes: line.to_vec(), tape });
            }
        }
        all
    }

    fn root(&self) -> Value<'_> {
        self.tape.root(&self.bytes).unwrap()
    }

    fn text(&self, name: &str) -> Option<String> {
        self.root().get_text(name).map(|text| text.into_owned())
    }
}

/// Names and raw bytes of fields, in order, but for those in `but`.
fn fields<'a>(object: Value<'a>, but: &[&str]) -> Vec<(String, &'a [u8])> {
    let fields = object.fields().map(|(key, value)| (key.text().into_owned(), value.raw()));
    fields.filter(|(name, _)| !but.contains(&name.as_str())).collect()
}

/// How the content of a clone's record may differ from its source's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allowed {
    Nothing,
    /// Blocks may be missing.
    Fewer,
    /// And texts in calls and results may be cut.
    Cut,
}

/// `compacted`: a compaction stands behind the source's record.
fn compare(before: &Parsed, after: &Parsed, allowed: Allowed, compacted: bool, cloned: &str) {
    let (old, new) = (before.root(), after.root());
    let mut but = ID_FIELDS.to_vec();
    but.extend(["message", "toolUseResult", "compactMetadata"]);
    let retimed = after.text("timestamp").as_deref() == Some(cloned);
    if retimed {
        but.push("timestamp");
    }
    assert_eq!(fields(old, &but), fields(new, &but));
    let metadata = |value: Value<'_>| {
        let kept = ["preservedSegment", "preservedMessages"];
        value.get("compactMetadata").map(|data| {
            fields(data, &kept)
                .into_iter()
                .map(|(name, raw)| (name, raw.to_vec()))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(metadata(old), metadata(new));
    match (old.get("toolUseResult"), new.get("toolUseResult")) {
        (Some(old), Some(new)) => same_or_cut(old, new, allowed),
        (None, Some(_)) => panic!("a structured result came from nowhere"),
        (gone, None) => assert!(gone.is_none() || allowed != Allowed::Nothing),
    }
    let (Some(old), Some(new)) = (old.get("message"), new.get("message")) else {
        return assert_eq!(old.get("message").is_some(), new.get("message").is_some());
    };
    let but = ["content", "stop_reason", "usage", "sourceUsage"];
    assert_eq!(fields(old, &but), fields(new, &but));
    let raw = |value: Value<'_>, name| value.get(name).map(|value: Value<'_>| value.raw().to_vec());
    if raw(old, "usage") != raw(new, "usage") {
        assert!(allowed != Allowed::Nothing || compacted, "counts changed");
        assert_eq!(raw(old, "usage"), raw(new, "sourceUsage"));
    }
    let stop = |value: Value<'_>| value.get_text("stop_reason").map(|text| text.into_owned());
    if stop(old) != stop(new) {
        assert_eq!(
            (stop(old).as_deref(), stop(new).as_deref()),
            (Some("tool_use"), Some("end_turn"))
        );
        assert!(allowed != Allowed::Nothing);
    }
    let (Some(old), Some(new)) = (old.get("content"), new.get("content")) else { return };
    if old.raw() == new.raw() {
        return;
    }
    assert!(allowed != Allowed::Nothing, "content changed");
    let mut left = old.items();
    for block in new.items() {
        let id = |value: &Value<'_>| {
            let id = value.get_text("id").or(value.get_text("tool_use_id"));
            id.map(|id| id.into_owned())
        };
        let partner = left.find(|candidate| {
            candidate.raw() == block.raw() || id(candidate).is_some() && id(candidate) == id(&block)
        });
        same_or_cut(partner.unwrap_or_else(|| panic!("from nowhere: {block:?}")), block, allowed);
    }
}

/// Whether two values are the same but for strings that say that they were cut.
fn same_or_cut(old: Value<'_>, new: Value<'_>, allowed: Allowed) {
    if old.raw() == new.raw() {
        return;
    }
    assert!(allowed == Allowed::Cut, "{new:?}");
    if let (Some(old), Some(new)) = (old.text(), new.text()) {
        assert!(new.contains(" cut") && new.len() < old.len(), "{new}");
        return;
    }
    if new.get_text("text").as_deref() == Some("[image removed]") {
        return;
    }
    assert_eq!(old.kind(), new.kind());
    let names = |value: Value<'_>| {
        value.fields().map(|(key, _)| key.text().into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(old), names(new));
    assert_eq!(old.items().count(), new.items().count());
    for ((_, old), (_, new)) in old.fields().zip(new.fields()) {
        same_or_cut(old, new, allowed);
    }
    for (old, new) in old.items().zip(new.items()) {
        same_or_cut(old, new, allowed);
    }
}

fn remove_tools() -> Options {
    let tools = Tools { mode: ToolMode::Remove, older: Older::ButLast(0), ..Tools::default() };
    Options { tools, thinking: Thinking::Remove, ..Options::default() }
}

#[test]
fn clone_keeps_the_bytes_it_does_not_edit() {
    let mut cases = vec![
        (Options::default(), Allowed::Nothing),
        (remove_tools(), Allowed::Fewer),
        (
            Options { drop: [Droppable::Progress, Droppable::Meta].into(), ..remove_tools() },
            Allowed::Fewer,
        ),
    ];
    cases.extend(Preset::ALL.map(|preset| (preset.options(), Allowed::Cut)));
    let (mut compared, mut clones) = (0, 0);
    for folder in ["sessions", "sample", "check", "trees"] {
        for files in discover_at(testdata(folder)).sessions {
            let place = Place::new(&std::fs::read(&files.path).unwrap());
            let before = Parsed::all(&place.source);
            let by_uuid: HashMap<String, (usize, &Parsed)> = before
                .iter()
                .enumerate()
                .rev()
                .filter_map(|(at, record)| Some((record.text("uuid")?, (at, record))))
                .collect();
            let compaction = before
                .iter()
                .rposition(|one| one.text("subtype").as_deref() == Some("compact_boundary"));
            for (options, allowed) in &cases {
                // Repairs take blocks out too; where there are any, that is allowed.
                let Ok(report) = place.clone(&place.source, options) else { continue };
                let repaired = !report.counts.repaired.is_empty();
                let allowed = if repaired && *allowed == Allowed::Nothing {
                    Allowed::Fewer
                } else {
                    *allowed
                };
                clones += 1;
                for record in Parsed::all(report.path.as_ref().unwrap()) {
                    let origin = record
                        .root()
                        .get("forkedFrom")
                        .and_then(|from| from.get_text("messageUuid"));
                    let Some(origin) = origin else { continue };
                    let Some((at, source)) = by_uuid.get(origin.as_ref()) else { continue };
                    let compacted = compaction.is_some_and(|compaction| *at < compaction);
                    compare(source, &record, allowed, compacted, "2026-11-01T10:00:00.000Z");
                    compared += 1;
                }
            }
        }
    }
    assert!(clones > 2_000 && compared > 10_000, "{clones} clones, {compared} records");
}

/// Records beside the conversation that stay differ in ids only.
#[test]
fn other_records_keep_their_bytes() {
    let mut compared = 0;
    for folder in ["sessions", "sample"] {
        for files in discover_at(testdata(folder)).sessions {
            let place = Place::new(&std::fs::read(&files.path).unwrap());
            let Ok(report) = place.clone(&place.source, &Options::default()) else { continue };
            let but = [
                "sessionId",
                "session_id",
                "leafUuid",
                "messageId",
                "snapshotMessageId",
                "snapshot",
                "replacements",
            ];
            let key = |record: &Parsed| {
                fields(record.root(), &but)
                    .into_iter()
                    .map(|(name, raw)| (name, raw.to_vec()))
                    .collect::<Vec<_>>()
            };
            let source: Vec<_> = Parsed::all(&place.source).iter().map(key).collect();
            // Lines of several records, or with damage, are the subject of other tests.
            if source.len() as u64 != report.before.records {
                continue;
            }
            for record in Parsed::all(report.path.as_ref().unwrap()) {
                let own = matches!(
                    record.text("type").as_deref(),
                    Some("backstory-clone" | "custom-title")
                );
                if record.root().get("uuid").is_none() && !own {
                    assert!(
                        source.contains(&key(&record)),
                        "{}: {:?}",
                        files.path.display(),
                        record.root()
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 20, "{compared}");
}
