//! The surroundings of the program: environment variables and the clock. The variables that say where
//! agents keep sessions are read by the library, in `backstory_session::environment`.
#![expect(clippy::disallowed_methods, reason = "this is the place of the program that may")]

pub(crate) use backstory_session::environment::{
    agents_folders, default_roots, home, home_of, searched_places,
};
use jiff::Timestamp;
use std::path::PathBuf;
use std::time::Duration;

/// The columns of the terminal as the user states them, for terminals that cannot be asked.
pub(crate) fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok().filter(|columns| *columns > 0)
}

/// Where this program keeps what it must remember.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let configured = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let configured = configured.filter(|path| path.is_absolute());
    let folder = configured.or_else(|| home().map(|home| home.join(".local").join("state")));
    folder.map(|folder| folder.join("backstory"))
}

/// Where the user keeps settings of this program.
pub(crate) fn config_folder() -> Option<PathBuf> {
    let configured = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let configured = configured.filter(|path| path.is_absolute());
    let folder = configured.or_else(|| home().map(|home| home.join(".config")));
    folder.map(|folder| folder.join("backstory"))
}

/// The time at which the command runs.
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// A variable that the user named as the one that holds a key.
pub(crate) fn key(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|key| key.trim().to_owned()).filter(|key| !key.is_empty())
}

/// How long git may be silent, if the user says so.
pub(crate) fn git_limit() -> Option<Duration> {
    let seconds: f64 = std::env::var("BACKSTORY_GIT_TIMEOUT").ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero())
}

/// The user's pager; none if it was switched off or would only print. The one of the settings goes
/// before that of all programs.
pub(crate) fn pager(configured: Option<&str>) -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok();
    let named = variable("BACKSTORY_PAGER").or_else(|| configured.map(str::to_owned));
    let pager = named.or_else(|| variable("PAGER")).unwrap_or_else(|| "less".to_owned());
    let pager = pager.trim();
    (!pager.is_empty() && pager != "cat" && is_installed(pager)).then(|| pager.to_owned())
}

/// Whether the program that a command begins with is there. A command that begins in another way is
/// left to the shell.
fn is_installed(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+".contains(letter);
    if !program.chars().all(plain) || program.contains('/') {
        return !program.starts_with('/') || PathBuf::from(program).exists();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

/// Programs that open a page, those that the user names first.
pub(crate) fn browsers() -> Vec<String> {
    let named = std::env::var("BROWSER").unwrap_or_default();
    let named = named.split(':').map(str::trim).filter(|name| !name.is_empty());
    let usual = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let all = named.map(str::to_owned).chain([usual.to_owned()]);
    all.filter(|program| is_installed(program)).collect()
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
