//! Provenance written into files or beside them.
//!
//! Everything here is text to text: a file and its edits in, the new text out. What a file says
//! otherwise is never touched: nothing is parsed and printed again, only our own block is put in or
//! replaced. Where a format has no place for it, a sidecar takes it.

mod comment;
mod config;
mod json;
mod yaml;

pub use comment::CommentStyle;
pub use config::{Config, ConfigError, Policy, Rule};

use jiff::Timestamp;

/// The key and the word under which provenance stands.
pub(crate) const KEY: &str = "edit_history";

/// One edit as it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub timestamp: Option<Timestamp>,
    pub model: Option<String>,
    /// `CREATED` or `EDITED`.
    pub created: bool,
    pub agent: String,
    pub agent_version: Option<String>,
    pub session: String,
    pub lines_added: u64,
    pub lines_removed: u64,
}

impl Entry {
    fn time(&self) -> String {
        self.timestamp.map(|time| time.to_string()).unwrap_or_default()
    }

    /// Fields in order, as plain words.
    fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![("timestamp", self.time())];
        fields.extend(self.model.clone().map(|model| ("model", model)));
        fields.push(("action", if self.created { "CREATED" } else { "EDITED" }.to_owned()));
        fields.push(("agent_tool", self.agent.clone()));
        fields.extend(self.agent_version.clone().map(|version| ("agent_version", version)));
        fields.push(("session", self.session.clone()));
        fields.push(("lines_added", self.lines_added.to_string()));
        fields.push(("lines_removed", self.lines_removed.to_string()));
        fields
    }
}

/// Why a file cannot take provenance itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    NotAMapping,
    NotYaml,
    NotJson,
    SeveralDocuments,
}

impl Unfit {
    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Unfit::NotAMapping => "its top level is no mapping",
            Unfit::NotYaml => "it is not plain block YAML",
            Unfit::NotJson => "it is not JSON",
            Unfit::SeveralDocuments => "it holds several documents",
        }
    }
}

/// The file with provenance under a top-level key.
pub fn append(text: &str, format: Format, entries: &[Entry]) -> Result<String, Unfit> {
    match format {
        Format::Yaml => yaml::append(text, entries),
        Format::Json => json::append(text, entries),
    }
}

/// The file with a comment block at its end.
pub fn comment(text: &str, style: CommentStyle, entries: &[Entry]) -> String {
    comment::put(text, style, entries)
}

/// The sidecar of `source`; what an existing one says of edits that are not among `entries` stays.
pub fn sidecar(source: &str, existing: Option<&str>, entries: &[Entry]) -> String {
    yaml::sidecar(source, existing, entries)
}

/// A format that has a place for provenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Yaml,
    Json,
}

/// The line ending that a text uses.
pub(crate) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
