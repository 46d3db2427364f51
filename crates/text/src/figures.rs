//! Numbers for people.

use backstory_format::slice::item;

/// `1,234,567`
pub fn grouped(number: u64) -> String {
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

/// `950`, `12.3k`, `4.5M`
pub fn compact(number: u64) -> String {
    scaled(number, 1000.0, &["", "k", "M", "G", "T"])
}

/// `950 B`, `12.3 MB`
pub fn bytes(number: u64) -> String {
    scaled(number, 1000.0, &[" B", " kB", " MB", " GB", " TB"])
}

fn scaled(number: u64, step: f64, units: &[&str]) -> String {
    let mut value = number as f64;
    let mut unit = 0;
    while value >= step - 0.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let name = item(units, unit);
    if unit == 0 || value >= 99.95 {
        format!("{value:.0}{name}")
    } else {
        format!("{value:.1}{name}")
    }
}

/// `45 s`, `12 min`, `3.5 h`, `2.1 d`
pub fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds as f64 / 1000.0;
    match seconds {
        s if s < 60.0 => format!("{s:.0} s"),
        s if s < 3_600.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3_600.0),
        s => format!("{:.1} d", s / 86_400.0),
    }
}

/// `1 session`, `2 sessions`
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(compact(999), "999");
        assert_eq!(compact(12_345), "12.3k");
        assert_eq!(compact(999_999), "1.0M");
        assert_eq!(bytes(200_300_000), "200 MB");
        assert_eq!(counted(1, "turn", "turns"), "1 turn");
    }
}
