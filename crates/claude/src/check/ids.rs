//! Names of what a check can find.
//!
//! Severity says how much a finding matters for the session's content and for resuming it with any
//! client; the effect says what the newest measured client, 2.1.325, does with it.

use super::report::Effect;
use backstory_format::{ProblemId, Severity};
use std::fmt;

macro_rules! check_ids {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $severity:ident, $effect:ident, $invariant:literal;)+) => {
        /// What a check of the whole session finds. The kebab-case [`name`](CheckId::name) is
        /// stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CheckId { $($(#[doc = $doc])+ $variant,)+ }

        impl CheckId {
            /// Every one this version knows.
            pub const ALL: &'static [CheckId] = &[$(CheckId::$variant,)+];

            /// The stable identifier.
            pub fn name(self) -> &'static str {
                match self { $(CheckId::$variant => $name,)+ }
            }

            /// How much it matters.
            pub fn severity(self) -> Severity {
                match self { $(CheckId::$variant => Severity::$severity,)+ }
            }

            /// What it usually does to a resume; a finding may say otherwise.
            pub fn effect(self) -> Effect {
                match self { $(CheckId::$variant => Effect::$effect,)+ }
            }

            /// Which of the fifteen resume invariants it is about; 0 for none.
            pub fn invariant(self) -> u8 {
                match self { $(CheckId::$variant => $invariant,)+ }
            }

            /// One sentence for people.
            pub fn meaning(self) -> &'static str {
                match self { $(CheckId::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }
        }
    };
}

check_ids! {
    /// A tool result stands where the message before it made no such call.
    ResultWithoutCall = "result-without-call", Warning, Loss, 1;
    /// A tool call is not answered right after the message that made it.
    CallWithoutResult = "call-without-result", Warning, Loss, 2;
    /// The session ended while a tool ran; the client closes the call when it resumes.
    CallCutOff = "call-cut-off", Info, None, 2;
    /// A prompt consists of nothing but whitespace.
    EmptyPrompt = "empty-prompt", Error, Stops, 3;
    /// A text block is empty, or a message has no content.
    EmptyText = "empty-text", Warning, None, 3;
    /// A thinking block is not as the model made it: of the latest answer, or without signature.
    ThinkingAltered = "thinking-altered", Error, Stops, 4;
    /// An answer of the open turn was made with thinking, but its thinking block is gone.
    ThinkingDropped = "thinking-dropped", Warning, None, 5;
    /// Following `parentUuid` from the newest message does not lead to the messages before it.
    UnreachableHistory = "unreachable-history", Warning, Loss, 6;
    /// A branch ends in a record outside the conversation instead of its newest message.
    StaleBranch = "stale-branch", Warning, None, 7;
    /// The newest message has no time, and the client does not find the conversation.
    LeafWithoutTime = "leaf-without-time", Error, Stops, 7;
    /// The last line ends inside a record, which is lost.
    UnfinishedLastLine = "unfinished-last-line", Warning, Loss, 8;
    /// The file's name is not a session id, so that nothing can resume it.
    MisnamedFile = "misnamed-file", Error, Stops, 9;
    /// No record carries the session id that the file is named by.
    ForeignFileName = "foreign-file-name", Info, None, 9;
    /// The session is in the folder of a project in which it never worked.
    WrongProjectFolder = "wrong-project-folder", Warning, None, 9;
    /// A user or assistant record has no message, or one whose content is neither text nor a list.
    UnreadableMessage = "unreadable-message", Warning, Loss, 10;
    /// A tool call has no name, or its input is missing or no object.
    CallShape = "call-shape", Error, Stops, 10;
    /// A tool result holds neither text nor a list of blocks.
    ResultShape = "result-shape", Warning, None, 10;
    /// The name of a called tool has more than 200 characters.
    LongToolName = "long-tool-name", Warning, None, 10;
    /// A `summary` names a record of this file that is neither a prompt nor an answer.
    SummaryLeaf = "summary-leaf", Info, None, 11;
    /// Different records have the same uuid; a resume keeps one of them.
    UuidReused = "uuid-reused", Warning, Loss, 12;
    /// A record was written twice.
    RecordRepeated = "record-repeated", Info, None, 12;
    /// Two snapshots of files claim to have been taken for the same message and differ.
    SnapshotCollision = "snapshot-collision", Info, None, 12;
    /// A compaction cut the conversation, but its summary is not there.
    CompactionWithoutSummary = "compaction-without-summary", Warning, Loss, 13;
    /// A compaction kept messages that are not in the file.
    PreservedMessagesMissing = "preserved-messages-missing", Warning, Loss, 13;
    /// `last-prompt` names a record that is not in the file.
    LastPromptLeaf = "last-prompt-leaf", Info, None, 13;
    /// The conversation begins with an answer.
    StartsWithAnswer = "starts-with-answer", Error, Stops, 14;
    /// The session has a prompt but no answer of a model.
    NoAnswer = "no-answer", Info, None, 14;
    /// There is no conversation in the file.
    NothingToResume = "nothing-to-resume", Info, Stops, 14;
    /// The file is so large that clients were reported to hang when they resume it.
    LargeSession = "large-session", Warning, None, 15;
    /// An answer of a model says nothing about tokens.
    UsageMissing = "usage-missing", Info, None, 0;
    /// A later record of a message counts fewer output tokens than an earlier one.
    UsageFalls = "usage-falls", Info, None, 0;
    /// The parts of the tokens written to the cache do not add up.
    UsageSplit = "usage-split", Warning, None, 0;
    /// Somebody was writing the file while it was read.
    BeingWritten = "being-written", Info, None, 0;
}

/// What a finding is about: a fault of the format, or one of the whole session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id {
    /// A fault of a single record, found while reading.
    Format(ProblemId),
    /// A fault of the conversation or the file.
    Check(CheckId),
}

impl Id {
    /// Every id, in the order of the two lists.
    pub fn all() -> impl Iterator<Item = Id> {
        let format = ProblemId::ALL.iter().map(|id| Id::Format(*id));
        format.chain(CheckId::ALL.iter().map(|id| Id::Check(*id)))
    }

    /// The id with this name.
    pub fn from_name(name: &str) -> Option<Id> {
        Id::all().find(|id| id.name() == name)
    }

    /// The stable identifier.
    pub fn name(self) -> &'static str {
        match self {
            Id::Format(id) => id.name(),
            Id::Check(id) => id.name(),
        }
    }

    /// How much it matters.
    pub fn severity(self) -> Severity {
        match self {
            Id::Format(id) => id.severity(),
            Id::Check(id) => id.severity(),
        }
    }

    /// What it usually does to a resume.
    pub fn effect(self) -> Effect {
        match self {
            Id::Format(id) => format_effect(id),
            Id::Check(id) => id.effect(),
        }
    }

    /// Which of the fifteen resume invariants it is about, if any.
    pub fn invariant(self) -> Option<u8> {
        match self {
            Id::Format(ProblemId::ParentCycle | ProblemId::MissingParent) => Some(6),
            Id::Format(ProblemId::TornTail | ProblemId::NoFinalNewline) => Some(8),
            Id::Format(ProblemId::DuplicateUuid) => Some(12),
            Id::Format(ProblemId::OrphanResult) => Some(1),
            Id::Format(ProblemId::OrphanCall) => Some(2),
            Id::Format(_) => None,
            Id::Check(id) => Some(id.invariant()).filter(|number| *number > 0),
        }
    }

    /// One sentence for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Id::Format(id) => id.explanation(),
            Id::Check(id) => id.meaning(),
        }
    }
}

/// The client reads a line up to the end of its first record, and nothing of a line that is not
/// JSON from its first byte on.
fn format_effect(id: ProblemId) -> Effect {
    match id {
        ProblemId::TornLine
        | ProblemId::GluedRecords
        | ProblemId::SeveralRecords
        | ProblemId::NulBytes
        | ProblemId::StrayBytes
        | ProblemId::InvalidJson
        | ProblemId::ControlCharacter
        | ProblemId::BareCarriageReturn => Effect::Loss,
        ProblemId::Utf16 => Effect::Stops,
        _ => Effect::None,
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl From<ProblemId> for Id {
    fn from(id: ProblemId) -> Id {
        Id::Format(id)
    }
}

impl From<CheckId> for Id {
    fn from(id: CheckId) -> Id {
        Id::Check(id)
    }
}
