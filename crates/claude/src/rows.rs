//! The skeleton of one file: a row per record, with what the model needs and where the rest is.

use crate::names::{Distinct, Name, Names};
use backstory_format::Totals;
use backstory_format::claude::{BlockKind, Flags, Outcome, RecordKind, Usage};
use backstory_format::slice::Part;
use backstory_model::{Problems, SessionKind, Span};
use jiff::Timestamp;

/// Index of a row.
pub(super) type RowIndex = u32;

/// A record of the conversation tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) line: u32,
    /// Place in file order; that of the last copy when the uuid occurs more than once.
    pub(super) position: u32,
    pub(super) kind: RecordKind,
    pub(super) flags: Flags,
    /// Another record with the same uuid came first.
    pub(super) repeated: bool,
    /// A message without content that could be sent: clients read past it.
    pub(super) unreadable: bool,
    pub(super) uuid: Name,
    pub(super) parent: Name,
    pub(super) logical_parent: Name,
    pub(super) session: Name,
    pub(super) agent: Name,
    pub(super) team: Name,
    pub(super) version: Name,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) detail: Detail,
}

/// What a row carries besides its envelope, as an index into the list of that kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    None,
    Message(u32),
    Notice(u32),
    Attachment(u32),
}

/// `message` of a user or assistant record.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessagePart {
    pub(super) id: Name,
    pub(super) model: Name,
    pub(super) stop_reason: Name,
    pub(super) request: Name,
    pub(super) error: Name,
    pub(super) service_tier: Name,
    pub(super) speed: Name,
    pub(super) usage: Option<Usage>,
    pub(super) first_block: u32,
    pub(super) block_count: u32,
    pub(super) prompt: PromptShape,
    /// Hash of the decoded text of a prompt.
    pub(super) text_hash: u64,
    pub(super) request_ref: Name,
    pub(super) prompt_id: Name,
    pub(super) prompt_source: Name,
    pub(super) permission_mode: Name,
    pub(super) origin: Name,
    pub(super) source_assistant: Name,
    /// `toolUseResult`.
    pub(super) structured: Option<Span>,
    pub(super) persisted: Option<Span>,
    /// `toolUseResult.agentId`.
    pub(super) result_agent: Name,
}

/// One content block.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockPart {
    pub(super) kind: BlockKind,
    pub(super) value: Span,
    /// Inside of the text, thinking or media data.
    pub(super) text: Option<Span>,
    /// `input` of a call as JSON; string `content` of a result as text.
    pub(super) payload: Option<Span>,
    /// Blocks of a result's list `content`, in [`Rows::nested`].
    pub(super) first_nested: u32,
    pub(super) nested_count: u32,
    /// Call id, for calls and results.
    pub(super) id: Name,
    /// Tool name, media type, or unknown block type.
    pub(super) name: Name,
    pub(super) outcome: Outcome,
    /// Hash of the block's bytes, to find repeats.
    pub(super) hash: u64,
    /// Hash of the decoded prompt of a call that starts an agent.
    pub(super) prompt_hash: u64,
    pub(super) signed: bool,
    /// Added by an editor to a prompt.
    pub(super) context: bool,
}

/// What a `user` record is, by the ordered rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptShape {
    ToolResult,
    CompactSummary,
    Meta,
    Command,
    CommandOutput,
    BashInput,
    BashOutput,
    Interrupted,
    InterruptedForTool,
    TaskNotification,
    Teammate,
    Harness,
    Empty,
    Prompt,
    /// Not a user record.
    None,
}

/// A `system` record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Notice {
    pub(super) subtype: Name,
    pub(super) text: Option<Span>,
    pub(super) duration_ms: Option<u64>,
    pub(super) trigger: Name,
    pub(super) pre_tokens: Option<u64>,
    pub(super) post_tokens: Option<u64>,
}

/// An `attachment` record.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttachmentPart {
    /// A prompt typed while the model worked.
    pub(super) queued: Option<Queued>,
    /// The call it belongs to.
    pub(super) call: Name,
    /// The instruction of a fork; no part of the conversation it was forked from.
    pub(super) briefing: bool,
}

/// Messages before a compaction that a resume puts after its summary.
#[derive(Debug)]
pub(super) struct Preserved {
    pub(super) boundary: RowIndex,
    pub(super) anchor: Name,
    /// In order; none where only the ends are named.
    pub(super) records: Option<Vec<Name>>,
    pub(super) head: Name,
    pub(super) tail: Name,
}

/// What the client noted last about where the conversation is (`last-prompt` records).
#[derive(Debug, Clone, Copy)]
pub(super) struct Checkpoint {
    /// The record at which it stands; none since a compaction, or where nothing names it.
    pub(super) leaf: Name,
    /// Set on purpose, and no record came after it.
    pub(super) explicit: bool,
    /// Set on purpose, whatever came after it.
    pub(super) chosen: bool,
    /// Set by going back; with the number of rows there were.
    pub(super) rewound: Option<RowIndex>,
    /// Whether any record of the file names a place.
    pub(super) named: bool,
}

impl Default for Checkpoint {
    fn default() -> Checkpoint {
        Checkpoint { leaf: Name::NONE, explicit: false, chosen: false, rewound: None, named: false }
    }
}

/// System prompt and tools of requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShapePart {
    /// What requests call it; none for a snapshot that holds for what follows.
    pub(super) hash: Name,
    pub(super) line: u32,
    pub(super) system: Option<Span>,
    pub(super) tools: Option<Span>,
}

/// Text of a queued prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queued {
    pub(super) text: Option<Span>,
    pub(super) hash: u64,
    pub(super) notification: bool,
}

/// A `queue-operation` record.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueueOperation {
    pub(super) operation: Operation,
    pub(super) content: Option<Queued>,
    pub(super) line: u32,
    pub(super) timestamp: Option<Timestamp>,
}

/// What was done to the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Enqueue,
    Dequeue,
    Remove,
    PopAll,
    Other,
}

/// A `progress` record that names a call and an agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentProgress {
    pub(super) agent: Name,
    pub(super) call: Name,
}

/// A record that may give the title.
#[derive(Debug, Clone)]
pub(super) struct TitleRecord {
    pub(super) kind: RecordKind,
    pub(super) text: String,
    pub(super) leaf: Name,
}

/// Everything read from one file.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) names: Names,
    pub(super) rows: Vec<Row>,
    pub(super) messages: Vec<MessagePart>,
    pub(super) blocks: Vec<BlockPart>,
    pub(super) nested: Vec<BlockPart>,
    pub(super) notices: Vec<Notice>,
    pub(super) attachments: Vec<AttachmentPart>,
    pub(super) queue: Vec<QueueOperation>,
    pub(super) progress: Vec<AgentProgress>,
    pub(super) titles: Vec<TitleRecord>,
    pub(super) preserved: Vec<Preserved>,
    pub(super) checkpoint: Checkpoint,
    /// First words a person typed, and the first slash command.
    pub(super) first_prompt: Option<String>,
    pub(super) first_command: Option<String>,
    /// First words another agent gave.
    pub(super) first_task: Option<String>,
    /// What the client ran for itself, as far as its prompts show.
    pub(super) own_run: Option<SessionKind>,
    pub(super) file_history: Vec<Span>,
    pub(super) shapes: Vec<ShapePart>,
    /// Ids of requests with the names of their shapes.
    pub(super) requests: Vec<(Name, Name)>,
    pub(super) environment: Option<Span>,
    pub(super) first_of: Vec<RowIndex>,
    pub(super) versions: Distinct,
    pub(super) git_branches: Distinct,
    pub(super) last_branch: Option<Name>,
    pub(super) cwds: Distinct,
    pub(super) entrypoints: Distinct,
    pub(super) sessions: Distinct,
    pub(super) agents: Distinct,
    pub(super) forked_from: Option<(Name, Name)>,
    pub(super) fork_context: Option<(Name, Name)>,
    pub(super) started: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
    pub(super) kind_counts: Vec<u64>,
    pub(super) other_types: std::collections::BTreeMap<Box<str>, u64>,
    pub(super) problems: Problems,
    pub(super) totals: Totals,
}

const NO_ROW: RowIndex = RowIndex::MAX;

impl Rows {
    pub(super) fn row(&self, index: RowIndex) -> Option<&Row> {
        self.rows.get(index as usize)
    }

    /// The row that first had this uuid.
    pub(super) fn find(&self, uuid: Name) -> Option<RowIndex> {
        let found = *self.first_of.get(uuid.index())?;
        (found != NO_ROW).then_some(found)
    }

    pub(super) fn remember(&mut self, uuid: Name, row: RowIndex) {
        if self.first_of.len() <= uuid.index() {
            self.first_of.resize(uuid.index() + 1, NO_ROW);
        }
        if let Some(slot) = self.first_of.get_mut(uuid.index()) {
            *slot = row;
        }
    }

    pub(super) fn message(&self, row: &Row) -> Option<&MessagePart> {
        match row.detail {
            Detail::Message(at) => self.messages.get(at as usize),
            _ => None,
        }
    }

    pub(super) fn notice(&self, row: &Row) -> Option<&Notice> {
        match row.detail {
            Detail::Notice(at) => self.notices.get(at as usize),
            _ => None,
        }
    }

    pub(super) fn attachment(&self, row: &Row) -> Option<&AttachmentPart> {
        match row.detail {
            Detail::Attachment(at) => self.attachments.get(at as usize),
            _ => None,
        }
    }

    pub(super) fn blocks(&self, message: &MessagePart) -> &[BlockPart] {
        let start = message.first_block as usize;
        self.blocks.part(start..start + message.block_count as usize)
    }

    /// Blocks of a result's list content.
    pub(super) fn nested(&self, block: &BlockPart) -> &[BlockPart] {
        let start = block.first_nested as usize;
        self.nested.part(start..start + block.nested_count as usize)
    }

    /// Whether a row is a `system` record of this subtype.
    pub(super) fn is_notice(&self, row: &Row, subtype: &[u8]) -> bool {
        let name = self.notice(row).and_then(|notice| notice.subtype.some());
        name.is_some_and(|name| self.names.bytes(name) == subtype)
    }

    /// Blocks of a row, none if it has no message.
    pub(super) fn blocks_of(&self, row: &Row) -> &[BlockPart] {
        self.message(row).map_or(&[], |message| self.blocks(message))
    }
}

pub(super) fn is_message(row: &Row) -> bool {
    matches!(row.kind, RecordKind::User | RecordKind::Assistant)
}
