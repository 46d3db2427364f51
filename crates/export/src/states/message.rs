//! Messages of a history and the action of a state, in three styles.

use super::{Conversation, MessageStyle, Thinking, Tokenizer};
use crate::canonical::in_ascii;
use crate::chat::{MemberWriter, call_id, message, tool};
use crate::json::CanonicalWriter;
use crate::opentraces::result_text;
use crate::options::Options;
use backstory_model::{Block, Call, CallOutcome, Step};
use backstory_store::StoreError;

/// How messages are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style<'o> {
    pub(super) style: MessageStyle,
    pub(super) thinking: Thinking,
    pub(super) options: &'o Options<'o>,
}

impl Style<'_> {
    /// Words of somebody.
    pub(super) fn said(&self, role: &str, words: &str, canon: &mut CanonicalWriter<'_>) -> Vec<u8> {
        message(role, canon, |canon| canon.text(words))
    }

    /// A system prompt that is cleared already.
    pub(super) fn system(&self, words: &str, canon: &mut CanonicalWriter<'_>) -> Vec<u8> {
        message("system", canon, |canon| canon.plain(words))
    }

    /// Adds a message of the model and the results of its calls to a conversation.
    pub(super) fn step(
        &self,
        step: &Step,
        inputs: &[Vec<u8>],
        mut desk: MemberWriter<'_, '_, '_>,
        talk: &mut Conversation,
        tokenizer: &Tokenizer<'_>,
    ) -> Result<(), StoreError> {
        let desk = &mut desk;
        match self.style {
            MessageStyle::OpenAi => {
                let mut number = 0;
                talk.write(tokenizer, |bytes| {
                    desk.append(bytes, |desk| {
                        desk.openai(step, self.thinking == Thinking::Keep, |desk, call| {
                            desk.canon.key("name");
                            desk.canon.text(tool(call));
                            desk.canon.key("arguments");
                            desk.canon.written(nth(inputs, number));
                            number += 1;
                            Ok(())
                        })
                    })
                })?;
                for (number, call) in step.calls().enumerate() {
                    talk.write(tokenizer, |bytes| {
                        desk.append(bytes, |desk| {
                            desk.canon.word("role", "tool");
                            desk.canon.key("tool_call_id");
                            desk.canon.id(&call_id(step, number, call));
                            desk.canon.key("name");
                            desk.canon.text(tool(call));
                            self.result(call, desk)
                        })
                    })?;
                }
            }
            MessageStyle::Anthropic => {
                talk.write(tokenizer, |bytes| {
                    let write =
                        |desk: &mut MemberWriter<'_, '_, '_>| self.anthropic(step, inputs, desk);
                    self.blocks("assistant", desk, bytes, write)
                })?;
                if step.calls().next().is_some() {
                    talk.write(tokenizer, |bytes| {
                        self.blocks("user", desk, bytes, |desk| self.results(step, desk))
                    })?;
                }
            }
            MessageStyle::Text => {
                let words = self.flat(step, desk)?;
                talk.push(&self.said("assistant", &words, desk.canon), tokenizer);
                for call in step.calls() {
                    let text = match &call.result {
                        Some(result) => {
                            result_text(desk.member, result, desk.fetcher)?.into_owned()
                        }
                        None => String::new(),
                    };
                    let mark =
                        if is_error(call) { "[TOOL_RESULT (ERROR)]" } else { "[TOOL_RESULT]" };
                    let message = self.said("user", &format!("{mark}\n{text}"), desk.canon);
                    talk.push(&message, tokenizer);
                }
            }
        }
        Ok(())
    }

    /// A message whose content is a list of blocks.
    fn blocks<'s, 'c>(
        &self,
        role: &str,
        desk: &mut MemberWriter<'_, 's, 'c>,
        bytes: &mut Vec<u8>,
        write: impl FnOnce(&mut MemberWriter<'_, 's, 'c>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        desk.append(bytes, |desk| {
            desk.canon.word("role", role);
            desk.canon.key("content");
            desk.canon.open_list();
            write(desk)?;
            desk.canon.close_list();
            Ok(())
        })
    }

    fn anthropic(
        &self,
        step: &Step,
        inputs: &[Vec<u8>],
        desk: &mut MemberWriter<'_, '_, '_>,
    ) -> Result<(), StoreError> {
        let mut number = 0;
        for block in &step.blocks {
            match block {
                Block::Thinking { text: Some(text), .. } if self.thinking == Thinking::Keep => {
                    let thought = desk.fetcher.text(desk.member, text)?;
                    desk.canon.open();
                    desk.canon.word("type", "thinking");
                    desk.canon.key("thinking");
                    desk.canon.text(&thought);
                    desk.canon.close();
                }
                Block::Thinking { .. } => {}
                Block::Call(call) => {
                    desk.canon.open();
                    desk.canon.word("type", "tool_use");
                    desk.canon.key("id");
                    desk.canon.id(&call_id(step, number, call));
                    desk.canon.key("name");
                    desk.canon.text(tool(call));
                    desk.canon.key("input");
                    desk.canon.written(nth(inputs, number));
                    desk.canon.close();
                    number += 1;
                }
                block => {
                    let words = desk.words([block])?;
                    desk.canon.open();
                    desk.canon.word("type", "text");
                    desk.canon.key("text");
                    desk.canon.text(&words);
                    desk.canon.close();
                }
            }
        }
        Ok(())
    }

    /// Results as Anthropic has them.
    fn results(&self, step: &Step, desk: &mut MemberWriter<'_, '_, '_>) -> Result<(), StoreError> {
        for (number, call) in step.calls().enumerate() {
            desk.canon.open();
            desk.canon.word("type", "tool_result");
            desk.canon.key("tool_use_id");
            desk.canon.id(&call_id(step, number, call));
            self.result(call, desk)?;
            if is_error(call) {
                desk.canon.key("is_error");
                desk.canon.flag(true);
            }
            desk.canon.close();
        }
        Ok(())
    }

    fn result(&self, call: &Call, desk: &mut MemberWriter<'_, '_, '_>) -> Result<(), StoreError> {
        desk.canon.key("content");
        // Most are one text, which goes through as it is written.
        if let (Some(result), None) = (&call.result, self.options.max_observation)
            && let ([text], []) = (&*result.text, &*result.blocks)
            && let Some(raw) = desk.fetcher.written(desk.member, text)?
        {
            desk.canon.written_text(raw);
            return Ok(());
        }
        let text = desk.result(call, self.options.max_observation)?;
        desk.canon.plain(&text);
        Ok(())
    }

    /// What the model said and called, as prose.
    fn flat(&self, step: &Step, desk: &mut MemberWriter<'_, '_, '_>) -> Result<String, StoreError> {
        let mut words = desk.words(&step.blocks)?;
        for call in step.calls() {
            let input = match &call.input {
                Some(input) => desk.fetcher.text(desk.member, input)?.into_owned(),
                None => String::new(),
            };
            if !words.is_empty() {
                words.push('\n');
            }
            words.push_str(&format!("[TOOL_CALL {}]\n{input}", tool(call)));
        }
        Ok(words)
    }

    /// What the model did: its words if it only spoke, else its blocks as JSON with sorted keys;
    /// with `only`, that call alone.
    pub(super) fn action(
        &self,
        step: &Step,
        inputs: &[Vec<u8>],
        only: Option<usize>,
        mut desk: MemberWriter<'_, '_, '_>,
    ) -> Result<String, StoreError> {
        if step.calls().next().is_none() {
            let words = desk.words(&step.blocks)?;
            return Ok(desk.canon.clear(words.trim()).into_owned());
        }
        let outer = desk.canon.begin_nested();
        desk.canon.open_list();
        let mut number = 0;
        for block in &step.blocks {
            match block {
                Block::Thinking { .. } => {}
                Block::Call(call) => {
                    if only.is_none_or(|only| only == number) {
                        desk.canon.open();
                        desk.canon.key("input");
                        desk.canon.written(nth(inputs, number));
                        desk.canon.key("name");
                        desk.canon.text(tool(call));
                        desk.canon.word("type", "tool_use");
                        desk.canon.close();
                    }
                    number += 1;
                }
                block if only.is_none() => {
                    let words = desk.words([block])?;
                    desk.canon.open();
                    desk.canon.key("text");
                    desk.canon.text(&words);
                    desk.canon.word("type", "text");
                    desk.canon.close();
                }
                _ => {}
            }
        }
        desk.canon.close_list();
        let bytes = desk.canon.end_nested(outer);
        Ok(in_ascii(bytes))
    }
}

/// The input of a call that was written before.
fn nth(inputs: &[Vec<u8>], number: usize) -> &[u8] {
    inputs.get(number).map_or(b"{}", Vec::as_slice)
}

fn is_error(call: &Call) -> bool {
    call.result.as_ref().is_none_or(|result| result.outcome != CallOutcome::Ok)
}
