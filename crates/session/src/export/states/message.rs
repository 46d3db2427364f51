//! Messages of a history and the action of a state, in three styles.

use super::{MessageStyle, Thinking};
use crate::export::Options;
use crate::export::fetch::Fetcher;
use crate::export::json::Canon;
use crate::export::opentraces::{beginning, result_text, write_input};
use crate::model::{Block, Call, CallOutcome, Step};
use crate::store::StoreError;

/// How messages are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style<'o> {
    pub(super) style: MessageStyle,
    pub(super) thinking: Thinking,
    pub(super) options: &'o Options<'o>,
}

impl Style<'_> {
    /// Words of somebody.
    pub(super) fn said(&self, role: &str, words: &str, canon: &mut Canon<'_>) -> Vec<u8> {
        let outer = canon.begin_aside();
        canon.open();
        canon.key("role");
        canon.plain(role);
        canon.key("content");
        canon.text(words);
        canon.close();
        canon.end_aside(outer)
    }

    /// A system prompt that is cleared already.
    pub(super) fn system(&self, words: &str, canon: &mut Canon<'_>) -> Vec<u8> {
        let outer = canon.begin_aside();
        canon.open();
        canon.key("role");
        canon.plain("system");
        canon.key("content");
        canon.plain(words);
        canon.close();
        canon.end_aside(outer)
    }

    /// A message of the model and the results of its calls.
    pub(super) fn step(
        &self,
        member: usize,
        step: &Step,
        fetcher: &mut Fetcher<'_>,
        canon: &mut Canon<'_>,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        let mut made = Vec::new();
        match self.style {
            MessageStyle::OpenAi => {
                made.push(self.openai(member, step, fetcher, canon)?);
                for (number, call) in step.calls().enumerate() {
                    let outer = canon.begin_aside();
                    canon.open();
                    canon.key("role");
                    canon.plain("tool");
                    canon.key("tool_call_id");
                    canon.id(&id(step, number, call));
                    canon.key("name");
                    canon.text(call.name.as_deref().unwrap_or("unknown"));
                    canon.key("content");
                    self.result(member, call, fetcher, canon)?;
                    canon.close();
                    made.push(canon.end_aside(outer));
                }
            }
            MessageStyle::Anthropic => {
                made.push(self.anthropic(member, step, fetcher, canon)?);
                if step.calls().next().is_some() {
                    made.push(self.anthropic_results(member, step, fetcher, canon)?);
                }
            }
            MessageStyle::Text => {
                let words = self.flat(member, step, fetcher)?;
                made.push(self.said("assistant", &words, canon));
                for call in step.calls() {
                    let text = match &call.result {
                        Some(result) => result_text(member, result, fetcher)?.into_owned(),
                        None => String::new(),
                    };
                    let mark =
                        if is_error(call) { "[TOOL_RESULT (ERROR)]" } else { "[TOOL_RESULT]" };
                    made.push(self.said("user", &format!("{mark}\n{text}"), canon));
                }
            }
        }
        Ok(made)
    }

    fn openai(
        &self,
        member: usize,
        step: &Step,
        fetcher: &mut Fetcher<'_>,
        canon: &mut Canon<'_>,
    ) -> Result<Vec<u8>, StoreError> {
        let outer = canon.begin_aside();
        canon.open();
        canon.key("role");
        canon.plain("assistant");
        canon.key("content");
        canon.text(&fetcher.words(member, &step.blocks)?);
        if self.thinking == Thinking::Keep {
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
                canon.text(call.name.as_deref().unwrap_or("unknown"));
                canon.key("arguments");
                write_input(member, call, fetcher, canon)?;
                canon.close();
                canon.close();
            }
            canon.close_list();
        }
        canon.close();
        Ok(canon.end_aside(outer))
    }

    fn anthropic(
        &self,
        member: usize,
        step: &Step,
        fetcher: &mut Fetcher<'_>,
        canon: &mut Canon<'_>,
    ) -> Result<Vec<u8>, StoreError> {
        let outer = canon.begin_aside();
        canon.open();
        canon.key("role");
        canon.plain("assistant");
        canon.key("content");
        canon.open_list();
        let mut number = 0;
        for block in &step.blocks {
            match block {
                Block::Thinking { text: Some(text), .. } if self.thinking == Thinking::Keep => {
                    canon.open();
                    canon.key("type");
                    canon.plain("thinking");
                    canon.key("thinking");
                    canon.text(&fetcher.text(member, text)?);
                    canon.close();
                }
                Block::Thinking { .. } => {}
                Block::Call(call) => {
                    canon.open();
                    canon.key("type");
                    canon.plain("tool_use");
                    canon.key("id");
                    canon.id(&id(step, number, call));
                    canon.key("name");
                    canon.text(call.name.as_deref().unwrap_or("unknown"));
                    canon.key("input");
                    write_input(member, call, fetcher, canon)?;
                    canon.close();
                    number += 1;
                }
                block => {
                    canon.open();
                    canon.key("type");
                    canon.plain("text");
                    canon.key("text");
                    canon.text(&fetcher.words(member, [block])?);
                    canon.close();
                }
            }
        }
        canon.close_list();
        canon.close();
        Ok(canon.end_aside(outer))
    }

    fn anthropic_results(
        &self,
        member: usize,
        step: &Step,
        fetcher: &mut Fetcher<'_>,
        canon: &mut Canon<'_>,
    ) -> Result<Vec<u8>, StoreError> {
        let outer = canon.begin_aside();
        canon.open();
        canon.key("role");
        canon.plain("user");
        canon.key("content");
        canon.open_list();
        for (number, call) in step.calls().enumerate() {
            canon.open();
            canon.key("type");
            canon.plain("tool_result");
            canon.key("tool_use_id");
            canon.id(&id(step, number, call));
            canon.key("content");
            self.result(member, call, fetcher, canon)?;
            if is_error(call) {
                canon.key("is_error");
                canon.flag(true);
            }
            canon.close();
        }
        canon.close_list();
        canon.close();
        Ok(canon.end_aside(outer))
    }

    fn result(
        &self,
        member: usize,
        call: &Call,
        fetcher: &mut Fetcher<'_>,
        canon: &mut Canon<'_>,
    ) -> Result<(), StoreError> {
        let Some(result) = &call.result else {
            canon.plain("");
            return Ok(());
        };
        let text = result_text(member, result, fetcher)?;
        let cleared = canon.clear(&text);
        let most = self.options.max_observation.unwrap_or(usize::MAX);
        canon.plain(beginning(&cleared, most));
        Ok(())
    }

    /// What the model said and called, as prose.
    fn flat(
        &self,
        member: usize,
        step: &Step,
        fetcher: &mut Fetcher<'_>,
    ) -> Result<String, StoreError> {
        let mut words = fetcher.words(member, &step.blocks)?;
        for call in step.calls() {
            let input = match &call.input {
                Some(input) => fetcher.text(member, input)?.into_owned(),
                None => String::new(),
            };
            if !words.is_empty() {
                words.push('\n');
            }
            words.push_str(&format!(
                "[TOOL_CALL {}]\n{input}",
                call.name.as_deref().unwrap_or("unknown")
            ));
        }
        Ok(words)
    }

    /// What the model did: its words if it only spoke, else its blocks as JSON with sorted keys;
    /// with `only`, that call alone.
    pub(super) fn action(
        &self,
        member: usize,
        step: &Step,
        only: Option<usize>,
        fetcher: &mut Fetcher<'_>,
        canon: &mut Canon<'_>,
    ) -> Result<String, StoreError> {
        if step.calls().next().is_none() {
            let words = fetcher.words(member, &step.blocks)?;
            return Ok(canon.clear(words.trim()).into_owned());
        }
        let outer = canon.begin_aside();
        canon.open_list();
        let mut number = 0;
        for block in &step.blocks {
            match block {
                Block::Thinking { .. } => {}
                Block::Call(call) => {
                    if only.is_none_or(|only| only == number) {
                        canon.open();
                        canon.key("input");
                        write_input(member, call, fetcher, canon)?;
                        canon.key("name");
                        canon.text(call.name.as_deref().unwrap_or("unknown"));
                        canon.key("type");
                        canon.plain("tool_use");
                        canon.close();
                    }
                    number += 1;
                }
                block if only.is_none() => {
                    canon.open();
                    canon.key("text");
                    canon.text(&fetcher.words(member, [block])?);
                    canon.key("type");
                    canon.plain("text");
                    canon.close();
                }
                _ => {}
            }
        }
        canon.close_list();
        let bytes = canon.end_aside(outer);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn is_error(call: &Call) -> bool {
    call.result.as_ref().is_none_or(|result| result.outcome != CallOutcome::Ok)
}

pub(in crate::export) fn thoughts(
    member: usize,
    step: &Step,
    fetcher: &mut Fetcher<'_>,
) -> Result<String, StoreError> {
    let texts: Vec<_> = step
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Thinking { text: Some(text), .. } => Some(text),
            _ => None,
        })
        .collect();
    Ok(fetcher.joined(member, &texts, "\n\n")?.into_owned())
}

/// The id of a call, or one made from its message.
fn id(step: &Step, number: usize, call: &Call) -> String {
    match call.id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => id.to_owned(),
        None => format!("call-{}-{number}", step.uuids.first().map_or("", |uuid| uuid)),
    }
}
