//! Content of a session and its subagents, fetched while an export is written.

use crate::timeline::{Entry, Item};
use backstory_agents as agents;
use backstory_format::Limits;
use backstory_format::json::{Tape, Value, scan};
use backstory_format::slice::Part;
use backstory_model::{Action, ActionKind, Agent, Block, Call, Content, Reading, Session};
use backstory_store::{SourceReader, StoreError};
use std::borrow::Cow;

/// Files up to this size are held while they are exported, also where the session has no room.
const HELD: u64 = 2 << 20;
/// How many files are open at a time.
const OPEN: usize = 8;

/// Reads content of the members of one session.
#[derive(Debug)]
pub(super) struct Fetcher<'s> {
    members: Vec<&'s Session>,
    /// The one used last is last.
    open: Vec<(usize, SourceReader)>,
    tape: Tape,
    /// JSON that was in a text.
    unpacked: Vec<u8>,
}

impl<'s> Fetcher<'s> {
    pub(super) fn new(members: &[&'s Session]) -> Fetcher<'s> {
        Fetcher {
            members: members.to_vec(),
            open: Vec::new(),
            tape: Tape::new(),
            unpacked: Vec::new(),
        }
    }

    fn reader(&mut self, member: usize) -> Result<&mut SourceReader, StoreError> {
        match self.open.iter().position(|(at, _)| *at == member) {
            Some(at) if at + 1 == self.open.len() => {}
            Some(at) => {
                let entry = self.open.remove(at);
                self.open.push(entry);
            }
            None => {
                if self.open.len() >= OPEN {
                    self.open.remove(0);
                }
                let source = self.members.get(member).map(|session| &session.source);
                let source = source.or_else(|| self.members.first().map(|first| &first.source));
                if let Some(source) = source {
                    self.open.push((member, source.open_whole(HELD)?));
                }
            }
        }
        let last = self.open.last_mut().map(|(_, reader)| reader);
        last.ok_or_else(|| StoreError::Changed { path: std::path::PathBuf::new() })
    }

    /// Decoded text.
    pub(super) fn text<'a>(
        &'a mut self,
        member: usize,
        content: &'a Content,
    ) -> Result<Cow<'a, str>, StoreError> {
        self.reader(member)?.text(content)
    }

    /// The inside of a JSON string, as it is written; none for what was put together.
    pub(super) fn written<'a>(
        &'a mut self,
        member: usize,
        content: &Content,
    ) -> Result<Option<&'a [u8]>, StoreError> {
        let Content::Text(span) = content else { return Ok(None) };
        self.reader(member)?.bytes(*span).map(Some)
    }

    fn agent(&self, member: usize) -> Option<Agent> {
        self.members.get(member).or(self.members.first()).map(|session| session.agent)
    }

    /// Whether a call does something of this kind.
    pub(super) fn does(&self, member: usize, call: &Call, kind: ActionKind) -> bool {
        self.agent(member).is_some_and(|agent| agents::does(agent, call, kind))
    }

    /// What a call asks for.
    pub(super) fn actions<'c>(
        &mut self,
        member: usize,
        call: &'c Call,
    ) -> Result<Vec<Action<'c>>, StoreError> {
        let Some(agent) = self.agent(member) else { return Ok(Vec::new()) };
        agents::actions(agent, call, self.reader(member)?)
    }

    /// What a call saw of a file.
    pub(super) fn reading<'c>(
        &mut self,
        member: usize,
        call: &'c Call,
    ) -> Result<Option<Reading<'c>>, StoreError> {
        let Some(agent) = self.agent(member) else { return Ok(None) };
        agents::reading(agent, call, self.reader(member)?)
    }

    /// Decoded texts with something between them.
    pub(super) fn joined<'a>(
        &'a mut self,
        member: usize,
        contents: &[&'a Content],
        between: &str,
    ) -> Result<Cow<'a, str>, StoreError> {
        if let [one] = contents {
            return self.text(member, one);
        }
        let mut whole = String::new();
        for (at, content) in contents.iter().enumerate() {
            if at > 0 {
                whole.push_str(between);
            }
            whole.push_str(&self.text(member, content)?);
        }
        Ok(Cow::Owned(whole))
    }

    /// A JSON value, also where an agent wrote it into a text; none for what is not JSON.
    pub(super) fn json<'a>(
        &'a mut self,
        member: usize,
        content: &Content,
    ) -> Result<Option<Value<'a>>, StoreError> {
        let Content::Json(span) = content else {
            let text = self.reader(member)?.text(content)?.into_owned();
            let Fetcher { tape, unpacked, .. } = self;
            *unpacked = text.into_bytes();
            let rest = |end: usize| unpacked.part(end..).trim_ascii();
            let sound = unpacked.starts_with(b"{") || unpacked.starts_with(b"[");
            let sound = sound
                && scan(unpacked, 0, Limits::DEPTH, tape).is_ok_and(|end| rest(end).is_empty());
            return Ok(if sound { tape.root(unpacked) } else { None });
        };
        self.reader(member)?;
        let Fetcher { open, tape, .. } = self;
        let Some((_, reader)) = open.last_mut() else { return Ok(None) };
        let bytes = reader.bytes(*span)?;
        let sound = scan(bytes, 0, Limits::DEPTH, tape).is_ok();
        Ok(if sound { tape.root(bytes) } else { None })
    }

    /// A JSON value as it is written.
    pub(super) fn raw<'a>(
        &'a mut self,
        member: usize,
        content: &Content,
    ) -> Result<Option<&'a [u8]>, StoreError> {
        let Content::Json(span) = content else { return Ok(None) };
        self.reader(member)?.bytes(*span).map(Some)
    }

    /// The text of a prompt or an interjection; none for messages of the model.
    pub(super) fn said(&mut self, item: &Item<'_>) -> Result<Option<String>, StoreError> {
        Ok(match item.what {
            Entry::Prompt(turn) => {
                let blocks = turn.prompt.blocks.iter().map(|block| &block.block);
                Some(self.words(item.member, blocks)?)
            }
            Entry::Interjection(typed) => Some(self.text(item.member, &typed.text)?.into_owned()),
            Entry::Step(_) => None,
        })
    }

    /// What blocks say, one paragraph for each; what is not text is named, not copied.
    pub(super) fn words<'b>(
        &mut self,
        member: usize,
        blocks: impl IntoIterator<Item = &'b Block>,
    ) -> Result<String, StoreError> {
        let mut words = String::new();
        for block in blocks {
            let part = match block {
                Block::Text(text) => self.text(member, text)?,
                Block::Image { media_type, data } => {
                    Cow::Owned(left_out("image", media_type.as_deref(), data.as_ref()))
                }
                Block::Document { media_type, data } => {
                    Cow::Owned(left_out("document", media_type.as_deref(), data.as_ref()))
                }
                Block::Other { value, .. } => self.text(member, value)?,
                Block::Thinking { .. } | Block::Call(_) => continue,
            };
            if !words.is_empty() {
                words.push_str("\n\n");
            }
            words.push_str(&part);
        }
        Ok(words)
    }
}

/// The replacement of an image or a document.
pub(super) fn left_out(what: &str, media_type: Option<&str>, data: Option<&Content>) -> String {
    let bytes = data.map_or(0, |data| data.size() / 4 * 3);
    format!("[{what} {}, {bytes} bytes, not exported]", media_type.unwrap_or("of unknown type"))
}
