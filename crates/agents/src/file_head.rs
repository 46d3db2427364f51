//! The first bytes of a file, and what they show, for readers to recognise their files by.

use crate::skim::{Skimmed, skim};
use backstory_format::json::{Kind, Tape, scan};
use backstory_format::line::split;
use memchr::memmem;
use std::cell::OnceCell;
use std::path::Path;

/// Lines longer than this are known by their first keys if they are not whole.
const HEAD_LINE: usize = 32 << 10;

/// The name of a file and its first bytes, unpacked. What several readers ask is found once.
#[derive(Debug)]
pub struct FileHead<'a> {
    name: &'a str,
    bytes: &'a [u8],
    line: OnceCell<Option<First<'a>>>,
    row: OnceCell<Option<First<'a>>>,
}

/// The first object of a file.
#[derive(Debug)]
pub(crate) struct First<'a> {
    pub(crate) object: Skimmed<'a>,
    /// Whether it continues after the bytes that were read.
    pub(crate) open: bool,
}

impl<'a> FileHead<'a> {
    /// None where the name is not UTF-8.
    pub fn new(path: &'a Path, bytes: &'a [u8]) -> Option<FileHead<'a>> {
        Some(FileHead {
            name: path.file_name()?.to_str()?,
            bytes: bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes),
            line: OnceCell::new(),
            row: OnceCell::new(),
        })
    }

    pub(crate) fn name(&self) -> &str {
        self.name
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// The first byte of a document, blanks apart.
    pub(crate) fn first_byte(&self) -> Option<u8> {
        self.bytes.trim_ascii_start().first().copied()
    }

    /// Whether this text is among the bytes.
    pub(crate) fn holds(&self, text: &str) -> bool {
        memmem::find(self.bytes, text.as_bytes()).is_some()
    }

    /// Whether the name is that of a file of lines.
    pub(crate) fn is_lines(&self) -> bool {
        crate::common::LINES.iter().any(|end| self.name.ends_with(end))
    }

    /// The first object on a line of its own, among the first eight lines.
    pub(crate) fn first_line(&self) -> Option<&First<'a>> {
        self.line.get_or_init(|| first_line(self.bytes)).as_ref()
    }

    /// The object that a document is, or begins with if it is a list.
    pub(crate) fn first_item(&self) -> Option<&First<'a>> {
        let first = || {
            let start = self.bytes.trim_ascii_start();
            let object = skim(start.strip_prefix(b"[").unwrap_or(start))?;
            Some(First { open: object.cut, object })
        };
        self.row.get_or_init(first).as_ref()
    }

    /// The first row, be the file one of lines or a document.
    pub(crate) fn first_row(&self) -> Option<&First<'a>> {
        if self.is_lines() { self.first_line() } else { self.first_item() }
    }
}

fn first_line(bytes: &[u8]) -> Option<First<'_>> {
    let mut tape = Tape::new();
    let mut at = 0;
    for line in split(bytes).take(8) {
        at += line.width();
        if scan(line.content, 0, 256, &mut tape).is_ok() {
            if tape.root(line.content).is_some_and(|value| value.kind() == Kind::Object) {
                return Some(First { object: skim(line.content)?, open: false });
            }
        } else if line.content.len() > HEAD_LINE
            && let Some(object) = skim(line.content)
        {
            let open = object.cut && at == bytes.len();
            return Some(First { object, open });
        }
    }
    None
}

impl First<'_> {
    pub(crate) fn has(&self, key: &str) -> bool {
        self.object.has(key)
    }

    pub(crate) fn has_all(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.has(key))
    }

    /// The `type`, where it is a text.
    pub(crate) fn type_name(&self) -> Option<std::borrow::Cow<'_, str>> {
        self.object.text("type")
    }

    /// Whether it could turn out to be a row of a benchmark.
    pub(crate) fn may_be_row(&self) -> bool {
        const KEYS: [&str; 6] =
            ["messages", "history", "instance_id", "traj_id", "git_patch", "patch"];
        self.open && !self.has("type") && KEYS.iter().any(|key| self.has(key))
    }
}
