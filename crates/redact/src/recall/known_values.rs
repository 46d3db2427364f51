//! Values found in a session, to be matched again in other forms.
//!
//! Only values that cannot be anything else are looked for everywhere: a password that is a word
//! goes where a rule finds it, and nowhere else.

use crate::detect::engine::MatchMode;
use crate::judge::value::is_unmistakable;
use crate::recall::encodings::forms;
use crate::recall::unwrapped::Unwrapped;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use hashbrown::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

/// A value that was found.
#[derive(Debug, Clone)]
struct Known {
    rule: usize,
    recall: MatchMode,
}

#[derive(Debug, Default)]
pub(crate) struct KnownValues {
    values: HashMap<Box<str>, Known>,
    matcher: OnceLock<Option<Matcher>>,
}

#[derive(Debug)]
struct Matcher {
    search: AhoCorasick,
    forms: Vec<Form>,
    /// Some of them may be wrapped over lines; words by themselves are not.
    wraps: bool,
    /// All of them are words that JSON writes as they are.
    bare: bool,
}

#[derive(Debug)]
struct Form {
    value: Box<str>,
    rule: usize,
    recall: MatchMode,
}

/// A value found again.
#[derive(Debug, Clone)]
pub(crate) struct Match<'a> {
    pub(crate) range: Range<usize>,
    pub(crate) value: &'a str,
    pub(crate) rule: usize,
    pub(crate) recall: MatchMode,
}

impl KnownValues {
    /// Keeps a value; true if it is new.
    pub(crate) fn keep(&mut self, value: &str, rule: usize, recall: MatchMode) -> bool {
        if self.values.contains_key(value) {
            return false;
        }
        let recall = match recall {
            MatchMode::Everywhere if !is_unmistakable(value) => MatchMode::Never,
            recall => recall,
        };
        self.values.insert(value.into(), Known { rule, recall });
        self.matcher = OnceLock::new();
        true
    }

    /// Whether nothing is looked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.matcher().is_none()
    }

    /// Kept values in any form in `text`.
    pub(crate) fn find<'a>(&'a self, text: &str) -> Vec<Match<'a>> {
        let Some(matcher) = self.matcher() else { return Vec::new() };
        let mut found = Vec::new();
        let mut add = |range: Range<usize>, pattern: usize, whole: &str| {
            let Some(form) = matcher.forms.get(pattern) else { return };
            if form.recall == MatchMode::Everywhere || is_word(whole, &range) {
                let (rule, recall) = (form.rule, form.recall);
                found.push(Match { range, value: &form.value, rule, recall });
            }
        };
        for one in matcher.search.find_iter(text) {
            add(one.range(), one.pattern().as_usize(), text);
        }
        if let Some(unwrapped) = matcher.wraps.then(|| Unwrapped::of(text)).flatten() {
            for one in matcher.search.find_iter(&unwrapped.text) {
                if let Some(range) = unwrapped.broken(one.range()) {
                    add(range, one.pattern().as_usize(), text);
                }
            }
        }
        found
    }

    /// Whether anything kept may be in these bytes.
    pub(crate) fn may_hold(&self, bytes: &[u8]) -> bool {
        let Some(matcher) = self.matcher() else { return false };
        if matcher.search.is_match(bytes) {
            return true;
        }
        if !matcher.wraps {
            return false;
        }
        let text = String::from_utf8_lossy(bytes);
        Unwrapped::of(&text).is_some_and(|unwrapped| matcher.search.is_match(&unwrapped.text))
    }

    /// Whether it is certain that nothing kept is in a text, given how JSON writes it. Where escapes
    /// could hide a value, nothing is.
    pub(crate) fn leaves(&self, raw: &[u8]) -> bool {
        let hides = || memchr::memmem::find(raw, b"\\u").is_some();
        let holds = |matcher: &Matcher| matcher.search.is_match(raw);
        self.matcher().is_none_or(|matcher| matcher.bare && !holds(matcher) && !hides())
    }

    fn matcher(&self) -> Option<&Matcher> {
        let made = self.matcher.get_or_init(|| {
            let mut texts = Vec::new();
            let mut kinds = Vec::new();
            let mut kept: Vec<_> = self.values.iter().collect();
            kept.sort_by_key(|(value, _)| *value);
            for (value, learnt) in kept {
                let all = match learnt.recall {
                    MatchMode::Never => continue,
                    MatchMode::Word => vec![value.to_string()],
                    MatchMode::Everywhere => forms(value),
                };
                for text in all {
                    texts.push(text);
                    let (rule, recall) = (learnt.rule, learnt.recall);
                    kinds.push(Form { value: value.clone(), rule, recall });
                }
            }
            if texts.is_empty() {
                return None;
            }
            // Made for each session, and most of them are short.
            let search = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .build(&texts);
            let wraps = kinds.iter().any(|form| form.recall == MatchMode::Everywhere);
            let is_bare = |byte: u8| byte > b' ' && !matches!(byte, b'"' | b'/' | b'\\' | 0x7f);
            let bare = !wraps && kinds.iter().all(|form| form.value.bytes().all(is_bare));
            Some(Matcher { search: search.ok()?, forms: kinds, wraps, bare })
        });
        made.as_ref()
    }
}

fn is_word(text: &str, range: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let inner = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let before = range.start.checked_sub(1).and_then(|at| bytes.get(at));
    // `\n` as written inside other quotes.
    let escaped = range.start >= 2 && bytes.get(range.start - 2) == Some(&b'\\');
    (!inner(before) || escaped) && !inner(bytes.get(range.end))
}
