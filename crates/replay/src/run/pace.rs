//! When a teacher may be asked again: calls a minute, and pauses that it asked for.

use jiff::Timestamp;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The pace of one teacher, shared by all who ask it.
#[derive(Debug)]
pub(super) struct Pace {
    between: Duration,
    next: Mutex<Instant>,
}

/// The longest sleep before a check whether to stop.
const SLICE: Duration = Duration::from_millis(50);
/// The longest pause between attempts.
const LONGEST: Duration = Duration::from_secs(120);

/// Whether a wait came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    Through,
    Stopped,
}

impl Pace {
    pub(super) fn new(rpm: Option<u64>) -> Pace {
        let between = rpm.map_or(Duration::ZERO, |rpm| Duration::from_secs_f64(60.0 / rpm as f64));
        Pace { between, next: Mutex::new(Instant::now()) }
    }

    /// Waits for the next free moment.
    pub(super) fn wait(&self, stop: &AtomicBool) -> Waited {
        let mine = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let mine = (*next).max(Instant::now());
            *next = mine + self.between;
            mine
        };
        sleep(mine.saturating_duration_since(Instant::now()), stop)
    }

    /// No call is made before this time has passed.
    pub(super) fn pause(&self, time: Duration) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(Instant::now() + time);
    }
}

/// Sleeps until it is time or the run stops.
pub(super) fn sleep(mut time: Duration, stop: &AtomicBool) -> Waited {
    loop {
        if stop.load(Ordering::Relaxed) {
            return Waited::Stopped;
        }
        if time.is_zero() {
            return Waited::Through;
        }
        let slice = time.min(SLICE);
        std::thread::sleep(slice);
        time -= slice;
    }
}

/// How long to wait before attempt `attempt` + 1: twice as long each time, a random part of it, so
/// that calls that failed together do not come back together.
pub(super) fn backoff(first: Duration, attempt: u32) -> Duration {
    let most = first.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(LONGEST);
    let random = RandomState::new().hash_one(attempt) % 1_000;
    most.mul_f64(0.5 + random as f64 / 2_000.0)
}

/// What a `Retry-After` header says: seconds, or a date.
pub(super) fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok().map(|time| time.min(HOUR));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    let milliseconds = date.as_millisecond().saturating_sub(now.as_millisecond());
    Some(Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)).min(HOUR))
}

/// The longest wait that a server can ask for.
const HOUR: Duration = Duration::from_secs(3_600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        assert_eq!(retry_after("7", now), Some(Duration::from_secs(7)));
        assert_eq!(retry_after(" 0.5 ", now), Some(Duration::from_millis(500)));
        let date = "Fri, 02 Jan 2026 03:04:15 GMT";
        assert_eq!(retry_after(date, now), Some(Duration::from_secs(10)));
        assert_eq!(retry_after("Fri, 02 Jan 2026 03:00:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("-3", now), None);
        assert_eq!(retry_after("soon", now), None);
    }

    #[test]
    fn waits_grow_and_differ() {
        let first = Duration::from_millis(100);
        for attempt in 1..40 {
            let most = first.saturating_mul(1 << (attempt - 1).min(16)).min(LONGEST);
            let wait = backoff(first, attempt);
            assert!(wait >= most / 2 && wait <= most, "{attempt}: {wait:?}");
        }
    }

    #[test]
    fn calls_a_minute_are_spread() {
        let (pace, go) = (Pace::new(Some(3_000)), AtomicBool::new(false));
        let start = Instant::now();
        (0..6).for_each(|_| assert_eq!(pace.wait(&go), Waited::Through));
        assert!(start.elapsed() >= Duration::from_millis(100));
        pace.pause(Duration::from_secs(60));
        go.store(true, Ordering::Relaxed);
        assert_eq!(pace.wait(&go), Waited::Stopped);
    }
}
