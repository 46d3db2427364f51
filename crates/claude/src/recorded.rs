//! What the first records of a file say about it.

use backstory_format::claude::RecordKind;
use backstory_format::json::{Tape, scan};
use backstory_format::line::split;
use backstory_store::read_range;
use std::path::Path;

/// The `sessionId` that the first records of a file name.
pub fn recorded_session(path: &Path) -> Option<String> {
    let (head, _) = read_range(path, 0, 64 << 10).ok()?;
    let mut tape = Tape::new();
    split(&head).take(16).find_map(|line| {
        scan(line.content, 0, 256, &mut tape).ok()?;
        tape.root(line.content)?.get_text("sessionId").map(|id| id.into_owned())
    })
}

/// Whether records of this type are known.
pub fn is_known_type(name: &str) -> bool {
    RecordKind::from_name(name) != RecordKind::Other
}
