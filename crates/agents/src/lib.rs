//! One reader per agent; each turns that agent's files into the same model.
//!
//! [`AgentReader`] is all that the rest of the program knows of an agent. The registry lists the
//! readers: [`readers`], [`reader`], [`recognise`]. The functions here read a session, whichever
//! agent wrote it.

mod actions;
mod aider;
mod claude_code;
mod cline;
mod codex;
mod common;
mod file_head;
mod gemini_cli;
mod mini_swe_agent;
mod openhands;
mod place;
mod reader;
mod registry;
mod skim;
mod split;
mod swe_agent;
mod swe_smith;

pub use actions::{actions, dialogue, does, edits, reading};
use backstory_model::{
    AgentFile, Detail, FilePart, FileSpending, RecordObserver, Session, SessionFiles, Summary,
};
use backstory_store::{ReadContext, Store, StoreError};
pub use file_head::FileHead;
pub use place::{Home, Kept, OwnFolder, Surroundings};
pub use reader::{
    AgentReader, FolderKind, Folders, IdSource, MISSING_USAGE, Observed, ReadSession, Recognised,
};
pub use registry::{
    Recognition, all, claims, homes, named, own_folders, reader, reader_of_unknown_lines, readers,
    recognise, recognise_folder, session_folders,
};
pub use split::{Layout, Part};

/// Reads a session of any agent with all its subagents.
///
/// A subagent's file that cannot be read is left out and returned next to the session: one bad file
/// never hides the others.
pub fn read(files: &SessionFiles, context: &mut ReadContext) -> Result<ReadSession, StoreError> {
    read_observed(files, context, &mut ())
}

/// [`read`] with an observer, which sees the records of files that hold records.
pub fn read_observed(
    files: &SessionFiles,
    context: &mut ReadContext,
    observer: &mut dyn RecordObserver,
) -> Result<ReadSession, StoreError> {
    let (mut session, failures) = reader(files.agent).read(files, context, observer)?;
    session.project_key.clone_from(&files.project_key);
    Ok((session, failures))
}

/// Reads a session without its subagents.
pub fn read_alone(files: &SessionFiles, context: &mut ReadContext) -> Result<Session, StoreError> {
    let mut session = reader(files.agent).read_alone(files, context)?;
    session.project_key.clone_from(&files.project_key);
    Ok(session)
}

/// Reads a subagent's file by itself.
pub fn read_stray(file: &AgentFile, context: &mut ReadContext) -> Result<Session, StoreError> {
    read_stray_observed(file, context, &mut ())
}

/// [`read_stray`] with an observer.
pub fn read_stray_observed(
    file: &AgentFile,
    context: &mut ReadContext,
    observer: &mut dyn RecordObserver,
) -> Result<Session, StoreError> {
    reader(file.agent).read_subagent(file, context, observer)
}

/// The row of a session in a list, as quickly as it can be had.
pub fn summary(files: &SessionFiles, context: &mut ReadContext) -> Result<Summary, StoreError> {
    reader(files.agent).summary(files, context)
}

/// The messages of a session and what they took; those of files of subagents are theirs.
pub fn spending(
    files: &SessionFiles,
    detail: Detail,
    context: &mut ReadContext,
) -> Result<FileSpending, StoreError> {
    reader(files.agent).spending(files, detail, context)
}

/// [`spending`] of a subagent's file.
pub fn subagent_spending(
    file: &AgentFile,
    detail: Detail,
    context: &mut ReadContext,
) -> Result<FileSpending, StoreError> {
    reader(file.agent).subagent_spending(file, detail, context)
}

/// Every file that a session is read from, its own (or its first) in front, files of subagents
/// apart.
pub fn files_of(files: &SessionFiles, store: &Store) -> Vec<FilePart> {
    reader(files.agent).files(files, store)
}
