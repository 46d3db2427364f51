//! The surroundings: environment variables and the clock. Nothing else in the project reads them.
#![expect(clippy::disallowed_methods, reason = "this is the one place that may")]

use backstory_session::discover::Root;
use jiff::Timestamp;
use std::path::PathBuf;
use std::time::Duration;

/// The folders a user's agents write to when no root is named.
pub(crate) fn default_roots() -> Vec<Root> {
    let named = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty());
    let home = home();
    let below = |path: &str| home.as_ref().map(|home| home.join(path));
    let claude = named("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(|| below(".claude"));
    let codex = named("CODEX_HOME").map(PathBuf::from).or_else(|| below(".codex"));
    let codex = codex.map(|folder| [folder.join("sessions"), folder.join("archived_sessions")]);
    let mini = named("MSWEA_GLOBAL_CONFIG_DIR").map(PathBuf::from);
    let mut folders: Vec<PathBuf> = claude.into_iter().collect();
    folders.extend(codex.into_iter().flatten());
    folders.extend(below(".openhands"));
    folders.extend(below(".cline"));
    for editor in EDITORS {
        folders.extend(below(editor).map(|folder| folder.join(CLINE)));
    }
    folders.extend(mini.or_else(|| below(".config/mini-swe-agent")));
    folders.extend(named("SWE_AGENT_TRAJECTORY_DIR").map(PathBuf::from));
    folders.extend(aider_history());
    // An agent's folder that is not there is no fault; the first is named when there is nothing.
    let mut roots: Vec<Root> = Vec::new();
    for path in folders {
        if roots.is_empty() || path.exists() {
            roots.push(Root { path });
        }
    }
    roots
}

/// The columns of the terminal as the user states them, for terminals that cannot be asked.
pub(crate) fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok().filter(|columns| *columns > 0)
}

/// The folders that belong to agents, whether they hold sessions or not: nothing of ours goes there.
pub(crate) fn agents_folders() -> Vec<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty());
    let variables = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "MSWEA_GLOBAL_CONFIG_DIR"];
    let mut folders: Vec<PathBuf> =
        variables.into_iter().filter_map(named).map(PathBuf::from).collect();
    let own = [".claude", ".codex", ".openhands", ".cline", ".config/mini-swe-agent"];
    let editors = EDITORS.map(|editor| format!("{editor}/{CLINE}"));
    let below = own.into_iter().chain(editors.iter().map(String::as_str));
    folders
        .extend(home().into_iter().flat_map(|home| below.clone().map(move |path| home.join(path))));
    folders
}

/// Where editors keep their settings, below the home folder.
const EDITORS: [&str; 3] =
    [".config/Code", "Library/Application Support/Code", "AppData/Roaming/Code"];

/// Where Cline keeps tasks below an editor's settings.
const CLINE: &str = "User/globalStorage/saoudrizwan.claude-dev";

/// Aider writes into the project: here, or at the top of the repository.
fn aider_history() -> Option<PathBuf> {
    const NAME: &str = ".aider.chat.history.md";
    let named = std::env::var_os("AIDER_CHAT_HISTORY_FILE").filter(|path| !path.is_empty());
    let here = std::env::current_dir().ok();
    let top = here.as_ref().and_then(|here| here.ancestors().find(|up| up.join(".git").exists()));
    let places = [here.as_deref(), top].into_iter().flatten().map(|folder| folder.join(NAME));
    named.map(PathBuf::from).into_iter().chain(places).find(|path| path.is_file())
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

/// The user's pager; none if it was switched off or would only print.
pub(crate) fn pager() -> Option<String> {
    let named = ["BACKSTORY_PAGER", "PAGER"].iter().find_map(|name| std::env::var(name).ok());
    let pager = named.unwrap_or_else(|| "less".to_owned());
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

/// What pagers need to show colours and to leave short output on the screen.
pub(crate) fn pager_defaults() -> Vec<(&'static str, &'static str)> {
    let unset = |name: &str| std::env::var_os(name).is_none();
    [("LESS", "FRX"), ("LV", "-c")].into_iter().filter(|(name, _)| unset(name)).collect()
}

/// This program, for commands that others are to run.
pub(crate) fn this_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}
