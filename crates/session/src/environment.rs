//! Where the agents of this user keep their sessions.
//!
//! This is the only module of the library that reads the environment: the home folder, the current
//! folder, and the variables with which agents are moved to other folders. Everything else takes the
//! folders as arguments ([`Sessions::open`](crate::Sessions::open)), and nothing in the library reads
//! the clock. The variables are `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `MSWEA_GLOBAL_CONFIG_DIR`,
//! `SWE_AGENT_TRAJECTORY_DIR` and `AIDER_CHAT_HISTORY_FILE`.
#![expect(clippy::disallowed_methods, reason = "a default needs to know where the home folder is")]

use crate::discover::Root;
use std::path::PathBuf;

/// The folders that the user's agents write sessions to: those that exist, and the first of all if
/// none does.
pub fn default_roots() -> Vec<Root> {
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
    // A missing folder is not a fault; the first is named when there is nothing.
    let mut roots: Vec<Root> = Vec::new();
    for path in folders {
        if roots.is_empty() || path.exists() {
            roots.push(Root { path });
        }
    }
    roots
}

/// The folders that belong to agents, with or without sessions. Nothing may be written there.
pub fn agents_folders() -> Vec<PathBuf> {
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
pub fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|path| !path.as_os_str().is_empty())
}
