//! Letters that a text must contain for a term to match, found without reading the text.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// Longer ones find nothing more, and would need a wider window.
pub(crate) const LONGEST: usize = 12;

/// Alternatives, at most.
const MOST: usize = 16;

/// Letters of which one must occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Literals {
    pub(crate) any_of: Vec<String>,
}

impl Literals {
    /// For a text: its most telling run of letters and digits.
    pub(crate) fn of_text(text: &str) -> Option<Literals> {
        let run = runs(text).max_by_key(|run| weight(run))?;
        let run: String = run.chars().take(LONGEST).collect();
        (weight(&run) > 1).then(|| Literals { any_of: vec![run] })
    }

    /// For a regular expression.
    pub(crate) fn of_regex(pattern: &str) -> Option<Literals> {
        // Deep patterns are refused when the expression is compiled.
        let parsed = ParserBuilder::new().nest_limit(100).build().parse(pattern).ok()?;
        required(&parsed)
    }

    /// One of either.
    pub(crate) fn or(mut self, other: Literals) -> Option<Literals> {
        self.any_of.extend(other.any_of);
        (self.any_of.len() <= MOST).then_some(self)
    }

    /// How rare they are; the larger, the better.
    pub(crate) fn weight(&self) -> usize {
        self.any_of.iter().map(|literal| weight(literal)).min().unwrap_or(0)
    }
}

/// Letters outside ASCII are written in several ways, so searching for them costs more.
fn weight(run: &str) -> usize {
    let letters = run.chars().count().min(LONGEST);
    if run.is_ascii() { 2 * letters - usize::from(letters > 0) } else { letters + 1 }
}

/// Letters and digits are written as they are in every format, or as escapes of JSON; anything else
/// may be written in other ways.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let is_ascii = |run: &&str| run.is_ascii();
    let plain = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let any = text.split(|letter: char| !letter.is_alphanumeric());
    plain.chain(any.filter(move |run| !is_ascii(run))).filter(|run| !run.is_empty())
}

fn required(hir: &Hir) -> Option<Literals> {
    match hir.kind() {
        HirKind::Literal(literal) => Literals::of_text(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(required).max_by_key(Literals::weight),
        HirKind::Alternation(parts) => {
            let mut parts = parts.iter().map(required);
            let first = parts.next()??;
            parts.try_fold(first, |all, part| all.or(part?))
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_letters() {
        let of = |literals: Option<Literals>| literals.map(|found| found.any_of);
        let text = |text| of(Literals::of_text(text));
        assert_eq!(text("connection refused"), Some(vec!["connection".into()]));
        assert_eq!(text("größe"), Some(vec!["größe".into()]));
        assert_eq!(text("größenordnung"), Some(vec!["enordnung".into()]));
        assert_eq!(text("日本"), Some(vec!["日本".into()]));
        assert_eq!(text("a"), None);
        assert_eq!(text("--"), None);
        let regex = |pattern| of(Literals::of_regex(pattern));
        assert_eq!(regex(r"fn \w+_test\("), Some(vec!["test".into()]));
        assert_eq!(regex("(redis|postgres)+"), Some(vec!["redis".into(), "postgres".into()]));
        assert_eq!(regex("(redis|.)"), None);
        assert_eq!(regex("(redis)?x*"), None);
        assert_eq!(regex("(?i)redis"), None);
        assert_eq!(regex("[a"), None);
    }
}
