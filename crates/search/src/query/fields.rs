//! Which texts of a session are searched.

use std::fmt;

/// A kind of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// What a person typed, or what started a subagent.
    Prompt,
    /// Text of the model.
    Answer,
    /// Thinking of the model.
    Thinking,
    /// Values of a call's input; of an edit, its added and removed lines.
    Call,
    /// The result of a call, and texts that the client added.
    Result,
    /// The title of a session.
    Title,
    /// Paths of files that a call reads or edits.
    Path,
}

impl Field {
    /// All of them.
    pub const ALL: [Field; 7] = [
        Field::Prompt,
        Field::Answer,
        Field::Thinking,
        Field::Call,
        Field::Result,
        Field::Title,
        Field::Path,
    ];

    /// The word after `in:`.
    pub fn name(self) -> &'static str {
        match self {
            Field::Prompt => "prompt",
            Field::Answer => "answer",
            Field::Thinking => "thinking",
            Field::Call => "call",
            Field::Result => "result",
            Field::Title => "title",
            Field::Path => "path",
        }
    }

    /// The field with this name.
    pub fn named(name: &str) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.name() == name)
    }
}

/// A set of fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fields(u8);

impl Fields {
    /// None of them.
    pub const NONE: Fields = Fields(0);

    /// Every field.
    pub fn all() -> Fields {
        Field::ALL.into_iter().fold(Fields::NONE, Fields::with)
    }

    /// The same set with one more.
    pub fn with(self, field: Field) -> Fields {
        Fields(self.0 | 1 << field as u8)
    }

    /// Whether a field is in the set.
    pub fn has(self, field: Field) -> bool {
        self.0 & (1 << field as u8) != 0
    }

    /// Both sets.
    pub fn and(self, other: Fields) -> Fields {
        Fields(self.0 | other.0)
    }

    /// The fields in their order.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |field| self.has(*field))
    }
}

/// Everything but thinking and results.
impl Default for Fields {
    fn default() -> Fields {
        [Field::Prompt, Field::Answer, Field::Call, Field::Title, Field::Path]
            .into_iter()
            .fold(Fields::NONE, Fields::with)
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, field) in self.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}{}", field.name())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}
