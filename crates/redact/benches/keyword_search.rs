//! The search for keywords beside what `aho-corasick` has for the same words.
//!
//!     cargo bench -p backstory-redact --bench keyword_search
//!     BACKSTORY_BENCH_TEXT=FILE cargo bench -p backstory-redact --bench keyword_search
//!
//! Every search reports each place of each keyword in its case, so the benchmark ends with an error
//! where their counts differ. The text is documentation, code and sessions of this repository.

#[path = "../src/detect/keyword_search.rs"]
mod keyword_search;
mod text;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, packed};
use divan::{Bencher, counter::BytesCount};
use keyword_search::{Case, KeywordSearch};
use std::sync::LazyLock;

/// More patterns than this are refused by the packed search.
const MOST_PACKED: usize = 64;

/// Files of rules, for their keywords.
const RULES: [&str; 10] = [
    include_str!("../rules/ai.toml"),
    include_str!("../rules/calls.toml"),
    include_str!("../rules/cloud.toml"),
    include_str!("../rules/code.toml"),
    include_str!("../rules/commands.toml"),
    include_str!("../rules/context.toml"),
    include_str!("../rules/names.toml"),
    include_str!("../rules/people.toml"),
    include_str!("../rules/phrases.toml"),
    include_str!("../rules/services.toml"),
];

type Keywords = Vec<(String, Case)>;

/// The bundled keywords, as the program searches for them.
static KEYWORDS: LazyLock<Keywords> = LazyLock::new(|| {
    let mut words: Keywords = Vec::new();
    let mut add = |word: &str, case| match words.iter_mut().find(|(one, _)| one == word) {
        Some((_, found)) if case == Case::Any => *found = case,
        Some(_) => {}
        None => words.push((word.to_owned(), case)),
    };
    for file in RULES {
        let file: toml::Table = toml::from_str(file).unwrap_or_default();
        let strings = |value: Option<&toml::Value>| {
            let items = value.and_then(toml::Value::as_array).into_iter().flatten();
            items.filter_map(toml::Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        for key in ["keywords", "services"] {
            strings(file.get(key)).iter().for_each(|word| add(word, Case::Any));
        }
        for rule in file.get("rule").and_then(toml::Value::as_array).into_iter().flatten() {
            let regex = rule.get("regex").and_then(toml::Value::as_str).unwrap_or_default();
            let case = if regex.starts_with("(?i)") { Case::Any } else { Case::Exact };
            strings(rule.get("keywords")).iter().for_each(|word| add(word, case));
        }
    }
    words
});

static TEXT: LazyLock<String> = LazyLock::new(text::realistic);

static OURS: LazyLock<KeywordSearch> = LazyLock::new(|| KeywordSearch::new(&KEYWORDS));

fn count_ours(text: &str) -> usize {
    let mut count = 0;
    OURS.each(text.as_bytes(), 0..text.len(), |_, _| count += 1);
    count
}

fn count_theirs(search: &AhoCorasick, text: &str) -> usize {
    let places = search.find_overlapping_iter(Input::new(text));
    let in_case = places.filter(|one| {
        KEYWORDS.get(one.pattern().as_usize()).is_some_and(|(word, case)| {
            *case == Case::Any || text.get(one.range()) == Some(word.as_str())
        })
    });
    in_case.count()
}

fn automaton(kind: AhoCorasickKind) -> Option<AhoCorasick> {
    let words = KEYWORDS.iter().map(|(word, _)| word);
    AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(kind)).build(words).ok()
}

/// The packed search takes few words, finds none inside another and knows one case: so many searches
/// over a text in small letters, each begun again after the beginning of what it found.
struct Packed {
    groups: Vec<(packed::Searcher, usize)>,
}

impl Packed {
    fn new() -> Packed {
        let all: Vec<usize> = (0..KEYWORDS.len()).collect();
        let groups = all.chunks(MOST_PACKED).filter_map(|group| {
            let words = group.iter().filter_map(|at| KEYWORDS.get(*at));
            let mut builder = packed::Config::new().only_teddy(true).builder();
            for (word, _) in words {
                builder.add(word.to_ascii_lowercase());
            }
            Some((builder.build()?, *group.first()?))
        });
        Packed { groups: groups.collect() }
    }

    /// Places at which some word of a group begins: fewer than the others count.
    fn count(&self, text: &str) -> usize {
        let lower = text.to_ascii_lowercase();
        let mut count = 0;
        for (search, _) in &self.groups {
            let mut at = 0;
            while let Some(found) =
                search.find_in(lower.as_bytes(), aho_corasick::Span { start: at, end: lower.len() })
            {
                count += 1;
                at = found.start() + 1;
            }
        }
        count
    }
}

fn main() {
    let text = TEXT.as_str();
    let ours = count_ours(text);
    let theirs = automaton(AhoCorasickKind::DFA).map(|search| count_theirs(&search, text));
    assert_eq!(Some(ours), theirs, "both find the same");
    assert!(ours > 0, "the text holds keywords");
    divan::main();
}

#[divan::bench]
fn ours(bencher: Bencher) {
    bencher.counter(BytesCount::of_str(&*TEXT)).bench(|| count_ours(&TEXT));
}

#[divan::bench]
fn aho_corasick_dfa(bencher: Bencher) {
    let Some(search) = automaton(AhoCorasickKind::DFA) else { return };
    bencher.counter(BytesCount::of_str(&*TEXT)).bench(|| count_theirs(&search, &TEXT));
}

#[divan::bench]
fn aho_corasick_contiguous_nfa(bencher: Bencher) {
    let Some(search) = automaton(AhoCorasickKind::ContiguousNFA) else { return };
    bencher.counter(BytesCount::of_str(&*TEXT)).bench(|| count_theirs(&search, &TEXT));
}

#[divan::bench]
fn aho_corasick_packed(bencher: Bencher) {
    let search = Packed::new();
    bencher.counter(BytesCount::of_str(&*TEXT)).bench(|| search.count(&TEXT));
}
