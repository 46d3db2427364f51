//! What is asked of the reader of Claude Code's sessions, which is a crate of its own.

use crate::file_head::FileHead;
use crate::place::{Home, OwnFolder, Surroundings};
use crate::reader::{AgentReader, Folders, IdSource, Observed, ReadSession, Recognised};
use crate::split::Layout;
use backstory_claude as claude;
use backstory_format::is_uuid;
use backstory_format::json::IdPaths;
use backstory_model::{
    Action, ActionKind, Agent, AgentFile, AgentMeta, Call, Detail, FileEdit, FileSpending, Reading,
    RecordObserver, Session, SessionFiles, SessionKind, Summary,
};
use backstory_store::{ReadContext, SourceReader, StoreError};
use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

static IDS: LazyLock<IdPaths> = LazyLock::new(claude::structural_paths);

/// Reads sessions of Claude Code.
#[derive(Debug)]
pub(crate) struct ClaudeCode;

impl AgentReader for ClaudeCode {
    fn agent(&self) -> Agent {
        claude::AGENT
    }

    fn releases(&self) -> Option<&'static str> {
        Some("1.0.0 to 2.1.325")
    }

    fn own_folders(&self) -> &'static [OwnFolder] {
        &[OwnFolder { name: ".claude", sessions: &["projects"] }]
    }

    fn homes(&self, around: &Surroundings<'_>) -> Vec<Home> {
        around.configured(around.named("CLAUDE_CONFIG_DIR"), ".claude", Home::whole)
    }

    fn endings(&self) -> &'static [&'static str] {
        &[".jsonl"]
    }

    fn recognise(&self, file: &FileHead<'_>) -> Recognised {
        let is_record = file.first_line().is_some_and(|first| {
            first.type_name().is_some_and(|name| claude::is_known_type(&name))
                && !first.has("payload")
        });
        if is_record { Recognised::Yes(Layout::One) } else { Recognised::No }
    }

    /// A file that was renamed still says which session it is.
    fn id(&self, path: &Path) -> String {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let recorded = if is_uuid(&stem) { None } else { claude::recorded_session(path) };
        recorded.unwrap_or_else(|| stem.into_owned())
    }

    fn owner(&self, path: &Path) -> Option<String> {
        claude::recorded_session(path)
    }

    fn subagent_kind(&self, file: &AgentFile) -> SessionKind {
        claude::kind_by_place(file)
    }

    fn observed(&self) -> Observed {
        Observed::Records
    }

    fn id_source(&self) -> IdSource {
        IdSource::Name
    }

    fn folders(&self) -> Folders {
        Folders::Written
    }

    fn read(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
        observer: &mut dyn RecordObserver,
    ) -> Result<ReadSession, StoreError> {
        claude::read(files, context, observer)
    }

    fn read_alone(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
    ) -> Result<Session, StoreError> {
        claude::read_alone(files, context)
    }

    fn read_subagent(
        &self,
        file: &AgentFile,
        context: &mut ReadContext,
        observer: &mut dyn RecordObserver,
    ) -> Result<Session, StoreError> {
        claude::read_stray(file, context, observer)
    }

    fn summary(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
    ) -> Result<Summary, StoreError> {
        claude::summary(files, context)
    }

    fn spending(
        &self,
        files: &SessionFiles,
        detail: Detail,
        context: &mut ReadContext,
    ) -> Result<FileSpending, StoreError> {
        claude::spending(&files.path, detail, context)
    }

    fn subagent_spending(
        &self,
        file: &AgentFile,
        detail: Detail,
        context: &mut ReadContext,
    ) -> Result<FileSpending, StoreError> {
        claude::spending(&file.path, detail, context)
    }

    fn missing_usage(&self) -> &'static str {
        "older clients never wrote the final count"
    }

    fn does(&self, call: &Call, kind: ActionKind) -> bool {
        call.name.as_deref().is_some_and(|name| claude::actions::kind(name) == kind)
    }

    fn actions<'c>(
        &self,
        call: &'c Call,
        content: &mut SourceReader,
    ) -> Result<Vec<Action<'c>>, StoreError> {
        Ok(claude::actions::action(call, content)?.into_iter().collect())
    }

    fn edits<'c>(
        &self,
        call: &'c Call,
        content: &mut SourceReader,
    ) -> Result<Vec<Cow<'c, FileEdit>>, StoreError> {
        Ok(claude::actions::edit(call, content)?.map(Cow::Owned).into_iter().collect())
    }

    fn reading<'c>(
        &self,
        call: &'c Call,
        content: &mut SourceReader,
    ) -> Result<Option<Reading<'c>>, StoreError> {
        let reads = self.does(call, ActionKind::Read);
        let result = call.result.as_ref().filter(|_| reads);
        let structured = result.and_then(|result| result.structured.as_ref());
        structured.map_or(Ok(None), |result| claude::actions::reading(result, content))
    }

    fn agent_meta(&self, path: &Path) -> Option<AgentMeta> {
        claude::agent_meta(path)
    }

    fn relate(&self, session: &mut Session, siblings: &mut dyn FnMut() -> Vec<SessionFiles>) {
        claude::relate(session, &siblings());
    }

    fn id_fields(&self) -> &'static IdPaths {
        &IDS
    }
}
