//! Literals that are compared with the name behind them: `"…" == password`, `"…".equals(password)`.

use crate::detect::scan::is_comparison;
use std::ops::Range;

/// How far before its name a comparison may begin.
const FARTHEST: usize = 1 << 10;
/// A longer literal is no password.
const LONGEST: usize = 160;

/// The literal that stands before the name at `name` and is compared with it.
pub(crate) fn before(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let mut last = name.start.checked_sub(1)?;
    while text.as_bytes().get(last) == Some(&b' ') && name.start - last < FARTHEST {
        last = last.checked_sub(1)?;
    }
    if !matches!(text.as_bytes().get(last), Some(b'=' | b'(' | b',')) {
        return None;
    }
    // A line may be as long as the text, and hold as many names.
    let mut start = name.start.saturating_sub(FARTHEST);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let found = compared(text.get(start..)?, &(name.start - start..name.end - start))?;
    Some(start + found.start..start + found.end)
}

fn compared(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let head = text.get(..name.start)?.trim_end_matches(' ');
    let literal = match head.as_bytes().last()? {
        b'=' => {
            let head = head.strip_suffix('=')?.trim_end_matches('=');
            let sign = head.len() + 1 < text.get(..name.start)?.trim_end_matches(' ').len();
            let head = head.strip_suffix('!').or(sign.then_some(head))?;
            head.trim_end_matches(' ')
        }
        b'(' => {
            let head = head.strip_suffix('(')?;
            let dot = head.rfind('.').filter(|dot| head.len() - dot < 24)?;
            let (literal, method) = head.split_at_checked(dot)?;
            is_comparison(method.get(1..)?.as_bytes()).then_some(literal)?
        }
        // `assertEquals("…", password)`
        b',' => {
            let head = head.strip_suffix(',')?;
            let line = head.rsplit('\n').next()?;
            let call = line.split_once('(').map(|(call, _)| call.to_ascii_lowercase())?;
            ["assert", "expect", "equal"].iter().any(|word| call.contains(word)).then_some(head)?
        }
        _ => return None,
    };
    let quote = literal.chars().last().filter(|last| matches!(last, '"' | '\''))?;
    let end = literal.len() - 1;
    let inside = literal.get(..end)?;
    let start = inside.rfind(quote)? + 1;
    let value = inside.get(start..)?;
    (value.len() <= LONGEST && !value.contains('\n')).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_literal_before_a_name_is_found_where_it_is_compared() {
        for (text, expected) in [
            (r#"if ("q7Rw2kLp" == password) {"#, Some("q7Rw2kLp")),
            (r#"if ('q7Rw2kLp' !== password) {"#, Some("q7Rw2kLp")),
            (r#""q7Rw2kLp".equals(password)"#, Some("q7Rw2kLp")),
            (r#"x = "q7Rw2kLp"; y = password"#, None),
            (r#"assertEquals("q7Rw2kLp", password)"#, Some("q7Rw2kLp")),
            (r#"log("q7Rw2kLp", password)"#, None),
            (r#""q7Rw2kLp".concat(password)"#, None),
        ] {
            let at = text.rfind("password").unwrap();
            let found = before(text, &(at..at + 8));
            assert_eq!(found.and_then(|range| text.get(range)), expected, "{text}");
        }
    }
}
