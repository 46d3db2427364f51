//! Lines as numbers, so that states of a file compare quickly.

use hashbrown::HashMap;
use imara_diff::{IndentLevel, Token};
use std::rc::Rc;

/// Lines of a text without their ends. A byte order mark and the choice of line ending make no
/// difference, nor does a missing newline at the end.
pub fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (!text.is_empty()).then(|| text.strip_suffix('\n').unwrap_or(text).split('\n'));
    lines.into_iter().flatten().map(|line| line.strip_suffix('\r').unwrap_or(line))
}

/// Text with `\n` as its only line ending and no byte order mark.
pub(super) fn unix(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains('\r') { text.replace("\r\n", "\n") } else { text.to_owned() }
}

/// What is known of one distinct line.
#[derive(Debug, Clone, Copy)]
struct Facts {
    /// The same number for lines that differ in white space only.
    shape: Token,
    /// Letters and digits.
    weight: u32,
    indent: IndentLevel,
}

/// All distinct lines met so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    numbers: HashMap<Box<str>, Token>,
    facts: Vec<Facts>,
    shapes: HashMap<Rc<str>, Token>,
    shape_texts: Vec<Rc<str>>,
}

impl Lines {
    pub(super) fn number(&mut self, text: &str) -> Vec<Token> {
        split_lines(text).map(|line| self.line(line)).collect()
    }

    fn line(&mut self, line: &str) -> Token {
        if let Some(known) = self.numbers.get(line) {
            return *known;
        }
        let shape: String = line.chars().filter(|letter| !letter.is_whitespace()).collect();
        let shape = self.shape_number(&shape);
        let weight = line.chars().filter(|letter| letter.is_alphanumeric()).count() as u32;
        let indent = IndentLevel::for_line(line.chars(), 8);
        self.facts.push(Facts { shape, weight, indent });
        let number = Token(self.facts.len() as u32 - 1);
        self.numbers.insert(line.into(), number);
        number
    }

    fn shape_number(&mut self, shape: &str) -> Token {
        if let Some(known) = self.shapes.get(shape) {
            return *known;
        }
        let number = Token(self.shape_texts.len() as u32);
        let text: Rc<str> = shape.into();
        self.shape_texts.push(text.clone());
        self.shapes.insert(text, number);
        number
    }

    /// A line without its white space.
    pub(super) fn shape_text(&self, line: Token) -> Rc<str> {
        let text = self.shape_texts.get(self.shape(line).0 as usize);
        text.cloned().unwrap_or_else(|| Rc::from(""))
    }

    /// How many different lines there are when white space does not count.
    pub(super) fn shape_count(&self) -> u32 {
        self.shape_texts.len() as u32
    }

    pub(super) fn count(&self) -> u32 {
        self.facts.len() as u32
    }

    fn facts(&self, line: Token) -> Option<&Facts> {
        self.facts.get(line.0 as usize)
    }

    /// Letters and digits of a line.
    pub(super) fn weight(&self, line: Token) -> u32 {
        self.facts(line).map_or(0, |facts| facts.weight)
    }

    /// The same for lines that are equal but for white space.
    pub(super) fn shape(&self, line: Token) -> Token {
        self.facts(line).map_or(line, |facts| facts.shape)
    }

    pub(super) fn indent(&self, line: Token) -> IndentLevel {
        self.facts(line).map_or_else(|| IndentLevel::for_line("".chars(), 8), |facts| facts.indent)
    }

    /// Letters and digits of several lines.
    pub(super) fn total_weight(&self, lines: &[Token]) -> u32 {
        lines.iter().map(|line| self.weight(*line)).sum()
    }
}
