//! `backstory capture --hook`: the session that the agent itself names.

use super::writer::CaptureWriter;
use crate::commands::show;
use crate::error::CliError;
use jiff::Timestamp;
use serde::Deserialize;
use std::io::Read as _;

/// The input of a hook; other fields are not needed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HookInput {
    session_id: Option<String>,
    transcript_path: Option<String>,
    hook_event_name: Option<String>,
}

const LARGEST_INPUT: u64 = 1 << 20;

pub(super) fn capture(writer: &CaptureWriter<'_>, now: Timestamp) -> Result<(), CliError> {
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
    let path = input.transcript_path.filter(|path| std::path::Path::new(path).is_file());
    let wanted = path
        .or(input.session_id)
        .ok_or_else(|| CliError::new("the hook names neither a transcript nor a session"))?;
    writer.log(&format!("session {wanted}"));
    let mut shown = show::find_cleared(&wanted, writer.global, writer.redactor.as_ref())?;
    let out = shown.guard.folder(writer.out)?;
    let written = writer.write(&out, &[shown.into()], None, &[], now)?;
    writer.log(&format!("wrote {}", written.join(", ")));
    writer.prune(&out, now)
}
