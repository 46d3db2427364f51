//! What a clone holds and what became of the rest, in figures.

use super::options::Options;
use crate::check::Finding;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Parts of a conversation by what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// What people wrote.
    Prompts,
    /// What the model wrote.
    Answers,
    /// Thinking of the model.
    Thinking,
    /// Inputs of tool calls.
    ToolInputs,
    /// Results of tool calls.
    ToolResults,
    /// Images.
    Images,
    /// What the client added.
    Injected,
}

impl Category {
    /// Every one, in the order of output.
    pub const ALL: [Category; 7] = [
        Category::Prompts,
        Category::Answers,
        Category::Thinking,
        Category::ToolInputs,
        Category::ToolResults,
        Category::Images,
        Category::Injected,
    ];

    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Category::Prompts => "prompts",
            Category::Answers => "answers",
            Category::Thinking => "thinking",
            Category::ToolInputs => "tool-inputs",
            Category::ToolResults => "tool-results",
            Category::Images => "images",
            Category::Injected => "injected",
        }
    }
}

/// How much there is of a category.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Amount {
    /// How many blocks.
    pub blocks: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// A quarter of the bytes; 1,600 for a picture.
    pub tokens: u64,
}

/// The conversation that a resume would send, by category.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Estimate(BTreeMap<Category, Amount>);

/// What the largest picture costs.
const IMAGE_TOKENS: u64 = 1_600;

impl Estimate {
    pub(crate) fn add(&mut self, category: Category, bytes: u64) {
        let amount = self.0.entry(category).or_default();
        amount.blocks += 1;
        amount.bytes += bytes;
        amount.tokens +=
            if category == Category::Images { IMAGE_TOKENS } else { bytes.div_ceil(4) };
    }

    /// Of one category.
    pub fn of(&self, category: Category) -> Amount {
        self.0.get(&category).copied().unwrap_or_default()
    }

    /// Of all.
    pub fn tokens(&self) -> u64 {
        self.0.values().map(|amount| amount.tokens).sum()
    }
}

/// Size of one side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Size {
    /// Bytes of the file.
    pub bytes: u64,
    /// Records in the file.
    pub records: u64,
    /// Messages of the conversation.
    pub messages: u64,
    /// Estimated tokens, by category.
    pub estimate: Estimate,
}

/// Why a record is not in the clone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It is on a branch that a resume does not send, or before a compaction.
    OtherBranch,
    /// A subagent wrote it into the session's file.
    Subagent,
    /// The file holds it twice.
    Copy,
    /// It belongs to a call that was removed.
    Tool,
    /// Thinking was removed.
    Thinking,
    /// It was added by the client for the model.
    Meta,
    /// It reports progress.
    Progress,
    /// It is a snapshot of files.
    Snapshot,
    /// A newer record of the same kind replaces it.
    Superseded,
    /// It is about the source's process: requests, cost, queue, links of the session.
    SourceOnly,
    /// It names a record that is not in the clone.
    Reference,
    /// It could not be sent: nothing in it, or not readable.
    Unsendable,
    /// It has no uuid, so no client finds it.
    Nameless,
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Counts {
    /// Records of the conversation that are in the clone.
    pub records: u64,
    /// Other records that are in the clone.
    pub metadata: u64,
    /// Turns kept.
    pub turns: u64,
    /// Tool calls kept.
    pub calls: u64,
    /// Tool calls shortened.
    pub calls_truncated: u64,
    /// Tool calls removed.
    pub calls_removed: u64,
    /// Thinking blocks removed.
    pub thinking_removed: u64,
    /// Images removed.
    pub images_removed: u64,
    /// Texts compressed.
    pub texts_compressed: u64,
    /// Texts that could not be compressed.
    pub texts_failed: u64,
    /// Subagents copied.
    pub subagents: u64,
    /// Subagents left out.
    pub subagents_left: u64,
    /// Lines of the source that hold no record.
    pub bad_lines: u64,
    /// Records left out, by reason.
    pub left_out: BTreeMap<Reason, u64>,
    /// What was wrong in the source and is not in the clone, by the name of the finding.
    pub repaired: BTreeMap<String, u64>,
}

/// A clone that was made, or would be.
#[derive(Debug, Clone)]
pub struct Report {
    /// The new session id.
    pub id: String,
    /// The title of the clone.
    pub title: String,
    /// The session it was made from.
    pub source: Source,
    /// Where the clone is; none if nothing was written.
    pub path: Option<PathBuf>,
    /// Where the clone would lie.
    pub target: PathBuf,
    /// The folder in which to resume it, if the records name one.
    pub folder: Option<String>,
    /// The size of the source.
    pub before: Size,
    /// The size of the clone.
    pub after: Size,
    /// What was kept and removed.
    pub counts: Counts,
    /// The options that were used.
    pub options: Options,
    /// Visible messages of the clone in order: uuid, and the uuid in the source.
    pub messages: Vec<(String, String)>,
    /// The first reasons for which texts could not be compressed.
    pub failures: Vec<String>,
}

/// What was cloned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The session's id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// Bytes of the file.
    pub bytes: u64,
    /// Records in the file.
    pub records: u64,
}

/// Why there is no clone.
#[allow(missing_docs, reason = "the messages say what the fields are")]
#[derive(Debug, thiserror::Error)]
pub enum CloneError {
    #[error(transparent)]
    Store(#[from] backstory_store::StoreError),
    /// The source holds nothing that could be sent.
    #[error("there is no conversation to clone")]
    Nothing,
    #[error("turn {wanted}: there are only {there}")]
    NoTurn { wanted: u64, there: u64 },
    #[error("record `{0}`: not in the session")]
    NoRecord(String),
    #[error("record `{0}` is not unique")]
    AmbiguousRecord(String),
    #[error("the conversation was never compacted")]
    NeverCompacted,
    #[error("bands {0} and {1} overlap")]
    Overlap(super::options::Band, super::options::Band),
    /// The result breaks a rule, so it was not written.
    #[error("the clone would not resume: {}: {}", .0.id, .0.id.meaning())]
    WouldNotResume(Box<Finding>),
    /// A reader would find other messages than planned.
    #[error("the clone does not hold what was planned: {0}")]
    NotAsPlanned(String),
    #[error("writing the clone: {0}")]
    Write(#[from] std::io::Error),
}
