//! A session's row from the head and the tail of its file.
//!
//! The client repeats titles, the last prompt and the mode at the end of the file whenever it
//! stops, so for files of clients that do this the two ends decide. Where they do not (no such
//! record in the tail, an old client whose `summary` lines may stand anywhere, a long record that
//! fills a whole end) the file is read whole, so that this never says anything the full reading
//! would not.

use super::Summary;
use crate::agents::claude_code;
use crate::model::{Agent, SessionKind};
use crate::store::{SessionFiles, StoreError, read_range};
use backstory_format::Limits;

/// Bytes read at each end; the same as the official reader.
const END: u64 = 64 << 10;

/// Reads the two ends, or all of the file where they do not suffice.
pub fn peek(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<Summary, StoreError> {
    let (head, state) = read_range(&files.path, 0, END)?;
    let tail_start = state.size.saturating_sub(END).max(head.len() as u64);
    let (tail, _) = read_range(&files.path, tail_start, state.size)?;
    let gap = tail_start > head.len() as u64;
    let seen = match claude_code::glance(&head, &tail, gap) {
        Some(glance) => glance,
        None => {
            let whole = claude_code::read_alone(files, limits, buffer)?;
            return Ok(Summary { full: None, ..Summary::of(&whole) });
        }
    };
    Ok(Summary {
        agent: Agent::ClaudeCode,
        kind: SessionKind::Session,
        id: files.id.clone(),
        path: files.path.clone(),
        project_key: files.project_key.clone(),
        cwd: seen.cwd,
        title: seen.title,
        branch: seen.branch,
        started: seen.started,
        ended: seen.ended,
        modified: state.modified,
        bytes: state.size,
        full: None,
    })
}
