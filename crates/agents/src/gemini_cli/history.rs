//! The messages of a file, each once, in the order in which they were said.

use crate::common::Cite;
use backstory_format::json::{Kind, Value};
use hashbrown::HashMap;

/// A message, as its fullest record has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'v> {
    pub(super) line: u64,
    pub(super) value: Value<'v>,
    pub(super) cite: Cite,
    /// Counts can come with another record than the calls.
    pub(super) tokens: Option<Value<'v>>,
}

/// Something that happened.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry<'v> {
    Message(Message<'v>),
    /// The conversation went back to before the message at this place.
    Rewind(usize),
}

/// What the records of a file say.
#[derive(Debug, Default)]
pub(super) struct History<'v> {
    pub(super) entries: Vec<Entry<'v>>,
    /// Where each message is.
    places: HashMap<String, usize>,
    /// First records of processes, and what was set later.
    pub(super) facts: Vec<Value<'v>>,
    /// How many records there are of each type.
    pub(super) types: Vec<String>,
}

impl<'v> History<'v> {
    /// The first record of a process.
    pub(super) fn header(&mut self, value: Value<'v>) {
        self.types.push("session".to_owned());
        self.facts.push(value);
    }

    /// The next record.
    pub(super) fn record(&mut self, line: u64, value: Value<'v>, cite: Cite) {
        if let Some(set) = value.get("$set") {
            self.types.push("$set".to_owned());
            self.facts.push(set);
            let messages = set.get("messages");
            for message in messages.iter().flat_map(|list| list.items()) {
                self.copy(Message { line, value: message, cite, tokens: message.get("tokens") });
            }
        } else if let Some(target) = value.get_text("$rewindTo") {
            self.types.push("$rewindTo".to_owned());
            if let Some(at) = self.places.get(&*target) {
                self.entries.push(Entry::Rewind(*at));
            }
        } else if value.get("type").is_none() && value.get("sessionId").is_some() {
            self.header(value);
        } else {
            let kind = value.get_text("type");
            self.types.push(kind.as_deref().unwrap_or("(none)").to_owned());
            self.message(Message { line, value, cite, tokens: value.get("tokens") });
        }
    }

    /// A message, or a fuller record of one.
    fn message(&mut self, new: Message<'v>) {
        let id = new.value.get_text("id").map(|id| id.into_owned());
        let known = id.as_ref().and_then(|id| self.places.get(id));
        match known.and_then(|at| self.entries.get_mut(*at)) {
            Some(Entry::Message(old)) => {
                let is_fuller =
                    new.value.get("toolCalls").is_some() || old.value.get("toolCalls").is_none();
                let tokens = new.tokens.or(old.tokens);
                *old = if is_fuller { Message { line: old.line, ..new } } else { *old };
                old.tokens = tokens;
            }
            _ => {
                if let Some(id) = id {
                    self.places.insert(id, self.entries.len());
                }
                self.entries.push(Entry::Message(new));
            }
        }
    }

    /// A message of a history that was written again: new only if it is neither known nor what a
    /// tool returned.
    fn copy(&mut self, copy: Message<'v>) {
        let id = copy.value.get_text("id").unwrap_or_default();
        let original = id.strip_suffix("_response").unwrap_or(&id);
        let is_known = self.places.contains_key(&*id) || self.places.contains_key(original);
        if !is_known && !is_response(&copy.value) {
            self.message(copy);
        }
    }
}

/// Whether a message only repeats what tools returned.
pub(super) fn is_response(message: &Value<'_>) -> bool {
    let content = message.get("content").filter(|content| content.kind() == Kind::Array);
    let mut parts = content.iter().flat_map(|list| list.items()).peekable();
    parts.peek().is_some() && parts.all(|part| part.get("functionResponse").is_some())
}
