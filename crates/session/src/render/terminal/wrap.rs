//! Breaking lines to a width, in one pass over the text.

use backstory_format::slice::Part;
use unicode_width::UnicodeWidthChar;

/// Pieces of a line that fit into `width` columns: broken at spaces where there are any, inside a
/// word where one is too long. The line must be free of control characters.
pub(super) fn pieces(line: &str, width: usize) -> Vec<&str> {
    let width = width.max(8);
    if line.len() <= width {
        return vec![line];
    }
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(end) = overflow(rest, width) {
        let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        pieces.push(piece.trim_end());
        rest = after.trim_start_matches(' ');
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// [`pieces`] where those after the first have `hang` columns less.
pub(super) fn hanging(line: &str, width: usize, hang: usize) -> Vec<&str> {
    let all = pieces(line, width);
    match all.as_slice() {
        [first, _, ..] if hang > 0 => {
            let rest = line.get(first.len()..).unwrap_or_default().trim_start_matches(' ');
            let mut hanging = vec![*first];
            hanging.extend(pieces(rest, width.saturating_sub(hang)));
            hanging
        }
        _ => all,
    }
}

/// Where to break `text`, if it is wider than `width`.
fn overflow(text: &str, width: usize) -> Option<usize> {
    let mut column = 0;
    let mut space = None;
    let indent = text.len() - text.trim_start_matches(' ').len();
    for (at, character) in text.char_indices() {
        let columns = character.width().unwrap_or(0);
        if column + columns > width {
            return Some(space.unwrap_or(if at == 0 { character.len_utf8() } else { at }));
        }
        column += columns;
        if character == ' ' && at >= indent {
            space = Some(at);
        }
    }
    None
}

/// Cuts a line to `width` columns.
pub(super) fn fit(line: &str, width: usize) -> String {
    if line.len() <= width {
        return line.to_owned();
    }
    match overflow_hard(line, width) {
        None => line.to_owned(),
        Some(_) => {
            let end = overflow_hard(line, width.saturating_sub(1)).unwrap_or(line.len());
            format!("{}…", line.part(..end))
        }
    }
}

fn overflow_hard(text: &str, width: usize) -> Option<usize> {
    let mut column = 0;
    for (at, character) in text.char_indices() {
        column += character.width().unwrap_or(0);
        if column > width {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_or_inside_long_words() {
        assert_eq!(pieces("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(pieces("abcdefghijklmnop", 8), ["abcdefgh", "ijklmnop"]);
        assert_eq!(pieces("日本語日本語日本語", 8), ["日本語日", "本語日本", "語"]);
        assert_eq!(pieces("", 8), [""]);
        assert_eq!(pieces("        deep word", 12), ["        deep", "word"]);
    }

    #[test]
    fn long_words_and_floods_cost_one_pass() {
        assert_eq!(pieces(&"x".repeat(500_000), 100).len(), 5_000);
        assert_eq!(pieces(&"\u{300}".repeat(500_000), 100).len(), 1);
        assert_eq!(pieces(&"a ".repeat(250_000), 100).len(), 5_000);
    }

    #[test]
    fn cutting_leaves_a_mark() {
        assert_eq!(fit("abcdefghij", 5), "abcd…");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("abc", 5), "abc");
    }
}
