//! Errors as the user sees them: what failed, why, and what to type instead.

use crate::quote::quoted;
use backstory_model::{Notice, NoticeKind};
use backstory_session::render::RenderError;
use backstory_store::{GitError, OutputError, StoreError};
use std::process::ExitCode;

/// How a command that did its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// There was something to say.
    Fine,
    /// Nothing matched.
    Nothing,
    /// There is something to look at: exit 1, for scripts.
    Findings,
    /// Something could not be read or written.
    Incomplete,
    /// Whatever a command that was run for the user ended with.
    Code(u8),
}

impl Outcome {
    /// How it ended given what is missing: what could not be read weighs more than what the rest
    /// says, since it could have said anything.
    pub(crate) fn given(self, missing: &[Notice]) -> Outcome {
        match self {
            Outcome::Code(_) => self,
            _ if has_failed(missing) => Outcome::Incomplete,
            _ => self,
        }
    }
}

fn has_failed(missing: &[Notice]) -> bool {
    missing.iter().any(|notice| notice.kind == NoticeKind::Failed)
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        match outcome {
            Outcome::Fine => ExitCode::SUCCESS,
            Outcome::Nothing | Outcome::Findings => ExitCode::from(1),
            Outcome::Incomplete => ExitCode::from(2),
            Outcome::Code(code) => ExitCode::from(code),
        }
    }
}

/// A command that could not do its work.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) message: String,
    /// Lines that show the place, below the message.
    pub(crate) place: Vec<String>,
    pub(crate) hints: Vec<String>,
    pub(crate) kind: ErrorKind,
}

/// What sort of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// It could not be done: exit 2.
    Failed,
    /// Nothing by that name: exit 1.
    NotFound,
    /// The reader of our output went away: exit 0.
    ClosedPipe,
}

impl CliError {
    pub(crate) fn new(message: impl Into<String>) -> CliError {
        let (message, kind) = (message.into(), ErrorKind::Failed);
        CliError { message, place: Vec::new(), hints: Vec::new(), kind }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> CliError {
        CliError { kind: ErrorKind::NotFound, ..CliError::new(message) }
    }

    /// The same given what is missing: it may stand in what could not be read.
    pub(crate) fn given(self, missing: &[Notice]) -> CliError {
        if has_failed(missing) { self.into_failure() } else { self }
    }

    /// The same where there being nothing means that the work could not be done.
    pub(crate) fn into_failure(self) -> CliError {
        let kind = match self.kind {
            ErrorKind::NotFound => ErrorKind::Failed,
            kind => kind,
        };
        CliError { kind, ..self }
    }

    /// The same, with what it is about in front.
    pub(crate) fn about(mut self, what: &str) -> CliError {
        self.message = format!("{what}: {}", self.message);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> CliError {
        self.hints.push(hint.into());
        self
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> CliError {
        CliError::new(error.to_string())
    }
}

impl From<GitError> for CliError {
    fn from(error: GitError) -> CliError {
        let hint = match &error {
            GitError::Start(_) => "is git installed?".to_owned(),
            GitError::Failed { .. } => {
                "`git log` in that folder shows what git itself says".to_owned()
            }
            GitError::Silent(_) => "look whether `git log` hangs there (a file that its \
                configuration includes may be a pipe)\n\
                if git is only slow there: BACKSTORY_GIT_TIMEOUT=300 backstory …"
                .to_owned(),
            GitError::NotOwned { top } => {
                let top = quoted(top.as_os_str());
                format!("if you trust it: git config --global --add safe.directory {top}")
            }
            GitError::Missing(id) => format!(
                "`git cat-file -p {id}` gets it in a partial clone; `git fsck` lists what is missing"
            ),
            GitError::NoCommit => "git log --oneline --all lists commits".to_owned(),
            GitError::NoFile { path, .. } => {
                format!("git log --oneline --all -- {} lists commits of it", quoted(path.as_ref()))
            }
        };
        CliError::new(error.to_string()).hint(hint)
    }
}

impl From<OutputError> for CliError {
    fn from(error: OutputError) -> CliError {
        let plain = CliError::new(error.to_string());
        match error {
            OutputError::Foreign { .. } => plain.hint("name another folder, or move the file away"),
            OutputError::Manifest { .. } | OutputError::Guard(_) => {
                plain.hint("name another folder")
            }
            _ => plain,
        }
    }
}

impl From<RenderError> for CliError {
    fn from(error: RenderError) -> CliError {
        match error {
            RenderError::Write(error) => error.into(),
            RenderError::Read(error) => error.into(),
        }
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> CliError {
        let kind = match error.kind() {
            std::io::ErrorKind::BrokenPipe => ErrorKind::ClosedPipe,
            _ => ErrorKind::Failed,
        };
        CliError { kind, ..CliError::new(format!("writing output: {error}")) }
    }
}

impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> CliError {
        match error.io_error_kind() {
            Some(std::io::ErrorKind::BrokenPipe) => {
                CliError { kind: ErrorKind::ClosedPipe, ..CliError::new("") }
            }
            _ => CliError::new(format!("writing JSON: {error}")),
        }
    }
}
