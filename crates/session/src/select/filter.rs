//! Which sessions a question is about: the filters that all commands share.

use super::folder_inside;
use crate::discover::{Found, ProjectScope};
use backstory_agents as agents;
use backstory_model::{Agent, AgentFile, Notice, SessionFiles, Summary};
use backstory_store::{ReadContext, Store, StoreError};
use jiff::Timestamp;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;

/// Conditions that a session must meet, all of them. Without any it keeps every session.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// It worked in one of these.
    pub scopes: Vec<ProjectScope>,
    /// It was active at this time or later.
    pub since: Option<Timestamp>,
    /// It was last active before this time.
    pub until: Option<Timestamp>,
    /// It ended on this branch.
    pub branch: Option<String>,
    /// A model with this in its name answered; case does not matter.
    pub model: Option<String>,
    /// One of these agents wrote it.
    pub agents: Vec<Agent>,
    /// Its title contains this; case does not matter.
    pub title: Option<String>,
}

impl Filter {
    /// Whether it keeps every session.
    pub fn is_empty(&self) -> bool {
        self.scopes.is_empty()
            && self.since.is_none()
            && self.until.is_none()
            && self.branch.is_none()
            && self.model.is_none()
            && self.agents.is_empty()
            && self.title.is_none()
    }

    /// Whether a folder is in one of the scopes.
    pub fn in_scope(&self, folder: &str) -> bool {
        self.scopes.iter().any(|scope| scope.holds(folder))
    }

    /// Whether a row meets all conditions. A row of a quick reading names one folder only, and no
    /// models.
    pub fn keeps(&self, row: &Summary) -> bool {
        let folders = row.full.as_ref().map_or(&[][..], |full| &full.cwds).iter().chain(&row.cwd);
        (self.scopes.is_empty() || folders.into_iter().any(|folder| self.in_scope(folder)))
            && self.model_answered(row)
            && self.keeps_apart_from_folder_and_model(row)
    }

    fn is_of_agent(&self, agent: Agent) -> bool {
        self.agents.is_empty() || self.agents.contains(&agent)
    }

    fn model_answered(&self, row: &Summary) -> bool {
        self.model.as_ref().is_none_or(|wanted| {
            let models = row.full.iter().flat_map(|full| &full.models);
            models.into_iter().any(|model| contains(model, wanted))
        })
    }

    fn keeps_apart_from_folder_and_model(&self, row: &Summary) -> bool {
        let time = row.last_activity();
        let title = || row.title.as_ref().map_or("", |title| title.text.as_str());
        self.since.is_none_or(|since| time.is_some_and(|time| time >= since))
            && self.until.is_none_or(|until| time.is_some_and(|time| time < until))
            && self.branch.as_ref().is_none_or(|branch| row.branch.as_deref() == Some(branch))
            && self.is_of_agent(row.agent)
            && self.title.as_ref().is_none_or(|wanted| contains(title(), wanted))
    }

    /// Whether a session meets all conditions, reading no more of it than that takes.
    fn keeps_files(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
    ) -> Result<bool, StoreError> {
        if !self.is_of_agent(files.agent) {
            return Ok(false);
        }
        let row = agents::summary(files, context)?;
        if !self.keeps_apart_from_folder_and_model(&row) {
            return Ok(false);
        }
        let known = row.cwd.as_deref().is_some_and(|folder| self.in_scope(folder));
        if !self.scopes.is_empty()
            && !known
            && folder_inside(files, &self.scopes, context).is_none()
        {
            return Ok(false);
        }
        if self.model.is_none() {
            return Ok(true);
        }
        let session = agents::read_alone(files, context)?;
        Ok(self.model_answered(&Summary::of(&session)))
    }

    /// The same of a subagent whose session is gone.
    pub fn keeps_agent(&self, file: &AgentFile, store: &Store) -> Result<bool, StoreError> {
        if self.is_empty() {
            return Ok(true);
        }
        let session = agents::read_stray(file, &mut ReadContext::new(store))?;
        Ok(self.keeps(&Summary::of(&session)))
    }
}

impl Found {
    /// The sessions that meet all conditions of a filter, in order of paths. Those that cannot be
    /// read are kept if there are no conditions, and else become notices.
    pub fn matching(&self, filter: &Filter) -> (Vec<&SessionFiles>, Vec<Notice>) {
        matching(self.sessions.iter().collect(), filter, &self.store)
    }

    /// Of these rows, the first `count` that meet all conditions; each is read only when its turn
    /// comes.
    pub(super) fn first_matching<'f>(
        &'f self,
        rows: &[Summary],
        filter: &Filter,
        count: usize,
    ) -> Vec<&'f SessionFiles> {
        let mut context = ReadContext::new(&self.store);
        let mut places: HashMap<&Path, Vec<&SessionFiles>> = HashMap::new();
        for files in &self.sessions {
            places.entry(&files.path).or_default().push(files);
        }
        let files_of = |row: &Summary| {
            let there = places.get(row.path.as_path())?;
            there.iter().find(|files| files.part.is_none() || files.id == row.id).copied()
        };
        rows.iter()
            .filter_map(files_of)
            .filter(|files| {
                filter.is_empty()
                    || filter.keeps_files(files, &mut context).is_ok_and(|keeps| keeps)
            })
            .take(count)
            .collect()
    }
}

/// Of these sessions, those that meet all conditions.
pub fn matching<'f>(
    sessions: Vec<&'f SessionFiles>,
    filter: &Filter,
    store: &Store,
) -> (Vec<&'f SessionFiles>, Vec<Notice>) {
    if filter.is_empty() {
        return (sessions, Vec::new());
    }
    let results: Vec<Result<bool, StoreError>> = sessions
        .par_iter()
        .map_init(|| ReadContext::new(store), |context, files| filter.keeps_files(files, context))
        .collect();
    let mut kept = Vec::new();
    let mut notices = Vec::new();
    for (files, result) in sessions.into_iter().zip(results) {
        match result {
            Ok(true) => kept.push(files),
            Ok(false) => {}
            Err(error) => notices.push(Notice::from(&error)),
        }
    }
    (kept, notices)
}

fn contains(text: &str, wanted: &str) -> bool {
    text.to_lowercase().contains(&wanted.to_lowercase())
}
