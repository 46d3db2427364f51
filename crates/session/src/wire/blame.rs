//! `backstory.blame/1`, `backstory.log/1` and the shapes that they share. See `docs/files-json.md`.

use crate::blame::{Blame, BlameLine, EditedFile, EditedFiles};
use crate::history::{
    LineOrigin, Mark, OutsideSpan, ShellTouch, Traced, TracedEdit, by_model_and_session,
};
use backstory_model::Content;
use backstory_store::Source;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the shape of `backstory blame --json`.
pub const BLAME_SCHEMA: &str = "backstory.blame/1";

/// The name of the shape of `backstory log --json`.
pub const LOG_SCHEMA: &str = "backstory.log/1";

/// What `backstory blame --json` prints. Fields are in the order in which they are printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BlameDocument {
    /// The commit that the text is taken from.
    pub commit: Option<String>,
    /// Edits of the file in order of time.
    pub edits: Vec<FileEditDocument>,
    /// The wanted lines.
    pub lines: Vec<LineDocument>,
    /// All paths that mean the file.
    pub names: Vec<String>,
    /// Changes that no session recorded.
    pub outside: Vec<OutsideDocument>,
    /// The file, as it was named.
    pub path: String,
    /// `backstory.blame/1`
    pub schema: String,
    /// Sums over the lines.
    pub summary: BlameSummary,
}

/// What `backstory log --json` prints for a file. Fields are in the order in which they are printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LogDocument {
    /// Edits of the file in order of time.
    pub edits: Vec<FileEditDocument>,
    /// Whether the file exists.
    pub exists: bool,
    /// How many lines it has.
    pub lines: Option<u64>,
    /// All paths that mean the file.
    pub names: Vec<String>,
    /// The file.
    pub path: String,
    /// Commands that name the file.
    pub possibly_changed_by: Vec<CommandDocument>,
    /// `backstory.log/1`
    pub schema: String,
    /// Sums by model and session.
    pub totals: Vec<EditTotals>,
}

/// An edit: its origin, and how much of it is left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileEditDocument {
    /// Whether it was made on an abandoned branch.
    pub abandoned: bool,
    /// `create`, `overwrite`, `edit` or `notebook`
    pub action: String,
    /// How many lines it added.
    pub added: u64,
    /// The agent.
    pub agent: String,
    /// Other sessions with a copy of the call.
    pub also_in: Vec<String>,
    /// The call.
    pub call: Option<String>,
    /// Where the edit is recorded.
    pub evidence: EvidenceDocument,
    /// Its number, which lines refer to.
    pub index: u64,
    /// The model.
    pub model: Option<String>,
    /// The path that was edited.
    pub path: String,
    /// Whether its place in the file is known.
    pub placed: bool,
    /// The prompt that led to it.
    pub prompt: Option<String>,
    /// How many lines it removed.
    pub removed: u64,
    /// The session.
    pub session: String,
    /// The subagent.
    pub subagent: Option<String>,
    /// How many of its lines are in the file.
    pub surviving: u64,
    /// The prompt that started the subagent.
    pub task: Option<String>,
    /// When it was made.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub time: Option<Timestamp>,
    /// The tool.
    pub tool: String,
    /// The turn of the session, counted from 1.
    pub turn: Option<u32>,
    /// The release of the agent.
    pub version: Option<String>,
}

/// Where an edit is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EvidenceDocument {
    /// The session file.
    pub file: String,
    /// The line of the result.
    pub line: u64,
    /// The record of the result.
    pub uuid: Option<String>,
}

/// A change that no session recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OutsideDocument {
    /// When the file was last seen without it.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub after: Option<Timestamp>,
    /// When the file was first seen with it.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub before: Option<Timestamp>,
    /// Commands that may have made it.
    pub possible_commands: Vec<CommandDocument>,
}

/// A command that may have changed the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CommandDocument {
    /// The command.
    pub command: String,
    /// Whether it names the file.
    pub names_the_file: bool,
    /// The session.
    pub session: String,
    /// When it ran.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub time: Option<Timestamp>,
}

/// A line with its origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LineDocument {
    /// The commit that has the line, if git was asked.
    pub commit: Option<LineCommit>,
    /// How sure the edit is.
    pub confidence: Option<String>,
    /// The number of the edit that wrote it.
    pub edit: Option<u32>,
    /// Its number, counted from 1.
    pub line: u64,
    /// `edit`, `before` or `outside`
    pub origin: String,
    /// The number of the change from outside that it came with.
    pub outside: Option<u32>,
    /// The line without its end.
    pub text: String,
    /// The reason in words.
    pub why: String,
}

/// The commit that git blames for a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LineCommit {
    /// The author.
    pub author: String,
    /// The author's address.
    pub author_mail: String,
    /// When the change was made.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub author_time: Option<Timestamp>,
    /// The full hash.
    pub id: String,
    /// The number of the line in that commit.
    pub line: u32,
    /// The first line of the message.
    pub summary: String,
}

/// How many lines each model wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BlameSummary {
    /// Lines that an edit wrote.
    pub attributed: u64,
    /// The same by confidence.
    pub by_confidence: BTreeMap<String, u64>,
    /// The same by model.
    pub by_model: BTreeMap<String, u64>,
    /// All lines.
    pub lines: u64,
    /// All other lines.
    pub unattributed: u64,
}

/// Edits of one model in one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EditTotals {
    /// Lines added.
    pub added: u64,
    /// How many edits.
    pub edits: u64,
    /// The model.
    pub model: String,
    /// Lines removed.
    pub removed: u64,
    /// The session.
    pub session: String,
    /// Added lines that are in the file.
    pub surviving: u64,
    /// Edits whose place in the file is unknown.
    pub unplaced: u64,
}

/// Text of a session file.
pub fn fetched(place: Option<&(Source, Content)>) -> Option<String> {
    let (source, content) = place?;
    let mut reader = source.open().ok()?;
    reader.text(content).ok().map(|text| text.into_owned())
}

/// The wanted lines of a file with their origins; `path` as the user named it.
pub fn blame_json(
    blame: &Blame<'_>,
    lines: &[BlameLine<'_>],
    path: &str,
    commit: Option<&str>,
) -> BlameDocument {
    let Blame { history, traced, .. } = blame;
    let outside = |span: &OutsideSpan| OutsideDocument {
        after: span.after,
        before: span.before,
        possible_commands: history
            .commands(span.after, span.before)
            .into_iter()
            .map(command)
            .collect(),
    };
    let edits = traced.edits.iter().enumerate();
    BlameDocument {
        commit: commit.map(str::to_owned),
        edits: edits.map(|(at, edit)| edit_document(at, edit)).collect(),
        lines: lines.iter().map(line).collect(),
        names: history.names.clone(),
        outside: traced.outside.iter().map(outside).collect(),
        path: path.to_owned(),
        schema: BLAME_SCHEMA.to_owned(),
        summary: summary(traced, lines.iter().map(|line| line.mark)),
    }
}

/// A file with those of its edits that have these numbers.
pub fn log_json(
    project: &EditedFiles,
    file: &EditedFile,
    traced: &Traced<'_>,
    shown: &[usize],
) -> LogDocument {
    let edits = shown.iter().filter_map(|at| Some(edit_document(*at, traced.edits.get(*at)?)));
    let totals =
        by_model_and_session(traced).into_iter().map(|((model, session), sum)| EditTotals {
            added: sum.added,
            edits: sum.edits,
            model,
            removed: sum.removed,
            session,
            surviving: sum.surviving,
            unplaced: sum.unplaced,
        });
    LogDocument {
        edits: edits.collect(),
        exists: file.exists(),
        lines: file.exists().then_some(traced.marks.len() as u64),
        names: file.names.clone(),
        path: file.shown.clone(),
        possibly_changed_by: project.touches(file).into_iter().map(command).collect(),
        schema: LOG_SCHEMA.to_owned(),
        totals: totals.collect(),
    }
}

fn edit_document(index: usize, edit: &TracedEdit<'_>) -> FileEditDocument {
    let by = &edit.edit.by;
    let owned = |text: Option<&str>| text.map(str::to_owned);
    FileEditDocument {
        abandoned: by.abandoned,
        action: edit.edit.action().name().to_owned(),
        added: edit.added,
        agent: by.agent.name().to_owned(),
        also_in: by.also_in.iter().map(|session| session.to_string()).collect(),
        call: owned(by.call.as_deref()),
        evidence: EvidenceDocument {
            file: by.file.path().to_string_lossy().into_owned(),
            line: by.line,
            uuid: owned(by.uuid.as_deref()),
        },
        index: index as u64,
        model: owned(by.model.as_deref()),
        path: edit.event.path.to_string(),
        placed: edit.placed,
        prompt: fetched(by.prompt.as_ref()),
        removed: edit.removed,
        session: by.session.to_string(),
        subagent: owned(by.subagent.as_deref()),
        surviving: edit.surviving,
        task: fetched(by.task.as_ref()),
        time: edit.event.time,
        tool: by.tool.to_string(),
        turn: by.turn,
        version: owned(by.version.as_deref()),
    }
}

fn command(touch: &ShellTouch) -> CommandDocument {
    CommandDocument {
        command: touch.command.to_string(),
        names_the_file: !touch.paths.is_empty(),
        session: touch.session.to_string(),
        time: touch.time,
    }
}

fn line(line: &BlameLine<'_>) -> LineDocument {
    let (origin, edit, outside) = match line.mark.origin {
        LineOrigin::Edit(edit) => ("edit", Some(edit), None),
        LineOrigin::Before => ("before", None, None),
        LineOrigin::Outside(span) => ("outside", None, Some(span)),
    };
    let commit = line.git.as_ref().map(|git| LineCommit {
        author: git.author.to_string(),
        author_mail: git.author_mail.to_string(),
        author_time: git.author_time,
        id: git.commit.to_string(),
        line: git.original,
        summary: git.summary.to_string(),
    });
    LineDocument {
        commit,
        confidence: edit.map(|_| line.mark.confidence.name().to_owned()),
        edit,
        line: line.number,
        origin: origin.to_owned(),
        outside,
        text: line.text.to_owned(),
        why: line.mark.why.text().to_owned(),
    }
}

fn summary(traced: &Traced<'_>, marks: impl ExactSizeIterator<Item = Mark>) -> BlameSummary {
    let lines = marks.len() as u64;
    let mut by_model = BTreeMap::<String, u64>::new();
    let mut by_confidence = BTreeMap::<String, u64>::new();
    let mut attributed = 0u64;
    for mark in marks {
        let edit = mark.edit().and_then(|edit| traced.edits.get(edit as usize));
        if let Some(edit) = edit {
            attributed += 1;
            let model = edit.edit.by.model.as_deref().unwrap_or("unknown model");
            *by_model.entry(model.to_owned()).or_default() += 1;
            *by_confidence.entry(mark.confidence.name().to_owned()).or_default() += 1;
        }
    }
    BlameSummary { attributed, by_confidence, by_model, lines, unattributed: lines - attributed }
}
