//! Sessions in the formats that others read: OpenTraces, ATIF, Agent Trace.
//!
//! One session becomes one [`Document`], whose text has passed redaction unless the user said raw.
//! The same session with the same options always gives the same bytes: ids are derived, no clock is
//! read, and lines are attributed by the session alone. Not here: choosing sessions and writing files.

mod agent_trace;
mod atif;
mod atif_metrics;
mod canonical;
mod chat;
#[cfg(feature = "table")]
mod columns;
mod commits;
mod context;
mod definition;
mod digest;
mod document;
mod escape;
mod fetch;
mod fields;
pub mod gate;
mod input;
mod json;
mod language;
mod learn;
mod lines;
mod murmur;
pub mod normalise;
mod number;
mod opentraces;
mod options;
mod ordered;
mod rows;
mod sft;
mod shapes;
mod states;
mod timeline;
mod tree;

pub use canonical::{ActionBlock, action_text, canonical_json, plain_json};
#[cfg(feature = "table")]
pub use columns::columns;
pub use commits::{KnownRepositories, Repositories};
pub use digest::digest;
pub use document::{Document, Figures, export};
pub use input::Input;
pub use options::{
    Arguments, AtifSchema, Chain, CountTokens, Format, Granularity, Layout, MessageStyle,
    OnUnknown, OpenTracesSchema, Options, Per, Records, Secrets, SftFormat, SftOptions,
    StateOptions, StateView, Subagents, Synthetic, SystemPrompt, Thinking, Tokenizer, ToolErrors,
    VersionRange,
};
pub use ordered::{Export, Put, Stopped, Totals};
pub use sft::BETWEEN_RESULTS;
pub use states::{Census, Skipped, StateFigures};
