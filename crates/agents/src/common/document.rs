//! A file that is one JSON value.

use super::{Cite, Draft};
use backstory_format::json::{Cause, Tape, Value, scan};
use backstory_format::slice::Part;
use backstory_format::{Limits, Problem, ProblemId};
use backstory_model::SessionFiles;
use backstory_model::{Agent, FileFacts, Problems};
use backstory_store::{Loaded, Store, StoreError};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// A parsed file. What is broken is a problem, not an error; then there is no value.
#[derive(Debug)]
pub(crate) struct Document {
    loaded: Loaded,
    tape: Tape,
    problems: Problems,
    file: FileFacts,
}

/// Reads the JSON value that a file, or a part of one, consists of.
pub(crate) fn document(
    path: &Path,
    part: Option<Range<u64>>,
    store: &Store,
) -> Result<Document, StoreError> {
    let loaded = store.load(path, part)?;
    let mut problems = Problems::default();
    let tape = parse(&loaded.bytes, loaded.start, store.limits(), &mut problems);
    let bytes = loaded.bytes.as_slice();
    let file = FileFacts {
        bytes: bytes.len() as u64,
        lines: line_of(bytes, bytes.len()) + u64::from(!bytes.ends_with(b"\n")),
        bad_lines: u64::from(tape.is_none()),
        modified: loaded.state.modified,
        ..FileFacts::default()
    };
    Ok(Document { tape: tape.unwrap_or_default(), problems, file, loaded })
}

/// Parses the JSON value that `bytes` are, which begin at `offset` of their file; none when they
/// are broken.
pub(crate) fn parse(
    bytes: &[u8],
    offset: u64,
    limits: Limits,
    problems: &mut Problems,
) -> Option<Tape> {
    let mut tape = Tape::new();
    let start = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let mut whole = true;
    let mut report = |id: ProblemId, at: usize, length: usize| {
        let (line, offset) = (line_of(bytes, at) + 1, offset + at as u64);
        problems.push(Problem {
            id,
            line,
            offset,
            length: length as u64,
            detail: Cow::Borrowed(""),
        });
    };
    match scan(bytes, start, limits.max_depth, &mut tape) {
        Ok(end) => {
            let rest = bytes.part(end..);
            if !rest.trim_ascii().is_empty() {
                report(ProblemId::StrayBytes, end, rest.len());
            }
            for (id, place) in tape.oddities().problems() {
                report(id, place, 1);
            }
        }
        Err(fault) => {
            whole = false;
            let id = match fault.cause {
                Cause::End => ProblemId::TornTail,
                Cause::TooDeep => ProblemId::TooDeep,
                Cause::ControlCharacter => ProblemId::ControlCharacter,
                Cause::Syntax => ProblemId::InvalidJson,
            };
            report(id, fault.at, 1);
        }
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        report(ProblemId::InvalidUtf8, error.valid_up_to(), error.error_len().unwrap_or(1));
    }
    whole.then_some(tape)
}

impl Document {
    /// The value, unless the file is broken.
    pub(crate) fn value(&self) -> Option<Value<'_>> {
        self.tape.root(&self.loaded.bytes)
    }

    /// What is wrong with it, unless a [`draft`](Document::draft) took that over.
    pub(crate) fn problems(&self) -> &Problems {
        &self.problems
    }

    /// What is known of the file.
    pub(crate) fn facts(&self) -> &FileFacts {
        &self.file
    }

    /// How to refer to its content.
    pub(crate) fn cite(&self) -> Cite {
        Cite::at(self.loaded.start)
    }

    /// A session that begins with what is known of the file.
    pub(crate) fn draft(&mut self, agent: Agent, files: &SessionFiles) -> Draft {
        let mut draft = Draft::new(agent, files.id.clone(), self.loaded.source(&files.path));
        draft.session.problems = std::mem::take(&mut self.problems);
        draft.session.file = self.file;
        draft
    }
}

fn line_of(bytes: &[u8], at: usize) -> u64 {
    memchr::memchr_iter(b'\n', bytes.get(..at).unwrap_or(bytes)).count() as u64
}
