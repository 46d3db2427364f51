//! All edited files below some folders, with their histories.

use crate::args::GlobalArguments;
use crate::error::CliError;
use crate::select::{Seek, Selection};
use crate::ui;
use backstory_model::Notice;
use backstory_session::history::{
    Gathered, PathScope, ShellTouch, Target, Traced, collect, normal_path, trace,
};
use backstory_store::read_small;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// More than a file has that people edit.
pub(crate) const LARGEST_FILE: u64 = 256 << 20;

/// A file that agents edited.
#[derive(Debug)]
pub(crate) struct ProjectFile {
    /// As it is shown: below the folder the user named, else absolute.
    pub(crate) shown: String,
    /// Where it is or was.
    pub(crate) path: PathBuf,
    /// Recorded paths that mean it, its own first.
    pub(crate) names: Vec<String>,
    pub(crate) text: Option<String>,
}

impl ProjectFile {
    pub(crate) fn exists(&self) -> bool {
        self.text.is_some()
    }
}

/// Files and everything known of them.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) gathered: Gathered,
    pub(crate) files: Vec<ProjectFile>,
    pub(crate) sessions_searched: usize,
    /// What could not be searched.
    pub(crate) notices: Vec<Notice>,
}

impl Project {
    /// Reads what sessions say about files below `paths`; about all files if there are none.
    pub(crate) fn read(
        paths: &[PathBuf],
        recorded: &[String],
        global: &GlobalArguments,
    ) -> Result<Project, CliError> {
        let selection = Selection::find(global, &[], Seek::All)?;
        let scopes: Vec<PathScope> =
            paths.iter().map(|path| PathScope::new(path, recorded)).collect();
        let bytes = selection.found.sessions.iter().map(|files| files.bytes).sum();
        let progress = ui::Progress::new(bytes, "reading");
        let wanted = |path: &str| {
            scopes.is_empty() || scopes.iter().any(|scope| scope.inside(path).is_some())
        };
        let collected = collect(&selection.found, selection.limits, &wanted, None, &|bytes| {
            progress.add(bytes);
        });
        progress.finish();
        let notices = selection.missing(&collected.failures);
        if !global.quiet {
            ui::notices(&notices);
        }
        let files = files(&collected.gathered, &scopes, paths);
        let sessions_searched = selection.found.sessions.len();
        Ok(Project { gathered: collected.gathered, files, sessions_searched, notices })
    }

    /// Every file with its lines followed, in parallel.
    pub(crate) fn trace_all(&self) -> Vec<(&ProjectFile, Traced<'_>)> {
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
    pub(crate) fn touches(&self, file: &ProjectFile) -> Vec<&ShellTouch> {
        let names = |touch: &&ShellTouch| {
            touch.paths.iter().any(|path| file.names.iter().any(|name| name == path))
        };
        self.gathered.shell.iter().filter(names).collect()
    }
}

/// Paths that mean the same file become one.
fn files(gathered: &Gathered, scopes: &[PathScope], paths: &[PathBuf]) -> Vec<ProjectFile> {
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
        ProjectFile { shown: shown.to_owned(), path, names, text }
    };
    groups.into_iter().map(make).collect()
}
