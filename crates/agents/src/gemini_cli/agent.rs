//! What is asked of the reader of Gemini CLI's sessions.

use super::{read, read_alone, subagents};
use crate::common::{NamedTools, ids_below, stem, text};
use crate::file_head::FileHead;
use crate::place::{Home, OwnFolder, Surroundings};
use crate::reader::{AgentReader, FolderKind, ReadSession, Recognised};
use crate::split::{self, Layout, Part};
use backstory_format::is_uuid;
use backstory_format::json::{IdPaths, string_end};
use backstory_model::{
    ActionKind, Agent, AgentInfo, Call, Dialogue, FilePart, RecordObserver, Session, SessionFiles,
};
use backstory_store::{ReadContext, SourceReader, Store, StoreError, read_range};
use memchr::memmem;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub(crate) const AGENT: Agent = Agent::new(&AgentInfo {
    name: "gemini-cli",
    title: "Gemini CLI",
    place: 8,
    unread: &[
        "cost",
        "release of the agent",
        "branch",
        "side requests (routing, summaries)",
        "edits made by shell commands",
    ],
});

/// Where sessions are in the agent's home.
const SESSIONS: &[&str] = &["tmp"];

/// Messages by themselves, in a list that is set and in a document.
static IDS: LazyLock<IdPaths> = LazyLock::new(|| {
    let names = [
        "id",
        "timestamp",
        "sessionId",
        "projectHash",
        "startTime",
        "lastUpdated",
        "toolCalls.id",
        "toolCalls.agentId",
        "toolCalls.timestamp",
        "toolCalls.result.functionResponse.id",
        "thoughts.timestamp",
        "content.functionResponse.id",
        "content.functionCall.id",
        "content.thoughtSignature",
    ];
    ids_below(&["", "messages", "$set", "$set.messages"], &names)
});

/// Tools that neither edit nor run anything.
const TOOLS: NamedTools = NamedTools {
    questions: &["ask_user"],
    plans: &["exit_plan_mode"],
    todos: &["write_todos"],
    searches: &["glob", "grep_search", "list_directory", "search_file_content"],
};

/// Reads sessions of Gemini CLI.
#[derive(Debug)]
pub(crate) struct GeminiCli;

impl AgentReader for GeminiCli {
    fn agent(&self) -> Agent {
        AGENT
    }

    fn own_folders(&self) -> &'static [OwnFolder] {
        &[OwnFolder { name: ".gemini", sessions: SESSIONS }]
    }

    fn homes(&self, around: &Surroundings<'_>) -> Vec<Home> {
        let named = around.named("GEMINI_CLI_HOME").map(|home| home.join(".gemini"));
        around.configured(named, ".gemini", |path| Home::with(path, SESSIONS))
    }

    fn endings(&self) -> &'static [&'static str] {
        &[".jsonl", ".json"]
    }

    fn recognise(&self, file: &FileHead<'_>) -> Recognised {
        let is_header = file.first_row().is_some_and(|first| {
            first.has_all(&["sessionId", "projectHash", "startTime"]) && !first.has("type")
        });
        let is_object = file.is_lines() || file.first_byte() == Some(b'{');
        if is_header && is_object { Recognised::Yes(Layout::One) } else { Recognised::No }
    }

    /// `chats/<session>`, if the session is there.
    fn recognise_folder(&self, folder: &Path) -> FolderKind {
        let name = text(folder.file_name());
        let start = name.get(..8).filter(|_| is_uuid(&name));
        let Some((start, chats)) = start.zip(folder.parent()) else { return FolderKind::Other };
        let ends = [format!("-{start}.jsonl"), format!("-{start}.json"), format!("{name}.jsonl")];
        let mut beside = std::fs::read_dir(chats).into_iter().flatten().flatten();
        let is_session = beside.any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let named = name.starts_with("session-") && ends.iter().any(|end| name.ends_with(end));
            named && entry.path().is_file()
        });
        if is_session { FolderKind::PartOfSession } else { FolderKind::Other }
    }

    /// The id in the first record: file names have the start of it.
    fn id(&self, path: &Path) -> String {
        recorded_id(path).unwrap_or_else(|| stem(path))
    }

    /// A document that a newer release resumed is continued, all of it, in a file of lines.
    fn sessions(&self, path: &Path, _: Layout, _: &Store) -> Vec<Part> {
        let is_document = path.extension().is_some_and(|end| end == "json");
        if is_document && path.with_extension("jsonl").is_file() {
            return Vec::new();
        }
        split::whole(&self.id(path))
    }

    fn files(&self, files: &SessionFiles, _: &Store) -> Vec<FilePart> {
        let whole = |path| FilePart { path, part: None };
        std::iter::once(files.path.clone()).chain(self.subagents(files)).map(whole).collect()
    }

    fn subagents(&self, files: &SessionFiles) -> Vec<PathBuf> {
        subagents::files(&files.path, &self.id(&files.path))
    }

    fn read(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
        _: &mut dyn RecordObserver,
    ) -> Result<ReadSession, StoreError> {
        read(files, &context.store)
    }

    fn read_alone(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
    ) -> Result<Session, StoreError> {
        read_alone(files, &context.store)
    }

    fn does(&self, call: &Call, kind: ActionKind) -> bool {
        TOOLS.does(call, kind)
    }

    fn dialogue(
        &self,
        call: &Call,
        content: &mut SourceReader,
    ) -> Result<Option<Dialogue>, StoreError> {
        TOOLS.dialogue(call, content)
    }

    fn resume(&self, files: &SessionFiles) -> Option<Vec<String>> {
        Some(vec!["gemini".to_owned(), "--resume".to_owned(), files.id.clone()])
    }

    fn resumes(&self) -> bool {
        true
    }

    fn id_fields(&self) -> &'static IdPaths {
        &IDS
    }
}

/// The first `sessionId` of a file.
fn recorded_id(path: &Path) -> Option<String> {
    let (head, _) = read_range(path, 0, 4 << 10).ok()?;
    let key = memmem::find(&head, b"\"sessionId\"")? + b"\"sessionId\"".len();
    let quote = key + memchr::memchr(b'"', head.get(key..)?)?;
    let end = string_end(&head, quote + 1)?;
    let id = std::str::from_utf8(head.get(quote + 1..end)?).ok()?;
    Some(id.to_owned()).filter(|id| !id.is_empty())
}
