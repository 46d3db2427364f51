//! The way out: what leaves the machine is [`Cleared`], and only
//! a scrubber can clear.
//!
//! Writers of exports accept nothing else, so forgetting to redact does not compile. The one way
//! around is a [`Raw`] token, whose constructor is named so that a reader of the code sees it.

/// Something from which secrets were taken out, or which the user wants as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleared<T>(T);

impl<T> Cleared<T> {
    /// For code that took the secrets out of `value` itself, by writing it through a scrubber.
    pub fn assert_cleared(value: T) -> Cleared<T> {
        Cleared(value)
    }

    /// Lets something out as it is.
    pub fn raw(value: T, _: Raw) -> Cleared<T> {
        Cleared(value)
    }

    /// What was cleared.
    pub fn get(&self) -> &T {
        &self.0
    }

    /// What was cleared.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// Another form of the same thing. `change` must add nothing that was not cleared.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Cleared<U> {
        Cleared(change(self.0))
    }

    /// The same for a change that may fail.
    pub fn try_map<U, E>(self, change: impl FnOnce(T) -> Result<U, E>) -> Result<Cleared<U>, E> {
        change(self.0).map(Cleared)
    }
}

/// Proof that the user asked for output with secrets in it.
#[derive(Debug, Clone, Copy)]
pub struct Raw(());

impl Raw {
    /// Only for `--raw`, which prints a warning.
    pub fn requested_by_user() -> Raw {
        Raw(())
    }
}
