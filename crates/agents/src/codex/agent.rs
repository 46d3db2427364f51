//! What is asked of the reader of rollouts.

use super::{parent_thread, read};
use crate::common::{self, LINES_AND_DOCUMENTS, NamedTools, ids_below};
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
    name: "codex",
    title: "Codex",
    place: 1,
    unread: &["cost", "reasoning that came encrypted", "edits made by shell commands"],
});

/// Where rollouts are in the agent's home: those in use, and those put away.
const SESSIONS: &[&str] = &["sessions", "archived_sessions"];

/// Types of records.
const TYPES: [&str; 5] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

/// Rollouts: records with a payload, bare records, and documents of items.
static IDS: LazyLock<IdPaths> = LazyLock::new(|| {
    let holders =
        ["", "payload", "payload.item", "payload.replacement_history", "session", "items"];
    let names = [
        "id",
        "timestamp",
        "session_id",
        "call_id",
        "turn_id",
        "response_id",
        "thread_id",
        "forked_from_id",
        "parent_thread_id",
        "history_base.thread_id",
    ];
    ids_below(&holders, &names)
});

/// Tools that neither edit nor run anything.
const TOOLS: NamedTools = NamedTools {
    questions: &["request_user_input"],
    plans: &[],
    todos: &["update_plan"],
    searches: &[],
};

/// Reads rollouts.
#[derive(Debug)]
pub(crate) struct Codex;

impl AgentReader for Codex {
    fn agent(&self) -> Agent {
        AGENT
    }

    fn own_folders(&self) -> &'static [OwnFolder] {
        &[OwnFolder { name: ".codex", sessions: SESSIONS }]
    }

    fn homes(&self, around: &Surroundings<'_>) -> Vec<Home> {
        let home = |path| Home::with(path, SESSIONS);
        around.configured(around.named("CODEX_HOME"), ".codex", home)
    }

    fn endings(&self) -> &'static [&'static str] {
        &LINES_AND_DOCUMENTS
    }

    fn recognise(&self, file: &FileHead<'_>) -> Recognised {
        if !file.is_lines() {
            let is_document = file.first_byte() == Some(b'{')
                && file.name().starts_with("rollout-")
                && file.holds("\"items\"");
            return if is_document { Recognised::Likely(Layout::One) } else { Recognised::No };
        }
        let Some(first) = file.first_line() else { return Recognised::No };
        let kind = first.type_name();
        // The first releases began with a bare line of facts and had no envelope.
        let bare = first.has_all(&["id", "instructions", "timestamp"]) && kind.is_none();
        if bare || first.has("payload") && kind.is_some_and(|kind| TYPES.contains(&&*kind)) {
            Recognised::Yes(Layout::One)
        } else if first.open && first.has("payload") && !first.has("type") {
            Recognised::More
        } else {
            Recognised::No
        }
    }

    /// The end of `rollout-2026-01-31T09-30-00-<uuid>.jsonl[.zst]`.
    fn id(&self, path: &Path) -> String {
        let name = common::text(path.file_name());
        let stem = name.split('.').next().unwrap_or_default();
        stem.get(28..).filter(|id| id.len() >= 36).unwrap_or(stem).to_owned()
    }

    fn files(&self, files: &SessionFiles, store: &Store) -> Vec<FilePart> {
        let own = FilePart { path: files.path.clone(), part: files.part.clone() };
        let before = parent_thread::files(&files.path, store).into_iter();
        let before = before.map(|(path, part)| FilePart { path, part });
        std::iter::once(own).chain(before).collect()
    }

    fn read_alone(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
    ) -> Result<Session, StoreError> {
        read(files, context)
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
        Some(vec!["codex".to_owned(), "resume".to_owned(), files.id.clone()])
    }

    fn resumes(&self) -> bool {
        true
    }

    fn id_fields(&self) -> &'static IdPaths {
        &IDS
    }
}
