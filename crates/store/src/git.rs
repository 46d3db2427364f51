//! Asking git about files and their lines.
//!
//! The `git` program and not a library: what is needed here (blame, following renames) is where
//! libraries are youngest, two or three calls of a few milliseconds answer a command, and nothing
//! is added to the build. How it is run, and what is switched off, is in `git_run`.

use crate::context::Store;
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A repository.
#[derive(Debug, Clone)]
pub struct Git {
    top: PathBuf,
    /// It belongs to another user, and the user's configuration says that this is fine.
    pub(super) trusted: Arc<OnceLock<bool>>,
    /// Says how long it may be silent, and remembers where it was.
    pub(super) store: Store,
}

/// Who last changed a line, as git says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitLine {
    /// The full hash of the commit that has the line.
    pub commit: Box<str>,
    /// The line's number in that commit.
    pub original: u32,
    /// The name of who wrote the change.
    pub author: Box<str>,
    /// The address in angle brackets, as git prints it.
    pub author_mail: Box<str>,
    /// When the change was made.
    pub author_time: Option<Timestamp>,
    /// When it was committed, which a rebase moves.
    pub committer_time: Option<Timestamp>,
    /// The first line of the commit's message.
    pub summary: Box<str>,
    /// The name that the file had in that commit.
    pub filename: Box<str>,
}

/// Why git could not answer.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum GitError {
    /// The program could not be started.
    #[error("git: {0}")]
    Start(std::io::Error),
    /// It ended with an error.
    #[error("git {command}: {message}")]
    Failed { command: String, message: String },
    /// It was ended because it printed nothing for this long.
    #[error("git did not answer in {} s", .0.as_secs_f64())]
    Silent(Duration),
    /// Its files belong to another user, and nothing in the user's configuration allows it.
    #[error("git refuses `{}`: detected dubious ownership, it belongs to another user", top.display())]
    NotOwned { top: PathBuf },
    /// A partial clone or a damaged repository has no such object.
    #[error("git lacks the object {0}: the clone is partial or damaged")]
    Missing(String),
    /// The revision names no commit.
    #[error("no such commit")]
    NoCommit,
    /// The commit has no such file.
    #[error("`{path}` is not in commit {commit}")]
    NoFile { path: String, commit: String },
}

impl GitError {
    /// Whether git could not be asked at all, which says nothing about what was asked.
    pub fn is_refusal(&self) -> bool {
        matches!(self, GitError::Silent(_) | GitError::NotOwned { .. } | GitError::Missing(_))
    }
}

impl Git {
    /// The repository that holds a path, found by its `.git`.
    pub fn holding(path: &Path, store: &Store) -> Option<Git> {
        let absolute = std::path::absolute(path).ok()?;
        let folder = absolute.ancestors().skip(1).find(|folder| folder.is_dir())?;
        let folder = std::fs::canonicalize(folder).ok()?;
        let top = folder.ancestors().find(|folder| folder.join(".git").exists())?;
        Some(Git { top: top.to_path_buf(), trusted: Arc::default(), store: store.clone() })
    }

    /// The top folder of the working tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// A path as git names it: from the top, with `/`.
    pub fn relative(&self, path: &Path) -> Option<String> {
        let absolute = std::path::absolute(path).ok()?;
        let parent = absolute.parent().and_then(|parent| std::fs::canonicalize(parent).ok());
        let absolute = match (parent, absolute.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => absolute,
        };
        let inside = absolute.strip_prefix(&self.top).ok()?;
        let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str()).collect();
        parts.map(|parts| parts.join("/"))
    }

    /// The address of the repository that this one was cloned from.
    pub fn remote(&self) -> Option<String> {
        let out = self.run(&["config", "--local", "--get", "remote.origin.url"]).ok()?;
        Some(String::from_utf8_lossy(&out).trim().to_owned()).filter(|url| !url.is_empty())
    }

    /// The first commits of the current branch's history.
    pub fn root_commits(&self) -> Result<Vec<String>, GitError> {
        let out = self.run(&["rev-list", "--max-parents=0", "HEAD"])?;
        Ok(String::from_utf8_lossy(&out).lines().map(str::to_owned).collect())
    }

    /// Whether the repository has this commit, by its full id.
    pub fn has_commit(&self, id: &str) -> bool {
        self.run(&["cat-file", "-e", &format!("{id}^{{commit}}")]).is_ok()
    }

    /// The full id and the commit time of a revision.
    pub fn commit(&self, revision: &str) -> Result<(String, Option<Timestamp>), GitError> {
        let resolve = |name: &str| {
            let out = self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", name])?;
            Ok(String::from_utf8_lossy(&out).trim().to_owned())
        };
        let id = match resolve(&format!("{revision}^{{commit}}")) {
            Ok(id) => id,
            // Quiet: a name that means nothing. One that means an object means none that is there.
            Err(GitError::Failed { .. }) => {
                return Err(match resolve(revision) {
                    Ok(id) if self.run(&["cat-file", "-e", &id]).is_err() => GitError::Missing(id),
                    Ok(_) | Err(GitError::Failed { .. }) => GitError::NoCommit,
                    Err(error) => error,
                });
            }
            Err(error) => return Err(error),
        };
        let out = self.run(&["cat-file", "commit", &id])?;
        Ok((id, committed(&String::from_utf8_lossy(&out))))
    }

    /// A file as it is in a commit.
    pub fn file(&self, commit: &str, path: &str) -> Result<Vec<u8>, GitError> {
        let name = format!("{commit}:{path}");
        let id = match self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name]) {
            Ok(id) => String::from_utf8_lossy(&id).trim().to_owned(),
            Err(GitError::Failed { .. }) => {
                return Err(GitError::NoFile { path: path.to_owned(), commit: commit.to_owned() });
            }
            Err(error) => return Err(error),
        };
        match self.run(&["cat-file", "blob", &id]) {
            Err(GitError::Failed { .. }) if self.run(&["cat-file", "-e", &id]).is_err() => {
                Err(GitError::Missing(id))
            }
            answer => answer,
        }
    }

    /// Names the file had before in the history of a commit, newest first.
    pub fn earlier_names(&self, commit: &str, path: &str) -> Result<Vec<String>, GitError> {
        let words = [
            "log",
            "--follow",
            "--diff-filter=R",
            "--name-status",
            "--no-show-signature",
            "--no-ext-diff",
            "--format=",
            "-z",
            commit,
            "--",
            path,
        ];
        let out = self.run(&words)?;
        let text = String::from_utf8_lossy(&out);
        let mut names = Vec::new();
        let mut parts = text.split('\0').filter(|part| !part.trim().is_empty());
        while let Some(status) = parts.next() {
            if status.trim().starts_with('R')
                && let (Some(from), Some(_)) = (parts.next(), parts.next())
            {
                names.push(from.to_owned());
            }
        }
        Ok(names)
    }

    /// The commits in the history of `commit` that changed a file, with their times, newest first.
    pub fn changes(&self, commit: &str, path: &str) -> Result<Vec<(String, Timestamp)>, GitError> {
        let words =
            ["log", "--no-show-signature", "--no-ext-diff", "--format=%H %ct", commit, "--"];
        let out = self.run(&[&words[..], &[path]].concat())?;
        let text = String::from_utf8_lossy(&out);
        let row = |row: &str| {
            let (id, time) = row.split_once(' ')?;
            Some((id.to_owned(), seconds(time)?))
        };
        Ok(text.lines().filter_map(row).collect())
    }

    /// The commit of every line of a file in a commit.
    pub fn blame(&self, commit: &str, path: &str) -> Result<Vec<GitLine>, GitError> {
        let out = self.run(&["blame", "--line-porcelain", "--no-textconv", commit, "--", path])?;
        Ok(parse_blame(&String::from_utf8_lossy(&out)))
    }
}

/// When a commit was made, as its object says.
fn committed(object: &str) -> Option<Timestamp> {
    let header = object.lines().take_while(|line| !line.is_empty());
    let made = header.filter_map(|line| line.strip_prefix("committer ")).next()?;
    seconds(made.rsplit_once("> ")?.1.split(' ').next()?)
}

/// Whether this is the full id of an object.
pub(super) fn is_id(id: &str) -> bool {
    id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn seconds(text: &str) -> Option<Timestamp> {
    text.parse().ok().and_then(|seconds| Timestamp::from_second(seconds).ok())
}

/// Reads what `git blame --line-porcelain` prints.
pub fn parse_blame(text: &str) -> Vec<GitLine> {
    let mut found = Vec::new();
    let mut line = empty();
    let mut at_head = true;
    for row in text.split('\n') {
        if row.starts_with('\t') {
            found.push(std::mem::replace(&mut line, empty()));
            at_head = true;
            continue;
        }
        let (key, value) = row.split_once(' ').unwrap_or((row, ""));
        match key {
            _ if at_head => {
                line.commit = key.into();
                let number = value.split(' ').next().and_then(|number| number.parse().ok());
                line.original = number.unwrap_or(0);
                at_head = false;
            }
            "author" => line.author = value.into(),
            "author-mail" => line.author_mail = value.into(),
            "author-time" => line.author_time = seconds(value),
            "committer-time" => line.committer_time = seconds(value),
            "summary" => line.summary = value.into(),
            "filename" => line.filename = value.into(),
            _ => {}
        }
    }
    found
}

fn empty() -> GitLine {
    GitLine {
        commit: "".into(),
        original: 0,
        author: "".into(),
        author_mail: "".into(),
        author_time: None,
        committer_time: None,
        summary: "".into(),
        filename: "".into(),
    }
}
