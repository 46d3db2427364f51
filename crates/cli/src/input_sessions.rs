//! What a command that takes many sessions is about: ids, files, folders and projects by name, or
//! everything there is.

use crate::args::GlobalArguments;
use crate::error::CliError;
use crate::select::{Scope, Selection, as_path, no_sessions, refuse_other_files};
use crate::ui;
use backstory_agents::{Kept, reader};
use backstory_model::{Agent, AgentFile, Notice, SessionFiles};
use backstory_session::discover::{ProjectScope, Root, discover, once_each};
use backstory_session::select::SessionRef;
use backstory_store::Store;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Sessions, and subagents whose session is not there; each once, in order of paths.
#[derive(Debug, Default)]
pub(crate) struct InputSessions {
    pub(crate) sessions: Vec<SessionFiles>,
    pub(crate) agents: Vec<AgentFile>,
    pub(crate) notices: Vec<Notice>,
    /// Where was looked; empty when only files and folders were named.
    pub(crate) roots: Vec<Root>,
    /// What they are read through.
    pub(crate) store: Store,
}

impl InputSessions {
    /// Finds what the user named, or everything.
    pub(crate) fn named(
        names: &[String],
        global: &GlobalArguments,
    ) -> Result<InputSessions, CliError> {
        let mut inputs = InputSessions { store: global.store.clone(), ..InputSessions::default() };
        let mut ids = Vec::new();
        let mut projects = Vec::new();
        for name in names {
            if !Path::new(name).exists() && as_path(name).is_none() {
                ids.push(name);
            } else if !inputs.add_place(name, global)? {
                projects.push(PathBuf::from(name));
            }
        }
        if names.is_empty() || !ids.is_empty() || !projects.is_empty() {
            let selection = Selection::find(global, &[], Scope::All)?;
            for id in ids {
                inputs.add(selection.resolve(id)?);
            }
            for project in projects {
                inputs.add_project(&selection, &project)?;
            }
            if names.is_empty() {
                inputs.sessions.extend(selection.found.sessions);
                inputs.agents.extend(selection.found.stray_agents);
                inputs.notices.extend(selection.found.notices);
            }
            inputs.roots = selection.roots;
        }
        once_each(&mut inputs.sessions, &mut inputs.agents);
        Ok(inputs)
    }

    /// Omits sessions of other agents, and says so: the command is about what only this agent's
    /// files hold. An error if nothing is left.
    pub(crate) fn keep_only(
        &mut self,
        agent: Agent,
        global: &GlobalArguments,
    ) -> Result<(), CliError> {
        let mut others: BTreeMap<Agent, u64> = BTreeMap::new();
        for files in self.take_others(agent) {
            *others.entry(files.agent).or_default() += 1;
        }
        let listed = others.iter().map(|(agent, count)| format!("{} {count}", agent.title()));
        let listed = listed.collect::<Vec<_>>().join(", ");
        match (others.is_empty(), self.is_empty()) {
            (true, true) => Err(self.nothing()),
            (true, false) => Ok(()),
            (false, true) => Err(CliError::not_found(format!(
                "no session of {}, whose files alone can be looked into ({listed})",
                agent.title()
            ))
            .hint("name another place with --root DIR")),
            (false, false) => {
                if !global.quiet {
                    ui::say(&format!("sessions of other agents are left out: {listed}"));
                }
                Ok(())
            }
        }
    }

    /// Takes the sessions of agents other than this one away.
    pub(crate) fn take_others(&mut self, agent: Agent) -> Vec<SessionFiles> {
        let all = std::mem::take(&mut self.sessions);
        let (own, others) = all.into_iter().partition(|files| files.agent == agent);
        self.sessions = own;
        others
    }

    /// The error for there being none of them.
    pub(crate) fn nothing(&self) -> CliError {
        no_sessions(&self.roots, &self.notices)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.agents.is_empty()
    }

    /// All of it, sessions first.
    pub(crate) fn chosen(&self) -> Vec<SessionRef<'_>> {
        let sessions = self.sessions.iter().map(SessionRef::Session);
        sessions.chain(self.agents.iter().map(SessionRef::Agent)).collect()
    }

    fn add(&mut self, chosen: SessionRef<'_>) {
        match chosen {
            SessionRef::Session(files) => self.sessions.push(files.clone()),
            SessionRef::Agent(file) => self.agents.push(file.clone()),
        }
    }

    /// Adds what a file or folder holds; false for a folder that is perhaps a project: it has no
    /// sessions, or only those of an agent that writes into the project.
    fn add_place(&mut self, name: &str, global: &GlobalArguments) -> Result<bool, CliError> {
        let path = Path::new(name);
        refuse_other_files(path, global)?;
        let found = discover(&[Root { path: path.to_path_buf() }], &self.store);
        if found.sessions.is_empty() && found.stray_agents.is_empty() {
            if path.is_dir() && found.notices.is_empty() {
                return Ok(false);
            }
            if !path.is_dir() {
                return Err(CliError::new(format!("`{name}`: not a session file")));
            }
        }
        let kept_apart = |files: &SessionFiles| reader(files.agent).kept() == Kept::Apart;
        let is_project = path.is_dir()
            && found.stray_agents.is_empty()
            && !found.sessions.iter().any(kept_apart);
        self.sessions.extend(found.sessions);
        self.agents.extend(found.stray_agents);
        self.notices.extend(found.notices);
        Ok(!is_project)
    }

    /// The sessions of a folder that somebody worked in.
    fn add_project(&mut self, selection: &Selection, path: &Path) -> Result<(), CliError> {
        let inside = selection.found.worked_in(&[ProjectScope::new(path)]);
        let nothing = inside.is_empty();
        self.sessions.extend(inside.into_iter().cloned());
        let lies_here = |files: &SessionFiles| files.path.starts_with(path);
        if nothing && !self.sessions.iter().any(lies_here) {
            return Err(CliError::not_found(format!("`{}`: no sessions", path.display()))
                .hint("`backstory ls --sort project` shows where sessions worked"));
        }
        Ok(())
    }
}
