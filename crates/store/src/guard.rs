//! What may be written: one guard for every output of every command.
//!
//! Whatever writes takes a [`Destination`], and only a [`Guard`] makes one. So no output replaces a
//! file that the command reads, and none reaches a folder where an agent keeps its sessions,
//! whichever link, second name or `..` leads there.

use crate::resolve::resolve;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the manifest.
pub const MANIFEST: &str = ".backstory.json";

/// Why something is not written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum GuardError {
    /// It is one of the files that are read.
    #[error("`{}`: that is read, not written", path.display())]
    Input { path: PathBuf },
    /// It is where an agent keeps its sessions.
    #[error("`{}`: is in `{}`, where sessions are kept", path.display(), folder.display())]
    AgentsFolder { path: PathBuf, folder: PathBuf },
    /// Another output of the same command has the same place.
    #[error("`{}`: named for two outputs", path.display())]
    Twice { path: PathBuf },
    /// The name of the list that this program keeps of its files in a folder.
    #[error("`{}`: backstory keeps its own list under this name", path.display())]
    Manifest { path: PathBuf },
    /// A folder, a disk or a socket.
    #[error("`{}`: not a file that can be written", path.display())]
    NotAFile { path: PathBuf },
    /// A link that leads out of the project.
    #[error("`{}`: leads to `{}`, outside the project", path.display(), place.display())]
    Outside { path: PathBuf, place: PathBuf },
    /// The path is inside a repository's `.git` folder.
    #[error("`{}`: is in git's own folder", path.display())]
    OfGit { path: PathBuf },
    /// A session that would be changed as if it were a file of settings.
    #[error("`{}`: a session, which is never changed", path.display())]
    Session { path: PathBuf },
}

/// Where nothing is written, and what is read.
#[derive(Debug, Default, Clone)]
pub struct Guard {
    /// Names of agents' folders: one that a file is read from is never written to.
    names: Vec<&'static str>,
    folders: Vec<Folder>,
    inputs: HashSet<FileKey>,
    outputs: Vec<PathBuf>,
    /// The folder of the input that was added last; many lie in the same.
    last: Option<PathBuf>,
}

#[derive(Debug, Clone)]
struct Folder {
    shown: PathBuf,
    place: PathBuf,
}

/// A place that may be written to.
#[derive(Debug, Clone)]
pub struct Destination {
    shown: PathBuf,
    place: PathBuf,
    inputs: Arc<HashSet<FileKey>>,
}

/// What makes two names the same file.
#[cfg(unix)]
type FileKey = (u64, u64);
#[cfg(not(unix))]
type FileKey = PathBuf;

#[cfg(unix)]
fn file_key(path: &Path) -> Option<FileKey> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).ok().map(|there| (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn file_key(path: &Path) -> Option<FileKey> {
    std::fs::canonicalize(path).ok()
}

impl Guard {
    /// A guard of the folders with these names, wherever a file is read from one.
    pub fn of_folders_named(names: impl IntoIterator<Item = &'static str>) -> Guard {
        Guard { names: names.into_iter().collect(), ..Guard::default() }
    }

    /// Nothing is written into this folder; a file is one that is read.
    pub fn protect(&mut self, path: &Path) {
        if path.is_dir() {
            let place = resolve(path);
            if !self.folders.iter().any(|folder| folder.place == place) {
                self.folders.push(Folder { shown: path.to_path_buf(), place });
            }
        } else {
            self.reads(path);
        }
    }

    /// This file is read. If it is in an agent's folder, nothing is written there either.
    pub fn reads(&mut self, path: &Path) {
        self.inputs.extend(file_key(path));
        let folder = path.parent().map(Path::to_path_buf);
        if folder == self.last {
            return;
        }
        self.last = folder;
        let place = resolve(path);
        let of_agent = |above: &&Path| {
            above.file_name().is_some_and(|name| self.names.iter().any(|agent| name == *agent))
        };
        if let Some(agent) = place.ancestors().skip(1).find(of_agent) {
            self.protect(agent);
        }
    }

    /// A file to be written, under a name that no other output has.
    pub fn file(&mut self, path: &Path) -> Result<Destination, GuardError> {
        if path.file_name().is_some_and(|name| name == MANIFEST) {
            return Err(GuardError::Manifest { path: path.into() });
        }
        if std::fs::metadata(path).is_ok_and(|there| !is_writable(&there)) {
            return Err(GuardError::NotAFile { path: path.into() });
        }
        self.admit(path)
    }

    /// A file, or a folder if that is what is there or was named.
    pub fn file_or_folder(&mut self, path: &Path) -> Result<Destination, GuardError> {
        if is_folder(path) { self.folder(path) } else { self.file(path) }
    }

    /// A folder to be written into.
    pub fn folder(&mut self, path: &Path) -> Result<Destination, GuardError> {
        self.admit(path)
    }

    /// A file of settings, which may be an agent's own: the user named it to be changed. A link is
    /// written through, because settings are often kept elsewhere. `is_session` keeps sessions safe.
    pub fn settings(
        &mut self,
        path: &Path,
        is_session: impl Fn(&Path) -> bool,
    ) -> Result<Destination, GuardError> {
        let place = resolve(path);
        if self.is_input(&place) {
            return Err(GuardError::Input { path: path.into() });
        }
        if place.is_file() && is_session(&place) {
            return Err(GuardError::Session { path: path.into() });
        }
        Ok(self.destination(path, place))
    }

    /// A file of a project that is changed in place. Links are written through while they stay
    /// below `top` and out of git's own folder.
    pub fn within(&mut self, path: &Path, top: &Path) -> Result<Destination, GuardError> {
        let (place, top) = (resolve(path), resolve(top));
        let Ok(below) = place.strip_prefix(&top) else {
            return Err(GuardError::Outside { path: path.into(), place });
        };
        if below.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
            return Err(GuardError::OfGit { path: path.into() });
        }
        if std::fs::metadata(&place).is_ok_and(|there| !there.is_file()) {
            return Err(GuardError::NotAFile { path: path.into() });
        }
        let mut admitted = self.admit(&place)?;
        admitted.shown = path.into();
        Ok(admitted)
    }

    fn admit(&mut self, path: &Path) -> Result<Destination, GuardError> {
        let leads_to = resolve(path);
        let place = own_place(path);
        if self.is_input(&leads_to) || self.is_input(&place) {
            return Err(GuardError::Input { path: path.into() });
        }
        let inside = |folder: &&Folder| {
            leads_to.starts_with(&folder.place) || place.starts_with(&folder.place)
        };
        if let Some(folder) = self.folders.iter().find(inside) {
            return Err(GuardError::AgentsFolder {
                path: path.into(),
                folder: folder.shown.clone(),
            });
        }
        let is_stream = std::fs::metadata(path).is_ok_and(|there| !there.is_file());
        if self.outputs.contains(&leads_to) && (!is_stream || path.is_dir()) {
            return Err(GuardError::Twice { path: path.into() });
        }
        self.outputs.push(leads_to);
        Ok(self.destination(path, place))
    }

    fn is_input(&self, path: &Path) -> bool {
        file_key(path).is_some_and(|key| self.inputs.contains(&key))
    }

    fn destination(&self, path: &Path, place: PathBuf) -> Destination {
        Destination { shown: path.into(), place, inputs: Arc::new(self.inputs.clone()) }
    }
}

impl Destination {
    /// As the user named it.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// Where it is, with the links above it resolved.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Whether it is a folder, or was named as one.
    pub fn is_folder(&self) -> bool {
        is_folder(&self.shown)
    }

    /// A file inside; none where that would be a file that is read.
    pub(super) fn inside(&self, name: &str) -> Option<Destination> {
        let (shown, place) = (self.shown.join(name), self.place.join(name));
        let is_input = file_key(&place).is_some_and(|key| self.inputs.contains(&key));
        (!is_input).then(|| Destination { shown, place, inputs: self.inputs.clone() })
    }
}

fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with(['/', '\\'])
}

/// Files, and what takes a stream of bytes; not folders, disks and sockets.
fn is_writable(there: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = there.file_type();
        kind.is_file() || kind.is_char_device() || kind.is_fifo()
    }
    #[cfg(not(unix))]
    there.is_file()
}

/// The path with links above it resolved; a link under its last name is replaced, not followed.
fn own_place(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) if !path.is_dir() => {
            let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
            resolve(above).join(name)
        }
        _ => resolve(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    #[allow(clippy::disallowed_methods)]
    fn no_name_of_an_input_and_no_way_into_a_folder_is_admitted() {
        use std::os::unix::fs::symlink;
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for folder in ["work", "agent/.claude/projects/p", "kept"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        let session = at("agent/.claude/projects/p/s.jsonl");
        std::fs::write(&session, "{}").unwrap();
        std::fs::write(at("work/input"), "{}").unwrap();
        symlink("input", at("work/link")).unwrap();
        std::fs::hard_link(at("work/input"), at("work/hard")).unwrap();
        symlink(at("kept"), at("work/into")).unwrap();
        symlink(at("kept/new"), at("work/dangling")).unwrap();
        symlink("loop", at("work/loop")).unwrap();
        let guard = || {
            let mut guard = Guard::of_folders_named([".claude"]);
            guard.protect(&at("kept"));
            guard.reads(&session);
            guard.reads(&at("work/input"));
            guard
        };
        for name in [
            "work/input",
            "work/link",
            "work/hard",
            "work/none/../input",
            "work/into/x",
            "work/dangling",
            "kept",
            "kept/../kept/x",
            "agent/.claude/settings.json",
            "agent/.claude/new/x",
            "work/.backstory.json",
        ] {
            assert!(guard().file(&at(name)).is_err(), "{name}");
        }
        assert!(guard().folder(&at("work/into")).is_err());
        assert!(guard().settings(&at("work/hard"), |_| false).is_err());
        let mut guard = guard();
        assert_eq!(guard.file(&at("work/new")).unwrap().place(), resolve(&at("work/new")));
        assert!(matches!(guard.file(&at("work/./new")), Err(GuardError::Twice { .. })));
        let folder = guard.folder(&at("work")).unwrap();
        assert!(folder.inside("input").is_none() && folder.inside("other").is_some());
    }
}
