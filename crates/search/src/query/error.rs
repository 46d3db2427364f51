//! What is wrong with a query, and where.

use std::ops::Range;

/// A query that cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// What is wrong.
    pub message: String,
    /// The place in the query, in bytes.
    pub at: Range<usize>,
    /// What to type instead.
    pub hint: Option<String>,
}

impl QueryError {
    pub(crate) fn new(message: impl Into<String>, at: &Range<usize>) -> QueryError {
        QueryError { message: message.into(), at: at.clone(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> QueryError {
        QueryError { hint: Some(hint.into()), ..self }
    }
}
