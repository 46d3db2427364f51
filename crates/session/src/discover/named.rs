//! What a file is that somebody named.
//!
//! In folders names suffice; a user may name any file. A file that no reader recognises can still be
//! a damaged session: then something is left of a record, so that no real session is refused.

use backstory_agents::recognise;
use backstory_format::is_uuid;
use backstory_format::json::{Tape, scan};
use backstory_format::line::split;
use backstory_store::{Ends, Store, StoreError};
use memchr::memmem;
use std::path::Path;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedFile {
    /// A session, or named like one.
    Session,
    /// It has no bytes.
    Empty,
    /// Something else: it holds nothing that an agent could have written.
    Other,
}

/// Looks into a file as far as it needs to.
pub fn named_file(path: &Path, store: &Store) -> Result<NamedFile, StoreError> {
    let failed = |cause| StoreError::Io { path: path.into(), cause };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.len() == 0 {
        return Ok(NamedFile::Empty);
    }
    let is_named_like_one = path.file_stem().and_then(|stem| stem.to_str()).is_some_and(is_uuid);
    if is_named_like_one || recognise(path, store)?.is_some() {
        return Ok(NamedFile::Session);
    }
    const OVERLAP: usize = 4 << 10;
    let holds_records = |part: &[u8]| {
        let mut tape = Tape::new();
        split(part).any(|line| is_record(line.content, &mut tape))
    };
    Ok(if Ends::open(path)?.any(0, metadata.len(), OVERLAP, holds_records)? {
        NamedFile::Session
    } else {
        NamedFile::Other
    })
}

/// Whether a line is an object with a `type`, or begins like one and is torn.
fn is_record(line: &[u8], tape: &mut Tape) -> bool {
    if scan(line, 0, 256, tape).is_ok() {
        return tape.root(line).is_some_and(|value| value.get("type").is_some());
    }
    // Zeros stand where a write was lost, and between the letters of UTF-16.
    let letters: Vec<u8> = line.iter().copied().filter(|byte| *byte != 0).collect();
    let marks = [&b"\xEF\xBB\xBF"[..], b"\xFE\xFF", b"\xFF\xFE"];
    let start = marks.iter().find_map(|mark| letters.strip_prefix(*mark)).unwrap_or(&letters);
    start.trim_ascii_start().starts_with(b"{") && memmem::find(start, b"\"type\"").is_some()
}

#[cfg(test)]
mod tests {
    use super::is_record;
    use backstory_format::json::Tape;

    #[test]
    fn named_file_recognizes_a_damaged_record() {
        let known = |line: &[u8]| is_record(line, &mut Tape::new());
        assert!(known(br#"{"type":"user"}"#));
        assert!(known(br#"{"parentUuid":null,"type":"user","message":{"con"#));
        assert!(known(b"\0\0\0{\"type\":\"user\"}"));
        let wide: Vec<u8> = "{\"type\":1}".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert!(known(&[b"\xFE\xFF", &wide[..]].concat()));
        assert!(!known(b"A line of a letter with a \"type\" in it"));
        assert!(!known(br#"{"name":"x"}"#));
        assert!(!known(b"\0\0\0"));
    }
}
