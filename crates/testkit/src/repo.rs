//! A git repository that no setting of this machine reaches.

use crate::write_file;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository with a branch `main`; every commit says when it was made.
#[derive(Debug)]
pub struct Repo {
    path: PathBuf,
    home: PathBuf,
}

impl Repo {
    /// Makes a repository in a folder that may have files already; git takes its settings from `home`.
    pub fn init(path: &Path, home: &Path) -> Repo {
        let repo = Repo { path: path.to_path_buf(), home: home.to_path_buf() };
        repo.git(&["init", "-q", "-b", "main", "."]);
        repo
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs git, which must succeed, at a time; gives what it prints.
    pub fn git_at(&self, words: &[&str], time: &str) -> String {
        let mut command = Command::new("git");
        command.current_dir(&self.path).env("HOME", &self.home).args(words);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Tester");
            command.env(format!("GIT_{role}_EMAIL"), "tester@example.com");
            command.env(format!("GIT_{role}_DATE"), time);
        }
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub fn git(&self, words: &[&str]) -> String {
        self.git_at(words, "2026-03-01T09:00:00Z")
    }

    /// Commits everything; gives the id.
    pub fn commit(&self, subject: &str, time: &str) -> String {
        self.git_at(&["add", "-A"], time);
        self.git_at(&["commit", "-q", "-m", subject], time);
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn write(&self, name: &str, text: &str) {
        write_file(&self.path.join(name), text.as_bytes());
    }
}
