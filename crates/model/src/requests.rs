//! What the model was given next to the conversation, as far as the trace says.

use crate::Content;
use hashbrown::HashMap;

/// System prompts, tools and surroundings. Empty for most clients: only newest ones write them down.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    /// Each distinct combination of prompt and tools once.
    pub shapes: Vec<RequestShape>,
    /// Which shape the request of a message had, by the message's id.
    pub of_message: HashMap<Box<str>, u32>,
    /// The shape of all other requests, if the trace has one for the whole session.
    pub of_others: Option<u32>,
    /// An object that names platform and shell.
    pub environment: Option<Content>,
}

/// What requests have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestShape {
    /// Where in the file it is written down.
    pub line: u64,
    /// A text; as JSON, a text or a list of texts or of text blocks.
    pub system: Option<Content>,
    /// A list of objects with name, description and schema, each perhaps inside of `function`.
    pub tools: Option<Content>,
}

impl Requests {
    /// Which shape the request of a message had.
    pub fn shape_of(&self, message_id: Option<&str>) -> Option<u32> {
        message_id.and_then(|id| self.of_message.get(id)).copied().or(self.of_others)
    }
}
