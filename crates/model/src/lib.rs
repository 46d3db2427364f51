//! What happened in a session, whichever agent wrote it.
//!
//! These types know nothing of any file format. Long text is not copied into them: a [`Content`]
//! says where it is, and [`Source`](backstory_store::Source) fetches it on demand,
//! so that the model of a session is small however large the session is.

mod action;
mod agent;
mod agent_meta;
mod dialogue;
mod effect;
mod files;
mod money;
mod observer;
mod problems;
mod requests;
mod session;
pub mod shell;
mod spending;
mod steps;
mod summary;
mod turn;
mod usage;

pub use action::{Action, ActionKind, Assignment, Reading};
pub use agent::{Agent, AgentInfo};
pub use agent_meta::AgentMeta;
pub use backstory_format::{Content, Span};
pub use dialogue::{Choice, Dialogue, Plan, Question, Todo, TodoState, Todos, Verdict};
pub use effect::{Change, Effect, FileEdit, Hunk, HunkPlace, Replacement};
pub use files::{AgentFile, AgentPlace, FilePart, Notice, NoticeKind, SessionFiles};
pub use money::Money;
pub use observer::RecordObserver;
pub use problems::Problems;
pub use requests::{RequestShape, Requests};
pub use session::{
    Benchmark, Branch, ChainLink, Compaction, CompactionKind, Counts, Evidence, FileFacts,
    ForkedFrom, Inherited, OrphanResult, Parent, Recovered, Session, SessionKind, Title,
    TitleSource, Trigger,
};
pub use spending::{Detail, Expense, FileSpending, Geography, Speed, Spent};
pub use steps::{models, usage};
pub use summary::{FullSummary, Summary};
pub use turn::{
    Block, Call, CallOutcome, CallResult, Event, IdOrigin, Interjection, InterjectionSource,
    Outcome, Prompt, PromptBlock, Step, Turn, TurnKind,
};
pub use usage::UsageTotal;
