//! Where the agents of this user keep their sessions.
//!
//! This is the only module of the library that reads the environment: the home folder, the current
//! folder, and the variables with which agents are moved to other folders, which their readers name.
//! Everything else takes the folders as arguments ([`Sessions::open`](crate::Sessions::open)), and
//! nothing in the library reads the clock.
#![expect(clippy::disallowed_methods, reason = "a default needs to know where the home folder is")]

use crate::discover::Root;
use backstory_agents::{self as agents, Home, Surroundings};
use backstory_model::Agent;
use std::path::PathBuf;

/// The folders that the user's agents write sessions to: those that exist, and the first of all if
/// none does.
pub fn default_roots() -> Vec<Root> {
    let folders = homes(agents::homes).into_iter().flat_map(|home| home.sessions);
    // A missing folder is not a fault; the first is named when there is nothing.
    let mut roots: Vec<Root> = Vec::new();
    for path in folders {
        if roots.is_empty() || path.exists() {
            roots.push(Root { path });
        }
    }
    roots
}

/// Every folder that sessions are looked for in, existing or not.
pub fn searched_places() -> Vec<Root> {
    let folders = homes(agents::homes).into_iter().flat_map(|home| home.sessions);
    let mut places: Vec<Root> = Vec::new();
    for path in folders {
        if !places.iter().any(|place| place.path == path) {
            places.push(Root { path });
        }
    }
    places
}

/// The folders that belong to agents, with or without sessions. Nothing may be written there.
pub fn agents_folders() -> Vec<PathBuf> {
    homes(agents::homes).into_iter().map(|home| home.path).collect()
}

/// The home of one agent.
pub fn home_of(agent: Agent) -> Option<PathBuf> {
    homes(|around| agents::reader(agent).homes(around)).into_iter().next().map(|home| home.path)
}

/// The user's home folder.
pub fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|path| !path.as_os_str().is_empty())
}

fn homes(of: impl Fn(&Surroundings<'_>) -> Vec<Home>) -> Vec<Home> {
    let (home, here) = (home(), std::env::current_dir().ok());
    let variable = |name: &str| std::env::var_os(name);
    of(&Surroundings { home: home.as_deref(), here: here.as_deref(), variable: &variable })
}
