//! What is known of one line.

/// Where a line comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineOrigin {
    /// An edit, by its index in [`Traced::edits`](super::Traced::edits).
    Edit(u32),
    /// It was in the file when the file was first seen.
    Before,
    /// It came into the file without an edit of an agent's tool, by index in
    /// [`Traced::outside`](super::Traced::outside).
    Outside(u32),
}

/// How sure the origin is, surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// The edit wrote exactly this line, and it was followed through known states.
    Exact,
    /// The line left its place and came back with the same text elsewhere.
    Moved,
    /// Only its whitespace changed since.
    Reformatted,
    /// The state around the edit is not recorded; its text was found in a later one.
    Inferred,
}

impl Confidence {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Exact => "exact",
            Confidence::Moved => "moved",
            Confidence::Reformatted => "reformatted",
            Confidence::Inferred => "inferred",
        }
    }
}

/// The reason for a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// The edit wrote the line.
    Written,
    /// The client's patch has the line.
    PatchSays,
    /// The edit's text occurs once in the file.
    FoundOnce,
    /// The edit fits a commit.
    FitsCommit,
    /// The edit's cell is in the notebook.
    CellFound,
    /// The edit moved the line.
    Moved,
    /// The edit moved the line and changed its whitespace.
    MovedAndSpaced,
    /// The edit restored a removed line.
    Restored,
    /// The line is from another state of the file.
    OtherPlace,
    /// Only whitespace changed.
    WhiteSpace,
    /// The line was in the file when it was first seen.
    FirstSeen,
    /// The edit replaced a file of unknown content.
    Unrecorded,
    /// The line appeared without an edit of the agent.
    ChangedOutside,
    /// A person changed the edit in review.
    ChangedInReview,
    /// Too many equal lines changed at once.
    NotCompared,
    /// The same text was in the file before.
    SameTextBefore,
    /// No session edited the file.
    NoHistory,
    /// A commit older than the edit has the line.
    CommittedBefore,
}

impl Why {
    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Why::Written => "the edit wrote this line",
            Why::PatchSays => "the client's patch shows this line as added",
            Why::FoundOnce => {
                "the file before the edit is not recorded; the edit's text is in a later state exactly once"
            }
            Why::FitsCommit => {
                "the file before the edit is not recorded; the edit fits the newest commit before it"
            }
            Why::CellFound => "the edit gave a cell this source, which is in the file exactly once",
            Why::Moved => "the same text was taken out elsewhere in the same change",
            Why::MovedAndSpaced => {
                "the same text except for whitespace was removed in another place by the same change"
            }
            Why::Restored => "the same text was in the file before and was removed",
            Why::OtherPlace => "the same line is in this file under another path",
            Why::WhiteSpace => "equal except for whitespace",
            Why::FirstSeen => "already in the file when it was first seen",
            Why::Unrecorded => "the edit replaced a file whose content is not recorded",
            Why::ChangedOutside => {
                "it appeared between two known states without an edit of the agent"
            }
            Why::NotCompared => "too many equal lines changed at once to tell which of them stayed",
            Why::ChangedInReview => "a person changed the edit in review",
            Why::SameTextBefore => {
                "the edit wrote text that was in the file before, of unknown origin"
            }
            Why::CommittedBefore => "git has this line in a commit that is older than the edit",
            Why::NoHistory => "no session edited this file",
        }
    }
}

/// The origin of a line, how sure it is, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mark {
    /// Where the line comes from.
    pub origin: LineOrigin,
    /// How sure that is.
    pub confidence: Confidence,
    /// Why.
    pub why: Why,
    /// Which of the lines that edits wrote it is, in the order in which the edits were followed; 0
    /// where it is none of them. Parts of a line that was broken into several have the same number.
    pub written: u32,
}

impl Mark {
    pub(super) fn new(origin: LineOrigin, why: Why) -> Mark {
        Mark { origin, confidence: Confidence::Exact, why, written: 0 }
    }

    /// A line that an edit wrote.
    pub(super) fn by_edit(edit: u32, why: Why, written: u32) -> Mark {
        Mark { written, ..Mark::new(LineOrigin::Edit(edit), why) }
    }

    /// The same origin, at best this sure.
    pub(super) fn weakened(self, confidence: Confidence, why: Why) -> Mark {
        if confidence > self.confidence { Mark { confidence, why, ..self } } else { self }
    }

    /// The edit that wrote the line.
    pub fn edit(&self) -> Option<u32> {
        match self.origin {
            LineOrigin::Edit(edit) => Some(edit),
            _ => None,
        }
    }
}
