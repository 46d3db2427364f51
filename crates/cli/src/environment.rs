//! The surroundings: environment variables and the clock. Nothing else in the project reads them.
#![expect(clippy::disallowed_methods, reason = "this is the one place that may")]

use backstory_session::store::Root;
use jiff::Timestamp;
use std::path::PathBuf;

/// The folder a user's agents write to when no root is named.
pub(crate) fn default_roots() -> Vec<Root> {
    let configured = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|path| !path.is_empty());
    let folder = configured.map(PathBuf::from).or_else(|| home().map(|home| home.join(".claude")));
    folder.into_iter().map(|path| Root { path }).collect()
}

/// The user's home folder.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|path| !path.as_os_str().is_empty())
}

/// Where this program keeps what it must remember.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let configured = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let configured = configured.filter(|path| path.is_absolute());
    let folder = configured.or_else(|| home().map(|home| home.join(".local").join("state")));
    folder.map(|folder| folder.join("backstory"))
}

/// The time at which the command runs.
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// The user's pager; none if it was switched off or would only print.
pub(crate) fn pager() -> Option<String> {
    let named = ["BACKSTORY_PAGER", "PAGER"].iter().find_map(|name| std::env::var(name).ok());
    let pager = named.unwrap_or_else(|| "less".to_owned());
    let pager = pager.trim();
    (!pager.is_empty() && pager != "cat").then(|| pager.to_owned())
}

/// What pagers need to show colours and to leave short output on the screen.
pub(crate) fn pager_defaults() -> Vec<(&'static str, &'static str)> {
    let unset = |name: &str| std::env::var_os(name).is_none();
    [("LESS", "FRX"), ("LV", "-c")].into_iter().filter(|(name, _)| unset(name)).collect()
}

/// This program, for commands that others are to run.
pub(crate) fn this_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}
