//! Rules as they stand in TOML, and compiled.

use crate::config::{Class, RedactError};
use crate::detect::keyword_search::Case;
use crate::detect::long_words::{has_long_word, is_long_word};
use crate::detect::tries::Tried;
use crate::judge::value::{Form, entropy, is_literal, is_secret};
use crate::placeholder::OPENING;
use crate::strength::Strength;
use regex::Regex;
use serde::Deserialize;
use std::ops::Range;
use std::sync::OnceLock;

/// The rules that come with the program.
const BUNDLED: [&str; 9] = [
    include_str!("../../rules/ai.toml"),
    include_str!("../../rules/cloud.toml"),
    include_str!("../../rules/code.toml"),
    include_str!("../../rules/services.toml"),
    include_str!("../../rules/context.toml"),
    include_str!("../../rules/commands.toml"),
    include_str!("../../rules/calls.toml"),
    include_str!("../../rules/phrases.toml"),
    include_str!("../../rules/people.toml"),
];

/// So many of them are about tokens of providers.
const PROVIDERS: usize = 4;

/// A rule as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    pub(crate) id: String,
    #[serde(default = "secrets")]
    pub(crate) class: Class,
    /// Words one of which stands in every match; found first, whatever their case.
    pub(crate) keywords: Vec<String>,
    /// What is looked for from a keyword on; the group `value`, else all of it, is taken out.
    pub(crate) regex: String,
    /// How many bytes before the keyword a match may begin.
    #[serde(default)]
    pub(crate) before: usize,
    /// Whether a keyword may stand inside a word: `WebClient(`.
    #[serde(default)]
    pub(crate) inside: bool,
    /// What a value must be like to be believed.
    #[serde(default)]
    pub(crate) like: Like,
    /// The least entropy of a value, in bits per character.
    #[serde(default)]
    pub(crate) entropy: f64,
    /// What must stand before a match: any non-letter (by default only where the keyword begins the
    /// match), or the beginning of a path.
    #[serde(default)]
    pub(crate) starts: Option<Starts>,
    /// Values that this matches are left alone.
    #[serde(default)]
    pub(crate) unless: Option<String>,
    /// What stands where a value stood, if not a placeholder.
    #[serde(default)]
    pub(crate) replace: Option<String>,
    /// A character that every match contains before its first space. Where it is missing, the
    /// expression is not run.
    #[serde(default)]
    pub(crate) holds: Option<char>,
    /// Whether every match contains a run of [`LONG`](crate::detect::long_words::LONG) letters and digits near
    /// its keyword. Follows from the expression; written out in the bundled rules, because reading
    /// hundreds of expressions for it took longer than compiling the rules. A test compares both.
    #[serde(default)]
    pub(crate) long_word: Option<bool>,
    /// Finds tokens of a provider, which no exception covers.
    #[serde(skip)]
    pub(crate) is_token: bool,
    /// Texts in which it must find something, and texts in which it must not.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read them"))]
    pub(crate) examples: Vec<String>,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read them"))]
    pub(crate) counterexamples: Vec<String>,
}

/// What a value must be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Like {
    /// Whatever the expression matches.
    #[default]
    Anything,
    /// Written out, not filled in by a program.
    Literal,
    /// As for a field named `password`, `token`, `key`.
    Password,
    Token,
    Weak,
    /// As for a password in a sentence or a command, where a word is just a word.
    Phrase,
}

/// What must stand before a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Starts {
    Word,
    Path,
}

fn secrets() -> Class {
    Class::Secrets
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    #[serde(default)]
    rule: Vec<Written>,
}

/// A rule ready for use.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: Box<str>,
    pub(crate) class: Class,
    expression: Expression,
    /// Everything that the expression matches is taken out.
    is_whole: bool,
    /// The expression does not care about case, so neither does the keyword.
    any_case: bool,
    before: usize,
    inside: bool,
    holds: Option<u8>,
    like: Like,
    entropy: f64,
    starts: Option<Starts>,
    unless: Option<Expression>,
    pub(crate) replace: Option<Box<str>>,
    is_token: bool,
}

/// An expression, compiled when it is first needed: most of the bundled rules never are.
#[derive(Debug)]
struct Expression {
    text: Box<str>,
    compiled: OnceLock<Option<Compiled>>,
}

#[derive(Debug)]
struct Compiled {
    regex: Regex,
    /// The group that is taken out, if not everything is.
    group: Option<usize>,
    /// The group with a word that is to go everywhere.
    word: Option<usize>,
}

impl Expression {
    fn new(text: String) -> Expression {
        Expression { text: text.into(), compiled: OnceLock::new() }
    }

    fn get(&self) -> Option<&Compiled> {
        let compiled = || {
            let regex = Regex::new(&self.text).ok()?;
            let group = regex.capture_names().position(|name| name == Some("value"));
            let word = regex.capture_names().position(|name| name == Some("word"));
            Some(Compiled { regex, group, word })
        };
        self.compiled.get_or_init(compiled).as_ref()
    }
}

impl Compiled {
    /// The next value from `from` on with the word in it, and the match that both are in.
    fn find(&self, window: &str, from: usize) -> Option<(Found, Range<usize>)> {
        if !window.is_char_boundary(from) || from > window.len() {
            return None;
        }
        match self.group {
            None => {
                let found = self.regex.find_at(window, from)?;
                Some(((found.range(), None), found.range()))
            }
            Some(group) => {
                let captures = self.regex.captures_at(window, from)?;
                let word = self.word.and_then(|word| captures.get(word)).map(|word| word.range());
                Some(((captures.get(group)?.range(), word), captures.get(0)?.range()))
            }
        }
    }
}

/// A value, and a word in it.
pub(crate) type Found = (Range<usize>, Option<Range<usize>>);

/// What a match may be long at most.
const LONGEST: usize = 8 << 10;
const LONGEST_AROUND: usize = 320;

impl Rule {
    /// Whether an exception can cover what it finds.
    pub(crate) fn can_be_excepted(&self) -> bool {
        !(self.is_token && self.class == Class::Secrets)
    }

    /// Recognized by its form alone, with nothing around it.
    pub(crate) fn is_certain(&self) -> bool {
        self.class == Class::Secrets && self.like == Like::Anything && self.is_whole
    }

    /// Whether a match may hold the keyword that stands at `place`.
    pub(crate) fn may_match(&self, text: &str, place: Range<usize>, keyword: &str) -> bool {
        if !self.any_case && text.get(place.clone()) != Some(keyword) {
            return false;
        }
        let opens_with_word = keyword.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
        let is_word = self.before == 0 && !self.inside && opens_with_word;
        !is_word || starts_word(text.as_bytes(), place.start)
    }

    /// The value of the match that the keyword at `place` belongs to, and the word in it.
    pub(crate) fn find(&self, text: &str, place: usize, tried: &mut Tried) -> Option<Found> {
        let start = boundary(text, place.saturating_sub(self.before));
        // An expression that may begin before its keyword is tried at every place of its window.
        let ahead = if self.before == 0 { 0 } else { tried.ahead(place) };
        let longest = if self.before == 0 { LONGEST } else { LONGEST_AROUND + ahead };
        let end = boundary(text, place + longest);
        let window = text.get(start..end)?;
        if self.holds.is_some_and(|sign| !first_word_holds(window, sign)) {
            return None;
        }
        let compiled = self.expression.get()?;
        // With room before it, the expression may match something else first.
        let mut from = 0;
        loop {
            let Some(((value, word), whole)) = compiled.find(window, from) else {
                tried.found_nothing_before(place + ahead);
                return None;
            };
            let moved = |range: Range<usize>| start + range.start..start + range.end;
            let (value, place_of) = (moved(value), moved(whole.clone()));
            if place_of.start > place {
                tried.found_nothing_before(place_of.start);
                return None;
            }
            if place_of.end > place {
                tried.matched(&place_of);
                let fits = self.fits(text, place_of.start);
                let believed = text.get(value.clone()).is_some_and(|value| self.accepts(value));
                return (fits && believed).then(|| (value, word.map(moved)));
            }
            from = whole.end.max(from + 1);
        }
    }

    fn fits(&self, text: &str, start: usize) -> bool {
        let before = start.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        match self.starts {
            None => true,
            Some(Starts::Word) => {
                starts_word(text.as_bytes(), start)
                    && !before.is_some_and(|byte| matches!(byte, b'.' | b'_' | b'-'))
            }
            Some(Starts::Path) => {
                let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-~$})".contains(byte);
                !before.is_some_and(inner)
                    || starts_word(text.as_bytes(), start)
                        && before != Some(&b'.')
                        && before.is_some_and(u8::is_ascii_alphanumeric)
            }
        }
    }

    fn accepts(&self, value: &str) -> bool {
        if value.is_empty() || value.contains(OPENING) || entropy(value) < self.entropy {
            return false;
        }
        let unless = self.unless.as_ref().and_then(Expression::get);
        if unless.is_some_and(|unless| unless.regex.is_match(value)) {
            return false;
        }
        match self.like {
            Like::Anything => true,
            Like::Literal => is_literal(value),
            Like::Password => is_secret(value, Strength::Password, Form::Bare),
            Like::Phrase => is_secret(value, Strength::Password, Form::Code),
            Like::Token => is_secret(value, Strength::Token, Form::Quoted),
            Like::Weak => is_secret(value, Strength::Weak, Form::Quoted),
        }
    }
}

/// Whether a word can begin here: behind something that is no letter or digit, or behind an
/// escape (`\n`, `%3D`, a colour) that ends with one.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| bytes.get(at)).copied();
    let Some(last) = before(1) else { return true };
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    match last {
        b'n' | b'r' | b't' if before(2) == Some(b'\\') => true,
        b'm' => {
            let digits = (2..8).take_while(|back| {
                before(*back).is_some_and(|byte| byte.is_ascii_digit() || byte == b';')
            });
            before(digits.count() + 2) == Some(b'[')
        }
        _ => last.is_ascii_hexdigit() && before(3) == Some(b'%'),
    }
}

/// Whether a sign stands before the first space.
fn first_word_holds(text: &str, sign: u8) -> bool {
    let ends = |byte: &u8| *byte == sign || byte.is_ascii_whitespace();
    text.bytes().find(ends) == Some(sign)
}

fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Reads the bundled rules.
pub(crate) fn bundled() -> Result<Vec<Written>, RedactError> {
    let mut all = Vec::new();
    for (at, text) in BUNDLED.iter().enumerate() {
        let file: RuleFile =
            toml::from_str(text).map_err(|error| RedactError::Toml(error.to_string()))?;
        let is_token = at < PROVIDERS;
        all.extend(file.rule.into_iter().map(|rule| {
            let long_word = Some(rule.long_word.unwrap_or(false));
            Written { is_token, long_word, ..rule }
        }));
    }
    Ok(all)
}

impl Written {
    /// Whether its matches are always next to a long word.
    pub(crate) fn needs_long_word(&self) -> bool {
        self.long_word.unwrap_or_else(|| self.expression_needs_long_word())
    }

    /// The same, read off its expression.
    fn expression_needs_long_word(&self) -> bool {
        match self.before {
            0 => has_long_word(&self.regex),
            _ => is_long_word(&self.regex),
        }
    }

    /// Which writings of its keywords its expression matches.
    pub(crate) fn case(&self) -> Case {
        if self.regex.starts_with("(?i)") { Case::Any } else { Case::Exact }
    }

    /// Whether its expressions are sound; those of the bundled rules are, says a test.
    pub(crate) fn check(&self) -> Result<(), RedactError> {
        for expression in [Some(self.anchored()), self.unless.clone()].into_iter().flatten() {
            Regex::new(&expression)
                .map_err(|error| RedactError::Rule(self.id.clone(), error.to_string()))?;
        }
        Ok(())
    }

    fn anchored(&self) -> String {
        match self.before {
            0 => format!("^(?:{})", self.regex),
            _ => self.regex.clone(),
        }
    }

    pub(crate) fn compile(&self) -> Result<Rule, RedactError> {
        let wrong = |cause: String| RedactError::Rule(self.id.clone(), cause);
        if self.keywords.is_empty() || self.keywords.iter().any(String::is_empty) {
            return Err(wrong("it needs keywords".to_owned()));
        }
        let holds = self.holds.and_then(|sign| u8::try_from(sign).ok());
        Ok(Rule {
            // What may begin before its keyword has its first word there.
            holds: holds.filter(|sign| sign.is_ascii() && self.before == 0),
            is_whole: !self.regex.contains("(?P<value>"),
            unless: self.unless.clone().map(Expression::new),
            replace: self.replace.as_deref().map(Into::into),
            starts: self.starts,
            id: self.id.as_str().into(),
            class: self.class,
            any_case: self.case() == Case::Any,
            expression: Expression::new(self.anchored()),
            before: self.before,
            inside: self.inside,
            like: self.like,
            entropy: self.entropy,
            is_token: self.is_token,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Classes, Config, Redactor};
    use regex_syntax::hir::{Class, Hir, HirKind};

    /// Whether every match of an expression holds a sign, and no space.
    fn holds_in_first_word(expression: &str, sign: char) -> bool {
        let parsed = regex_syntax::parse(expression).unwrap();
        has_no_space(&parsed) && always_holds(&parsed, u8::try_from(sign).unwrap())
    }

    fn always_holds(hir: &Hir, sign: u8) -> bool {
        match hir.kind() {
            HirKind::Literal(literal) => literal.0.contains(&sign),
            HirKind::Capture(capture) => always_holds(&capture.sub, sign),
            HirKind::Repetition(repetition) => {
                repetition.min > 0 && always_holds(&repetition.sub, sign)
            }
            HirKind::Concat(parts) => parts.iter().any(|part| always_holds(part, sign)),
            HirKind::Alternation(parts) => parts.iter().all(|part| always_holds(part, sign)),
            HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => false,
        }
    }

    fn has_no_space(hir: &Hir) -> bool {
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        match hir.kind() {
            HirKind::Literal(literal) => !literal.0.iter().any(is_space),
            HirKind::Class(Class::Unicode(class)) => class.iter().all(|range| {
                let (start, end) = (u32::from(range.start()), u32::from(range.end()));
                !(start..=end.min(127)).any(|letter| is_space(&(letter as u8)))
            }),
            HirKind::Class(Class::Bytes(class)) => {
                class.iter().all(|range| !(range.start()..=range.end()).any(|byte| is_space(&byte)))
            }
            HirKind::Capture(capture) => has_no_space(&capture.sub),
            HirKind::Repetition(repetition) => has_no_space(&repetition.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(has_no_space),
            HirKind::Empty | HirKind::Look(_) => true,
        }
    }

    #[test]
    fn a_sign_is_in_every_match_or_it_is_not() {
        for (expression, expected) in [
            ("a@b", true),
            ("a+@+b", true),
            ("(?:a@|@b)[a-z]", true),
            ("(?P<value>[^\\s@]{3})@", true),
            ("(?:a@|b)", false),
            ("a@?", false),
            ("[^@]@", false),
            ("a b@", false),
        ] {
            assert_eq!(holds_in_first_word(expression, '@'), expected, "{expression}");
        }
    }

    #[test]
    fn every_rule_finds_its_examples_and_not_its_counterexamples() {
        let redactor =
            Redactor::new(&Config { classes: Classes::ALL, ..Config::default() }).unwrap();
        let mut wrong = Vec::new();
        for rule in bundled().unwrap() {
            rule.check().unwrap();
            let finds = |text: &String| !redactor.engine.find_by(&rule.id, text).is_empty();
            let missed = rule.examples.iter().filter(|text| !finds(text));
            wrong.extend(missed.map(|text| format!("{}: not found in {text:?}", rule.id)));
            let found = rule.counterexamples.iter().filter(|text| finds(text));
            wrong.extend(found.map(|text| format!("{}: found in {text:?}", rule.id)));
            let needs = rule.expression_needs_long_word();
            if rule.needs_long_word() != needs {
                wrong.push(format!("{}: needs `long_word = {needs}`", rule.id));
            }
            if let Some(sign) = rule.holds
                && (rule.before > 0 || !holds_in_first_word(&rule.regex, sign))
            {
                wrong
                    .push(format!("{}: {sign:?} is not in the first word of every match", rule.id));
            }
            if rule.examples.is_empty() || rule.counterexamples.is_empty() {
                wrong.push(format!("{}: needs examples and counterexamples", rule.id));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
