//! The two things that are changed about a repository when asked for: a note and a hook.
//!
//! Notes are written with everything of the repository's configuration switched off, as it is read.
//! Where hooks lie is the one question that git answers with the user's configuration, since that
//! is where it will look for them.

use super::git::{Git, GitError, finished};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The ref that notes stand under.
pub const NOTES: &str = "refs/notes/backstory";

impl Git {
    /// Writes the note of a commit, in the place of an earlier one.
    pub fn write_note(&self, commit: &str, text: &str) -> Result<(), GitError> {
        let words = ["notes", "--ref", NOTES, "add", "--force", "--file=-", commit];
        let mut command = self.command(&words);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "backstory");
            command.env(format!("GIT_{role}_EMAIL"), "backstory@localhost");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(GitError::Start)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(text.as_bytes()).map_err(GitError::Start)?;
        }
        finished(&words, child.wait_with_output().map_err(GitError::Start)?).map(drop)
    }

    /// The note of a commit.
    pub fn note(&self, commit: &str) -> Option<String> {
        let out = self.run(&["notes", "--ref", NOTES, "show", commit]).ok()?;
        Some(String::from_utf8_lossy(&out).into_owned())
    }

    /// The folder git takes this repository's hooks from, as the user configured it.
    pub fn hooks_folder(&self) -> Result<PathBuf, GitError> {
        let words = ["rev-parse", "--git-path", "hooks"];
        let output = Command::new("git")
            .args(words)
            .current_dir(self.top())
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .stdin(Stdio::null())
            .output()
            .map_err(GitError::Start)?;
        let out = finished(&words, output)?;
        Ok(self.top().join(String::from_utf8_lossy(&out).trim_end_matches('\n')))
    }

    /// The folder that holds what all working trees of the repository share.
    pub fn common_folder(&self) -> Result<PathBuf, GitError> {
        let out = self.run(&["rev-parse", "--git-common-dir"])?;
        Ok(self.top().join(String::from_utf8_lossy(&out).trim_end_matches('\n')))
    }
}
