//! A session's row from the head and the tail of its file.
//!
//! The client repeats titles and the last prompt at the end of the file whenever it stops, so for
//! files of clients that do this the two ends decide. Where they do not, the middle is searched
//! (not read) for records that could give a title; only if there are any, or if an end is filled
//! by one long record, the file is read whole. So this never says anything the full reading would
//! not.

use crate::agent::AGENT;
use crate::quick_summary::{LONGEST_TITLE_MARKER, find_title, quick_summary};
use crate::read_alone;
use backstory_model::{SessionFiles, SessionKind, Summary};
use backstory_store::{Ends, ReadContext, StoreError};

/// Bytes read at the start: enough for most files to be read whole at once.
const HEAD: u64 = 128 << 10;
/// Bytes read at the end; the same as the official reader.
const TAIL: u64 = 64 << 10;

/// Files up to this size are held in memory where their ends do not suffice.
const WHOLE: u64 = 16 << 20;

/// Reads the two ends, or all of the file where they do not suffice.
pub fn summary(files: &SessionFiles, context: &mut ReadContext) -> Result<Summary, StoreError> {
    let ReadContext { buffer: head, tail, .. } = context;
    let ends = Ends::open(&files.path)?;
    let state = ends.state;
    ends.read(0, HEAD, head)?;
    let tail_start = state.size.saturating_sub(TAIL).max(head.len() as u64);
    let gap = state.size > head.len() as u64;
    ends.read(tail_start, state.size, tail)?;
    let middle = || {
        let start = head.len() as u64;
        let found =
            ends.any(start, tail_start, LONGEST_TITLE_MARKER, |part| find_title(part).is_some());
        found.unwrap_or(true)
    };
    let mut seen = quick_summary(head, tail, gap, middle);
    if seen.is_none() && state.size <= WHOLE {
        ends.read(0, state.size, head)?;
        seen = quick_summary(head, &[], false, || false);
        head.shrink_to(HEAD as usize);
    }
    let Some(seen) = seen else {
        let whole = read_alone(files, context)?;
        return Ok(Summary { full: None, ..Summary::of(&whole) });
    };
    Ok(Summary {
        agent: AGENT,
        kind: SessionKind::Session,
        id: files.id.clone(),
        path: files.path.clone(),
        project_key: files.project_key.clone(),
        cwd: seen.cwd,
        title: seen.title,
        branch: seen.branch,
        started: seen.started,
        ended: seen.ended,
        forked: seen.forked,
        modified: state.modified,
        bytes: state.size,
        full: None,
    })
}
