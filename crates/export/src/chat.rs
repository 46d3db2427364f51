//! Pieces of chat messages that several formats have in common.

use crate::fetch::Fetcher;
use crate::json::CanonicalWriter;
use crate::opentraces::{beginning, result_text, write_input};
use backstory_model::{Block, Call, Step};
use backstory_store::StoreError;

/// Where the content of one member of a session comes from, and where it is written.
#[derive(Debug)]
pub(super) struct MemberWriter<'d, 's, 'c> {
    pub(super) member: usize,
    pub(super) fetcher: &'d mut Fetcher<'s>,
    pub(super) canon: &'d mut CanonicalWriter<'c>,
}

impl MemberWriter<'_, '_, '_> {
    pub(super) fn words<'b>(
        &mut self,
        blocks: impl IntoIterator<Item = &'b Block>,
    ) -> Result<String, StoreError> {
        self.fetcher.words(self.member, blocks)
    }

    /// What blocks say, as a value: a single text goes through as it is written.
    fn write_text(&mut self, blocks: &[Block]) -> Result<(), StoreError> {
        let silent = |block: &&Block| matches!(block, Block::Thinking { .. } | Block::Call(_));
        let mut shown = blocks.iter().filter(|block| !silent(block));
        if let (Some(Block::Text(text)), None) = (shown.next(), shown.next())
            && let Some(raw) = self.fetcher.written(self.member, text)?
        {
            self.canon.written_text(raw);
            return Ok(());
        }
        let words = self.words(blocks)?;
        self.canon.text(&words);
        Ok(())
    }

    /// What the model thought, where the file holds it.
    pub(super) fn thoughts(&mut self, step: &Step) -> Result<String, StoreError> {
        let texts: Vec<_> = step
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Thinking { text: Some(text), .. } => Some(text),
                _ => None,
            })
            .collect();
        Ok(self.fetcher.joined(self.member, &texts, "\n\n")?.into_owned())
    }

    /// The input of a call as a value.
    pub(super) fn input(&mut self, call: &Call) -> Result<(), StoreError> {
        write_input(self.member, call, self.fetcher, self.canon)
    }

    /// The result of a call, cleared, at most so many bytes of it; empty where there is none.
    pub(super) fn result(
        &mut self,
        call: &Call,
        most: Option<usize>,
    ) -> Result<String, StoreError> {
        let Some(result) = &call.result else { return Ok(String::new()) };
        let text = result_text(self.member, result, self.fetcher)?;
        let cleared = self.canon.clear(&text);
        Ok(beginning(&cleared, most.unwrap_or(usize::MAX)).to_owned())
    }

    /// An object as bytes, to be written later.
    pub(super) fn object(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), StoreError>,
    ) -> Result<Vec<u8>, StoreError> {
        let mut object = Vec::new();
        self.append(&mut object, write)?;
        Ok(object)
    }

    /// An object behind what a buffer holds already.
    pub(super) fn append(
        &mut self,
        buffer: &mut Vec<u8>,
        write: impl FnOnce(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let outer = self.canon.begin_nested_in(std::mem::take(buffer));
        self.canon.open();
        write(self)?;
        self.canon.close();
        *buffer = self.canon.end_nested(outer);
        Ok(())
    }

    /// The inputs of the calls of a message, each as a value.
    pub(super) fn inputs(&mut self, step: &Step) -> Result<Vec<Vec<u8>>, StoreError> {
        let mut inputs = Vec::new();
        for call in step.calls() {
            let outer = self.canon.begin_nested();
            self.input(call)?;
            inputs.push(self.canon.end_nested(outer));
        }
        Ok(inputs)
    }

    /// Role, words, thoughts and calls of the model, as OpenAI names them.
    pub(super) fn openai(
        &mut self,
        step: &Step,
        thinks: bool,
        mut function: impl FnMut(&mut Self, &Call) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.canon.static_field("role", "assistant");
        self.canon.key("content");
        self.write_text(&step.blocks)?;
        if thinks {
            let thought = self.thoughts(step)?;
            if !thought.is_empty() {
                self.canon.key("reasoning_content");
                self.canon.text(&thought);
            }
        }
        if step.calls().next().is_some() {
            self.canon.key("tool_calls");
            self.canon.open_list();
            for (number, call) in step.calls().enumerate() {
                self.canon.open();
                self.canon.key("id");
                self.canon.id(&call_id(step, number, call));
                self.canon.static_field("type", "function");
                self.canon.key("function");
                self.canon.open();
                function(self, call)?;
                self.canon.close();
                self.canon.close();
            }
            self.canon.close_list();
        }
        Ok(())
    }
}

/// A message whose content is `write`'s.
pub(super) fn message(
    role: &str,
    canon: &mut CanonicalWriter<'_>,
    write: impl FnOnce(&mut CanonicalWriter<'_>),
) -> Vec<u8> {
    let outer = canon.begin_nested();
    canon.open();
    canon.static_field("role", role);
    canon.key("content");
    write(canon);
    canon.close();
    canon.end_nested(outer)
}

/// The tool that a call names.
pub(super) fn tool(call: &Call) -> &str {
    call.name.as_deref().unwrap_or("unknown")
}

/// The id of a call, or one made from its message.
pub(super) fn call_id(step: &Step, number: usize, call: &Call) -> String {
    match call.id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => id.to_owned(),
        None => format!("call-{}-{number}", step.uuids.first().map_or("", |uuid| uuid)),
    }
}
