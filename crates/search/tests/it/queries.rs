//! The query language.

use backstory_search::{Condition, LONGEST_QUERY, parse};
use backstory_testkit::or_slow;
use proptest::prelude::*;

fn wrong(query: &str) -> (String, String, Option<String>) {
    let error = parse(query).unwrap_err();
    (query[error.at.clone()].to_owned(), error.message, error.hint)
}

/// As it is printed.
fn printed(query: &str) -> String {
    parse(query).unwrap().to_string()
}

#[test]
fn words_phrases_and_operators() {
    assert_eq!(printed("redis  cache"), "redis cache");
    assert_eq!(printed("\"two  words\" -not"), "\"two words\" -not");
    assert_eq!(printed("a b OR c AND d"), "a b OR c d");
    assert_eq!(printed("(a OR b) c"), "(a OR b) c");
    assert_eq!(printed("-(a b)"), "-(a b)");
    assert_eq!(printed("((a))"), "a");
    assert_eq!(printed(r#""say \"hi\" \\ C:\dir""#), r#""say \"hi\" \\ C:\\dir""#);
}

#[test]
fn what_cannot_be_anything_else_is_a_word() {
    for word in ["--force", "/home/user", "/etc", "std::fs", "http://x", "main()", "a/b", "-", ":)"]
    {
        let parsed = parse(word).unwrap().condition;
        assert!(matches!(&parsed, Condition::Text(text, _) if text == word), "{word}: {parsed:?}");
    }
    assert_eq!(printed("(foo(a) OR b)"), "\"foo(a)\" OR b");
    assert_eq!(printed("/a b\\/c/ x"), "/a b\\/c/ x");
    assert_eq!(printed("note:x"), "\"note:x\"");
}

#[test]
fn qualifiers() {
    assert_eq!(printed("in:prompt redis in:title"), "in:prompt,title redis");
    assert_eq!(printed("tool:Bash is:error -agent:codex"), "tool:Bash is:error -agent:codex");
    assert_eq!(printed("file:\"my file.rs\""), "file:\"my file.rs\"");
    assert_eq!(printed("after:2026-01-31T09:30 x"), "after:\"2026-01-31T09:30\" x");
}

#[test]
fn errors_show_the_place_and_what_to_type() {
    let (place, message, hint) = wrong("redis modle:opus");
    assert_eq!((place.as_str(), message.as_str()), ("modle:opus", "`modle:`: no such qualifier"));
    assert!(hint.unwrap().contains("model:"));
    assert_eq!(wrong("a is:broken").0, "broken");
    assert_eq!(wrong("in:prompt,answr x").0, "answr");
    assert_eq!(wrong("a \"b").0, "\"b");
    assert_eq!(wrong("(a b").0, "(");
    assert_eq!(wrong("a OR").0, "OR");
    assert_eq!(wrong("x tool: Bash").0, "tool:");
    assert_eq!(wrong("-in:result x").0, "in:result");
    for nothing in ["", "  ", "in:result", "\"\"", "()", "OR a", "-(", "-OR"] {
        let (_, message, _) = wrong(nothing);
        assert!(!message.is_empty(), "{nothing}");
    }
}

#[test]
fn huge_queries_are_refused() {
    let long = "x".repeat(1 << 20);
    assert!(parse(&long).unwrap_err().message.contains("longer"));
    let deep = "(".repeat(LONGEST_QUERY);
    assert!(parse(&deep).unwrap_err().message.contains("levels"));
    let minus = format!("{}a", "-(".repeat(1_000));
    assert!(parse(&minus).unwrap_err().message.contains("levels"));
}

fn pieces() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "(", ")", "\"", "-", "/", "\\", ":", " ", "OR", "AND", " OR ", "in:", "is:error", "tool:",
        "prompt", "a", "redis", "é", "日", "\n", "\u{1b}", "after:7d", "--", "file:", ",", "*",
    ]);
    prop_oneof![fixed.prop_map(str::to_owned), ".{0,4}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(or_slow(2_000, 50_000)))]

    #[test]
    fn a_printed_query_parses_to_the_same(parts in prop::collection::vec(pieces(), 0..12)) {
        let query = parts.concat();
        match parse(&query) {
            Ok(parsed) => {
                let again = parsed.to_string();
                prop_assert_eq!(parse(&again), Ok(parsed), "{} as {}", query, again);
            }
            Err(error) => {
                prop_assert!(query.get(error.at.clone()).is_some(), "{query}: {error:?}");
                prop_assert!(!error.message.is_empty());
            }
        }
    }
}
