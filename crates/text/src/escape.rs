//! Text of transcripts made safe to show.
//!
//! Everything that came from a session passes through here before it reaches a terminal or a page:
//! control characters, escape sequences, invisible and direction-changing characters become
//! visible, and what a page or a document would take for markup becomes text.

use backstory_format::slice::Part;
use std::borrow::Cow;

/// Text for a terminal, on one line: control characters become symbols.
pub fn terminal_line(text: &str) -> Cow<'_, str> {
    if text.chars().all(|character| !is_unsafe(character)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\t' | '\n' | '\r' => out.push(' '),
            character if is_unsafe(character) => push_visible(character, &mut out),
            character => out.push(character),
        }
    }
    Cow::Owned(out)
}

/// Text of several lines, for a terminal or a document: as [`terminal_line`], but line ends and
/// tabs stay, and a carriage return before a line end is dropped.
pub fn lines(text: &str) -> Cow<'_, str> {
    replace(text, &ODD, |character, rest| match character {
        '\r' if rest.starts_with('\n') => Some(Cow::Borrowed("")),
        character if is_unsafe_in_page(character) => Some(Cow::Owned(visible(character))),
        _ => None,
    })
}

/// Text for a page, inside an element or a quoted attribute. Line breaks and tabs stay.
pub fn html(text: &str) -> Cow<'_, str> {
    replace(text, &ODD_IN_PAGE, |character, rest| match character {
        '&' => Some(Cow::Borrowed("&amp;")),
        '<' => Some(Cow::Borrowed("&lt;")),
        '>' => Some(Cow::Borrowed("&gt;")),
        '"' => Some(Cow::Borrowed("&quot;")),
        '\'' => Some(Cow::Borrowed("&#39;")),
        '\r' if rest.starts_with('\n') => Some(Cow::Borrowed("")),
        character if is_unsafe_in_page(character) => {
            Some(Cow::Owned(visible(character).replace('<', "&lt;").replace('>', "&gt;")))
        }
        _ => None,
    })
}

/// First bytes of characters that may have to be replaced. All others are skipped quickly.
const ODD: [bool; 256] = odd_bytes(b"");
const ODD_IN_PAGE: [bool; 256] = odd_bytes(b"&<>\"'");

#[expect(clippy::indexing_slicing, reason = "runs in the compiler only")]
const fn odd_bytes(more: &[u8]) -> [bool; 256] {
    let mut odd = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let control = byte < 0x20 && byte != 0x09 && byte != 0x0a || byte == 0x7f;
        // The first bytes of everything beyond ASCII that `is_unsafe` names.
        let lead = matches!(byte, 0xc2 | 0xd8 | 0xe1 | 0xe2 | 0xef | 0xf3);
        odd[byte] = control || lead;
        byte += 1;
    }
    let mut at = 0;
    while at < more.len() {
        odd[more[at] as usize] = true;
        at += 1;
    }
    odd
}

/// Bytes that are looked at together.
const BLOCK: usize = 32;

/// Whether a byte may be in one of the tables of odd bytes; more than the tables say, but cheap.
fn may_be_odd(byte: u8) -> bool {
    (byte < 0x20) & (byte != b'\n') & (byte != b'\t')
        | (byte >= 0x7f)
        | (byte == b'&')
        | (byte == b'<')
        | (byte == b'>')
        | (byte == b'"')
        | (byte == b'\'')
}

fn replace<'a>(
    text: &'a str,
    odd: &[bool; 256],
    replacement: impl Fn(char, &str) -> Option<Cow<'static, str>>,
) -> Cow<'a, str> {
    let is_odd = |byte: &u8| odd.get(usize::from(*byte)).copied().unwrap_or(true);
    let mut out = String::new();
    let (mut at, mut plain) = (0, 0);
    let bytes = text.as_bytes();
    loop {
        // Most blocks have nothing odd, and all bytes of a block can be looked at at once.
        while let Some(block) = bytes.get(at..at + BLOCK)
            && !block.iter().fold(false, |found, byte| found | may_be_odd(*byte))
        {
            at += BLOCK;
        }
        let end = bytes.len().min(at + BLOCK);
        let Some(found) = bytes.get(at..end).and_then(|block| block.iter().position(is_odd)) else {
            at = end;
            if at == bytes.len() {
                break;
            }
            continue;
        };
        let place = at + found;
        let mut rest = text.part(place..).chars();
        let Some(character) = rest.next() else { break };
        at = place + character.len_utf8();
        if let Some(new) = replacement(character, rest.as_str()) {
            if out.is_empty() {
                out.reserve(text.len() + text.len() / 8 + 16);
            }
            out.push_str(text.part(plain..place));
            out.push_str(&new);
            plain = at;
        }
    }
    if plain == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.part(plain..));
    Cow::Owned(out)
}

/// Text for Markdown at the start of a line, on one line: nothing in it is taken for markup, HTML or
/// a table's border.
pub fn markdown_line(text: &str) -> String {
    let safe = terminal_line(text);
    let safe = safe.trim();
    // Lists, headings and quotes are marked at the start of a line only.
    let number = safe.bytes().take_while(u8::is_ascii_digit).count();
    let (mark, rest) = match safe.as_bytes().get(number) {
        Some(b'.' | b')') if number > 0 => safe.split_at(number),
        Some(b'-' | b'+' | b'=' | b'#' | b'>') if number == 0 => ("", safe),
        _ => return markdown_inline(safe),
    };
    format!("{mark}\\{}", markdown_inline(rest))
}

/// The same inside a line, in a heading or in a table's cell; spaces at the ends stay.
pub fn markdown_inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in terminal_line(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => out.extend(['\\', character]),
            character => out.push(character),
        }
    }
    out
}

/// Text as a code span of Markdown, on one line, for a table's cell too.
pub fn markdown_code(text: &str) -> String {
    let text = terminal_line(text);
    let text = text.trim();
    if text.is_empty() {
        return "` `".to_owned();
    }
    let fence = "`".repeat(longest_run(text, b'`') + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    // A border ends a table's cell even inside code.
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}

/// The longest run of the ASCII character `wanted` in `text`.
fn longest_run(text: &str, wanted: u8) -> usize {
    let bytes = text.as_bytes();
    let (mut longest, mut at) = (0, 0);
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(wanted, rest)) {
        let run = bytes.part(at + found..);
        let length = run.iter().take_while(|byte| **byte == wanted).count();
        longest = longest.max(length);
        at += found + length;
    }
    longest
}

/// A fence of a code block that no line of `text` can close.
pub fn markdown_fence(text: &str) -> String {
    "`".repeat(longest_run(text, b'`').max(2) + 1)
}

fn is_unsafe_in_page(character: char) -> bool {
    is_unsafe(character) && !matches!(character, '\n' | '\t')
}

/// Whether a character could move the cursor, change colours, ring, hide or reorder text.
pub fn is_unsafe(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Soft hyphen, Arabic letter mark, Mongolian separator, zero-width and direction marks.
        | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        // Line and paragraph separators, embeddings and overrides, invisible operators, isolates.
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        // Byte order mark, interlinear annotation, tags.
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn visible(character: char) -> String {
    let mut out = String::new();
    push_visible(character, &mut out);
    out
}

fn push_visible(character: char, out: &mut String) {
    match character {
        '\u{0}'..='\u{1f}' => out.extend(char::from_u32(0x2400 + character as u32)),
        '\u{7f}' => out.push('\u{2421}'),
        character => {
            out.push_str(&format!("<U+{:04X}>", character as u32));
        }
    }
}

/// A writer for JSON that escapes what [`is_unsafe`] names, so that `--json` on a terminal is as
/// harmless as a table. Such characters occur only inside JSON strings, where `\u` is allowed.
#[derive(Debug)]
pub struct JsonWriter<W> {
    inner: W,
    /// Bytes of a character that has not arrived whole.
    pending: Vec<u8>,
}

impl<W: std::io::Write> JsonWriter<W> {
    /// Writes to `inner`.
    pub fn new(inner: W) -> JsonWriter<W> {
        JsonWriter { inner, pending: Vec::new() }
    }

    fn write_text(&mut self, text: &str) -> std::io::Result<()> {
        let mut plain = 0;
        for (at, character) in text.char_indices() {
            // JSON's own whitespace between tokens passes.
            if !is_unsafe(character) || matches!(character, '\n' | '\r' | '\t') {
                continue;
            }
            self.inner.write_all(text.part(plain..at).as_bytes())?;
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write!(self.inner, "\\u{unit:04x}")?;
            }
            plain = at + character.len_utf8();
        }
        self.inner.write_all(text.part(plain..).as_bytes())
    }
}

impl<W: std::io::Write> std::io::Write for JsonWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.pending.is_empty() && bytes.is_ascii() && !bytes.contains(&0x7f) {
            self.inner.write_all(bytes)?;
            return Ok(bytes.len());
        }
        self.pending.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.pending) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.pending.split_off(whole);
        let ready = std::mem::replace(&mut self.pending, rest);
        self.write_text(&String::from_utf8_lossy(&ready))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn nothing_dangerous_reaches_a_terminal() {
        let text = "a\u{1b}[31m\u{7}\u{9b}x\u{202e}y\u{e0041}\nb";
        assert_eq!(terminal_line(text), "a␛[31m␇<U+009B>x<U+202E>y<U+E0041> b");
        assert!(matches!(terminal_line("plain é 日本"), Cow::Borrowed(_)));
    }

    #[test]
    fn quick_search_misses_nothing() {
        for character in ('\u{0}'..=char::MAX).filter(|character| is_unsafe_in_page(*character)) {
            let text = format!("é{character}x");
            assert!(!html(&text).chars().any(is_unsafe), "{:x}", character as u32);
            assert!(!lines(&text).chars().any(is_unsafe), "{:x}", character as u32);
        }
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(lines("a\r\n\tb\rc\u{1b}\n"), "a\n\tb␍c␛\n");
        assert!(matches!(lines("plain\t日本\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn pages_and_documents_get_text_only() {
        assert_eq!(html("a<b>&\"'\n\u{202e}"), "a&lt;b&gt;&amp;&quot;&#39;\n&lt;U+202E&gt;");
        assert!(matches!(html("plain é\t日本\n"), Cow::Borrowed(_)));
        assert_eq!(markdown_line("- [x](y) | <b>\n# z"), "\\- \\[x\\](y) \\| &lt;b> # z");
        assert_eq!(markdown_line("12. x-y 3.4"), "12\\. x-y 3.4");
        assert_eq!(markdown_code("a``b|c"), "```a``b\\|c```");
        assert_eq!(markdown_code("`"), "`` ` ``");
    }

    #[test]
    fn json_stays_equal_and_safe() {
        let value = serde_json::json!({ "a": "\u{9b}\u{202e}é\u{e0041}\u{7f}\u{1b}" });
        let text = value.to_string();
        for step in 1..text.len() {
            let mut writer = JsonWriter::new(Vec::new());
            for part in text.as_bytes().chunks(step) {
                writer.write_all(part).unwrap();
            }
            let out = String::from_utf8(writer.inner).unwrap();
            assert!(!out.chars().any(is_unsafe), "{out}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap(), value);
        }
    }
}
