//! What must hold for configurations: a file is taken or refused for a reason that can be shown,
//! every path then has one policy, and a user's own rules find only whole characters of a text.

use backstory_redact::{Config, Exceptions, OwnRules, Redactor};
use backstory_session::annotate;
use backstory_text::escape;

const PATHS: [&str; 6] = ["a.py", "src/a.json", "", "é/x.yaml", "..", "Makefile"];

/// Reads the data as a `.backstory.toml` and as an `.ai-blame.yaml`.
pub fn config(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for config in [annotate::Config::from_toml(&text), annotate::Config::from_ai_blame(&text)] {
        match config {
            Ok(config) => {
                for path in PATHS {
                    assert_eq!(config.policy(path), config.policy(path), "{path}");
                }
            }
            Err(error) => shown(&error.to_string()),
        }
    }
    // To make a redactor takes long; most texts have nothing for it.
    if !text.contains("redact") {
        return;
    }
    let own = OwnRules { text: text.clone().into_owned(), exceptions: Exceptions::Used };
    let own_rules = vec![own];
    match Redactor::new(&Config { own_rules, ..Config::default() }) {
        Err(error) => shown(&error.to_string()),
        Ok(redactor) => {
            let mut end = 0;
            for (span, rule) in redactor.spans(&text) {
                assert!(span.start >= end && span.start < span.end, "{span:?} {rule}");
                assert!(text.get(span.clone()).is_some(), "{span:?} cuts a character");
                end = span.end;
            }
        }
    }
}

/// An error has words, and the words can be made safe for a terminal.
fn shown(error: &str) {
    assert!(!error.trim().is_empty());
    let safe = escape::lines(error);
    assert!(
        !safe.chars().any(|one| escape::is_unsafe(one) && !matches!(one, '\n' | '\t')),
        "{safe}"
    );
}
