//! Telling secrets from false positives: placeholders, code, paths, words.

pub(crate) mod char_stats;
pub(crate) mod false_positives;
pub(crate) mod template;
pub(crate) mod value;
pub(crate) mod wordlike;
