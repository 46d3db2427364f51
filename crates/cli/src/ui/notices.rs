//! Files that were skipped, reported once a command is done.

use super::{WARN, write_stderr};
use backstory_model::{Notice, NoticeKind};
use backstory_text::escape::terminal_line;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

static VERBOSE: AtomicBool = AtomicBool::new(false);
static SKIPPED: Mutex<Vec<Notice>> = Mutex::new(Vec::new());

/// Whether each skipped file is named.
pub(crate) fn set_verbose(verbose: bool) {
    VERBOSE.store(verbose, Ordering::Relaxed);
}

/// Notes files that were skipped.
pub(crate) fn notices(notices: &[Notice]) {
    let mut skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    skipped.extend_from_slice(notices);
}

/// Reports each once: one line for all, or a line for each if the user wants that or there is only one.
pub(super) fn report_skipped() {
    let mut skipped = std::mem::take(&mut *SKIPPED.lock().unwrap_or_else(PoisonError::into_inner));
    skipped.sort_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
    skipped.dedup();
    if skipped.len() <= 1 || VERBOSE.load(Ordering::Relaxed) {
        for notice in &skipped {
            let path = notice.path.to_string_lossy();
            let (path, reason) = (terminal_line(&path), terminal_line(&notice.reason));
            write_stderr(format_args!("{WARN}skipped{WARN:#}: `{path}`: {reason}\n"));
        }
        return;
    }
    let failed = skipped.iter().filter(|notice| notice.kind == NoticeKind::Failed).count();
    let failed = match failed {
        0 => String::new(),
        failed => format!(", {failed} of them unreadable"),
    };
    write_stderr(format_args!(
        "{WARN}skipped{WARN:#}: {} files{failed}; --verbose lists them\n",
        skipped.len()
    ));
}
