//! The content after an edit, and the content before it.
//!
//! The client's rule: replace the old text by the new one, once or everywhere; when the new text is
//! empty and the old one does not end in a newline, the newline behind it goes too.

use super::lines::letters;
use backstory_format::slice::Part;
use backstory_model::{Hunk, HunkPlace, Replacement};
use std::ops::Range;

/// Letters and digits below which a text is too common to be recognised by itself.
pub(super) const TELLING: u32 = 20;

/// A change of bytes: a range of the old text and the length of what took its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) before: Range<usize>,
    pub(super) after: Range<usize>,
}

/// One replacement applied.
#[derive(Debug, Clone)]
pub(super) struct Applied {
    pub(super) text: String,
    pub(super) regions: Vec<Region>,
}

/// Applies one replacement, or says that it does not fit this text.
pub(super) fn apply(
    text: &str,
    replacement: &Replacement<String>,
    hunks: &[Hunk],
) -> Option<Applied> {
    let Replacement { old, new, all } = replacement;
    if old.is_empty() {
        // Writing into an empty file.
        let region = Region { before: 0..0, after: 0..new.len() };
        return text.trim().is_empty().then(|| Applied {
            text: new.clone(),
            regions: vec![Region { before: 0..text.len(), ..region }],
        });
    }
    let longer = if new.is_empty() && !old.ends_with('\n') {
        Some(format!("{old}\n")).filter(|longer| text.contains(longer.as_str()))
    } else {
        None
    };
    let old = longer.as_deref().unwrap_or(old);
    let mut places = occurrences(text, old);
    if !all && places.len() > 1 {
        let lines = shown(hunks).map(|place| (place.old_start, place.old_lines));
        places = within(text, places, lines);
    }
    if places.is_empty() || (!all && places.len() != 1) {
        return None;
    }
    Some(replace_at(text, &places, old.len(), new))
}

fn shown(hunks: &[Hunk]) -> impl Iterator<Item = HunkPlace> {
    hunks.iter().filter_map(|hunk| hunk.place)
}

/// Where a text stands, without overlaps.
fn occurrences(text: &str, wanted: &str) -> Vec<usize> {
    memchr::memmem::find_iter(text.as_bytes(), wanted.as_bytes()).collect()
}

fn replace_at(text: &str, places: &[usize], length: usize, new: &str) -> Applied {
    let mut out = String::with_capacity(text.len() + places.len() * new.len());
    let mut regions = Vec::with_capacity(places.len());
    let mut done = 0;
    for at in places {
        out.push_str(text.part(done..*at));
        let start = out.len();
        out.push_str(new);
        done = at + length;
        regions.push(Region { before: *at..done, after: start..out.len() });
    }
    out.push_str(text.part(done..));
    Applied { text: out, regions }
}

/// Undoes one replacement in a text that was seen later. Only where the new text stands in exactly
/// one place, and is long enough to be no accident or stands where the client's patch says.
pub(super) fn undo(
    text: &str,
    replacement: &Replacement<String>,
    hunks: &[Hunk],
) -> Option<Applied> {
    let Replacement { old, new, all } = replacement;
    if new.is_empty() || *all {
        return None;
    }
    let mut places = occurrences(text, new);
    places.retain(|at| !joins_lines(text, *at, replacement));
    let telling = letters(new) >= TELLING;
    if places.len() > 1 || !telling {
        let lines = shown(hunks).map(|place| (place.new_start, place.new_lines));
        places = within(text, places, lines);
    }
    match places.as_slice() {
        [at] => {
            let applied = replace_at(text, &[*at], new.len(), old);
            let regions = applied.regions.into_iter();
            // Seen from the text before: the two sides change places.
            let regions =
                regions.map(|region| Region { before: region.after, after: region.before });
            Some(Applied { text: applied.text, regions: regions.collect() })
        }
        _ => None,
    }
}

/// Whether undoing at this place would make one line of two that were never one: the new text has a
/// line end at its edge that the old one lacks, and what is found there is a neighbour's line end.
fn joins_lines(text: &str, at: usize, Replacement { old, new, .. }: &Replacement<String>) -> bool {
    let bytes = text.as_bytes();
    let before = at.checked_sub(1).and_then(|at| bytes.get(at));
    let after = bytes.get(at + new.len());
    let is_line_end = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b'\n');
    (new.starts_with('\n') && !old.starts_with('\n') && !is_line_end(before))
        || (new.ends_with('\n') && !old.ends_with('\n') && !is_line_end(after))
}

/// Those of the places, which are in order, that stand in lines of a patch: first lines and lengths of
/// its hunks.
fn within(
    text: &str,
    mut places: Vec<usize>,
    shown: impl Iterator<Item = (u32, u32)>,
) -> Vec<usize> {
    let mut shown: Vec<(u32, u32)> =
        shown.map(|(start, length)| (start, start.saturating_add(length).max(1))).collect();
    shown.sort_unstable();
    let mut shown = shown.into_iter().peekable();
    // The line of the last place, counted from one, and where the hunks that began by then end.
    let (mut line, mut counted, mut end) = (1, 0, 0);
    places.retain(|at| {
        let passed = text.as_bytes().part(counted..*at);
        line += memchr::memchr_iter(b'\n', passed).count() as u32;
        counted = *at;
        while let Some((_, last)) = shown.next_if(|(start, _)| *start <= line) {
            end = end.max(last);
        }
        line < end
    });
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replacement(old: &str, new: &str, all: bool) -> Replacement<String> {
        Replacement { old: old.into(), new: new.into(), all }
    }

    #[test]
    fn the_clients_rule() {
        let after = |text: &str, old: &str, new: &str, all| {
            apply(text, &replacement(old, new, all), &[]).map(|applied| applied.text)
        };
        assert_eq!(after("a\nb\nc\n", "b", "B", false).as_deref(), Some("a\nB\nc\n"));
        assert_eq!(after("a\nb\nc\n", "b", "", false).as_deref(), Some("a\nc\n"));
        assert_eq!(after("x\ny\nx\n", "x", "z", true).as_deref(), Some("z\ny\nz\n"));
        assert_eq!(after("x\ny\nx\n", "x", "z", false), None, "which one?");
        assert_eq!(after("a\n", "q", "r", false), None);
        assert_eq!(after("", "", "new\n", false).as_deref(), Some("new\n"));
    }

    #[test]
    fn the_patch_says_which_of_several() {
        let place = HunkPlace { old_start: 3, old_lines: 1, new_start: 3, new_lines: 1 };
        let hunk = Hunk { place: Some(place), lines: String::new() };
        let applied = apply("x\ny\nx\n", &replacement("x", "z", false), &[hunk]).unwrap();
        assert_eq!(applied.text, "x\ny\nz\n");
    }

    #[test]
    fn undo_needs_a_distinct_text() {
        let long = "let remembered_states = collect();";
        let text = format!("a\n{long}\nb\n");
        let undone = undo(&text, &replacement("old", long, false), &[]).unwrap();
        assert_eq!(undone.text, "a\nold\nb\n");
        assert!(undo("a\n}\n", &replacement("old", "}", false), &[]).is_none());
        assert!(undo(&format!("{text}{long}"), &replacement("old", long, false), &[]).is_none());
    }

    #[test]
    fn undo_does_not_join_lines() {
        let long = "let remembered_states = collect();";
        let added_above = replacement(long, &format!("\n{long}"), false);
        let undone = undo(&format!("a\n\n{long}\n"), &added_above, &[]).unwrap();
        assert_eq!(undone.text, format!("a\n{long}\n"));
        // Somebody put a line where the empty one was.
        assert!(undo(&format!("a\n\nb\n{long}\n"), &added_above, &[]).is_none());
        let added_below = replacement(long, &format!("{long}\n"), false);
        assert!(undo(&format!("{long}\nb\n"), &added_below, &[]).is_none());
    }
}
