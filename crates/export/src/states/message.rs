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
        mut out: MemberWriter<'_, '_, '_>,
        conversation: &mut Conversation,
        tokenizer: &Tokenizer<'_>,
    ) -> Result<(), StoreError> {
        let out = &mut out;
        match self.style {
            MessageStyle::OpenAi => {
                let mut number = 0;
                conversation.write(tokenizer, |bytes| {
                    out.append(bytes, |out| {
                        out.openai(step, self.thinking == Thinking::Keep, |out, call| {
                            out.canon.key("name");
                            out.canon.text(tool(call));
                            out.canon.key("arguments");
                            out.canon.written(nth(inputs, number));
                            number += 1;
                            Ok(())
                        })
                    })
                })?;
                for (number, call) in step.calls().enumerate() {
                    conversation.write(tokenizer, |bytes| {
                        out.append(bytes, |out| {
                            out.canon.static_field("role", "tool");
                            out.canon.key("tool_call_id");
                            out.canon.id(&call_id(step, number, call));
                            out.canon.key("name");
                            out.canon.text(tool(call));
                            self.result(call, out)
                        })
                    })?;
                }
            }
            MessageStyle::Anthropic => {
                conversation.write(tokenizer, |bytes| {
                    let write =
                        |out: &mut MemberWriter<'_, '_, '_>| self.anthropic(step, inputs, out);
                    self.blocks("assistant", out, bytes, write)
                })?;
                if step.calls().next().is_some() {
                    conversation.write(tokenizer, |bytes| {
                        self.blocks("user", out, bytes, |out| self.results(step, out))
                    })?;
                }
            }
            MessageStyle::Text => {
                let words = self.flat(step, out)?;
                conversation.push(&self.said("assistant", &words, out.canon), tokenizer);
                for call in step.calls() {
                    let text = match &call.result {
                        Some(result) => result_text(out.member, result, out.fetcher)?.into_owned(),
                        None => String::new(),
                    };
                    let mark =
                        if is_error(call) { "[TOOL_RESULT (ERROR)]" } else { "[TOOL_RESULT]" };
                    let message = self.said("user", &format!("{mark}\n{text}"), out.canon);
                    conversation.push(&message, tokenizer);
                }
            }
        }
        Ok(())
    }

    /// A message whose content is a list of blocks.
    fn blocks<'s, 'c>(
        &self,
        role: &str,
        out: &mut MemberWriter<'_, 's, 'c>,
        bytes: &mut Vec<u8>,
        write: impl FnOnce(&mut MemberWriter<'_, 's, 'c>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        out.append(bytes, |out| {
            out.canon.static_field("role", role);
            out.canon.key("content");
            out.canon.open_list();
            write(out)?;
            out.canon.close_list();
            Ok(())
        })
    }

    fn anthropic(
        &self,
        step: &Step,
        inputs: &[Vec<u8>],
        out: &mut MemberWriter<'_, '_, '_>,
    ) -> Result<(), StoreError> {
        let mut number = 0;
        for block in &step.blocks {
            match block {
                Block::Thinking { text: Some(text), .. } if self.thinking == Thinking::Keep => {
                    let thought = out.fetcher.text(out.member, text)?;
                    out.canon.open();
                    out.canon.static_field("type", "thinking");
                    out.canon.key("thinking");
                    out.canon.text(&thought);
                    out.canon.close();
                }
                Block::Thinking { .. } => {}
                Block::Call(call) => {
                    out.canon.open();
                    out.canon.static_field("type", "tool_use");
                    out.canon.key("id");
                    out.canon.id(&call_id(step, number, call));
                    out.canon.key("name");
                    out.canon.text(tool(call));
                    out.canon.key("input");
                    out.canon.written(nth(inputs, number));
                    out.canon.close();
                    number += 1;
                }
                block => {
                    let words = out.words([block])?;
                    out.canon.open();
                    out.canon.static_field("type", "text");
                    out.canon.key("text");
                    out.canon.text(&words);
                    out.canon.close();
                }
            }
        }
        Ok(())
    }

    /// Results as Anthropic has them.
    fn results(&self, step: &Step, out: &mut MemberWriter<'_, '_, '_>) -> Result<(), StoreError> {
        for (number, call) in step.calls().enumerate() {
            out.canon.open();
            out.canon.static_field("type", "tool_result");
            out.canon.key("tool_use_id");
            out.canon.id(&call_id(step, number, call));
            self.result(call, out)?;
            if is_error(call) {
                out.canon.key("is_error");
                out.canon.bool(true);
            }
            out.canon.close();
        }
        Ok(())
    }

    fn result(&self, call: &Call, out: &mut MemberWriter<'_, '_, '_>) -> Result<(), StoreError> {
        out.canon.key("content");
        // Most are one text, which goes through as it is written.
        if let (Some(result), None) = (&call.result, self.options.max_observation)
            && let ([text], []) = (&*result.text, &*result.blocks)
            && let Some(raw) = out.fetcher.written(out.member, text)?
        {
            out.canon.written_text(raw);
            return Ok(());
        }
        let text = out.result(call, self.options.max_observation)?;
        out.canon.plain(&text);
        Ok(())
    }

    /// What the model said and called, as prose.
    fn flat(&self, step: &Step, out: &mut MemberWriter<'_, '_, '_>) -> Result<String, StoreError> {
        let mut words = out.words(&step.blocks)?;
        for call in step.calls() {
            let input = match &call.input {
                Some(input) => out.fetcher.text(out.member, input)?.into_owned(),
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
        mut out: MemberWriter<'_, '_, '_>,
    ) -> Result<String, StoreError> {
        if step.calls().next().is_none() {
            let words = out.words(&step.blocks)?;
            return Ok(out.canon.clear(words.trim()).into_owned());
        }
        let outer = out.canon.begin_nested();
        out.canon.open_list();
        let mut number = 0;
        for block in &step.blocks {
            match block {
                Block::Thinking { .. } => {}
                Block::Call(call) => {
                    if only.is_none_or(|only| only == number) {
                        out.canon.open();
                        out.canon.key("input");
                        out.canon.written(nth(inputs, number));
                        out.canon.key("name");
                        out.canon.text(tool(call));
                        out.canon.static_field("type", "tool_use");
                        out.canon.close();
                    }
                    number += 1;
                }
                block if only.is_none() => {
                    let words = out.words([block])?;
                    out.canon.open();
                    out.canon.key("text");
                    out.canon.text(&words);
                    out.canon.static_field("type", "text");
                    out.canon.close();
                }
                _ => {}
            }
        }
        out.canon.close_list();
        let bytes = out.canon.end_nested(outer);
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
