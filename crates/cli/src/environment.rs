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

/// The user's pager; `less` where none is named, nothing where it is named `cat` or empty.
pub(crate) fn pager() -> Option<String> {
    let named = std::env::var("BACKSTORY_PAGER").or_else(|_| std::env::var("PAGER"));
    let pager = named.unwrap_or_else(|_| "less -RS".to_owned());
    let pager = if pager.trim() == "less" { "less -RS".to_owned() } else { pager };
    (!matches!(pager.trim(), "" | "cat")).then_some(pager)
}

/// The time at which the command runs.
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}
