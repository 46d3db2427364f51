//! The query language: what a user types, as a tree.
//!
//! [`parse`] never looks at sessions, times or regular expressions; [`compile`](crate::compile)
//! does. A query that is printed parses to the same query.

mod display;
mod error;
mod fields;
mod lexer;
mod parser;

pub use error::QueryError;
pub use fields::{Field, Fields};
pub use parser::parse;

use std::ops::Range;

/// The longest query, in bytes.
pub const LONGEST_QUERY: usize = 16 << 10;

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The texts to search; none if the query does not say.
    pub fields: Option<Fields>,
    /// What a message must meet.
    pub condition: Condition,
}

/// What a message or a call must meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// All of these; an empty list is always met.
    All(Vec<Condition>),
    /// One of these.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
    /// It contains this word or phrase. Each space matches any whitespace.
    Text(String, At),
    /// This regular expression matches it.
    Regex(String, At),
    /// It has this property.
    Is(Property, At),
    /// This qualifier has this value.
    Has(Qualifier, String, At),
}

/// A qualifier with a value of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Qualifier {
    /// The folder of the session contains the value.
    Project,
    /// The agent has this name.
    Agent,
    /// The name of the model contains the value.
    Model,
    /// The tool has this name; `*` matches any text.
    Tool,
    /// The path of a file that the call reads or edits contains the value.
    File,
    /// The session worked on this branch; `*` matches any text.
    Branch,
    /// The message was written at this time or later.
    After,
    /// The message was written before this time.
    Before,
    /// The id of the session starts with the value.
    Session,
    /// A call of the session printed a commit whose id starts with the value.
    Commit,
}

impl Qualifier {
    /// All of them.
    pub const ALL: [Qualifier; 10] = [
        Qualifier::Project,
        Qualifier::Agent,
        Qualifier::Model,
        Qualifier::Tool,
        Qualifier::File,
        Qualifier::Branch,
        Qualifier::After,
        Qualifier::Before,
        Qualifier::Session,
        Qualifier::Commit,
    ];

    /// The word before the colon.
    pub fn name(self) -> &'static str {
        match self {
            Qualifier::Project => "project",
            Qualifier::Agent => "agent",
            Qualifier::Model => "model",
            Qualifier::Tool => "tool",
            Qualifier::File => "file",
            Qualifier::Branch => "branch",
            Qualifier::After => "after",
            Qualifier::Before => "before",
            Qualifier::Session => "session",
            Qualifier::Commit => "commit",
        }
    }
}

/// A property that `is:` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Property {
    /// A call that failed, was denied or was interrupted; a failure of the API.
    Error,
    /// Part of a subagent.
    Subagent,
    /// A call that changes a file.
    Edit,
    /// The summary that replaced earlier messages, or the notice of it.
    Compaction,
}

impl Property {
    /// All of them.
    pub const ALL: [Property; 4] =
        [Property::Error, Property::Subagent, Property::Edit, Property::Compaction];

    /// The word after `is:`.
    pub fn name(self) -> &'static str {
        match self {
            Property::Error => "error",
            Property::Subagent => "subagent",
            Property::Edit => "edit",
            Property::Compaction => "compaction",
        }
    }
}

/// Where something is in the typed query, in bytes. All places are equal, so that two queries are
/// if they mean the same.
#[derive(Debug, Clone, Default)]
pub struct At(pub Range<usize>);

impl PartialEq for At {
    fn eq(&self, _: &At) -> bool {
        true
    }
}

impl Eq for At {}

impl Condition {
    /// All of these, without lists inside lists.
    pub(crate) fn all(parts: Vec<Condition>) -> Condition {
        let inner = |part| match part {
            Condition::All(inner) => inner,
            other => vec![other],
        };
        let mut parts: Vec<Condition> = parts.into_iter().flat_map(inner).collect();
        match parts.pop() {
            Some(only) if parts.is_empty() => only,
            Some(last) => {
                parts.push(last);
                Condition::All(parts)
            }
            None => Condition::All(parts),
        }
    }

    /// One of these, without lists inside lists.
    pub(crate) fn any(parts: Vec<Condition>) -> Condition {
        let inner = |part| match part {
            Condition::Any(inner) => inner,
            other => vec![other],
        };
        let mut parts: Vec<Condition> = parts.into_iter().flat_map(inner).collect();
        match parts.pop() {
            Some(only) if parts.is_empty() => only,
            Some(last) => {
                parts.push(last);
                Condition::Any(parts)
            }
            None => Condition::Any(parts),
        }
    }
}
