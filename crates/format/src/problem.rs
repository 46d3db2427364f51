//! Faults in content, as data.
//!
//! A problem is never an error: reading a file gives its records *and* its problems. The
//! identifiers are stable; scripts may rely on them.

use crate::json::Oddities;
use std::borrow::Cow;
use std::fmt;

/// How much a problem matters to someone who wants the session's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Odd but harmless; nothing is lost.
    Info,
    /// Something is ambiguous or will surprise other readers.
    Warning,
    /// Content is unreadable or missing.
    Error,
}

impl Severity {
    /// The lower-case word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

macro_rules! problem_ids {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $severity:ident;)+) => {
        /// What is wrong. The kebab-case [`name`](ProblemId::name) is stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ProblemId { $($(#[doc = $doc])+ $variant,)+ }

        impl ProblemId {
            /// Every problem this version knows.
            pub const ALL: &'static [ProblemId] = &[$(ProblemId::$variant,)+];

            /// The stable identifier.
            pub fn name(self) -> &'static str {
                match self { $(ProblemId::$variant => $name,)+ }
            }

            /// How much it matters.
            pub fn severity(self) -> Severity {
                match self { $(ProblemId::$variant => Severity::$severity,)+ }
            }

            /// One sentence for people.
            pub fn explanation(self) -> &'static str {
                match self { $(ProblemId::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }
        }
    };
}

problem_ids! {
    /// The last line is incomplete: a writer is still at work, or died there.
    TornTail = "torn-tail", Info;
    /// A line in the middle of the file ends inside a record.
    TornLine = "torn-line", Error;
    /// A fragment of one record is followed by a whole one on the same line; the whole one was read.
    GluedRecords = "glued-records", Error;
    /// Several whole records share a line; all were read.
    SeveralRecords = "several-records", Warning;
    /// A run of NUL bytes, as a crash leaves them.
    NulBytes = "nul-bytes", Error;
    /// Bytes that begin no record.
    StrayBytes = "stray-bytes", Error;
    /// The line starts as a record but breaks the rules of JSON.
    InvalidJson = "invalid-json", Error;
    /// A raw control character inside a JSON string.
    ControlCharacter = "control-character", Error;
    /// The file starts with a UTF-8 byte order mark.
    ByteOrderMark = "byte-order-mark", Info;
    /// The file is UTF-16, not UTF-8; none of it was read.
    Utf16 = "utf-16", Error;
    /// Bytes that are not UTF-8 inside a string; shown as U+FFFD, kept as they are.
    InvalidUtf8 = "invalid-utf-8", Warning;
    /// An escape for half of a surrogate pair; shown as U+FFFD, kept as it is.
    LoneSurrogate = "lone-surrogate", Warning;
    /// An object has the same key twice; the last one counts.
    DuplicateKey = "duplicate-key", Warning;
    /// A number that no machine integer or float can hold.
    HugeNumber = "huge-number", Warning;
    /// Nested deeper than the limit; kept as raw bytes.
    TooDeep = "too-deep", Error;
    /// Longer than the limit for one record; skipped.
    TooLong = "too-long", Error;
    /// Valid JSON, but not an object.
    NotAnObject = "not-an-object", Warning;
    /// Several records on a line, a carriage return without a line feed between them; all were read.
    BareCarriageReturn = "bare-carriage-return", Warning;
    /// The last line is whole but not terminated.
    NoFinalNewline = "no-final-newline", Info;
    /// A record without a `type`.
    MissingType = "missing-type", Warning;
    /// A record `type` this version does not know; kept and counted.
    UnknownType = "unknown-type", Info;
    /// A known field holds a value of another JSON type; treated as absent.
    WrongShape = "wrong-shape", Warning;
    /// A timestamp that is not a time; treated as absent.
    BadTimestamp = "bad-timestamp", Warning;
    /// Two records have the same uuid; the conversation uses the first.
    DuplicateUuid = "duplicate-uuid", Warning;
    /// Following `parentUuid` leads back to the same record; the link was cut.
    ParentCycle = "parent-cycle", Error;
    /// `parentUuid` names a record that is not in the file.
    MissingParent = "missing-parent", Warning;
    /// A record carries another session's id, as resumed and forked sessions do.
    ForeignSessionId = "foreign-session-id", Info;
    /// A tool call without a result.
    OrphanCall = "orphan-call", Warning;
    /// A tool result whose call is not in the session.
    OrphanResult = "orphan-result", Warning;
    /// Two messages claim the same tool call id.
    DuplicateCallId = "duplicate-call-id", Warning;
    /// A tool call has more than one result; the first counts.
    DuplicateResult = "duplicate-result", Warning;
    /// A tool result comes before its call in the file.
    ResultBeforeCall = "result-before-call", Info;
    /// A token count that is negative, not a whole number, or too large to add up.
    OddUsage = "odd-usage", Warning;
    /// Another file of the session cannot be read; its content is missing.
    UnreadFile = "unread-file", Warning;
}

impl fmt::Display for ProblemId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One fault, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub id: ProblemId,
    /// 1-based line number.
    pub line: u64,
    /// Byte offset in the file.
    pub offset: u64,
    /// How many bytes are concerned.
    pub length: u64,
    /// A detail for people: a field name, a kind. Never content of a message.
    pub detail: Cow<'static, str>,
}

impl Oddities {
    /// Each that was met, as the problem it is, and where.
    pub fn problems(self) -> impl Iterator<Item = (ProblemId, usize)> {
        let all = [
            (ProblemId::DuplicateKey, self.duplicate_key),
            (ProblemId::LoneSurrogate, self.lone_surrogate),
            (ProblemId::HugeNumber, self.huge_number),
        ];
        all.into_iter().filter_map(|(id, place)| Some((id, place? as usize)))
    }
}
