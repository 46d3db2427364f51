//! Times as agents write them.

use backstory_format::json::Value;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A time in any of the usual forms: RFC 3339, the same without zone (taken as UTC), and seconds or
/// milliseconds since 1970 as a number.
pub(crate) fn timestamp(value: &Value<'_>) -> Option<Timestamp> {
    if let Some(text) = value.text() {
        return local(&text, &TimeZone::UTC);
    }
    let number = value.float().filter(|number| number.is_finite() && *number > 0.0)?;
    // Seconds reach 10¹¹ in the year 5138; milliseconds passed it in 1973.
    let seconds = if number < 1e11 { number } else { number / 1e3 };
    Timestamp::from_microsecond((seconds * 1e6).round() as i64).ok()
}

/// A time; one without zone is taken as of `zone`.
pub(crate) fn local(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim();
    text.parse().ok().or_else(|| {
        let civil: DateTime = text.parse().ok()?;
        civil.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp())
    })
}
