//! `backstory capture --hook`: the session that the agent itself names.
//!
//! The folder in which the session began decides each time whether it is captured: a hook may be in
//! settings that count for every project, and its traces in a repository that is pushed.

use super::writer::CaptureWriter;
use crate::commands::show;
use crate::error::CliError;
use crate::filter::Choice;
use crate::select::Selection;
use backstory_agents as agents;
use backstory_session::discover::ProjectScope;
use backstory_session::select::SessionRef;
use backstory_store::ReadContext;
use jiff::Timestamp;
use serde::Deserialize;
use std::io::Read as _;
use std::path::Path;

/// The input of a hook; other fields are not needed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HookInput {
    session_id: Option<String>,
    transcript_path: Option<String>,
    cwd: Option<String>,
    hook_event_name: Option<String>,
}

const LARGEST_INPUT: u64 = 1 << 20;

pub(super) fn capture(
    writer: CaptureWriter<'_>,
    project: Option<&Path>,
    now: Timestamp,
) -> Result<(), CliError> {
    let everywhere = writer.global.everywhere;
    // Hooks of 0.1.0 name neither, and `--keep 30d` although no user asked for it.
    let keep = writer.keep.filter(|_| everywhere || project.is_some());
    let writer = CaptureWriter { keep, ..writer };
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(LARGEST_INPUT)
        .read_to_string(&mut text)
        .map_err(|error| CliError::new(format!("reading standard input: {error}")))?;
    let input: HookInput = serde_json::from_str(&text).map_err(|error| {
        CliError::new(format!("standard input is not what a hook gets: {error}"))
    })?;
    writer.log(&format!("hook {}", input.hook_event_name.as_deref().unwrap_or("without a name")));
    let path = input.transcript_path.filter(|path| Path::new(path).is_file());
    let wanted = path
        .or(input.session_id)
        .ok_or_else(|| CliError::new("the hook names neither a transcript nor a session"))?;
    writer.log(&format!("session {wanted}"));
    let scope = match project {
        _ if everywhere => None,
        Some(project) => Some(ProjectScope::new(project)),
        None => ProjectScope::repository(writer.out),
    };
    if let Some(scope) = scope {
        let folder = began_in(&wanted, &writer)?.or(input.cwd);
        if !folder.as_deref().is_some_and(|folder| scope.holds(folder)) {
            let folder = folder.as_deref().unwrap_or("an unknown folder");
            writer.log(&format!("not captured: it began in {folder}, outside the project"));
            return Ok(());
        }
    }
    let mut shown =
        show::find_cleared(&wanted, &Choice::default(), writer.global, writer.redactor.as_ref())?;
    let out = shown.guard.folder(writer.out)?;
    writer.write(&out, &[shown.into()], &[], now)?;
    writer.prune(&out, now)
}

/// The folder in which a session began, as its own records say.
fn began_in(wanted: &str, writer: &CaptureWriter<'_>) -> Result<Option<String>, CliError> {
    let (selection, path) = Selection::for_one(wanted, writer.global)?;
    let mut context = ReadContext::new(&writer.global.store);
    let session = match selection.one(wanted, path.as_ref(), &Choice::default(), writer.global)? {
        SessionRef::Session(files) => agents::read_alone(files, &mut context)?,
        SessionRef::Agent(file) => agents::read_stray(file, &mut context)?,
    };
    Ok(session.cwds.first().map(ToString::to_string))
}
