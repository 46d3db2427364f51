//! Timestamps as the client writes them.

use jiff::Timestamp;

/// Reads a timestamp; the client's own form (`2026-01-31T23:59:59.123Z`) without the general
/// parser, which would take a tenth of the time of reading a session.
pub(super) fn parse(text: &[u8]) -> Option<Timestamp> {
    match fixed(text) {
        Some(milliseconds) => Timestamp::from_millisecond(milliseconds).ok(),
        None => std::str::from_utf8(text).ok()?.parse().ok(),
    }
}

fn fixed(text: &[u8]) -> Option<i64> {
    let [
        y1,
        y2,
        y3,
        y4,
        b'-',
        m1,
        m2,
        b'-',
        d1,
        d2,
        b'T',
        h1,
        h2,
        b':',
        n1,
        n2,
        b':',
        s1,
        s2,
        b'.',
        f1,
        f2,
        f3,
        b'Z',
    ] = text
    else {
        return None;
    };
    let number = |digits: &[&u8]| {
        digits.iter().try_fold(0i64, |value, digit| {
            digit.is_ascii_digit().then(|| value * 10 + i64::from(**digit - b'0'))
        })
    };
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
    let (hour, minute) = (number(&[h1, h2])?, number(&[n1, n2])?);
    let (second, fraction) = (number(&[s1, s2])?, number(&[f1, f2, f3])?);
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let longest = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let valid = (1..=12).contains(&month) && (1..=longest).contains(&day);
    if !valid || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Days since 1970-01-01 in the proleptic Gregorian calendar, years starting in March.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_general_parser() {
        for text in [
            "1970-01-01T00:00:00.000Z",
            "2024-02-29T23:59:59.999Z",
            "2026-11-15T22:34:01.500Z",
            "1999-12-31T00:00:00.001Z",
            "2000-03-01T12:00:00.000Z",
        ] {
            assert_eq!(parse(text.as_bytes()), Some(text.parse().unwrap()), "{text}");
            assert!(fixed(text.as_bytes()).is_some());
        }
        assert_eq!(parse(b"2023-02-29T00:00:00.000Z"), None);
        assert_eq!(parse(b"yesterday"), None);
        assert!(parse(b"2026-11-15T22:34:01+02:00").is_some());
    }
}
