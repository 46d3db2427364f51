//! Highlighting what was searched for in coloured lines.

use backstory_search::Matcher;
use std::io::{self, Write};

/// Colours change places, and so does this, without changing colours.
const ON: &str = "\u{1b}[7m";
const OFF: &str = "\u{1b}[27m";

/// Passes lines on, with matches in reverse video.
pub(super) struct Highlight<'a, W> {
    out: W,
    matcher: &'a Matcher,
    line: Vec<u8>,
}

impl<'a, W: Write> Highlight<'a, W> {
    pub(super) fn new(out: W, matcher: &'a Matcher) -> Highlight<'a, W> {
        Highlight { out, matcher, line: Vec::new() }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let line = String::from_utf8_lossy(&self.line);
        let plain = anstream::adapter::strip_str(&line).to_string();
        let places = self.matcher.places(&plain);
        if places.is_empty() {
            self.out.write_all(line.as_bytes())?;
        } else {
            self.out.write_all(marked(&line, &places).as_bytes())?;
        }
        self.line.clear();
        Ok(())
    }
}

/// The line with signs around places, which count bytes outside control sequences.
fn marked(line: &str, places: &[std::ops::Range<usize>]) -> String {
    let mut out = String::with_capacity(line.len() + 16);
    let mut places = places.iter().peekable();
    let (mut at, mut open) = (0, false);
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        if letter == '\u{1b}' {
            // Ours are colours only, and end with this letter.
            let end = rest.find('m').map_or(rest.len(), |end| end + 1);
            let (code, after) = rest.split_at(end);
            out.push_str(code);
            if open {
                out.push_str(ON);
            }
            rest = after;
            continue;
        }
        if !open && places.peek().is_some_and(|place| place.start == at) {
            out.push_str(ON);
            open = true;
        }
        out.push(letter);
        at += letter.len_utf8();
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        if open && places.peek().is_some_and(|place| place.end <= at) {
            out.push_str(OFF);
            (open, _) = (false, places.next());
        }
    }
    out
}

impl<W: Write> Write for Highlight<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.pass_on()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            self.pass_on()?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_on_around_a_match() {
        let line = "a \u{1b}[1mré\u{1b}[0mdis b";
        assert_eq!(
            marked(line, std::slice::from_ref(&(2..8))),
            "a \u{1b}[1m\u{1b}[7mré\u{1b}[0m\u{1b}[7mdis\u{1b}[27m b"
        );
    }
}
