//! A tool call made ready to be shown, the same for every format.

use super::diff::FileDiff;
use super::edits::{self, Coverage, Differences};
use super::fields::{write_fields, write_value};
use super::sink::{RenderError, Wants};
use backstory_agents as agents;
use backstory_format::Limits;
use backstory_format::json::text::{Ends, decode_ends};
use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_format::slice::Part;
use backstory_model::{
    Action, ActionKind, Agent, Assignment, Block, Call, CallOutcome, CallResult, Content, Effect,
};
use backstory_store::SourceReader;
use backstory_text::excerpt::{Excerpt, Keep, between, excerpt};
use jiff::Timestamp;

/// A call with its input and its result.
#[derive(Debug)]
pub(super) struct CallView<'a> {
    /// Its number in the document, from one.
    pub(super) number: usize,
    pub(super) name: &'a str,
    pub(super) id: Option<&'a str>,
    /// What it is about, on one line.
    pub(super) brief: String,
    pub(super) shows_input: bool,
    pub(super) command: Option<String>,
    /// Changes of files, one after the other.
    pub(super) edits: Vec<FileDiff>,
    /// The rest of the input.
    pub(super) fields: String,
    pub(super) outcome: Option<CallOutcome>,
    pub(super) finished: Option<Timestamp>,
    pub(super) result_size: u64,
    pub(super) result: Option<ResultView>,
    pub(super) subagent: Option<AgentLink>,
}

impl CallView<'_> {
    /// `ok`, `error` …, or that there is no result.
    pub(super) fn status(&self) -> &'static str {
        self.outcome.map_or("no result", CallOutcome::name)
    }

    pub(super) fn failed(&self) -> bool {
        !matches!(self.outcome, Some(CallOutcome::Ok))
    }
}

/// What a call gave back.
#[derive(Debug)]
pub(super) struct ResultView {
    text: String,
    keep: Keep,
    /// Both ends of a text that is too long to be read as a whole.
    ends: Option<Ends>,
    pub(super) images: Vec<Attachment>,
    /// Where the client put a long output instead.
    pub(super) persisted: Option<String>,
}

impl ResultView {
    pub(super) fn excerpt(&self) -> Excerpt<'_> {
        if let Some(ends) = &self.ends {
            let (characters, lines) = (ends.characters, ends.lines);
            return between(&ends.head, characters, lines, &ends.tail);
        }
        excerpt(self.text.strip_suffix('\n').unwrap_or(&self.text), self.keep)
    }
}

/// An image or a document.
#[derive(Debug)]
pub(super) struct Attachment {
    pub(super) is_image: bool,
    pub(super) media_type: String,
    /// Bytes once decoded, about.
    pub(super) size: u64,
    /// Base64, if the format embeds images.
    pub(super) data: Option<String>,
}

impl Attachment {
    /// `image, image/png, 34 kB`
    pub(super) fn words(&self) -> String {
        let kind = if self.is_image { "image" } else { "document" };
        let size = backstory_text::figures::bytes(self.size);
        match self.media_type.as_str() {
            "" => format!("{kind}, {size}"),
            media_type => format!("{kind}, {media_type}, {size}"),
        }
    }

    /// The media type, if pages may hold such images.
    pub(super) fn safe_type(&self) -> Option<&'static str> {
        const SAFE: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
        SAFE.into_iter().find(|name| self.is_image && *name == self.media_type)
    }

    pub(super) fn read(
        block: &Block,
        wants: Wants,
        reader: &mut SourceReader,
    ) -> Result<Option<Attachment>, RenderError> {
        let (Block::Image { media_type, data } | Block::Document { media_type, data }) = block
        else {
            return Ok(None);
        };
        let media_type = media_type.as_deref().unwrap_or_default().to_owned();
        let size = data.as_ref().map_or(0, |data| data.size() / 4 * 3);
        let is_image = matches!(block, Block::Image { .. });
        let mut attachment = Attachment { is_image, media_type, size, data: None };
        if let Some(data) = data.as_ref().filter(|_| wants.images)
            && attachment.safe_type().is_some()
        {
            attachment.data = Some(reader.text(data)?.into_owned());
        }
        Ok(Some(attachment))
    }
}

/// The subagent that a call started.
#[derive(Debug, Clone)]
pub(super) struct AgentLink {
    pub(super) number: usize,
    pub(super) title: String,
    /// Whether the document holds its conversation.
    pub(super) shown: bool,
}

/// Buffers that serve one call after another.
#[derive(Debug, Default)]
pub(super) struct CallReader {
    input: Vec<u8>,
    input_tape: Tape,
}

impl CallReader {
    /// Fetches what is to be shown of a call.
    pub(super) fn view<'a>(
        &mut self,
        call: &'a Call,
        number: usize,
        (agent, folder): (Agent, &str),
        wants: Wants,
        reader: &mut SourceReader,
    ) -> Result<CallView<'a>, RenderError> {
        let name = call.name.as_deref().unwrap_or("(unnamed tool)");
        let is_edit = agents::does(agent, call, ActionKind::Edit);
        let result = call.result.as_ref();
        let mut view = CallView {
            number,
            name,
            id: call.id.as_deref(),
            brief: String::new(),
            shows_input: wants.inputs || (wants.edits && is_edit),
            command: None,
            edits: Vec::new(),
            fields: String::new(),
            outcome: result.map(|result| result.outcome),
            finished: result.and_then(|result| result.timestamp),
            result_size: result.map_or(0, size),
            result: None,
            subagent: None,
        };
        let mut coverage = Coverage::All;
        if is_edit && wants.edits {
            let found = edits::of_call(agent, call, reader)?;
            Differences { files: view.edits, coverage } = found;
        }
        self.fetch_input(call, reader)?;
        let Some(input) = self.input_tape.root(&self.input) else {
            view.result = read_result(result, wants, reader)?;
            return Ok(view);
        };
        view.brief = match call.effects.iter().find_map(edited) {
            Some(path) => inside(path, folder).lines().next().unwrap_or_default().to_owned(),
            None if agents::does(agent, call, ActionKind::Subagent) => {
                assigned(&agents::actions(agent, call, reader)?, folder)
            }
            None => brief(input, folder),
        };
        if view.shows_input && (wants.inputs || view.edits.is_empty()) {
            write_input(input, coverage, &mut view);
        }
        view.result = read_result(result, wants, reader)?;
        Ok(view)
    }

    fn fetch_input(&mut self, call: &Call, reader: &mut SourceReader) -> Result<(), RenderError> {
        self.input.clear();
        match &call.input {
            Some(Content::Json(span)) => self.input.extend_from_slice(reader.bytes(*span)?),
            Some(Content::Owned(text)) => self.input.extend_from_slice(text.as_bytes()),
            _ => {}
        }
        if scan(&self.input, 0, Limits::DEPTH, &mut self.input_tape).is_err() {
            self.input_tape = Tape::new();
        }
        Ok(())
    }
}

/// The file that an effect changes.
fn edited(effect: &Effect) -> Option<&str> {
    match effect {
        Effect::Edit(edit) => Some(&edit.path),
        Effect::Read { .. } | Effect::Shell { .. } => None,
    }
}

/// Fields of an input that say what the differences of its call say as well.
const EDIT_FIELDS: [&str; 18] = [
    "file_path",
    "notebook_path",
    "old_string",
    "new_string",
    "content",
    "new_source",
    "edits",
    "replace_all",
    "path",
    "absolutePath",
    "file_text",
    "old_str",
    "new_str",
    "old_text",
    "new_text",
    "diff",
    "input",
    "patch",
];

fn write_input(input: Value<'_>, coverage: Coverage, view: &mut CallView<'_>) {
    if !view.edits.is_empty() {
        let known = match coverage {
            Coverage::All => EDIT_FIELDS.as_slice(),
            Coverage::Part => &[],
        };
        return write_fields(input, known, &mut view.fields);
    }
    let command = input.get_text("command").filter(|_| input.kind() == Kind::Object);
    match command {
        Some(command) => {
            view.command = Some(command.into_owned());
            write_fields(input, &["command"], &mut view.fields);
        }
        None => write_fields(input, &[], &mut view.fields),
    }
}

fn size(result: &CallResult) -> u64 {
    let texts: u64 = result.text.iter().map(Content::size).sum();
    let others = result.blocks.iter().map(|block| match block {
        Block::Image { data, .. } | Block::Document { data, .. } => {
            data.as_ref().map_or(0, Content::size)
        }
        Block::Other { value, .. } => value.size(),
        _ => 0,
    });
    texts + others.sum::<u64>()
}

fn read_result(
    result: Option<&CallResult>,
    wants: Wants,
    reader: &mut SourceReader,
) -> Result<Option<ResultView>, RenderError> {
    let Some(result) = result else { return Ok(None) };
    let failed = result.outcome != CallOutcome::Ok;
    if !(wants.results || wants.failures && failed) {
        return Ok(None);
    }
    let mut view = ResultView {
        text: String::new(),
        keep: wants.keep,
        ends: None,
        images: Vec::new(),
        persisted: None,
    };
    if let ([Content::Text(span)], [], Keep::Ends(keep)) =
        (result.text.as_slice(), result.blocks.as_slice(), wants.keep)
        && span.length as usize > keep.saturating_mul(2).max(4_096)
    {
        view.ends = decode_ends(reader.bytes(*span)?, keep / 2, keep / 2);
    }
    let texts = if view.ends.is_some() { &[] } else { result.text.as_slice() };
    for content in texts {
        if !view.text.is_empty() {
            view.text.push('\n');
        }
        view.text.push_str(&reader.text(content)?);
    }
    for block in &result.blocks {
        if let Block::Other { value, .. } = block {
            if !view.text.is_empty() {
                view.text.push('\n');
            }
            view.text.push_str(&other(value, reader)?);
        } else {
            view.images.extend(Attachment::read(block, wants, reader)?);
        }
    }
    if let Some(persisted) = &result.persisted {
        view.persisted = Some(reader.text(persisted)?.into_owned());
    }
    Ok(Some(view))
}

/// A block nobody knows, as JSON.
pub(super) fn other(value: &Content, reader: &mut SourceReader) -> Result<String, RenderError> {
    let Content::Json(span) = value else { return Ok(reader.text(value)?.into_owned()) };
    let bytes = reader.bytes(*span)?;
    let mut tape = Tape::new();
    let mut text = String::new();
    match scan(bytes, 0, Limits::DEPTH, &mut tape).ok().and_then(|_| tape.root(bytes)) {
        Some(value) => write_value(value, 0, &mut text),
        None => text.push_str(&String::from_utf8_lossy(bytes)),
    }
    Ok(text)
}

/// Fields that say best what a call is about.
const TELLING: [&str; 14] = [
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "description",
    "query",
    "url",
    "path",
    "skill",
    "subject",
    "taskId",
    "task_id",
    "prompt",
    "name",
];

const LONGEST_BRIEF: usize = 400;

/// A path as it is seen from the folder that the agent works in.
fn inside<'p>(path: &'p str, folder: &str) -> &'p str {
    let rest = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
    rest.filter(|rest| !folder.is_empty() && !rest.is_empty()).unwrap_or(path)
}

fn brief(input: Value<'_>, folder: &str) -> String {
    let telling = TELLING.iter().find_map(|key| input.get_text(key));
    let any = || input.fields().find_map(|(_, value)| value.text());
    telling.or_else(any).map_or_else(String::new, |text| first_line(&text, folder))
}

/// What a subagent is to do.
fn assigned(actions: &[Action<'_>], folder: &str) -> String {
    let [Action::Subagent(Assignment { kind, description, prompt })] = actions else {
        return String::new();
    };
    let text = description.as_deref().or(prompt.as_deref()).unwrap_or_default();
    let line = first_line(text, folder);
    kind.as_ref().map_or(line.clone(), |kind| format!("{kind}: {line}"))
}

fn first_line(text: &str, folder: &str) -> String {
    let line = text.split('\n').map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = inside(line, folder);
    let cut = line.char_indices().nth(LONGEST_BRIEF).map_or(line.len(), |(at, _)| at);
    let mut brief = line.part(..cut).to_owned();
    if cut < line.len() || text.trim().len() > line.len() + folder.len() + 1 {
        brief.push_str(" …");
    }
    brief
}
