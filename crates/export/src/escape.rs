//! Strings of JSON in plain ASCII, escaped as Python does it.

use backstory_format::json::marks::{Marks, Unprintable};
use backstory_format::slice::Part;

/// A string, all that is not plain ASCII escaped.
pub(super) fn write_text(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + text.len() / 16 + 2);
    out.push(b'"');
    let mut marks = Marks::<Unprintable>::new(text.as_bytes(), 0);
    let mut from = 0;
    while let Some(at) = marks.peek() {
        out.extend_from_slice(text.as_bytes().part(from..at));
        from = at + write_escape(text.part(at..), out);
        marks.pass_to(from);
    }
    out.extend_from_slice(text.as_bytes().part(from..));
    out.push(b'"');
}

/// A string that is written in JSON already, in plain ASCII; false, and nothing written, where its
/// escapes are not those that Python uses or its bytes are no text.
pub(super) fn rewrite(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.reserve(raw.len() + raw.len() / 16 + 2);
    out.push(b'"');
    let mut marks = Marks::<Unprintable>::new(raw, 0);
    let mut from = 0;
    while let Some(at) = marks.peek() {
        let rest = raw.part(at..);
        match rest {
            [b'\\', b'n' | b't' | b'"' | b'\\' | b'r' | b'b' | b'f', ..] => {
                marks.pass_to(at + 2);
                continue;
            }
            // Control characters without a letter of their own, as colours of a terminal begin.
            [b'\\', b'u', b'0', b'0', b'0', b'0'..=b'7' | b'b' | b'e' | b'f', ..]
            | [b'\\', b'u', b'0', b'0', b'1', b'0'..=b'9' | b'a'..=b'f', ..] => {
                marks.pass_to(at + 6);
                continue;
            }
            [0x80..=0xff, ..] => {}
            _ => {
                out.truncate(start);
                return false;
            }
        }
        let run = rest.iter().take(LONGEST_RUN).take_while(|byte| **byte >= 0x80).count();
        // A run that was cut ends with a whole character.
        let text = match std::str::from_utf8(rest.part(..run)) {
            Ok(text) => text,
            Err(error) if run == LONGEST_RUN && error.valid_up_to() > 0 => {
                std::str::from_utf8(rest.part(..error.valid_up_to())).unwrap_or_default()
            }
            Err(_) => "",
        };
        if text.is_empty() {
            out.truncate(start);
            return false;
        }
        out.extend_from_slice(raw.part(from..at));
        text.chars().for_each(|character| write_code(character, out));
        from = at + text.len();
        marks.pass_to(from);
    }
    out.extend_from_slice(raw.part(from..));
    out.push(b'"');
    true
}

/// Bytes that are not ASCII are taken in runs of at most this.
const LONGEST_RUN: usize = 64;

/// JSON whose strings show what is not ASCII as it is: what a model would write.
pub(super) fn unescaped(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        out.push_str(plain);
        let (character, length) = match unit(escape) {
            Some(high @ 0xd800..0xdc00) => {
                let low =
                    escape.get(6..).and_then(unit).filter(|low| (0xdc00..0xe000).contains(low));
                let pair = low.map(|low| 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                (pair.and_then(char::from_u32), 12)
            }
            Some(code @ 0x80..) => (char::from_u32(code), 6),
            _ => (None, 2),
        };
        let length = if character.is_some() { length } else { 2 };
        let (taken, behind) = escape.split_at_checked(length).unwrap_or((escape, ""));
        match character {
            Some(character) => out.push(character),
            None => out.push_str(taken),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The number of an escape such as `\u00e9` at the start of a text.
fn unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

/// Writes the first character of a text; gives its length in the text.
#[inline]
fn write_escape(text: &str, out: &mut Vec<u8>) -> usize {
    let short = match text.as_bytes().first() {
        Some(b'"') => b"\\\"",
        Some(b'\\') => b"\\\\",
        Some(b'\n') => b"\\n",
        Some(b'\r') => b"\\r",
        Some(b'\t') => b"\\t",
        Some(0x8) => b"\\b",
        Some(0xc) => b"\\f",
        _ => {
            let character = text.chars().next().unwrap_or_default();
            write_code(character, out);
            return character.len_utf8();
        }
    };
    out.extend_from_slice(short);
    1
}

/// Writes a character as its number, or as two.
fn write_code(character: char, out: &mut Vec<u8>) {
    let mut units = [0; 2];
    for unit in character.encode_utf16(&mut units) {
        let digit = |shift: u16| {
            let digit = (*unit >> shift) as u8 & 15;
            if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }
        };
        out.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_keeps_text_that_is_not_ascii() {
        let text = "\u{e9}\u{1f600}\"\\u00e9\n\u{1}\u{7f}/";
        let mut json = Vec::new();
        write_text(text, &mut json);
        let shown = unescaped(&json);
        assert!(shown.contains("\u{e9}\u{1f600}") && shown.is_char_boundary(1));
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        assert_eq!(unescaped(br#""\ud800 \udc00\ud83d\ude00""#), "\"\\ud800 \\udc00\u{1f600}\"");
    }

    #[test]
    fn escape_of_written_text_is_that_of_its_value() {
        let long = "\u{e9}\u{1f600}".repeat(40);
        let texts = [
            r#"plain"#,
            r#"a\nb\t\"c\" \\ d\r\b\f e, and more of it"#,
            "caf\u{e9} \u{1f600}\\n\u{4e2d}\u{6587}",
            &long,
            "",
        ];
        for text in texts {
            let (mut ours, mut anew) = (Vec::new(), Vec::new());
            assert!(rewrite(text.as_bytes(), &mut ours), "{text}");
            let decoded = backstory_format::json::text::decode(text.as_bytes());
            write_text(&decoded, &mut anew);
            assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(&anew));
        }
        for odd in
            [&b"\\u001B[0m"[..], b"a\\/b", b"\xff", b"\x7f", b"caf\xc3", b"end\\", b"\\x", b"\x01"]
        {
            let mut out = b"before".to_vec();
            assert!(!rewrite(odd, &mut out), "{odd:?}");
            assert_eq!(out, b"before");
        }
        // Every code below 256, in both ways to write it.
        for code in 0..256 {
            for escape in [format!("\\u{code:04x}"), format!("\\u{code:04X}")] {
                let (mut ours, mut anew) = (Vec::new(), Vec::new());
                write_text(&backstory_format::json::text::decode(escape.as_bytes()), &mut anew);
                if rewrite(escape.as_bytes(), &mut ours) {
                    assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(&anew));
                }
                let passes = code < 0x20 && anew == format!("\"{escape}\"").as_bytes();
                assert_eq!(passes, !ours.is_empty(), "{escape}");
            }
        }
    }
}
