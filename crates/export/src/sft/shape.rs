//! Messages as the trainers want them.
//!
//! Content is never null. Between two messages of the model stands at most one user message. Where a
//! trainer wants roles to alternate (LLaMA-Factory), results of parallel calls and words typed meanwhile
//! become one turn, joined as its own converter joins them.

use super::{Arguments, SftFormat, SftOptions};
use crate::chat::{MemberWriter, call_id, message};
use crate::escape::unescaped;
use crate::json::CanonicalWriter;
use crate::options::Options;
use crate::options::Thinking;
use backstory_model::{Call, Step};
use backstory_store::StoreError;

/// What LLaMA-Factory puts between results that it merges.
pub const BETWEEN_RESULTS: &str = "\n</tool_response>\n<tool_response>\n";

/// Whether a message of the model is to be learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It is context.
    Before,
    Answer,
    /// The format has no mark for it.
    Unmarked,
}

/// A result that waits for its turn.
#[derive(Debug)]
pub(super) struct Returned {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) text: String,
}

/// What stands between two messages of the model.
#[derive(Debug, Default)]
pub(super) struct BetweenMessages {
    pub(super) results: Vec<Returned>,
    pub(super) words: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'o> {
    pub(super) sft: &'o SftOptions<'o>,
    pub(super) options: &'o Options<'o>,
}

impl Shape<'_> {
    /// The results of a message's calls, one for each call.
    pub(super) fn results(
        &self,
        step: &Step,
        mut out: MemberWriter<'_, '_, '_>,
    ) -> Result<Vec<Returned>, StoreError> {
        let mut results = Vec::new();
        for (number, call) in step.calls().enumerate() {
            let text = out.result(call, self.options.max_observation)?;
            let name = self.sft.format.fitting(call.name.as_deref().unwrap_or_default());
            let name = out.canon.clear(&name).into_owned();
            results.push(Returned { id: call_id(step, number, call), name, text });
        }
        Ok(results)
    }

    /// Messages of what happened between two of the model; `words` are raw, results cleared.
    pub(super) fn meanwhile(
        &self,
        between: BetweenMessages,
        canon: &mut CanonicalWriter<'_>,
    ) -> Vec<Vec<u8>> {
        let words = between.words.join("\n\n");
        let mut made = Vec::new();
        if self.sft.format == SftFormat::LlamaFactory {
            let texts: Vec<&str> = between.results.iter().map(|one| one.text.as_str()).collect();
            let mut value = texts.join(BETWEEN_RESULTS);
            let from = if texts.is_empty() { "human" } else { "observation" };
            if !words.is_empty() {
                if !texts.is_empty() {
                    value.push_str("\n\n");
                }
                value.push_str(&canon.clear(&words));
            }
            let outer = canon.begin_nested();
            canon.open();
            canon.static_field("from", from);
            canon.static_field("value", &value);
            canon.close();
            made.push(canon.end_nested(outer));
            return made;
        }
        for result in between.results {
            let outer = canon.begin_nested();
            canon.open();
            canon.static_field("role", "tool");
            canon.key("tool_call_id");
            canon.id(&result.id);
            if self.sft.format != SftFormat::OpenAi {
                canon.static_field("name", &result.name);
            }
            canon.static_field("content", &result.text);
            canon.close();
            made.push(canon.end_nested(outer));
        }
        if !words.is_empty() {
            made.push(message("user", canon, |canon| canon.text(&words)));
        }
        made
    }

    /// A message of the model; whether words of it have no place.
    pub(super) fn answer(
        &self,
        step: &Step,
        role: Role,
        mut out: MemberWriter<'_, '_, '_>,
    ) -> Result<(Vec<u8>, bool), StoreError> {
        if self.sft.format == SftFormat::LlamaFactory {
            return self.llama_factory(step, &mut out);
        }
        let thinks = self.sft.states.thinking == Thinking::Keep && self.sft.format.has_thinking();
        let message = out.object(|out| {
            out.openai(step, thinks, |out, call| {
                let name = call.name.as_deref().unwrap_or_default();
                out.canon.key("name");
                out.canon.text(&self.sft.format.fitting(name));
                out.canon.key("arguments");
                self.arguments(call, out)
            })?;
            match (self.sft.format, role) {
                (SftFormat::OpenAi, Role::Before | Role::Answer) => {
                    out.canon.key("weight");
                    out.canon.number(u64::from(role == Role::Answer));
                }
                (SftFormat::Axolotl, Role::Before | Role::Answer) => {
                    out.canon.key("train");
                    out.canon.bool(role == Role::Answer);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok((message, false))
    }

    /// Calls or words: LLaMA-Factory has a turn for either.
    fn llama_factory(
        &self,
        step: &Step,
        out: &mut MemberWriter<'_, '_, '_>,
    ) -> Result<(Vec<u8>, bool), StoreError> {
        let words = out.words(&step.blocks)?;
        let calls = step.calls().next().is_some();
        let message = out.object(|out| {
            out.canon.static_field("from", if calls { "function_call" } else { "gpt" });
            out.canon.key("value");
            if !calls {
                out.canon.text(&words);
                return Ok(());
            }
            let inner = out.canon.begin_nested();
            out.canon.open_list();
            for call in step.calls() {
                out.canon.open();
                out.canon.key("name");
                let name = call.name.as_deref().unwrap_or_default();
                out.canon.text(&self.sft.format.fitting(name));
                out.canon.key("arguments");
                out.input(call)?;
                out.canon.close();
            }
            out.canon.close_list();
            let value = out.canon.end_nested(inner);
            out.canon.plain(&unescaped(&value));
            Ok(())
        })?;
        Ok((message, calls && !words.trim().is_empty()))
    }

    fn arguments(&self, call: &Call, out: &mut MemberWriter<'_, '_, '_>) -> Result<(), StoreError> {
        // OpenAI's own format knows only text.
        if self.sft.arguments == Arguments::Object && self.sft.format != SftFormat::OpenAi {
            return out.input(call);
        }
        let outer = out.canon.begin_nested();
        out.input(call)?;
        let value = out.canon.end_nested(outer);
        out.canon.plain(&unescaped(&value));
        Ok(())
    }

    /// A system prompt that is cleared already: as a message, or as a text.
    pub(super) fn system(&self, words: &str, canon: &mut CanonicalWriter<'_>) -> Vec<u8> {
        if self.sft.format != SftFormat::LlamaFactory {
            return message("system", canon, |canon| canon.plain(words));
        }
        let outer = canon.begin_nested();
        canon.plain(words);
        canon.end_nested(outer)
    }
}
