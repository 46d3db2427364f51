//! `backstory.search/1`: a message or a call that was found. See `docs/search.md`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Name and version of the JSON form of a hit.
pub const SEARCH_SCHEMA: &str = "backstory.search/1";

/// What `backstory search --json` prints for a hit. Fields are in the order in which they are printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchDocument {
    /// `backstory.search/1`
    pub schema: String,
    /// The session.
    pub session: String,
    /// The agent.
    pub agent: String,
    /// The title of the session.
    pub title: Option<String>,
    /// The first folder that the session worked in.
    pub project: Option<String>,
    /// The last time in the session.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub ended: Option<Timestamp>,
    /// The subagent that the message is of.
    pub subagent: Option<String>,
    /// The turn of the session, from 1.
    pub turn: Option<u64>,
    /// Whether the message is on an abandoned branch.
    pub abandoned: bool,
    /// `prompt`, `answer`, `call`, `title` or `notice`.
    pub who: String,
    /// The text that the offsets are about.
    pub field: String,
    /// The tool of a call.
    pub tool: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// When the message was written.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub time: Option<Timestamp>,
    /// The file with the record.
    pub path: String,
    /// The line of the record.
    pub line: Option<u64>,
    /// The record.
    pub uuid: Option<String>,
    /// The id of the call.
    pub call: Option<String>,
    /// Where the text begins in the file, in bytes. Null if the file does not hold it in one piece.
    pub offset: Option<u64>,
    /// Bytes of the text, decoded.
    pub length: u64,
    /// What was found, in the decoded text; at most 100 places.
    pub matches: Vec<SearchPlace>,
    /// Lines of the text.
    pub snippet: Vec<SearchLine>,
    /// Other sessions with the same message.
    pub also_in: Vec<String>,
    /// The command that shows it.
    pub open: String,
}

/// A place in a decoded text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchPlace {
    /// Its first byte.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
}

/// A line of a text, or a part of a long one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchLine {
    /// The number of the line in the text, from 1.
    pub number: u64,
    /// What is in it.
    pub text: String,
}
