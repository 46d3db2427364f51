//! The two things that are changed about a repository when asked for: a note and a hook.
//!
//! Notes are written with everything of the repository's configuration switched off, as it is read.
//! Where hooks lie is the one question that git answers with the user's configuration, since that
//! is where it will look for them.

use crate::git::{Git, GitError};
use crate::git_run::{Call, Configuration};
use std::path::PathBuf;

/// The ref that notes are under.
pub const NOTES: &str = "refs/notes/backstory";

impl Git {
    /// Writes the note of a commit, in the place of an earlier one.
    pub fn write_note(&self, commit: &str, text: &str) -> Result<(), GitError> {
        let mut environment: Vec<(String, String)> = Vec::new();
        for role in ["AUTHOR", "COMMITTER"] {
            environment.push((format!("GIT_{role}_NAME"), "backstory".to_owned()));
            environment.push((format!("GIT_{role}_EMAIL"), "backstory@localhost".to_owned()));
        }
        // Newer versions run hooks that the configuration names, whatever folder hooks are in.
        let hooks = self.configured_hooks();
        environment.push(("GIT_CONFIG_COUNT".to_owned(), hooks.len().to_string()));
        for (at, hook) in hooks.iter().enumerate() {
            environment.push((format!("GIT_CONFIG_KEY_{at}"), format!("{hook}.enabled")));
            environment.push((format!("GIT_CONFIG_VALUE_{at}"), "false".to_owned()));
        }
        let words = ["notes", "--ref", NOTES, "add", "--force", "--file=-", commit];
        let call = Call { words: &words, input: text.as_bytes(), environment: &environment };
        self.call(call).map(drop)
    }

    /// Sections `hook.NAME` of the configuration.
    fn configured_hooks(&self) -> Vec<String> {
        let words = ["config", "-z", "--name-only", "--get-regexp", r"^hook\..*\.command$"];
        let out = self.run(&words).unwrap_or_default();
        let out = String::from_utf8_lossy(&out);
        let mut hooks: Vec<String> = out
            .split('\0')
            .filter_map(|key| key.strip_suffix(".command").map(str::to_owned))
            .collect();
        hooks.sort();
        hooks.dedup();
        hooks
    }

    /// The note of a commit.
    pub fn note(&self, commit: &str) -> Option<String> {
        let out = self.run(&["notes", "--ref", NOTES, "show", commit]).ok()?;
        Some(String::from_utf8_lossy(&out).into_owned())
    }

    /// The folder git takes this repository's hooks from, as the user configured it.
    pub fn hooks_folder(&self) -> Result<PathBuf, GitError> {
        let words = ["rev-parse", "--git-path", "hooks"];
        let call = Call { words: &words, input: &[], environment: &[] };
        let out = self.call_as(call, Configuration::Users)?;
        Ok(self.top().join(String::from_utf8_lossy(&out).trim_end_matches('\n')))
    }

    /// The folder that holds what all working trees of the repository share.
    pub fn common_folder(&self) -> Result<PathBuf, GitError> {
        let out = self.run(&["rev-parse", "--git-common-dir"])?;
        Ok(self.top().join(String::from_utf8_lossy(&out).trim_end_matches('\n')))
    }
}
