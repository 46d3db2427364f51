//! Redactors, and what they make of texts and records.

use backstory_format::json::{IdPaths, Tape};
use backstory_redact::{Config, Redactor, Scrubber};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

pub(crate) fn redactor() -> Redactor {
    Redactor::new(&Config { salt: b"salt".to_vec(), ..Config::default() }).unwrap()
}

/// Fields that a record keeps ids in.
pub(crate) fn ids() -> IdPaths {
    IdPaths::new(["uuid", "parentUuid", "sessionId", "message.id", "message.content.id"])
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

pub(crate) fn clear_lines(scrubber: &Scrubber, lines: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let (ids, mut tape) = (ids(), Tape::new());
    lines
        .iter()
        .map(|line| scrubber.clear_line(line, &ids, &mut tape).into_inner().into_owned())
        .collect()
}
