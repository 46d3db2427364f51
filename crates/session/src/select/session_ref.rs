//! One session, or a subagent whose session is gone.

use backstory_agents::files_of;
use backstory_model::{AgentFile, SessionFiles};
use backstory_store::{Store, plain_name};
use std::path::{Path, PathBuf};

/// A session, or a subagent that is looked at by itself.
#[derive(Debug, Clone, Copy)]
pub enum SessionRef<'a> {
    /// With its subagents.
    Session(&'a SessionFiles),
    /// By itself: its session is not there, or it was named.
    Agent(&'a AgentFile),
}

impl<'a> SessionRef<'a> {
    /// As lists show it.
    pub fn id(&self) -> &str {
        match self {
            SessionRef::Session(files) => &files.id,
            SessionRef::Agent(file) => &file.id,
        }
    }

    /// Its own file, or the folder of agents that use several.
    pub fn path(&self) -> &'a Path {
        match self {
            SessionRef::Session(files) => &files.path,
            SessionRef::Agent(file) => &file.path,
        }
    }

    /// The files it is read from, and the folder of what is kept in one.
    pub fn sources(&self, store: &Store) -> Vec<PathBuf> {
        let (own, subagents) = match self {
            SessionRef::Session(files) => {
                let parts = files_of(files, store).into_iter().map(|file| file.path);
                (std::iter::once(files.path.clone()).chain(parts).collect(), &*files.agents)
            }
            SessionRef::Agent(file) => (Vec::new(), std::slice::from_ref(*file)),
        };
        let theirs = subagents.iter().flat_map(|one| [Some(&one.path), one.meta.as_ref()]);
        own.into_iter().chain(theirs.flatten().cloned()).collect()
    }

    /// A name for a file made of it that no other session's has: by its path, and by its id where
    /// its file holds several.
    pub(super) fn own_name(&self) -> String {
        let path = self.path().to_string_lossy();
        match self {
            SessionRef::Session(files) if files.part.is_some() => {
                plain_name(&format!("{path}/{}", files.id))
            }
            _ => plain_name(&path),
        }
    }

    /// How much there is to read, subagents included.
    pub fn total_bytes(&self) -> u64 {
        match self {
            SessionRef::Session(files) => files.total_bytes(),
            SessionRef::Agent(file) => file.bytes,
        }
    }
}
