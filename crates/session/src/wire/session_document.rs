//! `backstory.session/1` as data: what [`SessionJson`](super::SessionJson) writes. See
//! `docs/session-json.md`.
//!
//! A session is written piece by piece, because its texts are read from the file meanwhile. These
//! types are for reading it back. A test reads the JSON of every bundled session with them and compares
//! it with what they write.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What `backstory show --format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SessionDocument {
    /// `backstory.session/1`
    pub schema: String,
    /// The agent.
    pub agent: String,
    /// The session.
    pub id: String,
    /// The kind of session.
    pub kind: String,
    /// The session file.
    pub path: String,
    /// Facts about the file.
    pub file: FileDocument,
    /// The project.
    pub project: ProjectDocument,
    /// The title.
    pub title: Option<TitleDocument>,
    /// The first time in the file.
    pub started: Option<String>,
    /// The last time in the file.
    pub ended: Option<String>,
    /// Releases of the agent.
    pub versions: Vec<String>,
    /// Models that answered.
    pub models: Vec<String>,
    /// Git branches.
    pub git_branches: Vec<String>,
    /// Folders that the session worked in.
    pub cwds: Vec<String>,
    /// Ways in which the client was started.
    pub entrypoints: Vec<String>,
    /// The session that this is a fork of.
    pub forked_from: Option<ForkDocument>,
    /// Sessions whose records were copied to the start of the file.
    pub continues: Vec<String>,
    /// Sessions that begin with the same record.
    pub shares_history: Vec<String>,
    /// Figures over the turns.
    pub counts: CountsDocument,
    /// Tokens of every message once.
    pub usage: UsageDocument,
    /// The call that started a subagent. Subagents only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentDocument>,
    /// The metadata file of a subagent. Subagents only.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// US dollars, as the agent computed them.
    pub reported_cost_usd: Option<f64>,
    /// The verdict of a benchmark. Benchmark runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<BenchmarkDocument>,
    /// System prompts and tool definitions, if the file has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestDocument>,
    /// Prompts and everything up to the next one.
    pub turns: Vec<TurnDocument>,
    /// Branches that were rewound or left.
    pub abandoned: Vec<BranchDocument>,
    /// Places where context was shortened.
    pub compactions: Vec<CompactionDocument>,
    /// Subagents, in the same shape.
    pub subagents: Vec<SessionDocument>,
    /// Results without a call.
    pub orphan_results: Vec<OrphanDocument>,
    /// What the files of the agent do not record.
    pub unread: Vec<String>,
    /// The records that a resume would read.
    pub chain: Vec<ChainDocument>,
    /// The first problems of the file.
    pub problems: Vec<ProblemDocument>,
    /// How many problems there are, by id.
    pub problem_counts: BTreeMap<String, u64>,
}

/// Facts about a session file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileDocument {
    /// Lines without a record.
    pub bad_lines: u64,
    /// Blank lines.
    pub blank_lines: u64,
    /// The length.
    pub bytes: u64,
    /// All lines.
    pub lines: u64,
    /// When the file was last changed.
    pub modified: Option<String>,
    /// Records.
    pub records: u64,
}

/// The project of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProjectDocument {
    /// The name of the folder that contains the file.
    pub key: Option<String>,
    /// The first folder that the session worked in.
    pub path: Option<String>,
}

/// A title.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TitleDocument {
    /// Where it comes from.
    pub source: String,
    /// One line.
    pub text: String,
}

/// The origin of a fork.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ForkDocument {
    /// The last record that was copied.
    pub record: Option<String>,
    /// The session.
    pub session: String,
}

/// Figures over the turns of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CountsDocument {
    /// Turns on abandoned branches.
    pub abandoned_turns: u64,
    /// Tool calls.
    pub calls: u64,
    /// Results that report a failure.
    pub errors: u64,
    /// Calls without a result.
    pub orphan_calls: u64,
    /// Results without a call.
    pub orphan_results: u64,
    /// Records by type, over the whole file.
    pub records_by_type: BTreeMap<String, u64>,
    /// Records that the walk from the leaf to the root does not meet.
    pub recovered: u64,
    /// Results.
    pub results: u64,
    /// Messages of models.
    pub steps: u64,
    /// Subagents, without client runs.
    pub subagents: u64,
    /// Turns.
    pub turns: u64,
}

/// Tokens of one or more messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UsageDocument {
    /// Of prompts, outside any cache.
    pub input: u64,
    /// Written by models.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Written to a cache.
    pub cache_write: u64,
    /// Written to a cache for five minutes.
    pub cache_write_5m: Option<u64>,
    /// Written to a cache for an hour.
    pub cache_write_1h: Option<u64>,
    /// How many messages.
    pub messages: u64,
    /// Whether a message has no final count.
    pub incomplete: bool,
    /// The service tier. Single messages only.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<Value>,
    /// The speed. Single messages only.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub speed: Option<Value>,
}

/// What started a subagent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ParentDocument {
    /// The call.
    pub call: Option<String>,
    /// What ties the call and the subagent together.
    pub evidence: Option<String>,
    /// The session of the call.
    pub session: String,
}

/// The verdict of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BenchmarkDocument {
    /// The task.
    pub instance: Option<String>,
    /// Whether it was solved.
    pub resolved: Option<bool>,
    /// How the run ended.
    pub exit_status: Option<String>,
    /// The change that was submitted.
    pub patch: Option<String>,
}

/// What models received in addition to the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RequestDocument {
    /// The line of the record.
    pub line: Option<u64>,
    /// The system prompt, as a text or as blocks.
    pub system_prompt: Value,
    /// Tool definitions.
    pub tools: Option<Value>,
}

/// A prompt and everything up to the next one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TurnDocument {
    /// Counted from 1.
    pub index: u64,
    /// What set it off.
    pub kind: String,
    /// The record of the prompt.
    pub uuid: Option<String>,
    /// The line of that record.
    pub line: Option<u64>,
    /// When the prompt was sent.
    pub timestamp: Option<String>,
    /// The prompt.
    pub prompt: PromptDocument,
    /// An id that the records of the turn share.
    pub prompt_id: Option<String>,
    /// What the client was allowed to do without asking.
    pub permission_mode: Option<String>,
    /// The origin of the prompt, if not a person.
    pub origin: Option<String>,
    /// Messages of the model.
    pub steps: Vec<StepDocument>,
    /// Prompts typed while the model worked.
    pub interjections: Vec<InterjectionDocument>,
    /// Events in order.
    pub events: Vec<EventDocument>,
    /// How it ended.
    pub outcome: String,
    /// Tokens of its messages.
    pub usage: UsageDocument,
    /// As the client measured it.
    pub duration_ms: Option<u64>,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PromptDocument {
    /// What was typed.
    pub text: String,
    /// All blocks, with the context that the client added.
    pub blocks: Vec<BlockDocument>,
    /// The slash command. Commands only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandLine>,
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CommandLine {
    /// Its arguments.
    pub args: Option<String>,
    /// Its name.
    pub name: Option<String>,
}

/// A message of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StepDocument {
    /// Its id.
    pub message_id: Option<String>,
    /// Its records.
    pub uuids: Vec<String>,
    /// The lines of these records.
    pub lines: Vec<u64>,
    /// The model.
    pub model: Option<String>,
    /// When it was written.
    pub timestamp: Option<String>,
    /// The request.
    pub request_id: Option<String>,
    /// Why the model stopped.
    pub stop_reason: Option<String>,
    /// Whether the client wrote it itself.
    pub synthetic: bool,
    /// The error of the API.
    pub error: Option<String>,
    /// Whether a resume would send it.
    pub on_chain: bool,
    /// Its tokens.
    pub usage: Option<UsageDocument>,
    /// Texts, thinking and calls.
    pub blocks: Vec<BlockDocument>,
}

/// A part of a prompt, a message or a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BlockDocument {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// Thinking of the model.
    Thinking {
        /// The text, if the file has it.
        text: Option<String>,
        /// Whether the API signed it.
        signature: bool,
        /// Whether the API encrypted it.
        redacted: bool,
    },
    /// A tool call.
    Call {
        /// Its id.
        id: Option<String>,
        /// The tool.
        name: Option<String>,
        /// The input.
        input: Option<Value>,
        /// The result.
        result: Option<Box<ResultDocument>>,
        /// The subagent that it started.
        subagent: Option<String>,
    },
    /// A picture.
    Image {
        /// Such as `image/png`.
        media_type: Option<String>,
        /// Its size.
        bytes: Option<u64>,
    },
    /// A file.
    Document {
        /// Such as `application/pdf`.
        media_type: Option<String>,
        /// Its size.
        bytes: Option<u64>,
    },
    /// Any other block.
    Other {
        /// Its type.
        r#type: Option<String>,
        /// All of it.
        value: Value,
    },
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ResultDocument {
    /// Whether the call succeeded.
    pub status: String,
    /// The record.
    pub uuid: Option<String>,
    /// The line of the record.
    pub line: u64,
    /// When it was written.
    pub timestamp: Option<String>,
    /// All texts.
    pub text: String,
    /// All other parts.
    pub blocks: Vec<BlockDocument>,
    /// The structured result of the client.
    pub structured: Option<Value>,
    /// The file that contains a long output.
    pub persisted: Option<String>,
}

/// A prompt typed while the model worked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InterjectionDocument {
    /// What was typed.
    pub text: String,
    /// When it was typed.
    pub timestamp: Option<String>,
    /// The line of its record.
    pub line: u64,
    /// The sort of record.
    pub source: String,
}

/// An event in a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EventDocument {
    /// Its kind.
    pub kind: String,
    /// The line of its record.
    pub line: u64,
    /// When it happened.
    pub timestamp: Option<String>,
    /// What the record says about it.
    pub text: Option<String>,
}

/// A branch that was rewound or left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BranchDocument {
    /// The record that it leaves the story at.
    pub from: Option<String>,
    /// Its first record.
    pub root: String,
    /// Its last record.
    pub leaf: String,
    /// How many records it has.
    pub records: u64,
    /// Its turns.
    pub turns: Vec<TurnDocument>,
}

/// A place where context was shortened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CompactionDocument {
    /// `full` or `micro`
    pub kind: String,
    /// The line of its record.
    pub line: u64,
    /// Tokens afterwards.
    pub post_tokens: Option<u64>,
    /// Tokens before.
    pub pre_tokens: Option<u64>,
    /// The record with the summary.
    pub summary: Option<String>,
    /// When it happened.
    pub timestamp: Option<String>,
    /// `auto` or `manual`
    pub trigger: Option<String>,
    /// Its record.
    pub uuid: Option<String>,
}

/// A result without a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OrphanDocument {
    /// The call that it names.
    pub call_id: Option<String>,
    /// The line of its record.
    pub line: u64,
    /// Its record.
    pub uuid: Option<String>,
}

/// A record that a resume would read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChainDocument {
    /// Its line.
    pub line: u64,
    /// Why it belongs to the chain, if the walk from the leaf to the root does not meet it.
    pub recovered: Option<String>,
    /// Its type.
    pub r#type: String,
    /// The record.
    pub uuid: String,
    /// Whether it is a message of the conversation.
    pub visible: bool,
}

/// A fault of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProblemDocument {
    /// A detail for people.
    pub detail: Option<String>,
    /// The kind.
    pub id: String,
    /// How many bytes it concerns.
    pub length: u64,
    /// The line.
    pub line: u64,
    /// The offset in the file.
    pub offset: u64,
    /// How grave it is.
    pub severity: String,
}

/// A value that is present, also if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
