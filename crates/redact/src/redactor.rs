//! The rules, compiled: what the rest of the program redacts with.

use crate::apply::scrubber::Scrubber;
use crate::config::{Config, RedactError};
use crate::detect::engine::{Engine, Hit};
use crate::user_rules;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Compiled rules; cheap to clone, shared by all threads.
#[derive(Debug, Clone)]
pub struct Redactor {
    pub(crate) engine: Arc<Engine>,
}

impl Redactor {
    /// Compiles the bundled rules and the user's own.
    pub fn new(config: &Config) -> Result<Redactor, RedactError> {
        let own = user_rules::read(&config.own_rules)?;
        Ok(Redactor { engine: Arc::new(Engine::new(config, own)?) })
    }

    /// Where values stand in a text, and the rules that found them.
    pub fn spans(&self, text: &str) -> Vec<(Range<usize>, &str)> {
        let named = |hit: Hit| (hit.range, self.engine.rule(hit.rule).map_or("", |(name, _)| name));
        self.engine.find(text).hits.into_iter().map(named).collect()
    }

    /// The text without the secrets that are found in it.
    ///
    /// For a text by itself. Texts that belong together, such as the records of a session, share a
    /// [`Scrubber`]: it also removes what only another of them gives away.
    ///
    /// ```
    /// use backstory_redact::{Config, Redactor};
    ///
    /// let redactor = Redactor::new(&Config::default())?;
    /// let text = "export DB_PASSWORD=hunter2-but-longer";
    /// let clean = redactor.scrub(text);
    /// assert!(clean.starts_with("export DB_PASSWORD=[redacted:"), "{clean}");
    /// assert_eq!(redactor.scrub("no secrets here"), "no secrets here");
    /// # Ok::<(), backstory_redact::RedactError>(())
    /// ```
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut scrubber = self.session();
        scrubber.learn(text);
        scrubber.scrub(text)
    }

    /// What one session is scrubbed with.
    pub fn session(&self) -> Scrubber {
        Scrubber::new(self.engine.clone())
    }
}
