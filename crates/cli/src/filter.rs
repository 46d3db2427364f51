//! The filters that all commands share, and the repository that they are limited to.

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::CliError;
use crate::times;
use crate::ui;
use backstory_agents as agents;
use backstory_model::Agent;
use backstory_session::discover::{ProjectScope, repository_top};
use backstory_session::select::Filter;
use backstory_text::figures::counted;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::{Path, PathBuf};

/// Which sessions a command is about.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArguments {
    /// Only what happened since then (2026-01-31, 7d, yesterday)
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,

    /// Only what happened before then; a date includes that day
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,

    /// Only sessions that worked in this folder or its worktrees; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) project: Vec<PathBuf>,

    /// Only sessions that ended on this git branch
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,

    /// Only sessions in which a model with this in its name answered
    #[arg(long, value_name = "TEXT")]
    pub(crate) model: Option<String>,

    /// Only sessions of this agent
    #[arg(long, value_name = "AGENT", value_parser = agent_names())]
    pub(crate) agent: Option<String>,

    /// Only sessions with this in their title (case does not matter)
    #[arg(long, value_name = "TEXT", alias = "grep-title")]
    pub(crate) title: Option<String>,
}

fn agent_names() -> PossibleValuesParser {
    PossibleValuesParser::new(agents::all().map(Agent::name))
}

/// The sessions that a command may take.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    /// What the user asked for.
    pub(crate) filter: Filter,
    /// The repository that names mean, if there is one: its top folder.
    repository: Option<PathBuf>,
    /// Other clones of this repository, whose sessions count as its own.
    pub(crate) clones: Vec<ProjectScope>,
    /// The agents whose sessions the command can handle; all if none is named.
    only: Vec<Agent>,
}

impl FilterArguments {
    /// The sessions of the repository of the current folder, or all.
    pub(crate) fn choice(&self, global: &GlobalArguments) -> Result<Choice, CliError> {
        self.choice_in(Path::new("."), global)
    }

    /// The sessions of the repository that contains `folder`, or all.
    pub(crate) fn choice_in(
        &self,
        folder: &Path,
        global: &GlobalArguments,
    ) -> Result<Choice, CliError> {
        let wide = global.everywhere || !global.root.is_empty() || !self.project.is_empty();
        let repository = if wide { None } else { repository_top(folder) };
        Ok(Choice { repository, ..self.anywhere()? })
    }

    /// All sessions, wherever the command runs.
    pub(crate) fn anywhere(&self) -> Result<Choice, CliError> {
        let now = environment::now();
        let since = self.since.as_ref().map(|text| {
            times::parse(text, now).map_err(|cause| times::wrong("--since", text, cause))
        });
        let until = self.until.as_ref().map(|text| {
            times::parse_until(text, now).map_err(|cause| times::wrong("--until", text, cause))
        });
        let filter = Filter {
            scopes: self.project.iter().map(|path| project_scope(path)).collect(),
            since: since.transpose()?,
            until: until.transpose()?,
            branch: self.branch.clone(),
            model: self.model.clone(),
            agents: self.agent.as_deref().and_then(agents::named).into_iter().collect(),
            title: self.title.clone(),
        };
        Ok(Choice { filter, ..Choice::default() })
    }
}

impl Choice {
    /// The same for a command that can handle the sessions of these agents only: `latest` skips the
    /// others.
    pub(crate) fn only(self, agents: impl IntoIterator<Item = Agent>) -> Choice {
        Choice { only: agents.into_iter().collect(), ..self }
    }

    /// The same without the limit to a repository.
    pub(crate) fn everywhere(self) -> Choice {
        Choice { repository: None, ..self }
    }

    /// The filter of sessions that were not named one by one.
    pub(crate) fn of_unnamed(&self) -> Filter {
        let mut filter = self.filter.clone();
        if let Some(top) = &self.repository {
            filter.scopes.push(ProjectScope::new(top));
            filter.scopes.extend(self.clones.iter().cloned());
        }
        filter
    }

    /// The filter of sessions that `latest` counts.
    pub(crate) fn of_latest(&self) -> Filter {
        let mut filter = self.of_unnamed();
        if filter.agents.is_empty() {
            filter.agents.clone_from(&self.only);
        }
        filter
    }

    /// Says that only the sessions of a repository are meant, if so.
    pub(crate) fn tell(&self, global: &GlobalArguments) {
        if let Some(top) = self.repository.as_deref().filter(|_| !global.quiet) {
            let top = ui::short_path(&top.to_string_lossy());
            ui::say(&format!("limited to the repository {top}; all projects: --everywhere (-a)"));
        }
    }

    /// The error for there being none of these among `all` sessions.
    pub(crate) fn none_of(&self, all: usize) -> CliError {
        let all = counted(all as u64, "session", "sessions");
        match (&self.repository, self.filter.is_empty()) {
            (Some(top), true) => {
                let top = ui::short_path(&top.to_string_lossy());
                CliError::not_found(format!("no session worked in the repository {top}"))
                    .hint(format!("--everywhere (-a) takes all projects: {all}"))
            }
            (Some(top), false) => {
                let top = ui::short_path(&top.to_string_lossy());
                CliError::not_found(format!("no session of the repository {top} matches")).hint(
                    format!("leave out a filter; --everywhere (-a) takes all projects: {all}"),
                )
            }
            (None, true) if !self.only.is_empty() => {
                let agents: Vec<&str> = self.only.iter().map(|agent| agent.title()).collect();
                let agents = agents.join(", ");
                CliError::not_found(format!("no session of {agents} among {all}"))
                    .hint(format!("this command handles sessions of {agents} only"))
            }
            (None, _) => {
                let error = CliError::not_found(format!("none of {all} matches"));
                if self.filter.scopes.is_empty() {
                    error.hint("leave out a filter")
                } else {
                    error.hint("backstory ls -a --sort project shows where sessions worked")
                }
            }
        }
    }
}

/// The scope of a project's folder as typed: a repository if it is the current folder, as with git.
pub(crate) fn project_scope(path: &Path) -> ProjectScope {
    let place = std::fs::canonicalize(path).ok();
    let here = std::fs::canonicalize(".").ok();
    let repository = if place.is_some() && place == here {
        ProjectScope::repository(Path::new("."))
    } else {
        None
    };
    repository.unwrap_or_else(|| ProjectScope::new(path))
}
