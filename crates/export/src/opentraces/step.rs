//! Steps: prompts and messages with their calls, results and the code that was seen.

use crate::context::{Context, duration};
use crate::fetch::{Fetcher, left_out};
use crate::json::CanonicalWriter;
use crate::options::Options;
use crate::shapes::Shapes;
use crate::timeline::{Entry, Item};
use backstory_format::json::text::decode_prefix;
use backstory_format::slice::Part;
use backstory_model::{Block, Call, CallOutcome, CallResult, Content, Step, TurnKind, UsageTotal};
use backstory_store::StoreError;
use jiff::Timestamp;
use std::borrow::Cow;

/// What OpenTraces' own importer writes for thinking that the client left empty.
const WITHHELD: &str = "[redacted: model produced reasoning but content was withheld by provider]";
/// Characters of a result in its preview.
const PREVIEW: usize = 200;
/// Bytes of a long result that are decoded for that.
const READ_AHEAD: usize = 2 << 10;

/// Everything that steps need.
pub(super) struct Writer<'w, 's, 'c> {
    pub(super) context: &'w Context<'s>,
    shapes: &'w Shapes,
    newest: bool,
    pub(super) options: &'w Options<'w>,
    pub(super) fetcher: &'w mut Fetcher<'s>,
    pub(super) canon: &'w mut CanonicalWriter<'c>,
}

pub(super) fn write<'s>(
    context: &Context<'s>,
    shapes: &Shapes,
    newest: bool,
    options: &Options<'_>,
    fetcher: &mut Fetcher<'s>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<(), StoreError> {
    canon.open_list();
    let mut writer = Writer { context, shapes, newest, options, fetcher, canon };
    for (at, item) in context.timeline.items.iter().enumerate() {
        match item.what {
            Entry::Prompt(turn) => {
                let blocks = turn.prompt.blocks.iter().map(|block| &block.block);
                let words = writer.fetcher.words(item.member, blocks)?;
                let role = match turn.kind {
                    TurnKind::Compact | TurnKind::TaskNotification => "system",
                    _ => "user",
                };
                writer.said(at, item, role, &words, turn.timestamp);
            }
            Entry::Interjection(typed) => {
                let words = writer.fetcher.text(item.member, &typed.text)?.into_owned();
                writer.said(at, item, "user", &words, typed.timestamp);
            }
            Entry::Step(step) => writer.step(at, item, step)?,
        }
    }
    canon.close_list();
    Ok(())
}

impl Writer<'_, '_, '_> {
    /// Words that no model wrote.
    fn said(
        &mut self,
        at: usize,
        item: &Item<'_>,
        role: &str,
        words: &str,
        timestamp: Option<Timestamp>,
    ) {
        self.canon.open();
        self.head(item);
        self.canon.key("content");
        self.canon.text(words);
        if self.newest {
            self.canon.key("context_node_id");
            self.canon.null();
        }
        self.canon.key("model");
        self.canon.null();
        self.canon.key("observations");
        self.canon.empty_list();
        self.parent(item);
        self.canon.key("reasoning_content");
        self.canon.null();
        self.canon.key("role");
        self.canon.plain(role);
        self.canon.key("snippets");
        self.canon.empty_list();
        self.index(at);
        self.canon.key("subagent_trajectory_ref");
        self.canon.null();
        self.canon.key("system_prompt_hash");
        self.canon.null();
        self.time(timestamp);
        self.usage(None);
        self.canon.key("tool_calls");
        self.canon.empty_list();
        self.canon.key("tools_available");
        self.canon.empty_list();
        self.canon.close();
    }

    fn head(&mut self, item: &Item<'_>) {
        let role = self.context.roles.get(item.member);
        self.canon.key("agent_role");
        self.canon.text_or_null(role.map(String::as_str));
        self.canon.key("call_type");
        let subagent = self.context.timeline.is_subagent(item);
        self.canon.plain(if subagent { "subagent" } else { "main" });
    }

    fn parent(&mut self, item: &Item<'_>) {
        self.canon.key("parent_step");
        self.canon.number_or_null(item.parent.map(Context::number));
    }

    fn index(&mut self, at: usize) {
        self.canon.key("step_index");
        self.canon.number(Context::number(at));
    }

    fn time(&mut self, timestamp: Option<Timestamp>) {
        self.canon.key("timestamp");
        self.canon.plain_or_null(timestamp.map(|time| time.to_string()).as_deref());
    }

    fn usage(&mut self, usage: Option<&UsageTotal>) {
        let usage = usage.copied().unwrap_or_default();
        self.canon.key("token_usage");
        self.canon.open();
        self.canon.key("cache_read_tokens");
        self.canon.number(usage.cache_read);
        self.canon.key("cache_write_tokens");
        self.canon.number(usage.cache_write);
        self.canon.key("input_tokens");
        self.canon.number(usage.input);
        self.canon.key("output_tokens");
        self.canon.number(usage.output);
        self.canon.key("prefix_reuse_tokens");
        self.canon.number(0);
        self.canon.close();
    }

    fn step(&mut self, at: usize, item: &Item<'_>, step: &Step) -> Result<(), StoreError> {
        let timeline = &self.context.timeline;
        self.canon.open();
        self.head(item);
        self.content(item.member, step)?;
        if self.newest {
            self.canon.key("context_node_id");
            self.canon.null();
        }
        self.canon.key("model");
        let model = step.model.as_deref().filter(|_| !step.synthetic).map(super::model_name);
        self.canon.id_or_null(model.as_deref());
        self.canon.key("observations");
        self.canon.open_list();
        for (number, call) in step.calls().enumerate() {
            self.observation(Placed { member: item.member, at, number, call })?;
        }
        self.canon.close_list();
        self.parent(item);
        self.reasoning(item.member, step)?;
        self.canon.key("role");
        // What the client says by itself (an API error, an interruption) is not the model's.
        self.canon.plain(if step.synthetic { "system" } else { "agent" });
        self.canon.key("snippets");
        self.canon.open_list();
        for call in step.calls() {
            self.snippets(item.member, at, call)?;
        }
        self.canon.close_list();
        self.index(at);
        self.canon.key("subagent_trajectory_ref");
        let started = step.calls().find_map(|call| call.subagent.as_deref());
        self.canon.id_or_null(started);
        self.canon.key("system_prompt_hash");
        self.canon.plain_or_null(self.shapes.prompt(timeline, item.member, step));
        self.time(step.timestamp);
        let counted = !step.synthetic && !self.context.repeated.contains(&at);
        self.usage(step.usage.as_ref().filter(|_| counted));
        self.canon.key("tool_calls");
        self.canon.open_list();
        for (number, call) in step.calls().enumerate() {
            self.call(Placed { member: item.member, at, number, call })?;
        }
        self.canon.close_list();
        self.canon.key("tools_available");
        let available = self.shapes.available(timeline, item.member, step);
        self.canon.id_list(available.iter().map(String::as_str));
        self.canon.close();
        Ok(())
    }

    fn content(&mut self, member: usize, step: &Step) -> Result<(), StoreError> {
        self.canon.key("content");
        let mut said = step
            .blocks
            .iter()
            .filter(|block| !matches!(block, Block::Thinking { .. } | Block::Call(_)));
        match (said.next(), said.next()) {
            (None, _) => self.canon.null(),
            (Some(Block::Text(text)), None) => self.text(member, text)?,
            _ => {
                let words = self.fetcher.words(member, &step.blocks)?;
                self.canon.text(&words);
            }
        }
        Ok(())
    }

    fn reasoning(&mut self, member: usize, step: &Step) -> Result<(), StoreError> {
        let mut texts: Vec<&Content> = Vec::new();
        let mut withheld = false;
        for block in &step.blocks {
            match block {
                Block::Thinking { text: Some(text), .. } if text.size() > 0 => texts.push(text),
                Block::Thinking { signed, redacted, .. } => withheld |= *signed || *redacted,
                _ => {}
            }
        }
        self.canon.key("reasoning_content");
        match texts.as_slice() {
            [] => self.canon.plain_or_null(withheld.then_some(WITHHELD)),
            [one] => self.text(member, one)?,
            several => {
                let text = self.fetcher.joined(member, several, "\n\n")?;
                self.canon.text(&text);
            }
        }
        Ok(())
    }

    /// One text of the session.
    fn text(&mut self, member: usize, content: &Content) -> Result<(), StoreError> {
        if let Some(raw) = self.fetcher.written(member, content)? {
            self.canon.written_text(raw);
        } else {
            let text = self.fetcher.text(member, content)?;
            self.canon.text(&text);
        }
        Ok(())
    }

    fn call(&mut self, placed: Placed<'_>) -> Result<(), StoreError> {
        let Placed { member, call, .. } = placed;
        let duration = duration(call, member, self.fetcher)?;
        self.canon.open();
        self.canon.key("duration_ms");
        self.canon.number_or_null(duration);
        self.canon.key("input");
        write_input(member, call, self.fetcher, self.canon)?;
        self.canon.key("tool_call_id");
        self.canon.id(&placed.id());
        self.canon.key("tool_name");
        self.canon.text(call.name.as_deref().unwrap_or("unknown"));
        self.canon.close();
        Ok(())
    }

    fn observation(&mut self, placed: Placed<'_>) -> Result<(), StoreError> {
        let Placed { member, call, .. } = placed;
        let result = call.result.as_ref();
        let error = match result.map(|result| result.outcome) {
            None => Some("no_result"),
            Some(CallOutcome::Ok) => None,
            Some(CallOutcome::Error) => Some("tool_error"),
            Some(other) => Some(other.name()),
        };
        self.canon.open();
        self.canon.key("content");
        if !self.whole_observation(member, result, error)? {
            let text = match result {
                Some(result) => Some(result_text(member, result, self.fetcher)?),
                None => None,
            };
            // Cleared whole, then cut: half a secret is not recognised.
            let cleared = text.as_deref().map(|text| self.canon.clear(text));
            let most = self.options.max_observation.unwrap_or(usize::MAX);
            self.canon.plain_or_null(cleared.as_deref().map(|text| beginning(text, most)));
            self.canon.key("error");
            self.canon.plain_or_null(error);
            self.canon.key("output_summary");
            let shown = cleared.as_deref().map(str::trim).filter(|text| !text.is_empty());
            self.canon.plain_or_null(shown.map(|text| beginning(text, PREVIEW.min(most))));
        }
        self.canon.key("source_call_id");
        self.canon.id(&placed.id());
        self.canon.close();
        Ok(())
    }

    /// Writes a result from which nothing is taken without decoding it; false if it is not so.
    fn whole_observation(
        &mut self,
        member: usize,
        result: Option<&CallResult>,
        error: Option<&str>,
    ) -> Result<bool, StoreError> {
        let Some(result) = result.filter(|result| result.blocks.is_empty()) else {
            return Ok(false);
        };
        let ([text], None) = (result.text.as_slice(), self.options.max_observation) else {
            return Ok(false);
        };
        let Some(raw) = self.fetcher.written(member, text)? else { return Ok(false) };
        if raw.len() <= READ_AHEAD || !self.canon.passes("", raw) {
            return Ok(false);
        }
        let head = decode_prefix(raw, READ_AHEAD);
        let shown = beginning(head.trim_start(), PREVIEW);
        // White space at the end is left out, and here the end is not seen.
        if shown.chars().count() < PREVIEW || shown.ends_with(char::is_whitespace) {
            return Ok(false);
        }
        self.canon.written_text(raw);
        self.canon.key("error");
        self.canon.plain_or_null(error);
        self.canon.key("output_summary");
        self.canon.plain(shown);
        Ok(true)
    }
}

/// The first characters of a text.
pub(crate) fn beginning(text: &str, characters: usize) -> &str {
    if text.len() <= characters {
        return text;
    }
    let end = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    text.part(..end)
}

/// The input of a call; what is no object becomes one.
pub(crate) fn write_input(
    member: usize,
    call: &Call,
    fetcher: &mut Fetcher<'_>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<(), StoreError> {
    let Some(input) = &call.input else {
        canon.empty();
        return Ok(());
    };
    let value = fetcher.json(member, input)?;
    match value {
        Some(value) if value.kind() == backstory_format::json::Kind::Object => canon.json(value),
        Some(value) => {
            canon.open();
            canon.key("input");
            canon.json(value);
            canon.close();
        }
        None => {
            let text = fetcher.text(member, input)?;
            canon.open();
            canon.key("input");
            canon.text(&text);
            canon.close();
        }
    }
    Ok(())
}

/// A call and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<'c> {
    pub(crate) member: usize,
    /// The item of the timeline.
    pub(crate) at: usize,
    /// Which call of the message it is.
    pub(crate) number: usize,
    pub(crate) call: &'c Call,
}

impl<'c> Placed<'c> {
    /// The call's id, or one made from its place.
    pub(crate) fn id(&self) -> Cow<'c, str> {
        match self.call.id.as_deref().filter(|id| !id.is_empty()) {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned(format!("call-{}-{}", Context::number(self.at), self.number + 1)),
        }
    }
}

/// The text of a result; what is not text is named.
pub(crate) fn result_text<'a>(
    member: usize,
    result: &'a CallResult,
    fetcher: &'a mut Fetcher<'_>,
) -> Result<Cow<'a, str>, StoreError> {
    let texts: Vec<&Content> = result.text.iter().collect();
    if result.blocks.is_empty() {
        return fetcher.joined(member, &texts, "\n");
    }
    let mut text = fetcher.joined(member, &texts, "\n")?.into_owned();
    for block in &result.blocks {
        let note = match block {
            Block::Image { media_type, data } => {
                left_out("image", media_type.as_deref(), data.as_ref())
            }
            Block::Document { media_type, data } => {
                left_out("document", media_type.as_deref(), data.as_ref())
            }
            Block::Other { value, .. } => fetcher.text(member, value)?.into_owned(),
            _ => continue,
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&note);
    }
    Ok(Cow::Owned(text))
}
