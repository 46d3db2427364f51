//! Turns, steps, calls: the conversation.

use crate::{Content, Effect, UsageTotal};
use jiff::Timestamp;
use std::sync::Arc;

pub use backstory_format::claude::Outcome as CallOutcome;

/// What set the model to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnKind {
    /// A prompt typed by a person (or given to a headless run).
    Human,
    /// A slash command that the model answered.
    Command,
    /// A prompt that waited until the model was done.
    Queued,
    /// A shell command typed by a person that the model answered.
    Bash,
    /// The model went on after a compaction.
    Compact,
    /// A background task reported back.
    TaskNotification,
    /// A message of another agent of the team.
    Teammate,
    /// The prompt that started a subagent.
    Task,
    /// Model output with no prompt before it.
    Continuation,
}

impl TurnKind {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            TurnKind::Human => "human",
            TurnKind::Command => "command",
            TurnKind::Queued => "queued",
            TurnKind::Bash => "bash",
            TurnKind::Compact => "compact",
            TurnKind::TaskNotification => "task-notification",
            TurnKind::Teammate => "teammate",
            TurnKind::Task => "task",
            TurnKind::Continuation => "continuation",
        }
    }

    /// Whether it counts even when the model never answered.
    pub fn is_standalone(self) -> bool {
        matches!(self, TurnKind::Human | TurnKind::Queued | TurnKind::Bash | TurnKind::Task)
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The model gave its answer.
    Completed,
    /// The user stopped it.
    Interrupted,
    /// The API failed.
    ApiError,
    /// It ends in the middle of work.
    Open,
    /// The model never answered.
    Unanswered,
}

impl Outcome {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Interrupted => "interrupted",
            Outcome::ApiError => "api-error",
            Outcome::Open => "open",
            Outcome::Unanswered => "unanswered",
        }
    }
}

/// A prompt and everything the model did about it.
#[derive(Debug, Clone)]
pub struct Turn {
    /// What set it off.
    pub kind: TurnKind,
    /// The record of the prompt.
    pub uuid: Option<Box<str>>,
    /// Where that record stands in the file.
    pub line: Option<u64>,
    /// When the prompt was sent.
    pub timestamp: Option<Timestamp>,
    /// Empty for a continuation.
    pub prompt: Prompt,
    /// Shared by the records that the prompt led to.
    pub prompt_id: Option<Arc<str>>,
    /// What the client was allowed to do without asking.
    pub permission_mode: Option<Arc<str>>,
    /// What entered the prompt, if not a person.
    pub origin: Option<Arc<str>>,
    /// Messages of the model, in order.
    pub steps: Vec<Step>,
    /// What the user typed meanwhile.
    pub interjections: Vec<Interjection>,
    /// What else happened, in order.
    pub events: Vec<Event>,
    /// How it ended.
    pub outcome: Outcome,
    /// As the client measured it.
    pub duration_ms: Option<u64>,
}

impl Turn {
    /// Tokens of all its steps.
    pub fn usage(&self) -> UsageTotal {
        let mut total = UsageTotal::default();
        let steps = self.steps.iter().filter(|step| !step.synthetic);
        for usage in steps.filter_map(|step| step.usage.as_ref()) {
            total.add(usage);
        }
        total
    }

    /// How it ended, judged by what it holds.
    pub fn ending(&self) -> Outcome {
        if self.events.iter().any(|event| event.kind.starts_with("interrupted")) {
            return Outcome::Interrupted;
        }
        // A message that the client made up (to resume a turn, say) is no answer.
        let mut spoken =
            self.steps.iter().rev().filter(|step| !step.synthetic || step.error.is_some());
        let Some(last) = spoken.next() else { return Outcome::Unanswered };
        if last.error.is_some() {
            return Outcome::ApiError;
        }
        let final_stop = last.stop_reason.as_deref().is_some_and(|reason| reason != "tool_use");
        if final_stop || matches!(last.blocks.last(), Some(Block::Text(_))) {
            Outcome::Completed
        } else {
            Outcome::Open
        }
    }

    /// All calls in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.steps.iter().flat_map(Step::calls)
    }
}

/// What was asked.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    /// Texts and files, in order.
    pub blocks: Vec<PromptBlock>,
}

/// A block of a prompt.
#[derive(Debug, Clone)]
pub struct PromptBlock {
    /// The block itself.
    pub block: Block,
    /// Added by an editor (an open file, a selection), not typed.
    pub context: bool,
}

/// One message of a model.
#[derive(Debug, Clone)]
pub struct Step {
    /// The id that the API gave.
    pub message_id: Option<Box<str>>,
    /// Its records: a client writes one for each block.
    pub uuids: Vec<Box<str>>,
    /// Where those records stand in the file.
    pub lines: Vec<u64>,
    /// The model that wrote it.
    pub model: Option<Arc<str>>,
    /// Release of the client that wrote it down.
    pub version: Option<Arc<str>>,
    /// When its first record was written.
    pub timestamp: Option<Timestamp>,
    /// The API call that it answers.
    pub request_id: Option<Box<str>>,
    /// Why the model stopped, in the words of the API.
    pub stop_reason: Option<Arc<str>>,
    /// Made by the client itself, not by a model.
    pub synthetic: bool,
    /// The class of an API error that this message reports.
    pub error: Option<Arc<str>>,
    /// Whether any of it lies on the active chain (and not only recovered).
    pub on_chain: bool,
    /// None where no record has a count.
    pub usage: Option<UsageTotal>,
    /// What the API served it as.
    pub service_tier: Option<Arc<str>>,
    /// The speed it was made at, in the words of the API.
    pub speed: Option<Arc<str>>,
    /// Text, reasoning and calls, in order.
    pub blocks: Vec<Block>,
}

impl Step {
    /// Calls of this message in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call.as_ref()),
            _ => None,
        })
    }

    /// Calls of this message, to be changed.
    pub fn calls_mut(&mut self) -> impl Iterator<Item = &mut Call> {
        self.blocks.iter_mut().filter_map(|block| match block {
            Block::Call(call) => Some(call.as_mut()),
            _ => None,
        })
    }
}

/// A piece of a message.
#[derive(Debug, Clone)]
pub enum Block {
    /// Words for the user.
    Text(Content),
    /// Reasoning.
    Thinking {
        /// None where it is only signed or encrypted.
        text: Option<Content>,
        /// The API signed it, so that it can be sent back.
        signed: bool,
        /// The API encrypted it.
        redacted: bool,
    },
    /// A tool was called.
    Call(Box<Call>),
    /// A picture.
    Image {
        /// Such as `image/png`.
        media_type: Option<Arc<str>>,
        /// As Base64, where the trace holds it.
        data: Option<Content>,
    },
    /// A file that is no picture.
    Document {
        /// Such as `application/pdf`.
        media_type: Option<Arc<str>>,
        /// As Base64 or text, where the trace holds it.
        data: Option<Content>,
    },
    /// Any other block; the whole of it as JSON.
    Other {
        /// Its `type`.
        type_name: Option<Arc<str>>,
        /// All of it.
        value: Content,
    },
}

/// A tool call and what came of it.
#[derive(Debug, Clone)]
pub struct Call {
    /// Names the call within the session.
    pub id: Option<Box<str>>,
    /// Whether the trace has the id.
    pub id_origin: IdOrigin,
    /// The tool, as the agent calls it.
    pub name: Option<Arc<str>>,
    /// What the model passed to it, as JSON.
    pub input: Option<Content>,
    /// None where the session ends before it, or it was lost.
    pub result: Option<CallResult>,
    /// The subagent it started.
    pub subagent: Option<Box<str>>,
    /// What it did to files, where that is found while the trace is read. Empty for Claude Code, whose
    /// reader looks it up in inputs and results when somebody asks.
    pub effects: Vec<Effect>,
}

/// Where the id of a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdOrigin {
    /// The trace has it: it names the same call wherever it stands.
    #[default]
    Trace,
    /// The reader made it up; another session has the same one for another call.
    Reader,
}

impl Call {
    /// The id by which copies of the call in other sessions are known.
    pub fn native_id(&self) -> Option<&str> {
        self.id.as_deref().filter(|_| self.id_origin == IdOrigin::Trace)
    }
}

/// The result of a call.
#[derive(Debug, Clone)]
pub struct CallResult {
    /// Whether it worked.
    pub outcome: CallOutcome,
    /// The record that holds it.
    pub uuid: Option<Box<str>>,
    /// Where that record stands in the file.
    pub line: u64,
    /// When it was written down.
    pub timestamp: Option<Timestamp>,
    /// Text parts in order.
    pub text: Vec<Content>,
    /// Parts that are not text.
    pub blocks: Vec<Block>,
    /// The client's structured result, if it wrote one.
    pub structured: Option<Content>,
    /// Where a long output was put instead.
    pub persisted: Option<Content>,
}

/// A prompt typed while the model worked.
#[derive(Debug, Clone)]
pub struct Interjection {
    /// What was typed.
    pub text: Content,
    /// When it was typed.
    pub timestamp: Option<Timestamp>,
    /// Where it stands in the file.
    pub line: u64,
    /// Which sort of record holds it.
    pub source: InterjectionSource,
}

/// Where a mid-turn prompt was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InterjectionSource {
    /// A record of the queue, where no other record holds the prompt.
    QueueOperation,
    /// It was attached to a request of the turn.
    Attachment,
}

impl InterjectionSource {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            InterjectionSource::QueueOperation => "queue-operation",
            InterjectionSource::Attachment => "attachment",
        }
    }
}

/// Something that happened during a turn and is neither prompt nor answer.
#[derive(Debug, Clone)]
pub struct Event {
    /// A kebab-case word: `interrupted`, `api-error`, `compacted`, `local-command` …
    pub kind: Arc<str>,
    /// Where its record stands in the file.
    pub line: u64,
    /// When it happened.
    pub timestamp: Option<Timestamp>,
    /// What the record says of it.
    pub text: Option<Content>,
}
