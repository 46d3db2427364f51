//! What there is to take out of an export: learnt from every file of the session before the first
//! byte is written.
//!
//! All of the files, not only what the format has a place for: a password that only a record of
//! bookkeeping shows in clear may stand elsewhere in another form.

use crate::agents::claude_code::structural_paths;
use crate::model::Session;
use crate::redact::{CopyError, Scrubber, StructuralPaths};
use crate::store::StoreError;
use backstory_format::json::Tape;
use std::sync::OnceLock;

pub(super) fn learn(session: &Session, scrubber: &mut Scrubber) -> Result<(), StoreError> {
    static IDS: OnceLock<StructuralPaths> = OnceLock::new();
    let ids = IDS.get_or_init(structural_paths);
    for member in session.walk() {
        let path = member.source.path();
        match scrubber.study(path, ids) {
            // No text of it is in the model either.
            Ok(_) | Err(CopyError::Utf16(_)) => {}
            Err(CopyError::Read(error)) => return Err(error),
            Err(CopyError::Write(cause)) => {
                return Err(StoreError::Io { path: path.to_path_buf(), cause });
            }
        }
        if let Some(meta) = &member.meta {
            scrubber.learn_line(meta.as_bytes(), ids, &mut Tape::new());
        }
        for text in member.project_key.iter().chain([&member.id]) {
            scrubber.learn(text);
        }
    }
    Ok(())
}
