//! The guard of what a command writes: it knows the agents' folders and what the command reads.

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::CliError;
use backstory_agents as agents;
use backstory_session::discover::Root;
use backstory_session::select::SessionRef;
use backstory_store::{Guard, GuardError};

/// Nothing goes into agents' folders or over what is read: sessions, and where they were looked for.
pub(crate) fn guard(global: &GlobalArguments, roots: &[Root], chosen: &[SessionRef<'_>]) -> Guard {
    let mut guard = agents_guard();
    roots.iter().for_each(|root| guard.protect(&root.path));
    global.root.iter().for_each(|root| guard.protect(root));
    chosen
        .iter()
        .flat_map(|one| one.sources(&global.store))
        .for_each(|source| guard.reads(&source));
    guard
}

/// The same for what is written without reading sessions.
pub(crate) fn agents_guard() -> Guard {
    let mut guard = Guard::of_folders_named(agents::own_folders().map(|folder| folder.name));
    environment::agents_folders().iter().for_each(|folder| guard.protect(folder));
    guard
}

impl From<GuardError> for CliError {
    fn from(error: GuardError) -> CliError {
        let hint = match &error {
            GuardError::AgentsFolder { .. } => "name a place outside it",
            GuardError::Outside { .. } => "name the file itself, or leave it out",
            _ => "name another file",
        };
        CliError::new(error.to_string()).hint(hint)
    }
}
