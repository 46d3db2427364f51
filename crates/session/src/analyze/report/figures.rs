//! Numbers as people read them.

use crate::document::Line;

/// With thousands separated.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

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
        0 => "0 %".to_owned(),
        all if all == whole => "100 %".to_owned(),
        _ if share < 0.1 => "< 0.1 %".to_owned(),
        _ if share > 99.9 => "> 99.9 %".to_owned(),
        _ if !(10.0..=99.0).contains(&share) => format!("{share:.1} %"),
        _ => format!("{share:.0} %"),
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

/// Bytes in the unit that fits.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

/// How many times one is the other.
pub(super) fn times(part: u64, whole: u64) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.2} ×", part as f64 / whole as f64) }
}
