//! What calls do, by their inputs and results.

use backstory_claude::actions::{action, edit, kind, reading, reading_from_text};
use backstory_model::{Action, ActionKind, Call, Change, Content, FileEdit, Session};
use backstory_store::{ReadContext, SourceReader};
use backstory_testkit::discover_at;
use serde_json::{Value, json};

/// A session with one call, and what the client says came of it.
struct One {
    _folder: tempfile::TempDir,
    session: Session,
}

fn one(tool: &str, input: Value, shown: &str, structured: Option<Value>) -> One {
    let record = |number: u32, kind: &str, content: Value| {
        json!({ "type": kind, "uuid": format!("00000000-0000-4000-8000-00000000000{number}"),
            "parentUuid": (number > 1).then(|| format!("00000000-0000-4000-8000-00000000000{}", number - 1)),
            "sessionId": "11111111-aaaa-4bbb-8ccc-000000000001", "isSidechain": false, "cwd": "/w",
            "version": "2.1.0", "userType": "external", "timestamp": format!("2026-01-31T09:30:0{number}.000Z"),
            "message": { "role": kind, "content": content, "model": "m", "id": "msg_1" } })
    };
    let mut result = record(
        3,
        "user",
        json!([{ "type": "tool_result", "tool_use_id": "t1", "content": shown }]),
    );
    if let Some(structured) = structured {
        result["toolUseResult"] = structured;
    }
    let called = json!([{ "type": "tool_use", "id": "t1", "name": tool, "input": input }]);
    let records = [record(1, "user", json!("Do it")), record(2, "assistant", called), result];
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("11111111-aaaa-4bbb-8ccc-000000000001.jsonl");
    std::fs::write(&path, text).unwrap();
    let files = discover_at(path).sessions.remove(0);
    let mut context = ReadContext::default();
    let (session, _) = backstory_claude::read(&files, &mut context, &mut ()).unwrap();
    One { _folder: folder, session }
}

impl One {
    fn call(&self) -> (&Call, SourceReader) {
        let call = self.session.turns[0].calls().next().unwrap();
        (call, self.session.source.open().unwrap())
    }

    /// The edit with its texts.
    fn edit(&self) -> Option<FileEdit<String>> {
        let (call, mut reader) = self.call();
        let edit = edit(call, &mut reader).unwrap()?;
        let mut text = |content: &Content| reader.text(content).map(|text| text.into_owned());
        Some(FileEdit {
            path: edit.path.clone(),
            change: edit.change.with_texts(&mut text).unwrap(),
            before: edit.before.as_ref().map(|before| text(before).unwrap()),
            after: edit.after.as_ref().map(|after| text(after).unwrap()),
            proposed: edit.proposed.as_ref().map(|change| change.with_texts(&mut text).unwrap()),
            hunks: edit.hunks,
        })
    }
}

fn replaced(old: &str, new: &str, all: bool) -> Change<String> {
    let (old, new) = (old.to_owned(), new.to_owned());
    Change::Replace(vec![backstory_model::Replacement { old, new, all }])
}

#[test]
fn an_edit_is_what_was_done_and_not_what_was_asked_for() {
    let input =
        json!({ "file_path": "/w/a", "old_string": "x", "new_string": "y", "replace_all": true });
    let structured = json!({ "filePath": "/w/a", "oldString": "\tx", "newString": "z", "replaceAll": false,
        "originalFile": "\tx\n", "userModified": true, "structuredPatch": [
            { "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-  x", "+z"] }] });
    let made = one("Edit", input.clone(), "ok", Some(structured)).edit().unwrap();
    assert_eq!(made.change, replaced("\tx", "z", false));
    assert_eq!(made.proposed, Some(replaced("x", "y", true)));
    assert_eq!(
        (made.before.as_deref(), &*made.hunks.unwrap()[0].lines),
        (Some("\tx\n"), "-\tx\n+z\n")
    );
    let refused = one("Edit", input, "No match", Some(json!("Error: no match"))).edit().unwrap();
    assert_eq!((refused.change, refused.proposed), (replaced("x", "y", true), None));
}

#[test]
fn a_written_file_is_new_if_the_client_says_so() {
    let input = json!({ "file_path": "/w/a", "content": "a\n" });
    let written = |created| Change::Write { content: "a\n".to_owned(), created };
    let made =
        |shown: &str, structured| one("Write", input.clone(), shown, structured).edit().unwrap();
    let structured =
        |kind: &str| Some(json!({ "type": kind, "content": "a\n", "structuredPatch": [] }));
    assert_eq!(made("ok", structured("create")).change, written(true));
    assert_eq!(made("File created successfully at: /w/a", None).change, written(true));
    // The same content again is no change.
    let same = made("ok", structured("update"));
    assert_eq!((same.change, same.hunks), (written(false), Some(Vec::new())));
    assert_eq!(made("ok", None).hunks, None);
}

#[test]
fn cells_and_several_replacements_are_edits() {
    let cell = |input: Value| one("NotebookEdit", input, "ok", None).edit().unwrap().change;
    let input = json!({ "notebook_path": "/w/n.ipynb", "new_source": "1" });
    assert_eq!(cell(input), Change::Cell { source: Some("1".to_owned()) });
    let input = json!({ "notebook_path": "/w/n.ipynb", "edit_mode": "delete" });
    assert_eq!(cell(input), Change::Cell { source: None });
    let input =
        json!({ "file_path": "/w/a", "edits": [{ "old_string": "a", "new_string": "é\n" }] });
    assert_eq!(
        one("MultiEdit", input, "ok", None).edit().unwrap().change,
        replaced("a", "é\n", false)
    );
    assert!(one("Edit", json!({ "file_path": "/w/a" }), "ok", None).edit().is_none());
    assert!(one("Other", json!({ "file_path": "/w/a" }), "ok", None).edit().is_none());
}

#[test]
fn actions_are_named_by_what_they_do() {
    let asked = |tool: &str, input: Value| -> Option<String> {
        let one = one(tool, input, "ok", None);
        let (call, mut reader) = one.call();
        action(call, &mut reader).unwrap().map(|action| match action {
            Action::Edit(edit) => format!("edit {}", edit.path),
            Action::Read { path } => format!("read {path}"),
            Action::Shell { command } => format!("$ {}", reader.text(&command).unwrap()),
            Action::Subagent(one) => format!("{:?} {:?}", one.kind, one.prompt),
        })
    };
    assert_eq!(asked("Bash", json!({ "command": "ls \"a\"" })).as_deref(), Some("$ ls \"a\""));
    assert_eq!(asked("Read", json!({ "file_path": "/w/a" })).as_deref(), Some("read /w/a"));
    let input = json!({ "file_path": "/w/a", "content": "" });
    assert_eq!(asked("Write", input).as_deref(), Some("edit /w/a"));
    let input = json!({ "subagent_type": "Explore", "prompt": "Look" });
    assert_eq!(asked("Task", input).as_deref(), Some("Some(\"Explore\") Some(\"Look\")"));
    assert_eq!(asked("Bash", json!({ "command": 7 })), None);
    assert_eq!((kind("TodoWrite"), kind("mcp__x")), (ActionKind::Todos, ActionKind::Other));
}

#[test]
fn a_reading_is_the_whole_file_or_says_which_lines() {
    let file = |total: u64| {
        json!({ "type": "text", "file": { "filePath": "/w/a", "content": "a\nb", "startLine": 1,
            "numLines": 2, "totalLines": total } })
    };
    let read = |structured: Option<Value>, input: Value| {
        let one = one("Read", input, "     1→a\n     2→b", structured);
        let (call, mut reader) = one.call();
        let result = call.result.as_ref().unwrap();
        let seen = match &result.structured {
            Some(structured) => reading(structured, &mut reader).unwrap(),
            None => {
                let input = call.input.as_ref().unwrap();
                reading_from_text(input, &result.text[0], &mut reader).unwrap()
            }
        };
        seen.map(|seen| (reader.text(&seen.content).unwrap().into_owned(), seen.lines, seen.whole))
    };
    let input = json!({ "file_path": "/w/a" });
    assert_eq!(read(Some(file(2)), input.clone()), Some(("a\nb".to_owned(), Some(2), true)));
    assert_eq!(read(Some(file(3)), input.clone()), Some(("a\nb".to_owned(), Some(2), false)));
    assert_eq!(read(None, input), Some(("a\nb\n".to_owned(), Some(2), true)));
    assert_eq!(read(None, json!({ "file_path": "/w/a", "limit": 2 })), None);
}
