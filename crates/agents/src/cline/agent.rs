//! What is asked of the reader of tasks and of the SDK's sessions.

use super::{files_of, read};
use crate::common::{self, NamedTools, copy_name, ids_below, stem};
use crate::file_head::FileHead;
use crate::place::{Home, OwnFolder, Surroundings};
use crate::reader::{AgentReader, Recognised};
use crate::split::Layout;
use backstory_format::json::IdPaths;
use backstory_model::{
    ActionKind, Agent, AgentInfo, Call, Dialogue, FilePart, Session, SessionFiles,
};
use backstory_store::{ReadContext, SourceReader, Store, StoreError};
use std::path::Path;
use std::sync::LazyLock;

pub(crate) const AGENT: Agent = Agent::new(&AgentInfo {
    name: "cline",
    title: "Cline",
    place: 7,
    unread: &["release of the extension", "edits that a person changed in review"],
});

/// What the extension calls the conversation of every task.
const TASK: &str = "api_conversation_history.json";

/// Where editors keep their settings, below the home folder.
const EDITORS: [&str; 3] =
    [".config/Code", "Library/Application Support/Code", "AppData/Roaming/Code"];

/// Where the extension keeps tasks below an editor's settings.
const EXTENSION: &str = "saoudrizwan.claude-dev";

/// Messages of a session or of a task, and a session's record.
static IDS: LazyLock<IdPaths> = LazyLock::new(|| {
    let names = [
        "id",
        "content.id",
        "content.tool_use_id",
        "sessionId",
        "session_id",
        "metadata.fork.forkedFromSessionId",
    ];
    ids_below(&["", "messages"], &names)
});

/// Tools that neither edit nor run anything.
const TOOLS: NamedTools = NamedTools {
    questions: &["ask_followup_question", "ask_question", "plan_mode_respond"],
    plans: &[],
    todos: &[],
    searches: &["list_files", "search_files", "list_code_definition_names"],
};

/// Reads tasks of the extension and sessions of the SDK.
#[derive(Debug)]
pub(crate) struct Cline;

impl AgentReader for Cline {
    fn agent(&self) -> Agent {
        AGENT
    }

    fn own_folders(&self) -> &'static [OwnFolder] {
        const INSIDE: &[&str] = &["sessions", "tasks", "data/sessions", "data/tasks"];
        &[
            OwnFolder { name: ".cline", sessions: INSIDE },
            OwnFolder { name: EXTENSION, sessions: INSIDE },
        ]
    }

    fn homes(&self, around: &Surroundings<'_>) -> Vec<Home> {
        let extension = |editor| format!("{editor}/User/globalStorage/{EXTENSION}");
        let extensions = EDITORS.iter().filter_map(|editor| around.below(&extension(editor)));
        around.below(".cline").into_iter().chain(extensions).map(Home::whole).collect()
    }

    fn endings(&self) -> &'static [&'static str] {
        &[".json"]
    }

    fn recognise(&self, file: &FileHead<'_>) -> Recognised {
        let is_own = match file.first_byte() {
            Some(b'{') => file.name().ends_with(".messages.json"),
            Some(b'[') => file.name() == TASK,
            _ => false,
        };
        if is_own { Recognised::Yes(Layout::One) } else { Recognised::No }
    }

    /// A task is called by its folder.
    fn id(&self, path: &Path) -> String {
        if path.file_name().is_some_and(|name| name == TASK) {
            return common::text(path.parent().and_then(Path::file_name));
        }
        stem(path)
    }

    fn files(&self, files: &SessionFiles, _: &Store) -> Vec<FilePart> {
        files_of(&files.path).into_iter().map(|path| FilePart { path, part: None }).collect()
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

    fn id_fields(&self) -> &'static IdPaths {
        &IDS
    }

    fn copy_name(&self, own: &Path, name: &str) -> Option<String> {
        if own.as_os_str() == TASK { None } else { copy_name(own, name, None) }
    }
}
