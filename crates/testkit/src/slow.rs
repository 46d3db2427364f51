//! How much a test does. No test is left out of a quick run: it plays fewer cases.

/// `usual`, or `slow` where `BACKSTORY_SLOW` is 1.
pub fn or_slow<T>(usual: T, slow: T) -> T {
    if std::env::var("BACKSTORY_SLOW").is_ok_and(|value| value == "1") { slow } else { usual }
}

/// The number in a variable of the environment.
///
/// # Panics
///
/// If the variable holds something else.
pub fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}: `{text}` is not a number")))
}
