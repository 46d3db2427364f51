//! Invented time: a clock that only moves on request, written as the client writes it.

const DAY: i64 = 86_400_000;

/// Milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Clock {
    millis: i64,
}

impl Clock {
    /// A moment, from days since 1970 and milliseconds of that day.
    #[must_use]
    pub(crate) const fn at(day: i64, millis: i64) -> Self {
        Self { millis: day * DAY + millis }
    }

    /// Moves on (or back).
    pub(crate) fn advance(&mut self, millis: i64) {
        self.millis += millis;
    }

    /// Milliseconds from `earlier` to this moment.
    #[must_use]
    pub(crate) fn since(self, earlier: Self) -> i64 {
        self.millis - earlier.millis
    }

    /// For setting the modification time of files.
    #[must_use]
    pub(crate) fn system_time(self) -> std::time::SystemTime {
        std::time::UNIX_EPOCH + std::time::Duration::from_millis(self.millis.max(0).unsigned_abs())
    }

    /// `2026-01-20T08:00:00.000Z`
    #[must_use]
    pub(crate) fn text(self) -> [u8; 24] {
        let (year, month, day) = civil(self.millis.div_euclid(DAY));
        let rest = self.millis.rem_euclid(DAY);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        digits(&mut text[0..4], year);
        digits(&mut text[5..7], month);
        digits(&mut text[8..10], day);
        digits(&mut text[11..13], rest / 3_600_000);
        digits(&mut text[14..16], rest / 60_000 % 60);
        digits(&mut text[17..19], rest / 1000 % 60);
        digits(&mut text[20..23], rest % 1000);
        text
    }
}

fn digits(place: &mut [u8], mut number: i64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Year, month and day of a day number (the usual era arithmetic, years beginning in March).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(&Clock::at(0, 0).text(), b"1970-01-01T00:00:00.000Z");
        assert_eq!(&Clock::at(20_473, 30_123_045).text(), b"2026-01-20T08:22:03.045Z");
        assert_eq!(&Clock::at(19_782, 0).text(), b"2024-02-29T00:00:00.000Z");
    }
}
