//! Fetching content from where it is.

use crate::StoreError;
use crate::context::Store;
use crate::file_state::FileState;
use crate::load::{Form, Loaded};
use crate::open::{fill, open};
use backstory_format::json::text;
use backstory_format::slice::Part;
use backstory_format::{Content, Span};
use bstr::ByteSlice as _;
use std::borrow::Cow;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file a session was read from, as it was then.
#[derive(Debug, Clone)]
pub struct Source {
    path: Arc<Path>,
    state: Option<FileState>,
    form: Form,
    /// What is shown instead of the path.
    shown: Option<Arc<str>>,
    /// It was read through this, which may have kept it.
    store: Store,
}

impl Source {
    /// The file at `path` in the state in which it was read.
    pub fn new(path: &Path, state: Option<FileState>, store: &Store) -> Source {
        Source { path: path.into(), state, form: Form::Plain, shown: None, store: store.clone() }
    }

    /// What it was read through.
    pub fn store(&self) -> &Store {
        &self.store
    }

    #[cfg(test)]
    pub(super) fn state(&self) -> Option<FileState> {
        self.state
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path that is shown to people.
    pub fn shown_path(&self) -> Cow<'_, str> {
        match &self.shown {
            Some(shown) => Cow::Borrowed(shown),
            None => self.path.to_string_lossy(),
        }
    }

    /// Shows another path: that of the file of which this is a cleared copy.
    pub fn show_as(&mut self, path: &str) {
        self.shown = Some(path.into());
    }

    /// Opens it for fetching content; fails when it is no longer the file that was read.
    pub fn open(&self) -> Result<SourceReader, StoreError> {
        if self.path.is_dir() {
            // A conversation in a folder: its content was copied when it was read.
            let path = self.path.to_path_buf();
            return Ok(SourceReader::of(None, path, 0));
        }
        let held = self.store.held().zip(self.state);
        if let Some(whole) = held.and_then(|(held, state)| held.find(&self.path, state)) {
            let path = self.path.to_path_buf();
            return Ok(SourceReader { whole: Some(whole), ..SourceReader::of(None, path, 0) });
        }
        let (file, now) = open(&self.path)?;
        if self.state.is_some_and(|then| !now.continues(&then)) {
            return Err(StoreError::Changed { path: self.path.to_path_buf() });
        }
        let path = self.path.to_path_buf();
        match self.form {
            Form::Plain => Ok(SourceReader::of(Some(file), path, WINDOW)),
            // There is no seeking in packed bytes: hold them all.
            Form::Packed(packing) => {
                let whole = Some(self.store.unpacked(&self.path, &file, now, packing)?);
                Ok(SourceReader { whole, ..SourceReader::of(None, path, WINDOW) })
            }
        }
    }

    /// The same for a reader that jumps about: a file of at most `limit` bytes is held in memory.
    pub fn open_whole(&self, limit: u64) -> Result<SourceReader, StoreError> {
        let mut reader = self.open()?;
        let length = self.state.map_or(u64::MAX, |state| state.size);
        if let Some(file) = reader.file.as_ref().filter(|_| length <= limit) {
            reader.window.reserve_exact(length as usize);
            let read = file.take(length).read_to_end(&mut reader.window);
            reader.filled =
                read.map_err(|cause| StoreError::Io { path: reader.path.clone(), cause })?;
        }
        Ok(reader)
    }
}

impl Loaded {
    /// The file, for fetching content later.
    pub fn source(&self, path: &Path) -> Source {
        Source { form: self.form, ..Source::new(path, Some(self.state), &self.store) }
    }
}

/// Reads content of one source; keeps a small window, because content is mostly asked for in
/// file order.
#[derive(Debug)]
pub struct SourceReader {
    /// None when there is nothing to read: all content is there, or was copied.
    file: Option<File>,
    /// What is packed in the file, or all of it where it is in memory already.
    whole: Option<Arc<Vec<u8>>>,
    path: PathBuf,
    /// How much is read at once.
    ahead: u64,
    window: Vec<u8>,
    /// How much of the window holds bytes of the file, from `start` on.
    filled: usize,
    start: u64,
}

const WINDOW: u64 = 64 << 10;

impl SourceReader {
    fn of(file: Option<File>, path: PathBuf, ahead: u64) -> SourceReader {
        let (window, whole) = (Vec::new(), None);
        SourceReader { file, whole, path, ahead, window, filled: 0, start: 0 }
    }

    /// For content that is asked for here and there: reads no more than it is asked for.
    pub fn sparse(self) -> SourceReader {
        SourceReader { ahead: 0, ..self }
    }

    /// The bytes of a span.
    pub fn bytes(&mut self, span: Span) -> Result<&[u8], StoreError> {
        let length = u64::from(span.length);
        if let Some(whole) = &self.whole {
            let bytes = whole.get(span.offset as usize..(span.offset + length) as usize);
            return bytes.ok_or_else(|| StoreError::Changed { path: self.path.clone() });
        }
        let inside =
            span.offset >= self.start && span.offset + length <= self.start + self.filled as u64;
        if let Some(mut file) = self.file.as_ref().filter(|_| !inside) {
            self.filled = 0;
            self.start = span.offset;
            let wanted = length.max(self.ahead) as usize;
            if wanted > self.window.len() || self.window.len() as u64 > 4 * WINDOW {
                self.window = vec![0; wanted];
            }
            let space = self.window.part_mut(..wanted);
            let read = file.seek(SeekFrom::Start(span.offset)).and_then(|_| fill(file, space));
            self.filled =
                read.map_err(|cause| StoreError::Io { path: self.path.clone(), cause })?;
        }
        let from = span.offset.saturating_sub(self.start) as usize;
        let filled = self.window.part(..self.filled);
        match filled.get(from..from + span.length as usize) {
            Some(bytes) => Ok(bytes),
            None => Err(StoreError::Changed { path: self.path.clone() }),
        }
    }

    /// Decoded text; JSON values come as they are written.
    pub fn text<'a>(&'a mut self, content: &'a Content) -> Result<Cow<'a, str>, StoreError> {
        match content {
            Content::Text(span) => Ok(text::decode(self.bytes(*span)?)),
            Content::Json(span) => Ok(self.bytes(*span)?.to_str_lossy()),
            Content::Owned(text) => Ok(Cow::Borrowed(text)),
        }
    }

    /// The beginning of a text: at most `limit` bytes of it, read without moving the window.
    pub fn head(&mut self, content: &Content, limit: usize) -> Result<String, StoreError> {
        let Content::Text(span) = content else {
            return Ok(self.text(content)?.into_owned());
        };
        let length = u64::from(span.length);
        let inside =
            span.offset >= self.start && span.offset + length <= self.start + self.filled as u64;
        let Some(mut file) = self.file.as_ref().filter(|_| !inside) else {
            return Ok(text::decode_prefix(self.bytes(*span)?, limit).into_owned());
        };
        let mut bytes = Vec::with_capacity(limit);
        let wanted = length.min(limit as u64 + 12);
        file.seek(SeekFrom::Start(span.offset))
            .and_then(|_| file.take(wanted).read_to_end(&mut bytes))
            .map_err(|cause| StoreError::Io { path: self.path.clone(), cause })?;
        Ok(text::decode_prefix(&bytes, limit).into_owned())
    }
}
