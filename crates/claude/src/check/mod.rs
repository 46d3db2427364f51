//! Fsck for sessions: what is wrong with a session's files, and would it resume.
//!
//! Faults of single records come from `format` ([`ProblemId`](backstory_format::ProblemId)); what
//! only shows in the whole (would the client find its way, would the API take the request) has
//! [`CheckId`]s. Both lists share one name space, so that every name can be explained. What a
//! resume does was measured with the real client; the texts of [`CheckId`] say with which release.
//! The checks themselves are in [`rules`].

mod explain;
mod explain_format;
mod ids;
mod report;
pub(crate) mod rules;

pub use explain::Explanation;
pub use ids::{CheckId, Id};
pub use report::{Effect, FileReport, Finding, Findings, Group, Report, Resume, Verdict};

use backstory_model::{AgentFile, SessionFiles};
use backstory_store::{ReadContext, StoreError};

/// Checks a session with all its subagents. Changes nothing.
///
/// An agent's file that cannot be read is left out and returned next to the report.
pub fn session(
    files: &SessionFiles,
    context: &mut ReadContext,
) -> Result<(Report, Vec<StoreError>), StoreError> {
    rules::check_session(files, context)
}

/// Checks a subagent's file whose session is not there.
pub fn stray_agent(file: &AgentFile, context: &mut ReadContext) -> Result<Report, StoreError> {
    rules::check_stray(file, context)
}
