//! What a clone must be.

use backstory_claude::check::{self, Verdict};
use backstory_store::ReadContext;
use backstory_testkit::session_at;
use std::path::Path;

pub(crate) fn resumes(path: &Path) -> bool {
    let (report, _) = check::session(&session_at(path), &mut ReadContext::default()).unwrap();
    report.resume.verdict == Verdict::Yes
}
