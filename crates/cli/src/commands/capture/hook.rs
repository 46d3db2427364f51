//! `backstory capture --hook`: the session that the agent itself names.
//!
//! The folder in which the session began decides each time whether it is captured: a hook may be in
//! settings that count for every project, and its traces in a repository that is pushed.

use super::trace::Tracer;
use crate::commands::show;
use crate::error::CliError;
use crate::filter::Choice;
use crate::select::Selection;
use backstory_agents as agents;
use backstory_session::discover::ProjectScope;
use backstory_session::select::SessionRef;
use jiff::Timestamp;
use serde::Deserialize;
use std::io::Read as _;
use std::path::Path;

/// What an agent tells its hooks; other fields are not needed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    session_id: Option<String>,
    transcript_path: Option<String>,
    cwd: Option<String>,
    hook_event_name: Option<String>,
}

const LARGEST_INPUT: u64 = 1 << 20;

pub(super) fn capture(
    tracer: Tracer<'_>,
    project: Option<&Path>,
    now: Timestamp,
) -> Result<(), CliError> {
    let everywhere = tracer.global.everywhere;
    // Hooks of 0.1.0 name neither, and `--keep 30d` although no user asked for it.
    let keep = tracer.keep.filter(|_| everywhere || project.is_some());
    let tracer = Tracer { keep, ..tracer };
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(LARGEST_INPUT)
        .read_to_string(&mut text)
        .map_err(|error| CliError::new(format!("reading standard input: {error}")))?;
    let told: Told = serde_json::from_str(&text).map_err(|error| {
        CliError::new(format!("standard input is not what a hook gets: {error}"))
    })?;
    tracer.tell(&format!("hook {}", told.hook_event_name.as_deref().unwrap_or("without a name")));
    let path = told.transcript_path.filter(|path| Path::new(path).is_file());
    let wanted = path
        .or(told.session_id)
        .ok_or_else(|| CliError::new("the hook names neither a transcript nor a session"))?;
    tracer.tell(&format!("session {wanted}"));
    let scope = match project {
        _ if everywhere => None,
        Some(project) => Some(ProjectScope::new(project)),
        None => ProjectScope::repository(tracer.out),
    };
    if let Some(scope) = scope {
        let folder = began_in(&wanted, &tracer)?.or(told.cwd);
        if !folder.as_deref().is_some_and(|folder| scope.holds(folder)) {
            let folder = folder.as_deref().unwrap_or("an unknown folder");
            tracer.tell(&format!("not captured: it began in {folder}, outside the project"));
            return Ok(());
        }
    }
    let mut shown =
        show::find_cleared(&wanted, &Choice::default(), tracer.global, tracer.redactor.as_ref())?;
    let out = shown.guard.folder(tracer.out)?;
    tracer.write(&out, &[shown.into()], &[], now)?;
    tracer.prune(&out, now)
}

/// The folder in which a session began, as its own records say.
fn began_in(wanted: &str, tracer: &Tracer<'_>) -> Result<Option<String>, CliError> {
    let (selection, path) = Selection::for_one(wanted, tracer.global)?;
    let mut buffer = Vec::new();
    let session = match selection.one(wanted, path.as_ref(), &Choice::default(), tracer.global)? {
        SessionRef::Session(files) => agents::read_alone(files, selection.limits, &mut buffer)?,
        SessionRef::Agent(file) => agents::read_stray(file, selection.limits, &mut buffer)?,
    };
    Ok(session.cwds.first().map(ToString::to_string))
}
