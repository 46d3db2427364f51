//! All edited files below some folders, with their histories.

use super::LARGEST_FILE;
use crate::discover::Found;
use crate::history::{
    Gathered, PathScope, ShellTouch, Target, Traced, collect, normal_path, trace,
};
use crate::parallel::Progress;
use backstory_model::Notice;
use backstory_store::read_small;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file that agents edited.
#[derive(Debug)]
pub struct EditedFile {
    /// As it is shown: below the folder the user named, else absolute.
    pub shown: String,
    /// Where it is or was.
    pub path: PathBuf,
    /// Recorded paths that mean it, its own first.
    pub names: Vec<String>,
    /// Its content now; none where it is gone or cannot be read.
    pub text: Option<String>,
}

impl EditedFile {
    /// Whether it is still there.
    pub fn exists(&self) -> bool {
        self.text.is_some()
    }
}

/// Files and everything known of them.
#[derive(Debug)]
pub struct EditedFiles {
    /// Everything that the sessions say about wanted files.
    pub gathered: Gathered,
    /// In the order of their paths.
    pub files: Vec<EditedFile>,
    /// How many sessions could have said something.
    pub sessions_searched: usize,
    /// What could not be searched.
    pub notices: Vec<Notice>,
}

impl EditedFiles {
    /// Reads what the sessions in `found` say about files below `paths`; about all files if there
    /// are none. `recorded_as` are folders that the project was in when they were recorded.
    pub fn read(
        paths: &[PathBuf],
        recorded_as: &[String],
        found: &Found,
        progress: &dyn Progress,
    ) -> EditedFiles {
        let scopes: Vec<PathScope> =
            paths.iter().map(|path| PathScope::new(path, recorded_as, &found.store)).collect();
        let wanted = |path: &str| {
            scopes.is_empty() || scopes.iter().any(|scope| scope.inside(path).is_some())
        };
        let collected = collect(found, &wanted, None, progress);
        let notices = found.missing(&collected.failures);
        let files = files(&collected.gathered, &scopes, paths);
        let sessions_searched = found.sessions.len();
        EditedFiles { gathered: collected.gathered, files, sessions_searched, notices }
    }

    /// Every file with its lines followed, in parallel.
    pub fn trace_all(&self) -> Vec<(&EditedFile, Traced<'_>)> {
        self.files
            .par_iter()
            .map(|file| {
                let path = file.names.first().map_or("", String::as_str);
                let target = file.text.as_deref().map(|text| Target { path, text, until: None });
                (file, trace(&self.gathered, &file.names, target))
            })
            .collect()
    }

    /// Commands that name the file as what they write.
    pub fn touches(&self, file: &EditedFile) -> Vec<&ShellTouch> {
        let names = |touch: &&ShellTouch| {
            touch.paths.iter().any(|path| file.names.iter().any(|name| name == path))
        };
        self.gathered.shell.iter().filter(names).collect()
    }
}

/// Paths that mean the same file become one.
fn files(gathered: &Gathered, scopes: &[PathScope], paths: &[PathBuf]) -> Vec<EditedFile> {
    let edited = gathered.chains.iter().filter(|(_, chain)| chain.edits().next().is_some());
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, _) in edited {
        let mut own = name.to_string();
        for (scope, path) in scopes.iter().zip(paths) {
            if let Some(inside) = scope.inside(name) {
                let base = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                let base = normal_path(&base.to_string_lossy(), None);
                own = if inside.is_empty() { base } else { format!("{base}/{inside}") };
                break;
            }
        }
        groups.entry(own).or_default().push(name.to_string());
    }
    let here = std::path::absolute(".").unwrap_or_default();
    let here = normal_path(&here.to_string_lossy(), None);
    let make = |(own, mut names): (String, Vec<String>)| {
        names.retain(|name| *name != own);
        names.insert(0, own.clone());
        for earlier in gathered.earlier_names(&own) {
            if !names.contains(&earlier) && gathered.chains.contains_key(earlier.as_str()) {
                names.push(earlier);
            }
        }
        let path = PathBuf::from(&own);
        let text = read_small(&path, LARGEST_FILE).ok();
        let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let shown = own.strip_prefix(&here).and_then(|rest| rest.strip_prefix('/')).unwrap_or(&own);
        EditedFile { shown: shown.to_owned(), path, names, text }
    };
    groups.into_iter().map(make).collect()
}
