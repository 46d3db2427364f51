//! What the edits of a session made of a file, as a unified diff.
//!
//! Only where every state follows from the one before: a change that somebody else made in between
//! would stand in the diff as the session's. None is made then.

use super::diff::{DiffLine, line_diff};
use super::edit::EventKind;
use super::gather::Gathered;
use super::lines::split_lines;
use super::replay::{Basis, Known, replay};
use backstory_model::Change;

/// A file before the first edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Began<'t> {
    Absent,
    As(&'t str),
}

/// How many lines stand around a change.
const CONTEXT: usize = 3;

/// The difference that the edits of the file `name` made, with `shown` as its path.
pub fn unified(gathered: &Gathered, name: &str, shown: &str) -> Option<String> {
    let chain = gathered.chains.get(name)?;
    let steps = replay(&chain.whole(), None, None, &[]);
    let mut began = None;
    let mut current: Option<&str> = None;
    for step in &steps {
        let (before, after, created) = match (&step.what, &step.event.kind) {
            (Known::State(text), _) => (&**text, &**text, false),
            (Known::Placed(placed), EventKind::Edit(edit))
                if placed.basis == Basis::Session
                    && !placed.doubtful
                    && !edit.by.abandoned
                    && edit.proposed.is_none() =>
            {
                let created = matches!(edit.change, Change::Write { created: true, .. });
                (&*placed.before, &**placed.after(), created)
            }
            _ => return None,
        };
        if current.is_some_and(|current| current != before) {
            return None;
        }
        began.get_or_insert(if created { Began::Absent } else { Began::As(before) });
        current = Some(after);
    }
    write(began?, current?, shown)
}

fn write(began: Began<'_>, after: &str, shown: &str) -> Option<String> {
    let (before, old_name) = match began {
        Began::Absent => ("", None),
        Began::As(text) => (text, Some(shown)),
    };
    if shown.contains(['\n', '\r', '\t', '"', '\\']) {
        return None;
    }
    let shown = shown.trim_start_matches('/');
    let mut out = format!("diff --git a/{shown} b/{shown}\n");
    if old_name.is_none() {
        out.push_str("new file mode 100644\n");
    }
    if before == after {
        return Some(if old_name.is_none() { out } else { String::new() });
    }
    let old = Side::of(before);
    let new = Side::of(after);
    // Only the end of the last line differs: it would have to be shown, and the comparison is by
    // lines without their ends.
    if old.open != new.open && split_lines(before).last() == split_lines(after).last() {
        return None;
    }
    match old_name {
        Some(_) => out.push_str(&format!("--- a/{shown}\n+++ b/{shown}\n")),
        None => out.push_str(&format!("--- /dev/null\n+++ b/{shown}\n")),
    }
    for hunk in line_diff(before, after, CONTEXT).hunks {
        out.push_str(&hunk.heading());
        out.push('\n');
        let (mut old_at, mut new_at) = (hunk.before.start, hunk.after.start);
        for line in hunk.lines {
            out.push_str(&format!("{line}\n"));
            old_at += usize::from(!matches!(line, DiffLine::Added(_)));
            new_at += usize::from(!matches!(line, DiffLine::Removed(_)));
            let ends_old = !matches!(line, DiffLine::Added(_)) && old.open && old_at == old.count;
            let ends_new = !matches!(line, DiffLine::Removed(_)) && new.open && new_at == new.count;
            if ends_old || ends_new {
                out.push_str("\\ No newline at end of file\n");
            }
        }
    }
    Some(out)
}

struct Side {
    count: usize,
    /// Its last line has no end.
    open: bool,
}

impl Side {
    fn of(text: &str) -> Side {
        Side { count: split_lines(text).count(), open: !text.is_empty() && !text.ends_with('\n') }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_written_as_git_does() {
        let made = write(Began::As("a\nb\n"), "a\nc", "x").unwrap();
        let expected = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n";
        assert_eq!(made, expected);
        let made = write(Began::Absent, "n\n", "d/y").unwrap();
        let expected = "diff --git a/d/y b/d/y\nnew file mode 100644\n--- /dev/null\n+++ b/d/y\n@@ -0,0 +1,1 @@\n+n\n";
        assert_eq!(made, expected);
        assert_eq!(write(Began::As("a\n"), "a\n", "x").as_deref(), Some(""));
        assert_eq!(write(Began::As("a"), "a\n", "x"), None);
        assert_eq!(write(Began::As("a"), "b", "odd\nname"), None);
    }
}
