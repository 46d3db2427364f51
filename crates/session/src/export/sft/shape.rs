//! Messages as the trainers want them.
//!
//! Content is never null. Between two messages of the model stands at most one user message. Where a
//! trainer wants roles to alternate (LLaMA-Factory), results of parallel calls and words typed meanwhile
//! become one turn, joined as its own converter joins them.

use super::{Arguments, SftFormat, SftOptions};
use crate::export::Options;
use crate::export::escape::unescaped;
use crate::export::fetch::Fetcher;
use crate::export::json::Canon;
use crate::export::opentraces::{beginning, result_text, write_input};
use crate::export::states::{Thinking, thoughts};
use crate::model::{Call, Step};
use crate::store::StoreError;

/// What LLaMA-Factory puts between results that it merges.
const BETWEEN_RESULTS: &str = "\n</tool_response>\n<tool_response>\n";

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
pub(super) struct Meanwhile {
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
        member: usize,
        step: &Step,
        fetcher: &mut Fetcher<'_>,
        canon: &mut Canon<'_>,
    ) -> Result<Vec<Returned>, StoreError> {
        let most = self.options.max_observation.unwrap_or(usize::MAX);
        let mut results = Vec::new();
        for (number, call) in step.calls().enumerate() {
            let text = match &call.result {
                Some(result) => {
                    let text = result_text(member, result, fetcher)?;
                    beginning(&canon.clear(&text), most).to_owned()
                }
                None => String::new(),
            };
            let name = self.sft.format.fitting(call.name.as_deref().unwrap_or_default());
            let name = canon.clear(&name).into_owned();
            results.push(Returned { id: id(step, number, call), name, text });
        }
        Ok(results)
    }

    /// Messages of what happened between two of the model; `words` are raw, results cleared.
    pub(super) fn meanwhile(&self, between: Meanwhile, canon: &mut Canon<'_>) -> Vec<Vec<u8>> {
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
            let outer = canon.begin_aside();
            canon.open();
            canon.key("from");
            canon.plain(from);
            canon.key("value");
            canon.plain(&value);
            canon.close();
            made.push(canon.end_aside(outer));
            return made;
        }
        for result in between.results {
            let outer = canon.begin_aside();
            canon.open();
            canon.key("role");
            canon.plain("tool");
            canon.key("tool_call_id");
            canon.id(&result.id);
            if self.sft.format != SftFormat::OpenAi {
                canon.key("name");
                canon.plain(&result.name);
            }
            canon.key("content");
            canon.plain(&result.text);
            canon.close();
            made.push(canon.end_aside(outer));
        }
        if !words.is_empty() {
            let outer = canon.begin_aside();
            canon.open();
            canon.key("role");
            canon.plain("user");
            canon.key("content");
            canon.text(&words);
            canon.close();
            made.push(canon.end_aside(outer));
        }
        made
    }

    /// A message of the model; whether words of it have no place.
    pub(super) fn answer(
        &self,
        member: usize,
        step: &Step,
        role: Role,
        fetcher: &mut Fetcher<'_>,
        canon: &mut Canon<'_>,
    ) -> Result<(Vec<u8>, bool), StoreError> {
        let words = fetcher.words(member, &step.blocks)?;
        let outer = canon.begin_aside();
        let mut lost = false;
        if self.sft.format == SftFormat::LlamaFactory {
            let calls = step.calls().next().is_some();
            canon.open();
            canon.key("from");
            canon.plain(if calls { "function_call" } else { "gpt" });
            canon.key("value");
            if calls {
                lost = !words.trim().is_empty();
                let inner = canon.begin_aside();
                canon.open_list();
                for call in step.calls() {
                    canon.open();
                    canon.key("name");
                    canon.text(call.name.as_deref().unwrap_or("unknown"));
                    canon.key("arguments");
                    write_input(member, call, fetcher, canon)?;
                    canon.close();
                }
                canon.close_list();
                let value = canon.end_aside(inner);
                canon.plain(&unescaped(&value));
            } else {
                canon.text(&words);
            }
            canon.close();
            return Ok((canon.end_aside(outer), lost));
        }
        canon.open();
        canon.key("role");
        canon.plain("assistant");
        canon.key("content");
        canon.text(&words);
        if self.sft.states.thinking == Thinking::Keep && self.sft.format.has_thinking() {
            let thought = thoughts(member, step, fetcher)?;
            if !thought.is_empty() {
                canon.key("reasoning_content");
                canon.text(&thought);
            }
        }
        if step.calls().next().is_some() {
            canon.key("tool_calls");
            canon.open_list();
            for (number, call) in step.calls().enumerate() {
                canon.open();
                canon.key("id");
                canon.id(&id(step, number, call));
                canon.key("type");
                canon.plain("function");
                canon.key("function");
                canon.open();
                canon.key("name");
                canon.text(&self.sft.format.fitting(call.name.as_deref().unwrap_or_default()));
                canon.key("arguments");
                self.arguments(member, call, fetcher, canon)?;
                canon.close();
                canon.close();
            }
            canon.close_list();
        }
        match (self.sft.format, role) {
            (SftFormat::OpenAi, Role::Before | Role::Answer) => {
                canon.key("weight");
                canon.number(u64::from(role == Role::Answer));
            }
            (SftFormat::Axolotl, Role::Before | Role::Answer) => {
                canon.key("train");
                canon.flag(role == Role::Answer);
            }
            _ => {}
        }
        canon.close();
        Ok((canon.end_aside(outer), lost))
    }

    fn arguments(
        &self,
        member: usize,
        call: &Call,
        fetcher: &mut Fetcher<'_>,
        canon: &mut Canon<'_>,
    ) -> Result<(), StoreError> {
        // OpenAI's own format knows only text.
        if self.sft.arguments == Arguments::Object && self.sft.format != SftFormat::OpenAi {
            return write_input(member, call, fetcher, canon);
        }
        let outer = canon.begin_aside();
        write_input(member, call, fetcher, canon)?;
        let value = canon.end_aside(outer);
        canon.plain(&unescaped(&value));
        Ok(())
    }

    /// A system prompt that is cleared already: as a message, or as a text.
    pub(super) fn system(&self, words: &str, canon: &mut Canon<'_>) -> Vec<u8> {
        let outer = canon.begin_aside();
        if self.sft.format == SftFormat::LlamaFactory {
            canon.plain(words);
        } else {
            canon.open();
            canon.key("role");
            canon.plain("system");
            canon.key("content");
            canon.plain(words);
            canon.close();
        }
        canon.end_aside(outer)
    }
}

/// The id of a call, or one made from its message.
fn id(step: &Step, number: usize, call: &Call) -> String {
    match call.id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => id.to_owned(),
        None => format!("call-{}-{number}", step.uuids.first().map_or("", |uuid| uuid)),
    }
}
