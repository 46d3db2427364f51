//! Sessions, found and read.

use backstory_agents as agents;
use backstory_model::{Session, SessionFiles};
use backstory_session::discover::{Found, Root, discover};
use backstory_store::{ReadContext, Store};
use std::path::{Path, PathBuf};

/// What the discovery finds below a folder, or of one file.
pub fn discover_at(path: impl Into<PathBuf>) -> Found {
    discover_in(&[path.into()])
}

/// The same for several.
pub fn discover_in(paths: &[PathBuf]) -> Found {
    let roots: Vec<Root> = paths.iter().map(|path| Root { path: path.clone() }).collect();
    discover(&roots, &Store::default())
}

/// The files of the session whose own file this is.
pub fn session_at(path: &Path) -> SessionFiles {
    let sessions = discover_at(path).sessions;
    let own = sessions.into_iter().find(|files| files.path == path);
    own.unwrap_or_else(|| panic!("{} is no session", path.display()))
}

/// Every session below a folder, whoever wrote it.
pub fn sessions(root: &Path) -> Vec<Session> {
    let read = |files| agents::read(files, &mut ReadContext::default()).unwrap().0;
    discover_at(root).sessions.iter().map(read).collect()
}
