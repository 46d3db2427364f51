//! How long texts are shortened: the beginning and the end stay, and what was cut is counted.
//!
//! Cuts fall on line ends where one is near, so that neither part starts or stops in the middle
//! of a word. Nothing is copied.

/// How much of a text to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Keep {
    /// All of it.
    Everything,
    /// About this many bytes, half from the start and half from the end.
    Ends(usize),
}

/// A text, shortened or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excerpt<'a> {
    /// It was short enough.
    Whole(&'a str),
    /// Its ends, and how much is missing between them.
    Cut {
        /// The first part.
        head: &'a str,
        /// What is missing.
        cut: Cut,
        /// The last part.
        tail: &'a str,
    },
}

/// What is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Characters that are left out.
    pub characters: usize,
    /// Line breaks that are left out.
    pub lines: usize,
}

impl Cut {
    /// `1,234 characters cut (56 lines)`
    pub fn words(&self) -> String {
        let characters = crate::figures::counted(self.characters as u64, "character", "characters");
        match self.lines {
            0 | 1 => format!("{characters} cut"),
            lines => format!("{characters} cut ({} lines)", crate::figures::grouped(lines as u64)),
        }
    }
}

/// A mark costs something too: a text that is only a little too long stays whole.
const SLACK: usize = 80;

/// Shortens `text`.
pub fn excerpt(text: &str, keep: Keep) -> Excerpt<'_> {
    let Keep::Ends(bytes) = keep else { return Excerpt::Whole(text) };
    if text.len() <= bytes.saturating_add(SLACK) {
        return Excerpt::Whole(text);
    }
    let head_end = head_end(text, bytes / 2);
    let tail_start = tail_start(text, text.len() - bytes / 2).max(head_end);
    let (Some(head), Some(middle), Some(tail)) =
        (text.get(..head_end), text.get(head_end..tail_start), text.get(tail_start..))
    else {
        return Excerpt::Whole(text);
    };
    let cut = Cut { characters: middle.chars().count(), lines: middle.lines().count() };
    Excerpt::Cut { head, cut, tail }
}

/// Two ends between which something was left out already; cut back to whole lines.
pub fn between<'a>(head: &'a str, characters: usize, lines: usize, tail: &'a str) -> Excerpt<'a> {
    let tail = tail.strip_suffix('\n').unwrap_or(tail);
    let (head, more) = head.split_at_checked(head_end(head, head.len())).unwrap_or((head, ""));
    let (less, tail) = tail.split_at_checked(tail_start(tail, 0)).unwrap_or(("", tail));
    let ends = [more, less].map(|part| (part.chars().count(), part.matches('\n').count()));
    let cut = Cut {
        characters: characters + ends.iter().map(|(count, _)| count).sum::<usize>(),
        lines: lines + ends.iter().map(|(_, count)| count).sum::<usize>(),
    };
    Excerpt::Cut { head, cut, tail }
}

/// A place at or before `limit`: after a line end if one is in the last quarter.
fn head_end(text: &str, limit: usize) -> usize {
    let mut limit = limit.min(text.len());
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    let near = limit - limit / 4;
    match text.as_bytes().get(near..limit).and_then(|part| memchr::memrchr(b'\n', part)) {
        Some(at) => near + at + 1,
        None => limit,
    }
}

/// A place at or after `limit`: after a line end if one is in the first quarter.
fn tail_start(text: &str, limit: usize) -> usize {
    let mut limit = limit.min(text.len());
    while !text.is_char_boundary(limit) {
        limit += 1;
    }
    let near = limit + (text.len() - limit) / 4;
    match text.as_bytes().get(limit..near).and_then(|part| memchr::memchr(b'\n', part)) {
        Some(at) => limit + at + 1,
        None => limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_stay_and_the_rest_is_counted() {
        let text: String = (0..1_000).map(|line| format!("line {line}\n")).collect();
        let Excerpt::Cut { head, cut, tail } = excerpt(&text, Keep::Ends(200)) else {
            panic!("too long to stay whole")
        };
        assert!(head.starts_with("line 0\n") && head.ends_with('\n'));
        assert!(tail.starts_with("line ") && tail.ends_with("line 999\n"));
        assert_eq!(head.len() + cut.characters + tail.len(), text.len());
        assert_eq!(head.lines().count() + cut.lines + tail.lines().count(), 1_000);
        assert_eq!(Cut { characters: 1_234, lines: 7 }.words(), "1,234 characters cut (7 lines)");
    }

    #[test]
    fn ends_that_were_read_apart_are_counted_alike() {
        let text: String = (0..1_000).map(|line| format!("line {line}\n")).collect();
        let (head, rest) = text.split_at(103);
        let (middle, tail) = rest.split_at(rest.len() - 97);
        let lines = middle.matches('\n').count();
        let Excerpt::Cut { head, cut, tail } = between(head, middle.len(), lines, tail) else {
            panic!("something was left out")
        };
        assert!(head.ends_with('\n') && tail.starts_with("line ") && tail.ends_with("999"));
        assert_eq!(head.len() + cut.characters + tail.len() + 1, text.len());
        assert_eq!(head.lines().count() + cut.lines + tail.lines().count(), 1_000);
    }

    #[test]
    fn short_texts_and_single_words_are_safe() {
        assert_eq!(excerpt("short", Keep::Ends(0)), Excerpt::Whole("short"));
        let word = "é".repeat(10_000);
        for bytes in [0, 1, 3, 999] {
            let Excerpt::Cut { head, cut, tail } = excerpt(&word, Keep::Ends(bytes)) else {
                panic!("too long to stay whole")
            };
            assert_eq!(head.chars().count() + cut.characters + tail.chars().count(), 10_000);
        }
        assert_eq!(excerpt(&word, Keep::Everything), Excerpt::Whole(&word));
    }
}
