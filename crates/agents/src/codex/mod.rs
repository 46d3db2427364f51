//! OpenAI Codex: one rollout file per thread, JSON lines, packed with Zstandard when it is old.
//!
//! A rollout says the same thing twice: as `response_item` (what the model said) and as `event_msg`
//! (what the screen showed). Items count; an event adds only what no item holds. Which items are
//! one message is nowhere written before `token_usage_record` (0.16x), so the token counts decide,
//! and where there are none, results.

mod agent;
mod events;
mod legacy;
mod parent_thread;
mod patch;
mod rollout;
mod script;
mod values;

use crate::common::Draft;
use agent::AGENT;
pub(crate) use agent::Codex;
use backstory_format::{ProblemId, Totals, read_all};
use backstory_model::SessionFiles;
use backstory_model::{FileFacts, Session};
use backstory_store::{ReadContext, Source, StoreError, is_packed, read_file};
use rollout::Rollout;

/// Reads a rollout, with what it continues in another file.
fn read(files: &SessionFiles, context: &mut ReadContext) -> Result<Session, StoreError> {
    let path = &files.path;
    if path.extension().is_some_and(|end| end == "json") {
        return legacy::read(files, &context.store);
    }
    let draft = |source| Draft::new(AGENT, files.id.clone(), source);
    let (mut rollout, totals, modified) = if is_packed(path)? {
        let loaded = context.store.load(path, None)?;
        let mut rollout = Rollout::new(draft(loaded.source(path)));
        let totals = read_all(&loaded.bytes, context.store.limits(), &mut rollout);
        (rollout, totals, loaded.state.modified)
    } else {
        let source = Source::new(path, None, &context.store);
        let read = read_file(path, context, || Rollout::new(draft(source.clone())))?;
        let mut rollout = read.visitor;
        rollout.draft.session.source = Source::new(path, Some(read.state), &context.store);
        if read.growing {
            rollout.draft.session.problems.remove(ProblemId::TornTail);
        }
        (rollout, read.totals, read.state.modified)
    };
    let base = rollout.base.take();
    let mut session = rollout.finish();
    session.file = facts(totals, modified);
    if let Some(base) = base {
        parent_thread::put_before(&mut session, base, path, &context.store);
    }
    Ok(session)
}

fn facts(totals: Totals, modified: Option<jiff::Timestamp>) -> FileFacts {
    FileFacts {
        bytes: totals.bytes,
        lines: totals.lines,
        blank_lines: totals.blank_lines,
        bad_lines: totals.bad_lines,
        records: totals.records,
        modified,
    }
}
