//! A query as tokens.
//!
//! What cannot be anything else is a word: `/home/user` is not a regular expression, `--force` is
//! not a negation, `std::fs` has no qualifier, and `main()` has no group.

use super::QueryError;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// `(`
    Open,
    /// `)`
    Close,
    /// `-` in front of something
    Not,
    /// `OR`
    Or,
    /// `AND`, which changes nothing
    And,
    Word(String),
    Phrase(String),
    Regex(String),
    /// `name:` and the value, which may be empty
    Qualified {
        name: String,
        value: String,
        value_at: Range<usize>,
    },
}

#[derive(Debug)]
pub(super) struct Lexer<'q> {
    query: &'q str,
    at: usize,
    /// Groups that are open.
    depth: usize,
}

/// What is before a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// A qualifier.
    Known,
    /// Nearly a qualifier.
    Mistyped,
    /// A part of a word.
    Other,
}

impl<'q> Lexer<'q> {
    pub(super) fn new(query: &'q str) -> Lexer<'q> {
        Lexer { query, at: 0, depth: 0 }
    }

    fn rest(&self) -> &'q str {
        self.query.get(self.at..).unwrap_or_default()
    }

    /// The next token and its place.
    pub(super) fn next(
        &mut self,
        name: impl Fn(&str) -> Name,
    ) -> Result<Option<(Token, Range<usize>)>, QueryError> {
        self.at += self.rest().len() - self.rest().trim_start().len();
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok(None) };
        let token = match first {
            '(' => {
                self.at += 1;
                self.depth += 1;
                Token::Open
            }
            ')' if self.depth > 0 => {
                self.at += 1;
                self.depth -= 1;
                Token::Close
            }
            '"' => Token::Phrase(self.quoted()?),
            '-' if self.is_negation() => {
                self.at += 1;
                Token::Not
            }
            '/' => match self.regex() {
                Some(pattern) => Token::Regex(pattern),
                None => self.word(name)?,
            },
            _ => self.word(name)?,
        };
        Ok(Some((token, start..self.at)))
    }

    /// A minus before something that is neither a minus nor the end of a word.
    fn is_negation(&self) -> bool {
        let mut letters = self.rest().chars();
        letters.next();
        letters.next().is_some_and(|next| {
            next != '-' && !next.is_whitespace() && !(next == ')' && self.depth > 0)
        })
    }

    /// After a quote: everything up to the next one. `\"` is a quote and `\\` a backslash.
    fn quoted(&mut self) -> Result<String, QueryError> {
        let start = self.at;
        let mut text = String::new();
        let mut letters = self.rest().char_indices().skip(1).peekable();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.at = start + at + 1;
                    return Ok(text);
                }
                '\\' => match letters.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                    Some((_, escaped)) => text.push(escaped),
                    None => text.push('\\'),
                },
                other => text.push(other),
            }
        }
        let whole = start..self.query.len();
        Err(QueryError::new("this quote is never closed", &whole)
            .hint("close it with `\"`; in a shell, put the whole query into single quotes"))
    }

    /// `/…/`, if the first slash that is not escaped ends a word.
    fn regex(&mut self) -> Option<String> {
        let mut escaped = false;
        for (at, letter) in self.rest().char_indices().skip(1) {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '/' => {
                    let pattern = self.rest().get(1..at).filter(|pattern| !pattern.is_empty())?;
                    let after = self.rest().get(at + 1..)?.chars().next();
                    let ends = after
                        .is_none_or(|next| next.is_whitespace() || (next == ')' && self.depth > 0));
                    self.at += at + 1;
                    if ends {
                        return Some(pattern.to_owned());
                    }
                    self.at -= at + 1;
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    /// Up to whitespace, or to a parenthesis that closes a group.
    fn word(&mut self, name: impl Fn(&str) -> Name) -> Result<Token, QueryError> {
        let start = self.at;
        let mut opened = 0_usize;
        let mut end = self.rest().len();
        let mut colons = 0;
        for (at, letter) in self.rest().char_indices() {
            match letter {
                ':' => {
                    colons += 1;
                    let before = self.rest().get(..at).unwrap_or_default();
                    let after = self.rest().get(at + 1..).and_then(|rest| rest.chars().next());
                    let has_value = after.is_some_and(|next| {
                        !next.is_whitespace() && !matches!(next, ':' | '/' | '\\' | '=' | ')')
                    });
                    match name(before) {
                        Name::Known if colons == 1 => return self.value(before, start + at + 1),
                        Name::Mistyped if colons == 1 && has_value => {
                            return self.value(before, start + at + 1);
                        }
                        _ => {}
                    }
                }
                '(' => opened += 1,
                ')' if opened > 0 => opened -= 1,
                ')' if self.depth > 0 => {
                    end = at;
                    break;
                }
                letter if letter.is_whitespace() => {
                    end = at;
                    break;
                }
                _ => {}
            }
        }
        self.at = start + end;
        let word = self.query.get(start..self.at).unwrap_or_default();
        Ok(match word {
            "OR" => Token::Or,
            "AND" => Token::And,
            word => Token::Word(word.to_owned()),
        })
    }

    /// The value of a qualifier, quoted or not.
    fn value(&mut self, name: &str, at: usize) -> Result<Token, QueryError> {
        self.at = at;
        let value = if self.rest().starts_with('"') {
            self.quoted()?
        } else {
            let ends = |letter: char| letter.is_whitespace() || (letter == ')' && self.depth > 0);
            let end = self.rest().find(ends).unwrap_or(self.rest().len());
            let value = self.rest().get(..end).unwrap_or_default().to_owned();
            self.at += end;
            value
        };
        let value_at = at..self.at;
        Ok(Token::Qualified { name: name.to_owned(), value, value_at })
    }
}
