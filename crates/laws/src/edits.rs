//! What must hold for comparisons and histories. A difference rebuilds both of its texts. Of a file
//! that was changed by made-up edits every line gets one mark; a line that is said to be an edit's
//! stands in the file after that edit, and a line that was there from the beginning is nobody's.

use backstory_session::discover::{Root, discover};
use backstory_session::history::{
    Confidence, DiffLine, Gathered, LineOrigin, Target, Traced, line_diff, read, split_lines, trace,
};
use backstory_session::render::difference;
use backstory_store::{ReadContext, Store};
use serde_json::{Value, json};

/// Compares the two halves of the data, then plays it as a history.
pub fn edits(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (before, after) = text.split_once('\0').unwrap_or((&text, ""));
    for context in [0, 2] {
        rebuilt(before, after, context);
    }
    shown(before, after);
    replayed(data);
}

/// The lines of a difference, put into the first text, give the second.
fn rebuilt(before: &str, after: &str, context: usize) {
    let diff = line_diff(before, after, context);
    let old: Vec<&str> = split_lines(before).collect();
    let (mut new, mut at) = (Vec::new(), 0);
    let (mut added, mut removed) = (0, 0);
    for hunk in &diff.hunks {
        new.extend_from_slice(&old[at..hunk.before.start]);
        at = hunk.before.start;
        assert_eq!(new.len(), hunk.after.start);
        for line in &hunk.lines {
            match line {
                DiffLine::Added(text) => {
                    new.push(text);
                    added += 1;
                    continue;
                }
                DiffLine::Removed(_) => removed += 1,
                DiffLine::Same(text) => new.push(text),
            }
            let (DiffLine::Removed(text) | DiffLine::Same(text)) = line else { continue };
            assert_eq!(old[at], *text);
            at += 1;
        }
        assert_eq!((at, new.len()), (hunk.before.end, hunk.after.end));
    }
    new.extend_from_slice(&old[at..]);
    assert!(new.iter().copied().eq(split_lines(after)), "{before:?} {after:?} {diff:?}");
    assert_eq!((added, removed), (diff.added, diff.removed));
}

/// The same for the difference that people are shown.
fn shown(before: &str, after: &str) {
    let Some(hunk) = difference(before, after) else { return assert_eq!(before, after) };
    let side = |sign: char| {
        let lines = hunk.lines.split_terminator('\n');
        let lines = lines.filter(move |line| line.starts_with([' ', sign]));
        lines.map(|line| line[1..].to_owned()).collect::<Vec<_>>()
    };
    let lines = |text: &str| text.split_terminator('\n').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!((side('-'), side('+')), (lines(before), lines(after)));
}

/// Lines of which files are made: long ones, short ones, some that differ in white space only.
const LINES: [&str; 8] = [
    "let remembered_states = collect_everything(first);",
    "    let remembered_states = collect_everything(first);",
    "return remembered_states.into_iter().rev().collect();",
    "assert_eq!(counted_lines_of_the_file, 1234567890);",
    "}",
    "",
    "x = 1",
    "print('a sentence that is long enough to be known')",
];

/// One call of the history, and the file after it.
struct Step {
    tool: &'static str,
    input: Value,
    result: Value,
    after: String,
}

/// Plays the data as edits of one file.
fn replayed(data: &[u8]) {
    let Some((first, rest)) = data.split_at_checked(4) else { return };
    let mut text = lines(first);
    let began = text.clone();
    let mut steps: Vec<Step> = Vec::new();
    let mut outside = false;
    for part in rest.chunks_exact(4).take(12) {
        let [how, place, one, two] = [part[0], part[1], part[2], part[3]];
        let before = text.clone();
        let recorded = how & 8 == 0;
        let path = "/w/app/file.rs";
        match how % 4 {
            0 => {
                text = lines(&part[1..]);
                let input = json!({"file_path": path, "content": text});
                let mut result = json!({"type": "update", "filePath": path, "content": text, "structuredPatch": []});
                if recorded {
                    result["originalFile"] = before.into();
                }
                steps.push(Step { tool: "Write", input, result, after: text.clone() });
            }
            1 | 2 => {
                let wanted: Vec<&str> = split_lines(&before).collect();
                let Some(old) = wanted.get(usize::from(place) % (wanted.len() + 1)) else {
                    continue;
                };
                let (old, new) = (old.to_string(), format!("{}\n{}", line(one), line(two)));
                let all = how & 16 != 0;
                if old.is_empty() || (!all && before.matches(&old).count() != 1) {
                    continue;
                }
                text = before.replace(&old, &new);
                let input = json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": all});
                let mut result = json!({"filePath": path, "oldString": old, "newString": new, "replaceAll": all, "structuredPatch": []});
                if recorded {
                    result["originalFile"] = before.into();
                }
                steps.push(Step { tool: "Edit", input, result, after: text.clone() });
            }
            _ => {
                // Somebody else changes the file.
                text = format!("{}\n{text}", line(one));
                outside = true;
            }
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("projects/-w-app");
    std::fs::create_dir_all(&project).expect("a folder");
    std::fs::write(project.join(format!("{SESSION}.jsonl")), written(&steps)).expect("a file");
    let found = discover(&[Root { path: folder.path().to_path_buf() }], &Store::default());
    let wanted = |path: &str| path == "/w/app/file.rs";
    let read = |one| read(one, &mut ReadContext::default(), &wanted).expect("a session").0;
    let gathered = Gathered::new(found.sessions.iter().map(read).collect());
    let names = ["/w/app/file.rs".to_owned()];
    let target = Target { path: &names[0], text: &text, until: None };
    let traced = trace(&gathered, &names, Some(target));
    assert_eq!(traced.marks.len(), split_lines(&text).count());
    claims(&traced, &steps, &text);
    if !outside {
        from_the_beginning(&traced, &steps, &began, &text);
    }
}

fn line(byte: u8) -> &'static str {
    LINES[usize::from(byte) % LINES.len()]
}

fn lines(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{}\n", line(*byte))).collect()
}

/// Which step an edit is.
fn step_of(traced: &Traced<'_>, edit: u32) -> usize {
    let call = traced.edits[edit as usize].edit.by.call.as_deref();
    let number = call.and_then(|call| call.strip_prefix("toolu_"));
    number.and_then(|number| number.parse().ok()).expect("a call of this history")
}

fn claims(traced: &Traced<'_>, steps: &[Step], text: &str) {
    for (mark, line) in traced.marks.iter().zip(split_lines(text)) {
        let LineOrigin::Edit(edit) = mark.origin else { continue };
        let step = &steps[step_of(traced, edit)];
        let there = |other: &str| match mark.confidence {
            Confidence::Exact | Confidence::Moved => other == line,
            _ => other.trim() == line.trim(),
        };
        assert!(split_lines(&step.after).any(there), "{line:?} is not what {edit} wrote");
    }
}

/// A long line that the first edit found in the file, and that the file never held twice, was written
/// by none of the edits, unless it was removed and an edit wrote it with other whitespace.
fn from_the_beginning(traced: &Traced<'_>, steps: &[Step], began: &str, text: &str) {
    let seen = steps.first().is_some_and(|first| first.result.get("originalFile").is_some());
    for (mark, line) in traced.marks.iter().zip(split_lines(text)) {
        let letters = line.chars().filter(|letter| letter.is_alphanumeric()).count();
        let same = |other: &&str| other.trim() == line.trim();
        let states = steps.iter().map(|step| step.after.as_str());
        let states: Vec<&str> = std::iter::once(began).chain(states).collect();
        let found = |state: &'_ str| split_lines(state).filter(same).count();
        let once = states.iter().all(|state| found(state) <= 1);
        let respaced = states.windows(2).any(|pair| {
            found(pair[0]) == 0 && split_lines(pair[1]).filter(same).any(|other| other != line)
        });
        let is_old = split_lines(began).any(|other| other == line);
        if seen && letters >= 20 && once && !respaced && is_old {
            assert!(!matches!(mark.origin, LineOrigin::Edit(_)), "{line:?} was there: {mark:?}");
        }
    }
}

const SESSION: &str = "11111111-1111-4111-8111-111111111111";

/// The session file of a history.
fn written(steps: &[Step]) -> String {
    let mut out = String::new();
    let mut parent = Value::Null;
    let mut record = |uuid: String, kind: &str, message: Value, result: Option<&Value>| {
        let time = format!("2026-01-01T00:{:02}:00.000Z", out.lines().count());
        let mut record = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION,
            "cwd": "/w/app", "version": "2.1.0", "timestamp": time, "message": message});
        if let Some(result) = result {
            record["toolUseResult"] = result.clone();
        }
        parent = uuid.into();
        out.push_str(&format!("{record}\n"));
    };
    record("start".to_owned(), "user", json!({"role": "user", "content": "Go"}), None);
    for (at, Step { tool, input, result, .. }) in steps.iter().enumerate() {
        let id = format!("toolu_{at}");
        let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        let message = json!({"role": "assistant", "id": format!("msg_{at}"), "model": "m",
            "content": [block], "stop_reason": "tool_use"});
        record(format!("{id}-use"), "assistant", message, None);
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": "done"});
        let message = json!({"role": "user", "content": [block]});
        record(format!("{id}-result"), "user", message, Some(result));
    }
    out
}
