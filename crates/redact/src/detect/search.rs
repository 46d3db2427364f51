//! Searching a text: one search for all keywords, then the rules, names and encodings whose sign
//! stands there.
//!
//! What an encoding hides is searched like any text, up to a depth and a number of bytes, so that the
//! work stays in proportion to the length of the text.

use crate::detect::encoding::{EncodedParts, View};
use crate::detect::engine::{Engine, Found, Hit, place};
use crate::detect::keywords::Start;
use crate::detect::long_words::{LONG, long_words};
use crate::detect::manifest;
use crate::detect::pem;
use crate::detect::rules::Rule;
use crate::detect::walk::{Near, Walk};
use crate::detect::wrapped::Wrapped;
use crate::placeholder;
use crate::strength::Strength;
use hashbrown::HashSet;
use std::cell::Cell;

impl Engine {
    /// Values in `text`, in order and without overlap, whatever encodings them.
    pub(crate) fn find(&self, text: &str) -> Found {
        let left = Cell::new(text.len().saturating_mul(MOST_DECODED) + ALWAYS_DECODED);
        let encoding = Decoding::On { depth: 0, left: &left };
        self.search(text, |_| true, encoding)
    }

    /// What the encoded parts of a text say.
    pub(crate) fn views(&self, text: &str) -> Vec<View> {
        let mut encodings = EncodedParts::default();
        self.everywhere.each(text, |place, _, starts| {
            for start in starts {
                if let Start::Encoding(encoding) = *start {
                    encodings.sign(text, encoding, place.start);
                }
            }
        });
        encodings.end_signs(text);
        for word in long_words(text.as_bytes()) {
            encodings.long_word(text, word);
        }
        encodings.views(text).collect()
    }

    /// Values that can be told by their form alone.
    pub(crate) fn find_certain(&self, text: &str) -> Vec<Hit> {
        let wanted = |start| match start {
            Start::Rule(at) => self.rules.get(at).is_some_and(Rule::is_certain),
            Start::Name | Start::Manifest | Start::Encoding(_) => false,
            Start::Pem | Start::PemEnd => true,
        };
        self.search(text, wanted, Decoding::Off).hits
    }

    /// What one rule finds by itself.
    #[cfg(test)]
    pub(crate) fn find_by(&self, id: &str, text: &str) -> Vec<Hit> {
        let is_it = |at: usize| self.rules.get(at).is_some_and(|rule| rule.id.as_ref() == id);
        self.search(text, |start| matches!(start, Start::Rule(at) if is_it(at)), Decoding::Off).hits
    }

    fn search(
        &self,
        text: &str,
        wanted: impl Fn(Start) -> bool + Copy,
        decoding: Decoding,
    ) -> Found {
        if text.len() < SHORTEST {
            return Found::default();
        }
        let (mut keys, mut manifests) = (pem::Keys::default(), manifest::Manifests::default());
        let mut encodings = EncodedParts::default();
        // Most texts are short and hold no keyword.
        let mut begun: Option<Walk> = None;
        let new = || Walk::new(self, text);
        self.everywhere.each(text, |place, word, starts| {
            let starts = starts.iter().copied().filter(|start| wanted(*start));
            let mut is_tried = false;
            for start in starts.clone() {
                match start {
                    Start::Rule(_) | Start::Name => is_tried = true,
                    Start::Pem => {
                        let found = keys.find(text, place.start);
                        begun.get_or_insert_with(new).found(self.key_rule(), found);
                    }
                    Start::PemEnd => {
                        let found = keys.find_before(text, place.start);
                        begun.get_or_insert_with(new).found(self.key_rule(), found);
                    }
                    Start::Manifest => {
                        let rule = self.rules.len() + self::place(Strength::Secret);
                        let found = manifests.find(text, &place);
                        begun.get_or_insert_with(new).found(rule, found);
                    }
                    Start::Encoding(encoding) => encodings.sign(text, encoding, place.start),
                }
            }
            if is_tried {
                begun.get_or_insert_with(new).keyword(&place, word, starts, Near::Anything);
            }
        });
        if decoding.deeper().is_some() {
            encodings.end_signs(text);
        }
        begun.iter_mut().for_each(Walk::begin_anew);
        if text.len() >= LONG {
            let long = |word| encodings.long_word(text, word);
            self.near_long_words.near_long_words(text, long, |place, word, starts| {
                let starts = starts.iter().copied().filter(|start| wanted(*start));
                begun.get_or_insert_with(new).keyword(&place, word, starts, Near::LongWord);
            });
        }
        let (hits, wrapped) = begun.map(Walk::end).unzip();
        let mut hits = hits.unwrap_or_default();
        let mut has_encoded_parts = false;
        if let Some(inner) = decoding.deeper() {
            has_encoded_parts = !encodings.is_empty();
            for view in encodings.views(text).take_while(|view| inner.has_budget_for(&view.text)) {
                let found = self.search(&view.text, wanted, inner).hits;
                hits.extend(found.into_iter().filter_map(|hit| came_from(hit, &view)));
            }
            if let Some(wrapped) = wrapped {
                self.search_wrapped(wrapped, wanted, inner, &mut hits);
            }
        }
        if hits.is_empty() {
            return Found { hits, has_encoded_parts };
        }
        let done = placeholder::spans(text);
        let inside = |hit: &Hit| {
            let at = done.partition_point(|span| span.end < hit.range.end);
            done.get(at)
                .is_some_and(|span| span.start <= hit.range.start && hit.range.end <= span.end)
        };
        let allowed =
            |hit: &Hit| self.can_be_excepted(hit.rule) && self.allowed.is_match(hit.value(text));
        hits.retain(|hit| !inside(hit) && !allowed(hit));
        Found { hits: self.without_overlap(hits), has_encoded_parts }
    }

    /// Adds what is found only when lines are read as one.
    fn search_wrapped(
        &self,
        wrapped: Wrapped<'_>,
        wanted: impl Fn(Start) -> bool + Copy,
        decoding: Decoding,
        hits: &mut Vec<Hit>,
    ) {
        let mut clean: HashSet<String> = HashSet::new();
        let joined = wrapped.joined();
        for lines in joined.take_while(|lines| decoding.has_budget_for(&lines.view.text)) {
            if clean.contains(&lines.view.text) {
                continue;
            }
            let found = self.search(&lines.view.text, wanted, decoding).hits;
            if found.is_empty() {
                if clean.len() < MOST_CLEAN {
                    clean.insert(lines.view.text);
                }
                continue;
            }
            for hit in found {
                let has_form = hit.rule < self.rules.len();
                let Some(hit) = came_from(hit, &lines.view) else { continue };
                let crosses = hit.range.start < lines.first_end && hit.range.end > lines.first_end;
                let known =
                    |one: &Hit| one.range.end == lines.first_end && one.range.end > hit.range.start;
                if crosses && (lines.is_wide || has_form && !hits.iter().any(known)) {
                    hits.push(hit);
                }
            }
        }
    }
}

/// Whether encodings are looked through, and how far.
#[derive(Clone, Copy)]
enum Decoding<'a> {
    /// Only what stands there.
    Off,
    /// What was decoded is searched like any text, as long as there are not too many bytes of it.
    On { depth: u8, left: &'a Cell<usize> },
}

impl Decoding<'_> {
    /// Whether and how views of this text are searched.
    fn deeper(self) -> Option<Self> {
        match self {
            Decoding::On { depth, left } if depth < DEEPEST => {
                Some(Decoding::On { depth: depth + 1, left })
            }
            _ => None,
        }
    }

    fn has_budget_for(self, text: &str) -> bool {
        let Decoding::On { left, .. } = self else { return false };
        let rest = left.get().checked_sub(text.len() + VIEW_COST);
        left.set(rest.unwrap_or(0));
        rest.is_some()
    }
}

/// How deep encodings may be in each other.
const DEEPEST: u8 = 5;
/// How many times its length is decoded of a text, and how much of any.
const MOST_DECODED: usize = 3;
const ALWAYS_DECODED: usize = 16 << 10;
/// How many joined lines without a value are remembered: those of a log repeat.
const MOST_CLEAN: usize = 256;
/// What a view costs whatever its length, in bytes.
const VIEW_COST: usize = 16;

/// A hit in a view, where it came from.
fn came_from(hit: Hit, view: &View) -> Option<Hit> {
    let range = view.origin(&hit.range)?;
    let says = Some(hit.value(&view.text).into());
    Some(Hit { range, rule: hit.rule, word: None, says })
}

/// A shorter text holds no value with what tells about it.
pub(crate) const SHORTEST: usize = 7;
