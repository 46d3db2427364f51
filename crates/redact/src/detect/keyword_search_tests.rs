//! The search for keywords against one that is known to be right.
//!
//! By itself, because a benchmark compiles `keyword_search` alone.

use super::keyword_search::{Case, KeywordSearch};
use aho_corasick::AhoCorasick;
use std::ops::Range;
use std::sync::LazyLock;

type Words = Vec<(String, Case)>;

#[test]
fn keyword_search_finds_words_at_any_place_in_any_case() {
    let words: Vec<String> =
        ["@", "pw", "pass", "password", "key", "://", "Z~`", "\u{e9}\u{e9}", "pass\u{e9}"]
            .map(str::to_owned)
            .to_vec();
    assert_found(words);
}

/// More bytes than there are classes.
#[test]
fn a_repeated_letter_is_found_where_its_run_begins() {
    let words = [("aaa".to_owned(), Case::Exact), ("ab".to_owned(), Case::Exact)];
    let search = KeywordSearch::new(&words);
    let mut found = Vec::new();
    search
        .each(b"aaaaaaaab aaa Aaaaa aa", 0..22, |range, number| found.push((range.start, number)));
    assert_eq!(found, [(0, 0), (7, 1), (10, 0), (15, 0)]);
}

#[test]
fn words_may_hold_any_byte() {
    let mut words: Vec<String> = (' '..='~').map(|sign| format!("{sign}{sign}pw{sign}")).collect();
    words.extend(["@", "p", "key", "\u{e9}p", "passpass"].map(str::to_owned));
    assert_found(words);
}

/// The words that the program looks for, and a search that is known to be right.
fn bundled() -> (Words, KeywordSearch, AhoCorasick) {
    let rules = crate::detect::rules::bundled().unwrap();
    let names = crate::detect::name::Names::bundled().unwrap();
    let names = names.keywords().chain(names.services());
    let mut words = Words::new();
    for rule in rules {
        words.extend(rule.keywords.iter().map(|word| (word.clone(), rule.case())));
    }
    words.extend(names.map(|word| (word.to_owned(), Case::Any)));
    assert!(words.iter().any(|(_, case)| *case == Case::Exact));
    let (beginnings, oracle) = (KeywordSearch::new(&words), oracle(&words));
    (words, beginnings, oracle)
}

proptest::proptest! {
    #[test]
    fn nothing_of_what_the_rules_look_for_is_missed(
        pieces in proptest::collection::vec(
            (0usize..4000, 0usize..8, 0usize..40, 0usize..7), 0..40),
        cut in 0usize..9,
    ) {
        static BUNDLED: LazyLock<(Words, KeywordSearch, AhoCorasick)> = LazyLock::new(bundled);
        let (words, beginnings, oracle) = &*BUNDLED;
        let between = ["", " ", "_", "=\"", "\u{e9}", "\n    ", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1"];
        let mut text = String::new();
        for (word, from, length, gap) in pieces {
            let (word, _) = &words[word % words.len()];
            let part: String = word.chars().skip(from / 4).take(length + 1).collect();
            text += &if from % 2 == 0 { part } else { part.to_uppercase() };
            text += between[gap];
        }
        let bytes = text.as_bytes();
        let span = cut.min(bytes.len())..bytes.len();
        let (ours, theirs) = both(words, beginnings, oracle, bytes, span);
        assert_eq!(ours, theirs, "{text:?}");
    }
}

fn oracle(words: &[(String, Case)]) -> AhoCorasick {
    let words = words.iter().map(|(word, _)| word);
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).unwrap()
}

type Places = Vec<(Range<usize>, usize)>;

fn both(
    words: &[(String, Case)],
    beginnings: &KeywordSearch,
    oracle: &AhoCorasick,
    text: &[u8],
    span: Range<usize>,
) -> (Places, Places) {
    let mut ours: Places = Vec::new();
    beginnings.each(text, span.clone(), |range, number| ours.push((range, number)));
    let mut theirs: Places = oracle
        .find_overlapping_iter(aho_corasick::Input::new(text).span(span.clone()))
        .map(|one| (one.range(), one.pattern().as_usize()))
        .filter(|(range, number)| {
            let (word, case) = &words[*number];
            let word = word.as_bytes();
            let continues = range.start > span.start
                && word.len() > 2
                && word.iter().all(|letter| *letter == text[range.start - 1]);
            !continues && (*case == Case::Any || &text[range.clone()] == word)
        })
        .collect();
    for places in [&mut ours, &mut theirs] {
        places.sort_by_key(|(range, number)| (range.start, range.end, *number));
    }
    (ours, theirs)
}

fn assert_found(words: Vec<String>) {
    let cased = |case| words.iter().map(|word| (word.clone(), case)).collect::<Words>();
    let mut mixed = cased(Case::Any);
    mixed.iter_mut().step_by(2).for_each(|(_, case)| *case = Case::Exact);
    for words in [cased(Case::Any), cased(Case::Exact), mixed] {
        assert_each_found(&words);
    }
}

fn assert_each_found(words: &[(String, Case)]) {
    let (beginnings, oracle) = (KeywordSearch::new(words), oracle(words));
    for text in [
        "",
        "@",
        "pw",
        "a@",
        "PassWord",
        "https://p@ss.key",
        "xpWkEy",
        "no",
        "p",
        "z~`Z~`@@",
        "\u{e9}@\u{e9}pw",
        "\u{e9}\u{e9}PASS\u{e9}",
        "passpasswordpw",
        "~~PW~ AApwa [[pw[ {{pw{ @@pw@ ``pw`",
    ] {
        for start in 0..=text.len() {
            let span = start..text.len();
            let (ours, theirs) = both(words, &beginnings, &oracle, text.as_bytes(), span);
            assert_eq!(ours, theirs, "{text:?} from {start}");
        }
    }
}
