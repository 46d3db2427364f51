//! Why a finding matters and what to do about it, for `check --explain`.

use super::ids::Id;

/// The long form of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// Why it matters.
    pub why: &'static str,
    /// What is known, and how.
    pub evidence: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

impl Id {
    /// The long form of this id.
    pub fn explain(self) -> Explanation {
        Explanation { why: "", evidence: "", remedy: "" }
    }
}
