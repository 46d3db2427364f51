//! The inside of words: quotes, escapes, variables and substitutions.

use super::Command;
use super::split::{Splitter, Until};
use backstory_format::slice::Part;

/// Bytes in which the end of arithmetic is looked for.
const LONGEST_ARITHMETIC: usize = 1024;

/// What can end a run of letters that mean themselves, outside of quotes.
const ENDS_RUN: &[u8] = b" \t\r\n;&|()<>\\'\"$`";

impl Splitter<'_> {
    /// The next piece of a word outside of quotes.
    pub(super) fn piece(&mut self, text: &mut String, substituted: &mut Vec<Command>) {
        match self.peek() {
            Some(b'\\') => {
                self.at += 1;
                match self.letter() {
                    Some('\n') => {}
                    Some(letter) => text.push(letter),
                    None => text.push('\\'),
                }
            }
            Some(b'\'') => {
                self.at += 1;
                self.up_to('\'', text);
            }
            Some(b'"') => self.double_quoted(text, substituted),
            Some(b'$') if self.follows("$'") => self.with_escapes(text),
            Some(b'$') if self.follows("$\"") => {
                self.at += 1;
                self.double_quoted(text, substituted);
            }
            Some(b'$' | b'`' | b'<' | b'>') => self.expansion(text, substituted),
            _ => self.run(ENDS_RUN, text),
        }
    }

    /// The next letter, whatever it is.
    fn letter(&mut self) -> Option<char> {
        let letter = self.text.part(self.at..).chars().next()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    /// Text as it is, up to one of these; at least one letter.
    fn run(&mut self, ends: &[u8], text: &mut String) {
        let start = self.at;
        self.letter();
        let rest = self.text.as_bytes().part(self.at..);
        self.at += rest.iter().position(|byte| ends.contains(byte)).unwrap_or(rest.len());
        text.push_str(self.text.part(start..self.at));
    }

    /// Text as it is, up to a letter that is left out.
    fn up_to(&mut self, end: char, text: &mut String) {
        let rest = self.text.part(self.at..);
        let length = rest.find(end).unwrap_or(rest.len());
        text.push_str(rest.part(..length));
        self.at += (length + end.len_utf8()).min(rest.len());
    }

    fn double_quoted(&mut self, text: &mut String, substituted: &mut Vec<Command>) {
        self.at += 1;
        self.quotes += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    break;
                }
                b'\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'\n') => self.at += 1,
                        Some(b'$' | b'`' | b'"' | b'\\') => text.extend(self.letter()),
                        _ => text.push('\\'),
                    }
                }
                b'$' | b'`' => self.expansion(text, substituted),
                _ => self.run(b"\"\\$`", text),
            }
        }
        self.quotes -= 1;
    }

    /// `$'…'`, in which a backslash means what it means in C.
    fn with_escapes(&mut self, text: &mut String) {
        self.at += 2;
        while let Some(letter) = self.letter() {
            match letter {
                '\'' => return,
                '\\' => match self.letter() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(letter @ ('\\' | '\'' | '"' | '?')) => text.push(letter),
                    // Numbers of letters, which no caller needs.
                    Some(letter) => text.extend(['\\', letter]),
                    None => text.push('\\'),
                },
                letter => text.push(letter),
            }
        }
    }

    /// A variable or a substitution, which is left as it is written.
    fn expansion(&mut self, text: &mut String, substituted: &mut Vec<Command>) {
        let start = self.at;
        if self.arithmetic("$((") {
        } else if self.follows("${") {
            self.at += 2;
            self.variable();
        } else if self.is_deepest() {
            self.at += 1;
        } else if self.peek() == Some(b'`') {
            substituted.extend(self.backticks());
        } else if self.follows("$(") || self.peek() != Some(b'$') {
            self.at += 2;
            substituted.extend(self.substitution(Until::Parenthesis));
            self.at = (self.at + 1).min(self.text.len());
        } else {
            self.at += 1;
        }
        text.push_str(self.text.part(start..self.at));
    }

    /// Commands between backticks; their quotes do not hide the second one.
    fn backticks(&mut self) -> Vec<Command> {
        self.at += 1;
        let rest = self.text.as_bytes().part(self.at..);
        let mut escaped = false;
        let end = rest.iter().position(|byte| {
            let ends = *byte == b'`' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        });
        let Some(end) = end.map(|end| self.at + end) else { return Vec::new() };
        let whole = self.text;
        self.text = whole.part(..end);
        let commands = self.substitution(Until::End);
        self.text = whole;
        self.at = end + 1;
        commands
    }

    /// The rest of a variable in braces. Its own quotes and braces are respected.
    fn variable(&mut self) {
        let mut open = 1_u32;
        let mut unused = String::new();
        while let Some(letter) = self.letter() {
            match letter {
                '\\' => drop(self.letter()),
                '\'' if self.quotes == 0 => self.up_to('\'', &mut unused),
                '{' => open += 1,
                '}' if open == 1 => return,
                '}' => open -= 1,
                _ => {}
            }
        }
    }

    /// Arithmetic, in which `<<` is not a here-document, if it begins here.
    pub(super) fn arithmetic(&mut self, opening: &str) -> bool {
        if !self.follows(opening) {
            return false;
        }
        let rest = self.text.as_bytes().part(self.at..);
        let rest = rest.part(..rest.len().min(LONGEST_ARITHMETIC));
        let end = rest.windows(2).position(|pair| pair == b"))");
        // What holds these is a substitution that begins with a parenthesis.
        let is_commands = |byte: &u8| matches!(byte, b';' | b'\n' | b'\'' | b'"');
        let end = end.filter(|end| !rest.part(..*end).iter().any(is_commands));
        self.at += end.map_or(0, |end| end + 2);
        end.is_some()
    }
}
