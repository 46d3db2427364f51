//! Numbers as Python prints them, which the hash of a record depends on.

/// `1.0`, `1.5`, `1e-06`, `1e+22`: the shortest digits that mean the same number.
pub(super) fn float(value: f64) -> String {
    let written = format!("{value:e}");
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits),
    };
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    let (first, rest) = digits.split_at_checked(1).unwrap_or(("0", ""));
    if !(-4..16).contains(&exponent) {
        let point = if rest.is_empty() { "" } else { "." };
        let mark = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{point}{rest}e{mark}{:02}", exponent.unsigned_abs());
    }
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    match digits.split_at_checked(whole) {
        Some((whole, part)) if !part.is_empty() => format!("{sign}{whole}.{part}"),
        _ => format!("{sign}{digits}{}.0", "0".repeat(whole.saturating_sub(digits.len()))),
    }
}

/// Python refuses to print whole numbers with more digits.
const MOST_DIGITS: usize = 4000;

/// A JSON number as Python reads and prints it; none for what it cannot hold.
pub(super) fn normal(raw: &str) -> Option<String> {
    if raw.contains(['.', 'e', 'E']) {
        return raw.parse().ok().filter(|value: &f64| value.is_finite()).map(float);
    }
    match raw {
        "-0" => Some("0".to_owned()),
        raw if raw.len() > MOST_DIGITS => None,
        raw => Some(raw.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_python_does() {
        for (value, text) in [
            (780.0, "780.0"),
            (1.5, "1.5"),
            (0.1, "0.1"),
            (1e-6, "1e-06"),
            (0.0001, "0.0001"),
            (0.00012345, "0.00012345"),
            (1e22, "1e+22"),
            (1e16, "1e+16"),
            (1.25e15, "1250000000000000.0"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (-2.5, "-2.5"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (5e-324, "5e-324"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
        ] {
            assert_eq!(float(value), text);
        }
        assert_eq!(normal("1E2").as_deref(), Some("100.0"));
        assert_eq!(normal("12345678901234567890123").as_deref(), Some("12345678901234567890123"));
        assert_eq!(normal("1e999"), None);
        assert_eq!(normal("-0").as_deref(), Some("0"));
    }
}
