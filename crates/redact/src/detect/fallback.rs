//! The literal that is taken where a setting has no value: `getenv("PASSWORD") or "…"`,
//! `${PASSWORD:-…}`, `env.PASSWORD ?? '…'`, `get("password", "…")`, `default('…')`.

use crate::detect::scan::Scan;
use std::ops::Range;

/// How far behind its name such a literal may stand.
const FARTHEST: usize = 200;
/// The length of the sign or word that stands before such a literal, if `rest` begins with one.
fn operator(rest: &[u8]) -> Option<usize> {
    let all: &[&str] = match rest.first()? {
        b'|' => &["||"],
        b'?' => &["??", "?:"],
        b' ' => &[" or ", " else "],
        b'/' => &["//"],
        b'd' => &["default(", "default="],
        b'u' => &["unwrap_or(", "unwrap_or_else(|_| "],
        b'o' => &["orElse("],
        b'O' => &["OrElse("],
        b'.' => &[".or("],
        b'g' => &["getOrDefault("],
        _ => return None,
    };
    all.iter().find(|one| rest.starts_with(one.as_bytes())).map(|one| one.len())
}

/// In `${NAME:-value}` with the name at `name`: the value.
pub(crate) fn braced(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    text.get(..name.start)?.ends_with("${").then_some(())?;
    let rest = text.get(name.end..)?;
    let sign = [":-", ":=", ":?", ":", "-"].iter().find(|sign| rest.starts_with(**sign))?;
    let start = name.end + sign.len();
    until_brace(text, start)
}

/// In `${ANY:-value}` that begins at `at`: the value.
pub(crate) fn expanded(text: &str, at: usize) -> Option<Range<usize>> {
    let inside = text.get(at..)?.strip_prefix("${")?;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let name = inside.bytes().take(80).take_while(is_part).count();
    let signs = [":-", ":=", ":"];
    let sign =
        signs.iter().find(|sign| inside.get(name..).is_some_and(|it| it.starts_with(**sign)))?;
    until_brace(text, at + 2 + name + sign.len())
}

fn until_brace(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let end = rest.bytes().take(FARTHEST).position(|byte| matches!(byte, b'}' | b'\n'))?;
    let value = rest.get(..end).filter(|value| !value.is_empty() && !value.contains(['$', '{']))?;
    let bare = value.trim_matches(['"', '\'']);
    let lead = value.len() - value.trim_start_matches(['"', '\'']).len();
    Some(start + lead..start + lead + bare.len())
}

/// In a literal that is a template: the value it falls back to.
pub(crate) fn within(text: &str, literal: &Range<usize>) -> Option<Range<usize>> {
    let value = text.get(literal.clone())?;
    if let Some(at) = value.find("${") {
        return expanded(text, literal.start + at);
    }
    let open = value.find("{{")?;
    let found = behind(text, literal.start + open)?;
    (found.end <= literal.end).then_some(found)
}

/// Behind the expression at `at`, in the same statement: the literal it falls back to.
pub(crate) fn behind(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let mut quote = None;
    let (mut depth, mut arguments, mut asked) = (0i32, 0, false);
    for (offset, byte) in rest.bytes().enumerate().take(FARTHEST) {
        let here = at + offset;
        if let Some(open) = quote {
            if byte == open {
                quote = None;
            }
            continue;
        }
        if byte.is_ascii_alphanumeric() && !matches!(byte, b'd' | b'e' | b'g' | b'o' | b'O' | b'u')
        {
            continue;
        }
        match byte {
            b'\n' | b';' => return None,
            b'"' | b'\'' | b'`' => quote = Some(byte),
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b',' if depth <= 0 => return None,
            b'?' => asked = true,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
        // `get("NAME", "…")`: the second argument, if the first is a literal.
        let is_second = byte == b',' && depth == 1 && arguments == 0 && {
            arguments += 1;
            is_lookup_with_name(rest.get(..offset)?)
        };
        // `x ? x : "…"`
        let is_else = byte == b':' && asked && depth == 0;
        let length = if is_second || is_else {
            Some(1)
        } else {
            operator(rest.as_bytes().get(offset..).unwrap_or_default())
        };
        if let Some(length) = length {
            let mut scan = Scan::new(text, here + length);
            scan.gap(true);
            if let Some(value) = scan.quoted() {
                return Some(value);
            }
        }
    }
    None
}

/// Whether this is the beginning of a call that looks something up, up to the end of its first
/// argument: `os.getenv("NAME"`.
fn is_lookup_with_name(call: &str) -> bool {
    let Some((function, argument)) = call.split_once('(') else { return false };
    let function = function.trim();
    !function.is_empty()
        && crate::detect::lookup::is_lookup(function)
        && argument.trim().ends_with(['"', '\''])
        && argument.trim().starts_with(['"', '\'', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fallbacks_are_found_in_the_same_statement_only() {
        for (text, expected) in [
            (r#"os.environ.get("P") or "q7Rw2kLp""#, Some("q7Rw2kLp")),
            (r#"process.env.P ?? 'q7Rw2kLp',"#, Some("q7Rw2kLp")),
            (r#"ENV.fetch('P', 'q7Rw2kLp')"#, Some("q7Rw2kLp")),
            (r#"cfg.get("a.b", "q7Rw2kLp")"#, Some("q7Rw2kLp")),
            (r#"ENV["P"] || "q7Rw2kLp""#, Some("q7Rw2kLp")),
            (r#"x ? x : "q7Rw2kLp""#, Some("q7Rw2kLp")),
            (r#"cfg["x"] if cfg else "q7Rw2kLp""#, Some("q7Rw2kLp")),
            (r#"env::var("X").unwrap_or("q7Rw2kLp".into())"#, Some("q7Rw2kLp")),
            (r#"hash("P", "q7Rw2kLp")"#, None),
            (r#"a.b, user: c || "q7Rw2kLp""#, None),
            ("a.b\nc || \"q7Rw2kLp\"", None),
            (r#"a.b; c || "q7Rw2kLp""#, None),
        ] {
            let found = behind(text, 0).and_then(|range| text.get(range));
            assert_eq!(found, expected, "{text}");
        }
        for (text, expected) in [
            ("${A_B:-q7Rw2kLp}", Some("q7Rw2kLp")),
            ("${a.b:q7Rw2kLp}", Some("q7Rw2kLp")),
            ("${A_B}", None),
            ("${A_B:-$OTHER}", None),
        ] {
            assert_eq!(expanded(text, 0).and_then(|range| text.get(range)), expected, "{text}");
        }
    }
}
