//! Where agents keep sessions.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A folder that is an agent's own wherever it is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnFolder {
    /// Its name.
    pub name: &'static str,
    /// Folders of sessions inside.
    pub sessions: &'static [&'static str],
}

/// A place on this machine where an agent writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// A folder or a file. Nothing of ours is written there.
    pub path: PathBuf,
    /// Where sessions are looked for in it; nowhere if a setting names another home.
    pub sessions: Vec<PathBuf>,
}

impl Home {
    /// A folder of which any part can hold sessions.
    pub fn whole(path: PathBuf) -> Home {
        Home { sessions: vec![path.clone()], path }
    }

    /// A folder in which these hold sessions.
    pub fn with(path: PathBuf, sessions: &[&str]) -> Home {
        Home { sessions: sessions.iter().map(|folder| path.join(folder)).collect(), path }
    }
}

/// Whether an agent keeps its files apart from the projects that its sessions work in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// In a home of its own.
    Apart,
    /// In the project itself.
    InProject,
}

/// What the places depend on.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The user's home folder.
    pub home: Option<&'a Path>,
    /// The current folder.
    pub here: Option<&'a Path>,
    /// The value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Surroundings { home, here, .. } = self;
        formatter.debug_struct("Surroundings").field("home", home).field("here", here).finish()
    }
}

impl Surroundings<'_> {
    /// The path that a variable holds, unless it is empty.
    pub fn named(&self, variable: &str) -> Option<PathBuf> {
        (self.variable)(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    /// A path below the user's home folder.
    pub fn below(&self, path: &str) -> Option<PathBuf> {
        self.home.map(|home| home.join(path))
    }

    /// The home that a setting names, and the usual one below the user's, which then holds no sessions
    /// that are in use.
    pub fn configured(
        &self,
        named: Option<PathBuf>,
        usual: &str,
        home: impl Fn(PathBuf) -> Home,
    ) -> Vec<Home> {
        let usual = self.below(usual);
        match named {
            None => usual.map(home).into_iter().collect(),
            Some(named) => {
                let unused = usual.map(|path| Home { path, sessions: Vec::new() });
                std::iter::once(home(named)).chain(unused).collect()
            }
        }
    }
}

/// Where sessions are in a folder that is an agent's own, by its name.
pub(crate) fn inside(own: &OwnFolder, root: &Path) -> Option<Vec<PathBuf>> {
    if root.file_name() != Some(OsStr::new(own.name)) {
        return None;
    }
    let inside = own.sessions.iter().map(|folder| root.join(folder));
    Some(inside.filter(|folder| folder.is_dir()).collect())
}
