//! What a reader of one agent's files answers. Everything above this crate asks these questions and
//! never which agent it is.
//!
//! Most have an answer that suits plain formats: one session in each file, named after it, read in
//! one go.

use crate::common::{copy_name, spending, stem};
use crate::file_head::FileHead;
use crate::place::{Home, Kept, OwnFolder, Surroundings};
use crate::split::{self, Layout, Part};
use backstory_format::json::IdPaths;
use backstory_model::{
    Action, ActionKind, Agent, AgentFile, AgentMeta, Call, Detail, Dialogue, Effect, FileEdit,
    FilePart, FileSpending, Reading, RecordObserver, Session, SessionFiles, SessionKind, Summary,
};
use backstory_store::{ReadContext, SourceReader, Store, StoreError};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A session, and errors of files of it that could not be read: one bad file never hides the others.
pub type ReadSession = (Session, Vec<StoreError>);

/// Why counts of tokens can be too small, as far as any agent is concerned.
pub const MISSING_USAGE: &str = "not every message has its count";

/// Whether a file is an agent's, as far as its name and first bytes show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognised {
    /// It is. No other reader may say so of the same file.
    Yes(Layout),
    /// It is, unless another reader is sure: another agent's files may have the same words.
    Likely(Layout),
    /// Its first row continues after these bytes, and identifies itself there.
    More,
    /// It is not.
    No,
}

/// What a folder is to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderKind {
    /// One session, in several files.
    Session,
    /// Files of a session that is found elsewhere.
    PartOfSession,
    /// Any folder.
    Other,
}

/// What a [`RecordObserver`] sees while a session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// Every record of every file: the files are lines of records, and nothing else.
    Records,
    /// Nothing: the files are documents of some kind.
    Nothing,
}

/// Where a session's id comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdSource {
    /// The name of its file.
    Name,
    /// What is inside may give it another id than its name does.
    Content,
}

/// How a session's files state the folders that it worked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folders {
    /// Their names are in the files as plain text: without a name there is no such folder.
    Written,
    /// They may follow from something else.
    Derived,
}

/// Reads the files of one agent.
pub trait AgentReader: Sync {
    /// The agent.
    fn agent(&self) -> Agent;

    /// Its releases whose files were compared with what the client itself makes of them.
    fn releases(&self) -> Option<&'static str> {
        None
    }

    /// Names of folders that are the agent's own, and where sessions are in them.
    fn own_folders(&self) -> &'static [OwnFolder] {
        &[]
    }

    /// Where the agent writes on this machine. Sessions are looked for there, and nothing of ours is
    /// written there.
    fn homes(&self, around: &Surroundings<'_>) -> Vec<Home>;

    /// Whether its files are kept apart from the projects that sessions work in.
    fn kept(&self) -> Kept {
        Kept::Apart
    }

    /// How names of its files can end.
    fn endings(&self) -> &'static [&'static str];

    /// Whether a file with one of these endings is the agent's.
    fn recognise(&self, file: &FileHead<'_>) -> Recognised;

    /// Whether a folder as a whole is, or belongs to, one session.
    fn recognise_folder(&self, _folder: &Path) -> FolderKind {
        FolderKind::Other
    }

    /// The id of a session that is all of a file, or of a folder.
    fn id(&self, path: &Path) -> String {
        stem(path)
    }

    /// The sessions of a file; one whose parts cannot be distinguished is one session.
    fn sessions(&self, path: &Path, layout: Layout, store: &Store) -> Vec<Part> {
        split::sessions(path, layout, &self.id(path), store)
    }

    /// Every file that a session is read from, its own (or its first) in front, except those in
    /// [`SessionFiles::agents`].
    fn files(&self, files: &SessionFiles, _store: &Store) -> Vec<FilePart> {
        vec![FilePart { path: files.path.clone(), part: files.part.clone() }]
    }

    /// The files among them that hold one subagent each.
    fn subagents(&self, _files: &SessionFiles) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The session that a subagent's file says it belongs to.
    fn owner(&self, _path: &Path) -> Option<String> {
        None
    }

    /// What sort of conversation a subagent's file holds, by its name.
    fn subagent_kind(&self, _file: &AgentFile) -> SessionKind {
        SessionKind::Task
    }

    /// What an observer sees.
    fn observed(&self) -> Observed {
        Observed::Nothing
    }

    /// Where ids come from.
    fn id_source(&self) -> IdSource {
        IdSource::Content
    }

    /// How folders are stated.
    fn folders(&self) -> Folders {
        Folders::Derived
    }

    /// Reads a session with all its subagents.
    fn read(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
        _observer: &mut dyn RecordObserver,
    ) -> Result<ReadSession, StoreError> {
        self.read_alone(files, context).map(|session| (session, Vec::new()))
    }

    /// Reads a session without its subagents.
    fn read_alone(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
    ) -> Result<Session, StoreError>;

    /// Reads a subagent's file by itself.
    fn read_subagent(
        &self,
        file: &AgentFile,
        context: &mut ReadContext,
        _observer: &mut dyn RecordObserver,
    ) -> Result<Session, StoreError> {
        self.read_alone(&alone(file), context)
    }

    /// The row of a session in a list, as quickly as it can be had. Never says anything that
    /// reading all of it would not.
    fn summary(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
    ) -> Result<Summary, StoreError> {
        let mut session = self.read_alone(files, context)?;
        session.project_key = files.project_key.clone();
        Ok(Summary { full: None, ..Summary::of(&session) })
    }

    /// The messages of a session and what they took, without those in [`SessionFiles::agents`].
    fn spending(
        &self,
        files: &SessionFiles,
        detail: Detail,
        context: &mut ReadContext,
    ) -> Result<FileSpending, StoreError> {
        let (session, _) = self.read(files, context, &mut ())?;
        Ok(spending(&session, files, detail))
    }

    /// The same of a subagent's file.
    fn subagent_spending(
        &self,
        file: &AgentFile,
        detail: Detail,
        context: &mut ReadContext,
    ) -> Result<FileSpending, StoreError> {
        self.spending(&alone(file), detail, context)
    }

    /// Why counts of tokens can be too small.
    fn missing_usage(&self) -> &'static str {
        MISSING_USAGE
    }

    /// Whether a call does something of this kind.
    fn does(&self, call: &Call, kind: ActionKind) -> bool {
        call.effects.iter().any(|effect| ActionKind::of(effect) == kind)
    }

    /// What a call asks for. The reader notes it as effects, or looks it up here.
    fn actions<'c>(
        &self,
        call: &'c Call,
        _content: &mut SourceReader,
    ) -> Result<Vec<Action<'c>>, StoreError> {
        Ok(call.effects.iter().map(Action::from).collect())
    }

    /// What a call did to files, or would have done had it not failed, with all that its result
    /// says.
    fn edits<'c>(
        &self,
        call: &'c Call,
        _content: &mut SourceReader,
    ) -> Result<Vec<Cow<'c, FileEdit>>, StoreError> {
        let edit = |effect: &'c Effect| match effect {
            Effect::Edit(edit) => Some(Cow::Borrowed(edit.as_ref())),
            Effect::Read { .. } | Effect::Shell { .. } => None,
        };
        Ok(call.effects.iter().filter_map(edit).collect())
    }

    /// What a call saw of a file, as its result says.
    fn reading<'c>(
        &self,
        call: &'c Call,
        _content: &mut SourceReader,
    ) -> Result<Option<Reading<'c>>, StoreError> {
        Ok(call.effects.iter().find_map(|effect| match effect {
            Effect::Read { path, content } => Some(Reading {
                path: Cow::Borrowed(path),
                first: None,
                lines: None,
                content: Cow::Borrowed(content),
                whole: true,
            }),
            Effect::Edit(_) | Effect::Shell { .. } => None,
        }))
    }

    /// What a call says to the person and the person to it, if it is a part of their conversation.
    fn dialogue(
        &self,
        _call: &Call,
        _content: &mut SourceReader,
    ) -> Result<Option<Dialogue>, StoreError> {
        Ok(None)
    }

    /// The metadata of a subagent, from the file next to its own.
    fn agent_meta(&self, _path: &Path) -> Option<AgentMeta> {
        None
    }

    /// Finds out which of the other sessions this one was copied from. They are looked for only if
    /// `siblings` is called.
    fn relate(&self, _session: &mut Session, _siblings: &mut dyn FnMut() -> Vec<SessionFiles>) {}

    /// The client's own command that continues a session, to be run in the session's folder; none if
    /// the client has none.
    fn resume(&self, _files: &SessionFiles) -> Option<Vec<String>> {
        None
    }

    /// Whether the client has such a command for any of its sessions.
    fn resumes(&self) -> bool {
        false
    }

    /// Fields of its records that hold ids: redaction leaves them alone. Exact paths only: a field of
    /// the same name inside a tool's input or output is text.
    fn id_fields(&self) -> &'static IdPaths;

    /// What the only file of a redacted copy is called so that it is read as a session of the same
    /// agent with the same id; `own` is its name in the original, `name` that of the session. None
    /// where it keeps its name, in a folder with the name of the session.
    fn copy_name(&self, own: &Path, name: &str) -> Option<String> {
        copy_name(own, name, None)
    }
}

/// A subagent's file as that of a session.
fn alone(file: &AgentFile) -> SessionFiles {
    SessionFiles {
        id: file.id.clone(),
        path: file.path.clone(),
        project_key: None,
        bytes: file.bytes,
        modified: file.modified,
        agents: Vec::new(),
        agent: file.agent,
        part: None,
    }
}
