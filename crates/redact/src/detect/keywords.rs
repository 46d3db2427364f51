//! The words that tell where a rule is worth trying.

use crate::detect::encoding::Encoding;
use crate::detect::keyword_search::{Case, KeywordSearch};
use crate::detect::long_words::{NEAR, long_words};
use hashbrown::HashMap;
use std::ops::Range;

/// What a keyword may be part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Rule(usize),
    /// The name of something that has a value.
    Name,
    /// A key between its two marks.
    Pem,
    /// The end of such a key.
    PemEnd,
    /// Data of a Kubernetes secret.
    Manifest,
    /// Something that hides other words.
    Encoding(Encoding),
}

/// Keywords that are searched for together.
#[derive(Debug, Default)]
pub(crate) struct Written {
    words: Vec<(String, Case)>,
    starts: Vec<Vec<Start>>,
    /// By word: its place in both.
    places: HashMap<String, usize>,
}

impl Written {
    pub(crate) fn add(&mut self, word: &str, case: Case, start: Start) {
        let at = *self.places.entry_ref(word).or_insert_with(|| {
            self.words.push((word.to_owned(), Case::Exact));
            self.starts.push(Vec::new());
            self.words.len() - 1
        });
        if case == Case::Any
            && let Some((_, found)) = self.words.get_mut(at)
        {
            *found = Case::Any;
        }
        if let Some(starts) = self.starts.get_mut(at)
            && !starts.contains(&start)
        {
            starts.push(start);
        }
    }

    pub(crate) fn compile(self) -> Keywords {
        let search = KeywordSearch::new(&self.words);
        let words = self.words.into_iter().map(|(word, _)| word).collect();
        Keywords { search, words, starts: self.starts }
    }
}

/// One search for many words.
#[derive(Debug)]
pub(crate) struct Keywords {
    search: KeywordSearch,
    /// As their rules write them.
    words: Vec<String>,
    /// By keyword: what may begin there.
    starts: Vec<Vec<Start>>,
}

impl Keywords {
    /// Every keyword in the text.
    pub(crate) fn each<'a>(
        &'a self,
        text: &str,
        mut found: impl FnMut(Range<usize>, &'a str, &'a [Start]),
    ) {
        self.within(text, 0..text.len(), &mut found);
    }

    /// Keywords next to a long word, and the long words. A keyword may be reported twice.
    pub(crate) fn near_long_words<'a>(
        &'a self,
        text: &str,
        mut long: impl FnMut(Range<usize>),
        mut found: impl FnMut(Range<usize>, &'a str, &'a [Start]),
    ) {
        let mut done = 0;
        for word in long_words(text.as_bytes()) {
            // A keyword may begin in what was searched and end behind it.
            let start = word.start.saturating_sub(NEAR).max(done);
            done = word.end.saturating_sub(NEAR);
            self.within(text, start..word.end, &mut found);
            long(word);
        }
    }

    fn within<'a>(
        &'a self,
        text: &str,
        span: Range<usize>,
        found: &mut impl FnMut(Range<usize>, &'a str, &'a [Start]),
    ) {
        self.search.each(text.as_bytes(), span, |range, at| {
            if let (Some(starts), Some(word)) = (self.starts.get(at), self.words.get(at)) {
                found(range, word, starts);
            }
        });
    }
}
