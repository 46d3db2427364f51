//! Finding candidates: one search for keywords, then the rules, names and encodings they stand for.

pub(crate) mod assign;
pub(crate) mod compared;
pub(crate) mod encoding;
pub(crate) mod engine;
pub(crate) mod fallback;
pub(crate) mod inner;
pub(crate) mod keyword_search;
#[cfg(test)]
mod keyword_search_tests;
pub(crate) mod keywords;
pub(crate) mod long_words;
pub(crate) mod lookup;
pub(crate) mod manifest;
pub(crate) mod name;
pub(crate) mod near_service_name;
pub(crate) mod pem;
pub(crate) mod pem_lines;
pub(crate) mod repeats;
pub(crate) mod rules;
pub(crate) mod scan;
pub(crate) mod search;
pub(crate) mod table;
pub(crate) mod tries;
pub(crate) mod verdicts;
pub(crate) mod walk;
pub(crate) mod wrapped;
