//! Lines as numbers, so that states of a file compare quickly.

use hashbrown::HashMap;
use imara_diff::{IndentLevel, Token};
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Lines of a text without their ends. A byte order mark and the choice of line ending make no
/// difference, nor does a missing newline at the end.
pub fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = (!text.is_empty()).then_some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (line, after) = match memchr::memchr(b'\n', text.as_bytes()) {
            Some(end) => (text.get(..end)?, text.get(end + 1..)?),
            None => (text, ""),
        };
        rest = (!after.is_empty()).then_some(after);
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
    text: Rc<str>,
    /// Letters and digits.
    weight: OnceCell<u32>,
    /// The same number for lines that differ in white space only.
    shape: OnceCell<Token>,
}

/// All distinct lines met so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    numbers: HashMap<Rc<str>, Token>,
    facts: Vec<Facts>,
    shapes: RefCell<Shapes>,
}

/// Lines without their white space.
#[derive(Debug, Default)]
struct Shapes {
    numbers: HashMap<Rc<str>, Token>,
    texts: Vec<Rc<str>>,
}

impl Shapes {
    fn number(&mut self, line: &Rc<str>) -> Token {
        let bare: String = line.split_whitespace().collect();
        if let Some(known) = self.numbers.get(bare.as_str()) {
            return *known;
        }
        let number = Token(self.texts.len() as u32);
        let text: Rc<str> = if bare.len() == line.len() { line.clone() } else { bare.into() };
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }
}

/// Letters and digits of a text.
pub(super) fn letters(text: &str) -> u32 {
    let letters = if text.is_ascii() {
        text.bytes().filter(u8::is_ascii_alphanumeric).count()
    } else {
        text.chars().filter(|letter| letter.is_alphanumeric()).count()
    };
    letters as u32
}

impl Lines {
    pub(super) fn number(&mut self, text: &str) -> Vec<Token> {
        split_lines(text).map(|line| self.line(line)).collect()
    }

    /// The number of one line.
    pub(super) fn line(&mut self, line: &str) -> Token {
        if let Some(known) = self.numbers.get(line) {
            return *known;
        }
        let text: Rc<str> = line.into();
        let number = Token(self.facts.len() as u32);
        let facts = Facts { text: text.clone(), weight: OnceCell::new(), shape: OnceCell::new() };
        self.facts.push(facts);
        self.numbers.insert(text, number);
        number
    }

    /// A line without its white space.
    pub(super) fn shape_text(&self, line: Token) -> Rc<str> {
        let shape = self.shape(line);
        let shapes = self.shapes.borrow();
        shapes.texts.get(shape.0 as usize).cloned().unwrap_or_else(|| Rc::from(""))
    }

    /// How many shapes of lines were asked for.
    pub(super) fn shape_count(&self) -> u32 {
        self.shapes.borrow().texts.len() as u32
    }

    pub(super) fn count(&self) -> u32 {
        self.facts.len() as u32
    }

    fn facts(&self, line: Token) -> Option<&Facts> {
        self.facts.get(line.0 as usize)
    }

    /// Letters and digits of a line.
    pub(super) fn weight(&self, line: Token) -> u32 {
        self.facts(line).map_or(0, |facts| *facts.weight.get_or_init(|| letters(&facts.text)))
    }

    /// The same for lines that are equal but for white space.
    pub(super) fn shape(&self, line: Token) -> Token {
        let number = |facts: &Facts| self.shapes.borrow_mut().number(&facts.text);
        self.facts(line).map_or(line, |facts| *facts.shape.get_or_init(|| number(facts)))
    }

    pub(super) fn indent(&self, line: Token) -> IndentLevel {
        let text = self.facts(line).map_or("", |facts| &facts.text);
        IndentLevel::for_line(text.chars(), 8)
    }

    /// Letters and digits of several lines.
    pub(super) fn total_weight(&self, lines: &[Token]) -> u32 {
        lines.iter().map(|line| self.weight(*line)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::split_lines;

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
