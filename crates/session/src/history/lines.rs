//! Lines as numbers, so that states of a file compare quickly.

use backstory_format::json::marks::{Byte, Marks};
use backstory_format::slice::Part;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use imara_diff::{IndentLevel, Token};
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::hash::BuildHasher as _;
use std::ops::Range;
use std::rc::Rc;

/// Lines of a text without their ends. A byte order mark and the choice of line ending make no
/// difference, nor does a missing newline at the end.
pub fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut ends = Marks::<Byte<b'\n'>>::new(text.as_bytes(), 0);
    let mut from = 0;
    std::iter::from_fn(move || {
        if from >= text.len() {
            return None;
        }
        let end = ends.peek().unwrap_or(text.len());
        let line = text.get(from..end)?;
        from = end + 1;
        if from < text.len() {
            ends.pass_to(from);
        }
        Some(line.strip_suffix('\r').unwrap_or(line))
    })
}

/// Text with `\n` as its only line ending and no byte order mark.
pub(super) fn unix<'t>(text: impl Into<Cow<'t, str>>) -> String {
    let text = text.into();
    let bare = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if memchr::memchr(b'\r', bare.as_bytes()).is_some() {
        bare.replace("\r\n", "\n")
    } else if bare.len() < text.len() {
        bare.to_owned()
    } else {
        text.into_owned()
    }
}

/// What is known of one distinct line. Most lines never change, so what only changed lines need
/// is found when it is asked for.
#[derive(Debug)]
struct Facts {
    /// Where it is in the text of all lines.
    place: Range<usize>,
    /// Letters and digits.
    weight: OnceCell<u32>,
    /// The same number for lines that differ in whitespace only.
    shape: OnceCell<Token>,
}

/// All distinct lines met so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// All of them, one after the other.
    text: String,
    numbers: HashTable<Token>,
    hasher: DefaultHashBuilder,
    facts: Vec<Facts>,
    shapes: RefCell<Shapes>,
}

/// Lines without their whitespace.
#[derive(Debug, Default)]
struct Shapes {
    numbers: HashMap<Rc<str>, Token>,
    texts: Vec<Rc<str>>,
}

impl Shapes {
    fn number(&mut self, line: &str) -> Token {
        let bare: String = line.split_whitespace().collect();
        if let Some(known) = self.numbers.get(bare.as_str()) {
            return *known;
        }
        let number = Token(self.texts.len() as u32);
        let text: Rc<str> = bare.into();
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }
}

/// Letters and digits of a text.
pub(super) fn letters(text: &str) -> u32 {
    if !text.is_ascii() {
        return text.chars().filter(|letter| letter.is_alphanumeric()).count() as u32;
    }
    // So few that their number fits into a byte: processors count many of those at once.
    let few = text.as_bytes().chunks(128);
    let letter = |byte: &u8| u8::from(byte.is_ascii_alphanumeric());
    few.map(|few| u32::from(few.iter().map(letter).sum::<u8>())).sum()
}

/// Lines of files are about as long.
const USUAL_LENGTH: usize = 32;

impl Lines {
    pub(super) fn number(&mut self, text: &str) -> Vec<Token> {
        if self.facts.is_empty() {
            let lines = text.len() / USUAL_LENGTH;
            self.text.reserve(text.len());
            self.facts.reserve(lines);
            self.numbers.reserve(lines, |_| 0);
        }
        split_lines(text).map(|line| self.line(line)).collect()
    }

    /// The number of one line.
    pub(super) fn line(&mut self, line: &str) -> Token {
        let Lines { text, numbers, hasher, facts, .. } = self;
        let hash = hasher.hash_one(line);
        let is_line = |number: &Token| text_of(text, facts, *number) == line;
        if let Some(known) = numbers.find(hash, is_line) {
            return *known;
        }
        let number = Token(facts.len() as u32);
        let place = text.len()..text.len() + line.len();
        text.push_str(line);
        facts.push(Facts { place, weight: OnceCell::new(), shape: OnceCell::new() });
        numbers
            .insert_unique(hash, number, |number| hasher.hash_one(text_of(text, facts, *number)));
        number
    }

    /// A line without its whitespace.
    pub(super) fn shape_text(&self, line: Token) -> Rc<str> {
        let shape = self.shape(line);
        let shapes = self.shapes.borrow();
        shapes.texts.get(shape.0 as usize).cloned().unwrap_or_else(|| Rc::from(""))
    }

    fn facts(&self, line: Token) -> Option<&Facts> {
        self.facts.get(line.0 as usize)
    }

    fn text(&self, line: Token) -> &str {
        text_of(&self.text, &self.facts, line)
    }

    /// Letters and digits of a line.
    pub(super) fn weight(&self, line: Token) -> u32 {
        self.facts(line).map_or(0, |facts| *facts.weight.get_or_init(|| letters(self.text(line))))
    }

    /// The same for lines that are equal except for whitespace.
    pub(super) fn shape(&self, line: Token) -> Token {
        let number = || self.shapes.borrow_mut().number(self.text(line));
        self.facts(line).map_or(line, |facts| *facts.shape.get_or_init(number))
    }

    pub(super) fn indent(&self, line: Token) -> IndentLevel {
        IndentLevel::for_line(self.text(line).chars(), 8)
    }

    /// Letters and digits of several lines.
    pub(super) fn total_weight(&self, lines: &[Token]) -> u32 {
        lines.iter().map(|line| self.weight(*line)).sum()
    }
}

fn text_of<'t>(text: &'t str, facts: &[Facts], line: Token) -> &'t str {
    let facts = facts.part(line.0 as usize..=line.0 as usize);
    facts.first().map(|facts| text.part(facts.place.clone())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_have_equal_numbers() {
        let mut lines = Lines::default();
        let numbers = |lines: &mut Lines, text: &str| -> Vec<u32> {
            lines.number(text).iter().map(|line| line.0).collect()
        };
        assert_eq!(numbers(&mut lines, "a\n\nb c\na\n"), [0, 1, 2, 0]);
        let many: String = (0..500).map(|line| format!("line {line}\n")).collect();
        let first = numbers(&mut lines, &many);
        assert_eq!(first, (3..503).collect::<Vec<_>>());
        assert_eq!(numbers(&mut lines, &many), first);
        assert_eq!(numbers(&mut lines, "bc\n b c"), [503, 504]);
        assert_eq!(lines.facts.len(), 505);
        assert_eq!(lines.text(Token(2)), "b c");
        assert_eq!(lines.shape(Token(2)), lines.shape(Token(504)));
        assert_eq!(&*lines.shape_text(Token(504)), "bc");
        assert_eq!(lines.weight(Token(502)), 7);
    }

    #[test]
    fn letters_are_counted() {
        assert_eq!(letters(" {}_-;"), 0);
        assert_eq!(letters("a1 Z9 \u{e9}\u{4e2d}!"), 6);
        assert_eq!(letters(&"ab, ".repeat(1000)), 2000);
    }

    #[test]
    fn lines_end_in_any_way() {
        let lines = |text| split_lines(text).collect::<Vec<_>>();
        assert_eq!(lines(""), [""; 0]);
        assert_eq!(lines("\n"), [""]);
        assert_eq!(lines("a\n\nb"), ["a", "", "b"]);
        assert_eq!(lines("a\r\nb\r"), ["a", "b"]);
        assert_eq!(lines("\u{feff}a\n\n"), ["a", ""]);
    }
}
