//! Patches: what the model asked for, and what the client says was changed.
//!
//! The model's form has no line numbers; a hunk is found by its context. So a hunk is taken as a
//! replacement of its old lines by its new ones, and the history finds out where that fits.

use backstory_format::json::Value;
use backstory_format::slice::Part;
use backstory_model::{Change, Content, Effect, FileEdit, Hunk, HunkPlace, Replacement};

/// Edits of a patch as models write it, in a folder (the one the agent works in, if there is none):
///
/// ```text
/// *** Begin Patch
/// *** Update File: src/a.py
/// @@ def main():
/// -    old
/// +    new
/// *** End Patch
/// ```
pub(super) fn effects(text: &str, folder: &str) -> Vec<Effect> {
    let lines = text.lines().skip_while(|line| line.trim() != "*** Begin Patch").skip(1);
    let lines = lines.take_while(|line| line.trim() != "*** End Patch");
    let mut edits: Vec<Effect> = Vec::new();
    let mut open: Option<Open> = None;
    for line in lines {
        if let Some(next) = Open::start(line, folder) {
            edits.extend(open.replace(next).into_iter().flat_map(Open::close));
        } else if let Some(open) = &mut open {
            open.line(line);
        }
    }
    edits.extend(open.into_iter().flat_map(Open::close));
    edits
}

/// The section of one file.
struct Open {
    path: String,
    folder: String,
    kind: Section,
    to: Option<String>,
    added: String,
    hunks: Vec<(String, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Add,
    Update,
    Delete,
}

impl Open {
    fn start(line: &str, folder: &str) -> Option<Open> {
        let sections = [
            ("*** Add File: ", Section::Add),
            ("*** Update File: ", Section::Update),
            ("*** Delete File: ", Section::Delete),
        ];
        let found =
            sections.into_iter().find_map(|(mark, kind)| Some((line.strip_prefix(mark)?, kind)));
        found.map(|(path, kind)| Open {
            path: joined(folder, path.trim()),
            folder: folder.to_owned(),
            kind,
            to: None,
            added: String::new(),
            hunks: Vec::new(),
        })
    }

    fn line(&mut self, line: &str) {
        if let Some(to) = line.strip_prefix("*** Move to: ") {
            self.to = Some(joined(&self.folder, to.trim()));
        } else if self.kind == Section::Add {
            if let Some(added) = line.strip_prefix('+') {
                self.added.push_str(added);
                self.added.push('\n');
            }
        } else if line.starts_with("@@") {
            self.hunks.push(Default::default());
        } else if line != "*** End of File" {
            if self.hunks.is_empty() {
                self.hunks.push(Default::default());
            }
            if let Some(hunk) = self.hunks.last_mut() {
                add_line(line, hunk);
            }
        }
    }

    fn close(self) -> Vec<Effect> {
        let change = match self.kind {
            Section::Add => {
                Change::Write { content: Content::Owned(self.added.into()), created: true }
            }
            Section::Delete => Change::Delete,
            Section::Update => replacements(self.hunks),
        };
        moved(self.path, change, Vec::new(), self.to)
    }
}

/// A path in a folder.
pub(super) fn joined(folder: &str, path: &str) -> String {
    let from_root = path.starts_with('/') || path.get(1..3) == Some(":\\");
    match folder.trim_end_matches('/') {
        "" => path.to_owned(),
        _ if from_root => path.to_owned(),
        folder => format!("{folder}/{path}"),
    }
}

/// A line of a hunk. An empty line is an empty line of context whose blank was lost.
fn add_line(line: &str, (old, new): &mut (String, String)) {
    let (mark, rest) = match line.chars().next() {
        Some(mark @ (' ' | '-' | '+')) => (mark, line.part(1..)),
        Some('\\') => return,
        _ => (' ', line),
    };
    let sides: &mut [&mut String] = match mark {
        '-' => &mut [old],
        '+' => &mut [new],
        _ => &mut [old, new],
    };
    for side in sides {
        side.push_str(rest);
        side.push('\n');
    }
}

fn replacements(hunks: Vec<(String, String)>) -> Change {
    let hunks = hunks.into_iter().filter(|(old, new)| old != new);
    Change::Replace(
        hunks
            .map(|(old, new)| Replacement {
                old: Content::Owned(old.into()),
                new: Content::Owned(new.into()),
                all: false,
            })
            .collect(),
    )
}

fn moved(path: String, change: Change, places: Vec<HunkPlace>, to: Option<String>) -> Vec<Effect> {
    let edit = |change, places: Vec<HunkPlace>| {
        let hunks =
            places.into_iter().map(|place| Hunk { place: Some(place), lines: String::new() });
        let hunks = Some(hunks.collect()).filter(|hunks: &Vec<Hunk>| !hunks.is_empty());
        FileEdit { hunks, ..FileEdit::new(&path, change) }.into()
    };
    let nothing = matches!(&change, Change::Replace(list) if list.is_empty());
    let mut edits = if nothing { Vec::new() } else { vec![edit(change, places)] };
    edits.extend(to.map(|to| edit(Change::Move { to: to.into() }, Vec::new())));
    edits
}

/// What the client says was changed: `{path: {type: add|update|delete, …}}`.
pub(super) fn changes(changes: &Value<'_>) -> Vec<Effect> {
    let mut edits = Vec::new();
    for (path, change) in changes.fields() {
        let path = path.text().into_owned();
        let kind = change.get_text("type");
        // Older clients name the kind by the key.
        let inner =
            ["add", "update", "delete"].iter().find_map(|name| Some((*name, change.get(name)?)));
        let (kind, fields) = match (&kind, inner) {
            (Some(kind), _) => (kind.as_ref(), change),
            (None, Some((name, inner))) => (name, inner),
            (None, None) => continue,
        };
        match kind {
            "add" => {
                let Some(content) = fields.get_text("content") else { continue };
                let content = Content::Owned(content.into());
                edits.extend(moved(
                    path,
                    Change::Write { content, created: true },
                    Vec::new(),
                    None,
                ));
            }
            "update" => {
                let diff = fields.get_text("unified_diff").unwrap_or_default();
                let (hunks, places) = unified(&diff);
                let to = fields.get_text("move_path").map(|to| to.into_owned());
                edits.extend(moved(path, replacements(hunks), places, to));
            }
            "delete" => edits.extend(moved(path, Change::Delete, Vec::new(), None)),
            _ => {}
        }
    }
    edits
}

/// Hunks of a unified diff, and where they stand.
fn unified(diff: &str) -> (Vec<(String, String)>, Vec<HunkPlace>) {
    let mut hunks: Vec<(String, String)> = Vec::new();
    let mut places = Vec::new();
    for line in diff.lines() {
        if let Some(place) = line.strip_prefix("@@ -").and_then(place) {
            hunks.push(Default::default());
            places.push(place);
        } else if let Some(hunk) = hunks.last_mut() {
            add_line(line, hunk);
        }
    }
    (hunks, places)
}

/// `1,2 +1,3 @@ …`
fn place(text: &str) -> Option<HunkPlace> {
    let (old, rest) = text.split_once(" +")?;
    let new = rest.split(' ').next()?;
    let range = |text: &str| match text.split_once(',') {
        Some((start, lines)) => Some((start.parse().ok()?, lines.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    let ((old_start, old_lines), (new_start, new_lines)) = (range(old)?, range(new)?);
    Some(HunkPlace { old_start, old_lines, new_start, new_lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(content: &Content) -> &str {
        match content {
            Content::Owned(text) => text,
            _ => "",
        }
    }

    fn edits(effects: &[Effect]) -> Vec<&FileEdit> {
        effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Edit(edit) => Some(edit.as_ref()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_patch_of_three_files() {
        let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.py\n+def a():\n+\tpass\n*** Update File: b.py\n*** Move to: c.py\n@@ class B:\n \n-    old\n+    new\n*** Delete File: d.py\n*** End Patch\nEOF";
        let found = effects(patch, "");
        let found = edits(&found);
        assert_eq!(found.len(), 4);
        let Change::Write { content, created: true } = &found[0].change else { panic!() };
        assert_eq!(text(content), "def a():\n\tpass\n");
        let Change::Replace(list) = &found[1].change else { panic!() };
        assert_eq!((text(&list[0].old), text(&list[0].new)), ("\n    old\n", "\n    new\n"));
        assert_eq!(found[2].change, Change::Move { to: "c.py".into() });
        assert_eq!((&*found[3].path, &found[3].change), ("d.py", &Change::Delete));
    }

    #[test]
    fn patch_ignores_other_commands() {
        assert!(effects("echo '*** Add File: x'", "").is_empty());
    }

    #[test]
    fn a_unified_diff_has_places() {
        let (hunks, places) = unified("@@ -1,2 +1,3 @@ fn\n a\n-b\n+c\n+d\n");
        assert_eq!(hunks, [("a\nb\n".to_owned(), "a\nc\nd\n".to_owned())]);
        let place = HunkPlace { old_start: 1, old_lines: 2, new_start: 1, new_lines: 3 };
        assert_eq!(places, [place]);
    }
}
