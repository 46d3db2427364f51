//! Edits as differences: what calls did to files, whatever the tool is called.

use super::diff::{FileDiff, compare};
use backstory_agents as agents;
use backstory_format::slice::Part;
use backstory_model::{Agent, Call, Change, FileEdit, Hunk};
use backstory_store::{SourceReader, StoreError};

/// Lines shown around a change of a file that is known as a whole.
const CONTEXT: usize = 3;

/// Changes of files by one call.
#[derive(Debug)]
pub(super) struct Differences {
    /// One for each change.
    pub(super) files: Vec<FileDiff>,
    /// How much of the input they cover.
    pub(super) coverage: Coverage,
}

/// How much of the input of a call its differences show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    /// Everything.
    All,
    /// Not everything: a removed or renamed file has no difference.
    Part,
}

/// What a call did to files, or would have done.
pub(super) fn of_call(
    agent: Agent,
    call: &Call,
    reader: &mut SourceReader,
) -> Result<Differences, StoreError> {
    let edits = agents::edits(agent, call, reader)?;
    let says = |change: &Change| !matches!(change, Change::Delete | Change::Move { .. });
    let all = edits.iter().all(|edit| says(&edit.change));
    let coverage = if all { Coverage::All } else { Coverage::Part };
    let files = edits.iter().map(|edit| difference(edit, reader)).collect::<Result<_, _>>()?;
    Ok(Differences { files, coverage })
}

fn difference(edit: &FileEdit, reader: &mut SourceReader) -> Result<FileDiff, StoreError> {
    let mut diff = FileDiff { path: edit.path.to_string(), ..FileDiff::default() };
    let mut text = |content| reader.text(content).map(|text| text.into_owned());
    let before = edit.before.as_ref().map(&mut text).transpose()?;
    let after = match (&edit.after, &edit.change) {
        (Some(after), _) => Some(text(after)?),
        (None, Change::Write { content, .. }) => Some(text(content)?),
        (None, Change::Delete) => Some(String::new()),
        (None, Change::Replace(_) | Change::Cell { .. } | Change::Move { .. }) => None,
    };
    match &edit.change {
        Change::Write { created, .. } => diff.created = *created,
        Change::Replace(list) => diff.everywhere = list.iter().any(|part| part.all),
        Change::Move { to } => diff.path = format!("{} → {to}", edit.path),
        Change::Cell { .. } | Change::Delete => {}
    }
    let hunks = edit.hunks.as_deref().unwrap_or_default();
    if hunks.iter().any(|hunk| !hunk.lines.is_empty()) {
        diff.hunks.extend_from_slice(hunks);
        return Ok(diff);
    }
    match (&edit.change, before, after) {
        (_, Some(before), Some(after)) => diff.hunks = around_changes(&before, &after),
        // The same content again is no change.
        (Change::Write { created: false, .. }, None, _) if edit.hunks.is_some() => {}
        (Change::Write { .. }, None, Some(after)) => diff.hunks.extend(compare("", &after)),
        (Change::Replace(list), ..) => {
            let places = if hunks.len() == list.len() { hunks } else { &[] };
            for (at, part) in list.iter().enumerate() {
                let place = places.get(at).and_then(|hunk| hunk.place);
                let hunk = compare(&text(&part.old)?, &text(&part.new)?);
                diff.hunks.extend(hunk.map(|hunk| Hunk { place, ..hunk }));
            }
        }
        (Change::Cell { source: Some(source) }, ..) => {
            diff.hunks.extend(compare("", &text(source)?));
        }
        _ => {}
    }
    Ok(diff)
}

/// The changes between two texts, each with a few lines around it.
fn around_changes(before: &str, after: &str) -> Vec<Hunk> {
    let Some(whole) = compare(before, after).filter(|_| before != after) else {
        return Vec::new();
    };
    let lines: Vec<&str> = whole.lines.split_inclusive('\n').collect();
    let changed = |line: &&str| !line.starts_with(' ');
    let places = lines.iter().enumerate().filter(|(_, line)| changed(line));
    // Where each begins, and its lines.
    let mut hunks: Vec<(u32, u32, String)> = Vec::new();
    let (mut done, mut old, mut new) = (0, 1, 1);
    for (at, _) in places {
        let from = at.saturating_sub(CONTEXT).max(done);
        let gap = lines.part(done..from).len();
        (old, new) = (old + gap as u32, new + gap as u32);
        if gap > 0 || hunks.is_empty() {
            hunks.push((old, new, String::new()));
        }
        // The lines up to here and those after it, unless another change is among them.
        let end = (at + 1 + CONTEXT).min(lines.len());
        let rest = lines.part(at + 1..end);
        let end = rest.iter().position(changed).map_or(end, |next| at + 1 + next);
        for line in lines.part(from.max(done)..end) {
            old += u32::from(!line.starts_with('+'));
            new += u32::from(!line.starts_with('-'));
            hunks.last_mut().into_iter().for_each(|(_, _, lines)| lines.push_str(line));
        }
        done = end;
    }
    hunks.into_iter().map(|(old, new, lines)| Hunk::at(old, new, lines)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(lines: std::ops::RangeInclusive<u32>) -> String {
        lines.map(|line| format!("{line}\n")).collect()
    }

    fn starts(hunk: &Hunk) -> (u32, u32) {
        let place = hunk.place.unwrap();
        (place.old_start, place.new_start)
    }

    #[test]
    fn difference_shows_the_lines_around_a_change() {
        let before = numbered(1..=20);
        let after =
            before.replace("2\n3\n", "2\nthree\n").replace("15\n", "").replace("17\n", "x\n");
        let hunks = around_changes(&before, &after);
        assert_eq!(hunks.len(), 2);
        assert_eq!(starts(&hunks[0]), (1, 1));
        assert_eq!(hunks[0].lines, " 1\n 2\n-3\n+three\n 4\n 5\n 6\n");
        assert_eq!(starts(&hunks[1]), (12, 12));
        assert_eq!(hunks[1].lines, " 12\n 13\n 14\n-15\n 16\n-17\n+x\n 18\n 19\n 20\n");
        assert_eq!(around_changes(&before, &before), []);
    }

    #[test]
    fn a_change_at_either_end() {
        let before = numbered(1..=9);
        let hunks = around_changes(&before, &format!("0\n{before}10\n"));
        let lines: Vec<&str> = hunks.iter().map(|hunk| hunk.lines.as_str()).collect();
        assert_eq!(lines, ["+0\n 1\n 2\n 3\n", " 7\n 8\n 9\n+10\n"]);
        assert_eq!(starts(&hunks[1]), (7, 8));
    }
}
