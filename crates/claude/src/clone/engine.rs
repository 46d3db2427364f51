//! Making texts shorter: what every engine is given and what it gives back.

use super::offline;
use super::options::Level;

/// A text to be made shorter.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The text to shorten.
    pub text: String,
    /// How much to shorten it.
    pub level: Level,
    /// Who wrote it.
    pub speaker: Speaker,
}

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The model.
    Model,
    /// The person.
    Person,
}

impl Speaker {
    /// The word used in requests.
    pub fn name(self) -> &'static str {
        match self {
            Speaker::Model => "assistant",
            Speaker::Person => "user",
        }
    }
}

/// Something that makes texts shorter.
pub trait Engine: Sync {
    /// One answer per piece, in the same order. What cannot be made shorter stays as it is.
    fn shorten(&self, pieces: &[Piece]) -> Vec<Answer>;

    /// Whether the same pieces give the same answers tomorrow.
    fn is_repeatable(&self) -> bool;
}

/// What became of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The shortened text.
    Shorter(String),
    /// There is nothing to take out.
    AsItIs,
    /// It could not be done; the reason. The original stays.
    Failed(String),
}

/// The engine that needs nothing but the text: see [`offline`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Engine for Offline {
    fn shorten(&self, pieces: &[Piece]) -> Vec<Answer> {
        let mut seen = offline::Seen::default();
        pieces.iter().map(|piece| offline::shorten(piece, &mut seen)).collect()
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}

/// Texts below this many bytes are not worth the loss.
pub const SHORTEST: usize = 200;
