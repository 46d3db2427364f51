//! Numbers as people read them.

pub(super) use backstory_text::figures::{bytes as size, grouped as count};

use backstory_text::document::Line;

/// A count as a cell.
pub(super) fn cell(number: u64) -> Line {
    Line::from(count(number))
}

/// A share; never rounds something to nothing or to everything.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let share = part as f64 * 100.0 / whole as f64;
    match part {
        0 => "0%".to_owned(),
        all if all == whole => "100%".to_owned(),
        _ if share < 0.1 => "< 0.1%".to_owned(),
        _ if share > 99.9 => "> 99.9%".to_owned(),
        _ if !(10.0..=99.0).contains(&share) => format!("{share:.1}%"),
        _ => format!("{share:.0}%"),
    }
}

/// A number of things; `%` in `word` is where the plural's ending goes, its end otherwise.
pub(super) fn plural(number: u64, word: &str) -> String {
    let (stem, rest) = word.split_once('%').unwrap_or((word, ""));
    let ending = match number {
        1 => "",
        _ if stem.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {stem}{ending}{rest}", count(number))
}

/// How many times one is the other.
pub(super) fn times(part: u64, whole: u64) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.2} ×", part as f64 / whole as f64) }
}
