//! Times for people, and times that people type.

use crate::config;
use crate::error::CliError;
pub(crate) use backstory_text::figures::duration;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Unit, Zoned};

/// A point in time as typed: a date, a date and time, a full timestamp, or how long ago.
pub(crate) fn parse(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    parse_in(text, now, &config::zone())
}

/// The same in another zone.
pub(crate) fn parse_in(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, String> {
    let here = zone.clone();
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let today = now.to_zoned(here.clone()).date();
    let date = match text {
        "today" => Some(today),
        "yesterday" => today.yesterday().ok(),
        text => text.parse::<Date>().ok().filter(|_| !text.contains(['T', ' '])),
    };
    let civil = date
        .map(|date| date.to_datetime(Time::midnight()))
        .or_else(|| text.parse::<DateTime>().ok());
    if let Some(civil) = civil {
        return civil
            .to_zoned(here)
            .map(|time| time.timestamp())
            .map_err(|error| error.to_string());
    }
    let span: Span = text.parse().map_err(|_| "not a time".to_owned())?;
    let then = now.to_zoned(here).checked_sub(span.abs()).map_err(|error| error.to_string())?;
    Ok(then.timestamp())
}

/// The error for an option whose value is no time.
pub(crate) fn wrong(option: &str, text: &str, cause: String) -> CliError {
    CliError::new(format!("{option} `{text}`: {cause}"))
        .hint("give a day (2026-01-31, today, yesterday), a time (2026-01-31T09:30) or an age (3d, 12h, 2w)")
}

/// `2026-01-31 09:30`, in the user's zone.
pub(crate) fn minute(time: Timestamp) -> String {
    local(time).strftime("%Y-%m-%d %H:%M").to_string()
}

/// `2026-01-31`
pub(crate) fn day(time: Timestamp) -> String {
    local(time).strftime("%Y-%m-%d").to_string()
}

/// `5 min ago`, `3 h ago`, `2 d ago`, then the date.
pub(crate) fn ago(time: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - time.as_second();
    match seconds {
        ..0 => day(time),
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        86_400..864_000 => format!("{} d ago", seconds / 86_400),
        _ => day(time),
    }
}

fn local(time: Timestamp) -> Zoned {
    time.to_zoned(config::zone())
}

/// The day after a date typed as an upper bound, so that `--until 2026-01-31` includes that day.
pub(crate) fn parse_until(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    parse_until_in(text, now, &config::zone())
}

/// The same in another zone.
pub(crate) fn parse_until_in(
    text: &str,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Timestamp, String> {
    let time = parse_in(text, now, zone)?;
    let whole_day = matches!(text.trim(), "today" | "yesterday")
        || text.trim().len() == "2026-01-31".len() && text.trim().parse::<Date>().is_ok();
    if !whole_day {
        return Ok(time);
    }
    let next =
        time.to_zoned(zone.clone()).checked_add(1.day()).and_then(|next| next.round(Unit::Second));
    next.map(|next| next.timestamp()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_times() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        assert_eq!(parse("2h", now).unwrap(), "2026-03-10T10:00:00Z".parse().unwrap());
        assert_eq!(
            parse("2026-03-01T00:00:00Z", now).unwrap(),
            "2026-03-01T00:00:00Z".parse().unwrap()
        );
        assert!(parse("2026-03-01", now).unwrap() < now);
        assert!(parse_until("2026-03-01", now).unwrap() > parse("2026-03-01T23:00", now).unwrap());
        assert!(parse("soon", now).is_err());
    }

    #[test]
    fn spoken_times() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let at = |text: &str| ago(text.parse().unwrap(), now);
        assert_eq!(at("2026-03-10T11:58:00Z"), "2 min ago");
        assert_eq!(at("2026-03-08T11:58:00Z"), "2 d ago");
        assert_eq!(duration(95_000), "2 min");
    }
}
