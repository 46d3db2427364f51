//! What is asked of the reader of events and conversations.

use super::{files_of, is_conversation, read};
use crate::common::{LINES_AND_DOCUMENTS, NamedTools, ids_below};
use crate::file_head::{FileHead, First};
use crate::place::{Home, OwnFolder, Surroundings};
use crate::reader::{AgentReader, FolderKind, Recognised};
use crate::split::Layout;
use backstory_format::json::IdPaths;
use backstory_model::{
    ActionKind, Agent, AgentInfo, Call, Dialogue, FilePart, Session, SessionFiles,
};
use backstory_store::{ReadContext, SourceReader, Store, StoreError};
use std::path::Path;
use std::sync::LazyLock;

pub(crate) const AGENT: Agent = Agent::new(&AgentInfo {
    name: "openhands",
    title: "OpenHands",
    place: 2,
    unread: &[
        "edits made by shell commands",
        "time zone of the first generation's times",
        "delegated agents",
    ],
});

/// Events by themselves, in a list and in an evaluation's row; a conversation's state.
static IDS: LazyLock<IdPaths> = LazyLock::new(|| {
    let names = [
        "id",
        "timestamp",
        "parent_id",
        "action_id",
        "tool_call_id",
        "tool_call.id",
        "llm_response_id",
        "llm_message.tool_call_id",
        "llm_message.tool_calls.id",
        "tool_call_metadata.tool_call_id",
        "tool_call_metadata.model_response.id",
        "tool_call_metadata.model_response.choices.message.tool_calls.id",
        "instance_id",
        "instance.instance_id",
        "stats.usage_to_metrics.*.token_usages.response_id",
    ];
    ids_below(&["", "history"], &names)
});

/// Tools that neither edit nor run anything.
const TOOLS: NamedTools = NamedTools {
    questions: &[],
    plans: &[],
    todos: &["task_tracker"],
    searches: &["glob", "grep"],
};

/// Reads events and conversations.
#[derive(Debug)]
pub(crate) struct OpenHands;

impl AgentReader for OpenHands {
    fn agent(&self) -> Agent {
        AGENT
    }

    fn own_folders(&self) -> &'static [OwnFolder] {
        &[OwnFolder { name: ".openhands", sessions: &["sessions", "conversations"] }]
    }

    fn homes(&self, around: &Surroundings<'_>) -> Vec<Home> {
        around.below(".openhands").map(Home::whole).into_iter().collect()
    }

    fn endings(&self) -> &'static [&'static str] {
        &LINES_AND_DOCUMENTS
    }

    fn recognise(&self, file: &FileHead<'_>) -> Recognised {
        let row = file.first_row();
        if row.is_some_and(is_evaluation) {
            let layout = if file.is_lines() { Layout::Lines } else { Layout::Items };
            return Recognised::Likely(layout);
        }
        let open_row = row.is_some_and(First::may_be_row);
        let found = if file.is_lines() { line(row) } else { list(file, row) };
        match found {
            Recognised::Likely(_) | Recognised::No if open_row => Recognised::More,
            found => found,
        }
    }

    fn recognise_folder(&self, folder: &Path) -> FolderKind {
        if is_conversation(folder) { FolderKind::Session } else { FolderKind::Other }
    }

    fn files(&self, files: &SessionFiles, _: &Store) -> Vec<FilePart> {
        if files.path.is_dir() {
            let whole = |path| FilePart { path, part: None };
            return files_of(&files.path).into_iter().map(whole).collect();
        }
        vec![FilePart { path: files.path.clone(), part: files.part.clone() }]
    }

    fn read_alone(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
    ) -> Result<Session, StoreError> {
        read(files, &context.store)
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
        // Files of events and of evaluations are not the client's own conversations.
        let conversation = files.path.is_dir() && is_conversation(&files.path);
        conversation.then(|| vec!["openhands".to_owned(), "--resume".to_owned(), files.id.clone()])
    }

    fn resumes(&self) -> bool {
        true
    }

    fn id_fields(&self) -> &'static IdPaths {
        &IDS
    }
}

/// Whether an object is the row of an evaluation.
pub(crate) fn is_evaluation(row: &First<'_>) -> bool {
    row.has("history") && (row.has("instance_id") || row.has("git_patch"))
}

/// Events of the SDK, one on each line.
fn line(first: Option<&First<'_>>) -> Recognised {
    let Some(first) = first else { return Recognised::No };
    if first.has_all(&["kind", "source", "id"]) && first.type_name().is_none() {
        return Recognised::Yes(Layout::One);
    }
    let may_be_event = first.open && first.has_all(&["id", "source"]) && !first.has("type");
    if may_be_event { Recognised::More } else { Recognised::No }
}

/// Events of the first generation as a list, which is known by its words only: other agents' lists
/// of messages may hold them, too.
fn list(file: &FileHead<'_>, event: Option<&First<'_>>) -> Recognised {
    if file.first_byte() != Some(b'[') {
        return Recognised::No;
    }
    let holds_events =
        file.holds("\"source\"") && (file.holds("\"action\"") || file.holds("\"observation\""));
    let is_row = |event: &First<'_>| {
        event.has("messages") && (event.has("instance_id") || event.has("traj_id"))
    };
    if holds_events && !event.is_some_and(is_row) {
        return Recognised::Likely(Layout::One);
    }
    let may_be_event = |event: &First<'_>| {
        event.open && (event.has("action") || event.has("observation")) && !event.has("source")
    };
    if event.is_some_and(may_be_event) { Recognised::More } else { Recognised::No }
}
