//! Asking git, with everything switched off that a repository could use to run programs.
//!
//! The `git` program and not a library: what is needed here (blame, following renames) is where
//! libraries are youngest, two or three calls of a few milliseconds answer a command, and nothing
//! is added to the build. System and user configuration are not read; hooks, pagers, external
//! differs, text converters, signature checks and fetching of missing objects are off.

use jiff::Timestamp;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A repository.
#[derive(Debug, Clone)]
pub struct Git {
    top: PathBuf,
}

/// Who last changed a line, as git says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitLine {
    pub commit: Box<str>,
    /// The line's number in that commit.
    pub original: u32,
    pub author: Box<str>,
    pub author_mail: Box<str>,
    pub author_time: Option<Timestamp>,
    pub committer_time: Option<Timestamp>,
    pub summary: Box<str>,
    pub filename: Box<str>,
}

/// Why git could not answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git: {0}")]
    Start(std::io::Error),
    #[error("git {command}: {message}")]
    Failed { command: String, message: String },
}

impl Git {
    /// The repository that holds a path, found by its `.git`.
    pub fn holding(path: &Path) -> Option<Git> {
        let absolute = std::path::absolute(path).ok()?;
        let folder = absolute.ancestors().skip(1).find(|folder| folder.is_dir())?;
        let folder = std::fs::canonicalize(folder).ok()?;
        let top = folder.ancestors().find(|folder| folder.join(".git").exists())?;
        Some(Git { top: top.to_path_buf() })
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

    pub(super) fn run(&self, words: &[&str]) -> Result<Vec<u8>, GitError> {
        let mut command = self.command(words);
        let output = command.stdin(Stdio::null()).output().map_err(GitError::Start)?;
        finished(words, output)
    }

    /// The same with something to read on standard input.
    pub(super) fn run_with(&self, words: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(GitError::Start)?;
        let stdin = child.stdin.take();
        let output = std::thread::scope(|scope| {
            // In a thread of its own: git may answer before it has read everything.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
            child.wait_with_output()
        });
        finished(words, output.map_err(GitError::Start)?)
    }

    pub(super) fn command(&self, words: &[&str]) -> Command {
        let switched_off = [
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "core.attributesFile=/dev/null",
            "log.showSignature=false",
            "blame.ignoreRevsFile=",
            "blame.markIgnoredLines=false",
            "blame.markUnblamableLines=false",
            "diff.external=",
            "diff.noprefix=false",
            "core.quotePath=false",
            "protocol.allow=never",
            "log.showRoot=true",
            "log.diffMerges=off",
            "core.bigFileThreshold=512m",
        ];
        let mut command = Command::new("git");
        command.arg("--no-pager").arg("--literal-pathspecs");
        for setting in switched_off {
            command.arg("-c").arg(setting);
        }
        for name in [
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "GIT_OBJECT_DIRECTORY",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            "GIT_EXTERNAL_DIFF",
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_PARAMETERS",
            "GIT_NAMESPACE",
        ] {
            command.env_remove(name);
        }
        command
            .args(words)
            .current_dir(&self.top)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("LC_ALL", "C");
        command
    }

    /// The full id and the commit time of a revision.
    pub fn commit(&self, revision: &str) -> Result<(String, Option<Timestamp>), GitError> {
        let name = format!("{revision}^{{commit}}");
        let id = self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name])?;
        let id = String::from_utf8_lossy(&id).trim().to_owned();
        let time = self.run(&["show", "--no-patch", "--no-show-signature", "--format=%ct", &id])?;
        Ok((id, seconds(String::from_utf8_lossy(&time).trim())))
    }

    /// A file as it is in a commit.
    pub fn file(&self, commit: &str, path: &str) -> Result<Vec<u8>, GitError> {
        self.run(&["cat-file", "blob", &format!("{commit}:{path}")])
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

pub(super) fn finished(words: &[&str], output: Output) -> Result<Vec<u8>, GitError> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(GitError::Failed {
        command: words.first().copied().unwrap_or_default().to_owned(),
        message: message.lines().next().unwrap_or("failed").to_owned(),
    })
}

pub(super) fn seconds(text: &str) -> Option<Timestamp> {
    text.parse().ok().and_then(|seconds| Timestamp::from_second(seconds).ok())
}

fn parse_blame(text: &str) -> Vec<GitLine> {
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
