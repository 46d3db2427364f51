//! `backstory.ls/1`: a row of a listing. See `docs/ls-json.md`.

use backstory_model::Summary;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What `backstory ls --json` prints for a session. Fields are in the order in which they are printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListDocument {
    /// `backstory.ls/1`
    pub schema: String,
    /// The session.
    pub id: String,
    /// The agent.
    pub agent: String,
    /// The kind of session.
    pub kind: String,
    /// The session file.
    pub path: String,
    /// The first folder that the session worked in.
    pub project: Option<String>,
    /// The name of the folder that contains the file.
    pub project_key: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// Where the title comes from.
    pub title_source: Option<String>,
    /// The last git branch.
    pub branch: Option<String>,
    /// Models in order of first appearance. Null without a full reading, as are all counts.
    pub models: Option<Vec<String>>,
    /// Releases of the agent.
    pub versions: Option<Vec<String>>,
    /// Prompts.
    pub turns: Option<u64>,
    /// Tool calls.
    pub calls: Option<u64>,
    /// Subagents.
    pub subagents: Option<u64>,
    /// Tokens. Null if no message has a count.
    pub tokens: Option<ListTokens>,
    /// From the first to the last record.
    pub duration_ms: Option<u64>,
    /// The first time in the file.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub started: Option<Timestamp>,
    /// The last time in the file.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub ended: Option<Timestamp>,
    /// When the file was last changed.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub modified: Option<Timestamp>,
    /// The length of the file.
    pub bytes: u64,
    /// Warnings and errors in the file.
    pub problems: Option<u64>,
}

/// Token counts of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListTokens {
    /// Read from a cache.
    pub cache_read: u64,
    /// Written to a cache.
    pub cache_write: u64,
    /// Whether a message has no final count, so that `output` is a lower bound.
    pub incomplete: bool,
    /// Of prompts, outside any cache.
    pub input: u64,
    /// Written by models.
    pub output: u64,
}

impl ListDocument {
    /// The row of a session.
    pub fn of(row: &Summary) -> ListDocument {
        let full = row.full.as_ref();
        let words = |words: &[std::sync::Arc<str>]| words.iter().map(|w| w.to_string()).collect();
        ListDocument {
            schema: "backstory.ls/1".to_owned(),
            id: row.id.clone(),
            agent: row.agent.name().to_owned(),
            kind: row.kind.name().to_owned(),
            path: row.path.to_string_lossy().into_owned(),
            project: row.cwd.as_deref().map(str::to_owned),
            project_key: row.project_key.clone(),
            title: row.title.as_ref().map(|title| title.text.clone()),
            title_source: row.title.as_ref().map(|title| title.source.name().to_owned()),
            branch: row.branch.as_deref().map(str::to_owned),
            models: full.map(|full| words(&full.models)),
            versions: full.map(|full| words(&full.versions)),
            turns: full.map(|full| full.turns),
            calls: full.map(|full| full.calls),
            subagents: full.map(|full| full.subagents),
            tokens: full.and_then(|full| full.tokens).map(|tokens| ListTokens {
                cache_read: tokens.cache_read,
                cache_write: tokens.cache_write,
                incomplete: tokens.incomplete,
                input: tokens.input,
                output: tokens.output,
            }),
            duration_ms: row.duration_ms(),
            started: row.started,
            ended: row.ended,
            modified: row.modified,
            bytes: row.bytes,
            problems: full.map(|full| full.problems),
        }
    }
}
