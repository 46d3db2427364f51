//! Finding session files below a folder.
//!
//! In a folder of projects by names only, plus the first lines of old subagents' files, which say
//! whose they are; elsewhere by the first bytes of files that could be an agent's. A file that is
//! not a plain file is left alone with a notice; nothing is opened that could block.

mod clones;
mod files;
mod named;
mod once;
mod project;
mod subagents;

use backstory_agents::{FolderKind, reader_of_unknown_lines, recognise_folder};
use backstory_format::is_uuid;
use backstory_model::{AgentFile, Notice, NoticeKind, SessionFiles};
use backstory_store::Store;
use files::{folder_session, one_session, own_folders, recognised};
use once::RealPlaces;
use rayon::prelude::*;
use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use subagents::{agent_file, assign, inner_agents, owner_of, session_folder};

pub use named::{NamedFile, named_file};
pub use once::once_each;
pub use project::{ProjectScope, repository_top};

/// A place to look for sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// A folder or a file.
    pub path: PathBuf,
}

/// What is below the roots, sorted by path.
#[derive(Debug, Default)]
pub struct Found {
    /// What they are read through.
    pub store: Store,
    /// Sessions, in order of their paths.
    pub sessions: Vec<SessionFiles>,
    /// Agents whose session is not there.
    pub stray_agents: Vec<AgentFile>,
    /// Subagents that are read as parts of their sessions, each of which can also be named.
    pub inner_agents: Vec<AgentFile>,
    /// Files of zero bytes, which the client leaves behind.
    pub empty: Vec<PathBuf>,
    /// Files and folders that were skipped, and why.
    pub notices: Vec<Notice>,
}

/// How files are arranged below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// A folder for each project: only files named by a UUID are sessions.
    Projects,
    /// Any folder: every `.jsonl` is a session, and so is every file that a reader recognises.
    Bare,
}

/// Looks for sessions and their subagents below `roots`.
pub fn discover(roots: &[Root], store: &Store) -> Found {
    look(roots, Sought::All, store)
}

/// Looks for sessions only, which is quicker: their own folders are not entered, agents' files not
/// opened.
pub fn discover_sessions(roots: &[Root], store: &Store) -> Found {
    look(roots, Sought::Sessions, store)
}

/// The session whose own file is at `path`, with its subagents.
pub fn session_at(path: &Path, store: &Store) -> Option<SessionFiles> {
    let found = discover(&[Root { path: path.to_path_buf() }], store);
    found.sessions.into_iter().find(|session| session.path == path)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sought {
    All,
    Sessions,
}

fn look(roots: &[Root], sought: Sought, store: &Store) -> Found {
    let mut found = Found { store: store.clone(), ..Found::default() };
    let mut agents = Vec::new();
    for root in roots {
        let projects = root.path.join("projects");
        if root.path.is_file() {
            single_file(&root.path, sought, &mut found, &mut agents);
        } else if projects.is_dir() {
            walk(&projects, Layout::Projects, sought, &mut found, &mut agents);
        } else if root.path.is_dir() {
            for folder in own_folders(&root.path) {
                walk(&folder, Layout::Bare, sought, &mut found, &mut agents);
            }
        } else {
            found.fail(&root.path, "no such file or folder");
        }
    }
    let mut places = RealPlaces::default();
    found.once_each(&mut agents, &mut places);
    let unknown = |agent: &&mut AgentFile| agent.owner.is_none();
    agents.par_iter_mut().filter(unknown).for_each(|agent| agent.owner = owner_of(&agent.path));
    assign(&mut found, agents, &mut places);
    if sought == Sought::All {
        found.inner_agents = found.sessions.iter().flat_map(inner_agents).collect();
    }
    found
}

impl Found {
    fn fail(&mut self, path: &Path, reason: impl Into<String>) {
        self.notices.push(Notice::failed(path, reason));
    }

    fn pass_over(&mut self, path: &Path, reason: impl Into<String>) {
        let kind = NoticeKind::PassedOver;
        self.notices.push(Notice { path: path.into(), reason: reason.into(), kind });
    }

    /// Adds the sessions of a file, if a reader recognises it.
    fn recognised(&mut self, path: &Path, metadata: &std::fs::Metadata, store: &Store) {
        match recognised(path, metadata, store) {
            Ok(sessions) => self.sessions.extend(sessions.into_iter().flatten()),
            Err(error) => self.fail(path, error.reason()),
        }
    }

    fn add(&mut self, more: Found) {
        self.sessions.extend(more.sessions);
        self.stray_agents.extend(more.stray_agents);
        self.inner_agents.extend(more.inner_agents);
        self.empty.extend(more.empty);
        self.notices.extend(more.notices);
    }
}

fn single_file(path: &Path, sought: Sought, found: &mut Found, agents: &mut Vec<AgentFile>) {
    let Ok(metadata) = std::fs::metadata(path) else { return found.fail(path, "cannot be read") };
    let named = recognised(path, &metadata, &found.store);
    let unknown = reader_of_unknown_lines();
    let plain = |files: &[SessionFiles]| files.iter().all(|files| files.agent == unknown.agent());
    match named {
        Ok(Some(sessions)) if sessions.is_empty() => {
            return found.pass_over(path, "another file holds all of this session");
        }
        Ok(Some(sessions)) if !plain(&sessions) => return found.sessions.extend(sessions),
        Ok(_) => {}
        Err(error) => return found.fail(path, error.reason()),
    }
    let session = one_session(unknown, path, &metadata);
    if path.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("agent-")) {
        agents.push(agent_file(path, &metadata));
        return;
    }
    // Its subagents belong to it even when only the file was named, by a link or not.
    if sought == Sought::All {
        let target = path.is_symlink().then(|| std::fs::canonicalize(path).ok()).flatten();
        let real = target.as_deref().unwrap_or(path);
        let below = real.with_extension("").join("subagents");
        if below.is_dir() {
            walk(&below, Layout::Projects, sought, found, agents);
        }
        agents.extend(agents_next_to(real, &session.id));
    }
    found.sessions.push(session);
}

/// Agents' files next to a session's that name it as theirs (2.0).
fn agents_next_to(path: &Path, session: &str) -> Vec<AgentFile> {
    let next_to =
        path.parent().map(std::fs::read_dir).and_then(Result::ok).into_iter().flatten().flatten();
    let mut agents = Vec::new();
    for entry in next_to {
        let name = entry.file_name();
        let is_agent = name.to_string_lossy().starts_with("agent-")
            && Path::new(&name).extension() == Some(OsStr::new("jsonl"));
        if is_agent && entry.path() != path && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let agent = entry.metadata().ok().map(|metadata| agent_file(&entry.path(), &metadata));
            agents.extend(agent.map(|agent| AgentFile { owner: owner_of(&agent.path), ..agent }));
        }
    }
    agents.retain(|agent| agent.owner.as_deref() == Some(session));
    agents
}

/// What is looked for below one root, and how.
#[derive(Debug, Clone, Copy)]
struct Walk<'a> {
    layout: Layout,
    sought: Sought,
    /// The root without links.
    top: &'a Path,
    store: &'a Store,
}

/// What one folder, or several, hold.
#[derive(Debug, Default)]
struct Level {
    found: Found,
    agents: Vec<AgentFile>,
    folders: Vec<PathBuf>,
}

fn walk(
    top: &Path,
    layout: Layout,
    sought: Sought,
    found: &mut Found,
    agents: &mut Vec<AgentFile>,
) {
    let canonical = std::fs::canonicalize(top).unwrap_or_else(|_| top.to_path_buf());
    let store = found.store.clone();
    let walk = Walk { layout, sought, top: &canonical, store: &store };
    // Links are not followed, so there is an end to this.
    let mut folders = vec![top.to_path_buf()];
    while !folders.is_empty() {
        let level = folders.par_iter().map(|folder| walk.folder(folder)).reduce(
            Level::default,
            |mut all, more| {
                all.add(more);
                all
            },
        );
        found.add(level.found);
        agents.extend(level.agents);
        folders = level.folders;
    }
}

impl Level {
    fn add(&mut self, more: Level) {
        self.found.add(more.found);
        self.agents.extend(more.agents);
        self.folders.extend(more.folders);
    }
}

impl Walk<'_> {
    fn folder(self, folder: &Path) -> Level {
        let mut level = Level::default();
        if self.layout == Layout::Bare
            && let Some((reader, kind)) = recognise_folder(folder)
        {
            if kind == FolderKind::Session
                && let Ok(metadata) = std::fs::metadata(folder)
            {
                level.found.sessions.push(folder_session(reader, folder, &metadata, self.store));
            }
            return level;
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                level.found.fail(folder, error.to_string());
                return level;
            }
        };
        for entry in entries {
            match entry {
                Ok(entry) => self.visit(&entry, &mut level),
                Err(error) => level.found.fail(folder, error.to_string()),
            }
        }
        level
    }

    fn enters(self, folder: &Path) -> bool {
        match (self.sought, self.layout) {
            (Sought::All, _) => true,
            (Sought::Sessions, Layout::Projects) => !named_by_uuid(folder),
            (Sought::Sessions, Layout::Bare) => folder.file_name() != Some(OsStr::new("subagents")),
        }
    }

    /// The sessions of a file of lines. In a folder of projects names suffice.
    fn recognised(self, path: &Path, metadata: &std::fs::Metadata) -> Option<Vec<SessionFiles>> {
        match self.layout {
            Layout::Projects => None,
            Layout::Bare => recognised(path, metadata, self.store).ok().flatten(),
        }
    }

    fn visit(self, entry: &DirEntry, level: &mut Level) {
        let path = entry.path();
        let Level { found, agents, folders } = level;
        let Ok(kind) = entry.file_type() else { return found.fail(&path, "cannot be read") };
        if kind.is_dir() && self.enters(&path) {
            folders.push(path.clone());
        }
        if path.extension() != Some(OsStr::new("jsonl")) {
            if self.layout == Layout::Bare && kind.is_file() {
                match entry.metadata() {
                    Ok(metadata) => found.recognised(&path, &metadata, self.store),
                    Err(error) => found.fail(&path, error.to_string()),
                }
            }
            return;
        }
        if kind.is_symlink() {
            // A link inside the tree names a file that is found anyway.
            if !std::fs::canonicalize(&path).is_ok_and(|target| target.starts_with(self.top)) {
                found.pass_over(&path, "a link that leads out of the folder or nowhere");
            }
            return;
        }
        if !kind.is_file() {
            return found.pass_over(&path, "not a regular file");
        }
        let Some(stem) = path.file_stem().and_then(OsStr::to_str) else {
            return found.pass_over(&path, "the name is not UTF-8");
        };
        let is_agent = stem.starts_with("agent-");
        if is_agent && self.sought == Sought::Sessions {
            return;
        }
        let Ok(metadata) = entry.metadata() else { return found.fail(&path, "cannot be read") };
        let within_session = session_folder(&path).is_some()
            || (self.layout == Layout::Projects && path.parent().is_some_and(named_by_uuid));
        if is_agent {
            agents.push(agent_file(&path, &metadata));
        } else if within_session {
            // Journals of workflow runs and the like: no conversation.
        } else if self.layout == Layout::Projects && !is_uuid(stem) {
            found.pass_over(&path, "not named like a session");
        } else if metadata.len() == 0 {
            found.empty.push(path);
        } else if let Some(sessions) = self.recognised(&path, &metadata) {
            found.sessions.extend(sessions);
        } else {
            // One that cannot be read is reported when it is read.
            found.sessions.push(one_session(reader_of_unknown_lines(), &path, &metadata));
        }
    }
}

fn named_by_uuid(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(is_uuid)
}
