//! A word, a phrase or a regular expression, ready to be searched for.

use crate::literal::Literals;
use crate::query::{At, QueryError};
use regex::{Regex, RegexBuilder};
use regex_syntax::ast::{self, Ast, ClassSetItem};
use std::convert::Infallible;

/// What an expression may take, compiled.
const SIZE: usize = 1 << 20;

/// Something to search for.
#[derive(Debug)]
pub(crate) struct Term {
    pub(crate) regex: Regex,
    /// What a text must contain for it to match.
    pub(crate) literals: Option<Literals>,
    pub(crate) ignore_case: bool,
    /// The words of a text; none for a regular expression.
    pub(crate) text: Option<String>,
}

impl Term {
    /// A word or a phrase.
    pub(crate) fn text(text: &str, at: &At) -> Result<Term, QueryError> {
        let ignore_case = !text.chars().any(char::is_uppercase);
        let regex = compile(&spaced(text), ignore_case).map_err(|_| {
            QueryError::new("this word is too long", &at.0).hint("search for a part of it")
        })?;
        let (literals, text) = (Literals::of_text(text), Some(text.to_owned()));
        Ok(Term { regex, literals, ignore_case, text })
    }

    /// A regular expression.
    pub(crate) fn regex(pattern: &str, at: &At) -> Result<Term, QueryError> {
        let ignore_case = !has_uppercase(pattern);
        let regex = compile(pattern, ignore_case).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                QueryError::new("this regular expression is too large", &at.0)
                    .hint("use smaller repetitions")
            }
            error => {
                let cause = cause(&error.to_string());
                QueryError::new(format!("this regular expression is wrong: {cause}"), &at.0)
                    .hint("to search for the text itself, quote it")
            }
        })?;
        Ok(Term { regex, literals: Literals::of_regex(pattern), ignore_case, text: None })
    }
}

/// The words of a text in a row, whatever whitespace is between them.
pub(crate) fn spaced(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(regex::escape).collect();
    words.join(r"\s+")
}

pub(crate) fn compile(pattern: &str, ignore_case: bool) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .case_insensitive(ignore_case)
        .size_limit(SIZE)
        .dfa_size_limit(SIZE)
        .nest_limit(100)
        .build()
}

/// The last line of a message that draws the expression first.
fn cause(message: &str) -> String {
    let last = message.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error:").unwrap_or(last).trim().to_owned()
}

/// Whether an expression has an uppercase letter; `\S` and other classes have none.
fn has_uppercase(pattern: &str) -> bool {
    struct Letters(bool);
    impl ast::Visitor for Letters {
        type Output = bool;
        type Err = Infallible;

        fn finish(self) -> Result<bool, Infallible> {
            Ok(self.0)
        }

        fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
            if let Ast::Literal(literal) = ast {
                self.0 |= literal.c.is_uppercase();
            }
            Ok(())
        }

        fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
            self.0 |= match item {
                ClassSetItem::Literal(literal) => literal.c.is_uppercase(),
                ClassSetItem::Range(range) => {
                    range.start.c.is_uppercase() || range.end.c.is_uppercase()
                }
                _ => false,
            };
            Ok(())
        }
    }
    let parsed = ast::parse::ParserBuilder::new().nest_limit(100).build().parse(pattern);
    parsed.is_ok_and(|parsed| match ast::visit(&parsed, Letters(false)) {
        Ok(found) => found,
        Err(never) => match never {},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_matters_if_a_letter_is_uppercase() {
        let ignores = |pattern| Term::regex(pattern, &At::default()).unwrap().ignore_case;
        assert!(ignores(r"\Sfoo\W") && ignores("[a-z]+") && ignores(r"\bx"));
        assert!(!ignores("Foo") && !ignores("[A-Z]x"));
        let text = |text| Term::text(text, &At::default()).unwrap();
        assert!(text("straße").ignore_case && !text("Redis").ignore_case);
    }

    #[test]
    fn whitespace_matches_whitespace() {
        let term = Term::text("a b", &At::default()).unwrap();
        assert!(term.regex.is_match("x A\n\t b"));
        assert!(!term.regex.is_match("ab"));
    }

    #[test]
    fn a_huge_expression_is_refused() {
        let wrong = |pattern: &str| Term::regex(pattern, &At::default()).unwrap_err().message;
        assert!(wrong("(((x{1000}){1000}){1000})").contains("too large"));
        assert!(wrong("(").contains("unclosed group"), "{}", wrong("("));
        assert!(wrong(&"(".repeat(5_000)).contains("wrong"));
    }
}
