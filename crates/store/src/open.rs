//! Reading a file that may be written at the same time.
//!
//! A file is read up to the size it had when it was opened, through a bounded buffer, and never
//! mapped into memory: a mapped file that shrinks kills the reader. Devices, pipes and sockets are
//! refused before anything is read from them.

use crate::context::ReadContext;
use crate::file_state::FileState;
use backstory_format::line::split;
use backstory_format::slice::Part;
use backstory_format::{Reader, Totals, Visitor};
use memchr::memmem::Finder;
use memchr::{memchr, memrchr};
use std::fs::File;
use std::io::{self, BufRead, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum StoreError {
    /// The operating system refused.
    #[error("`{}`: {}", path.display(), self.reason())]
    Io { path: PathBuf, cause: io::Error },
    /// A folder, pipe, device or socket.
    #[error("`{}`: {}", path.display(), self.reason())]
    NotAFile { path: PathBuf },
    /// It shrank or was replaced while it was read, twice.
    #[error("`{}`: {}", path.display(), self.reason())]
    Changed { path: PathBuf },
    /// More than can be held in memory.
    #[error("`{}`: {}", path.display(), self.reason())]
    TooLarge { path: PathBuf },
    /// A small file that unpacks to far more than any session does.
    #[error("`{}`: {}", path.display(), self.reason())]
    Bomb { path: PathBuf, most: u64 },
    /// More than a file of its kind may have.
    #[error("`{}`: {}", path.display(), self.reason())]
    TooLong { path: PathBuf, most: u64 },
}

impl StoreError {
    /// Why, without the file.
    pub fn reason(&self) -> String {
        match self {
            StoreError::Io { cause, .. } => cause.to_string(),
            StoreError::NotAFile { .. } => "not a regular file".to_owned(),
            StoreError::Changed { .. } => "changed while it was read".to_owned(),
            StoreError::TooLarge { .. } => "too large to be read as one document".to_owned(),
            StoreError::Bomb { most, .. } => {
                format!("unpacks to more than {} MB, which no session of its size does", most >> 20)
            }
            StoreError::TooLong { most, .. } => format!("longer than {most} bytes"),
        }
    }

    /// The file it is about.
    pub fn path(&self) -> &Path {
        match self {
            StoreError::Io { path, .. }
            | StoreError::NotAFile { path }
            | StoreError::Changed { path }
            | StoreError::TooLarge { path }
            | StoreError::Bomb { path, .. }
            | StoreError::TooLong { path, .. } => path,
        }
    }
}

/// The outcome of reading a file.
#[derive(Debug)]
pub struct Read<V> {
    /// What was made of the records.
    pub visitor: V,
    /// Figures over all lines.
    pub totals: Totals,
    /// The file as it was when it was opened.
    pub state: FileState,
    /// It grew meanwhile, so an incomplete last line is only a line still being written.
    pub growing: bool,
}

const WINDOW: usize = 1 << 18;
/// Buffers grown for a long line are given back when they exceed this.
const KEEP: usize = 4 << 20;

/// Reads all of `path` into a fresh visitor; once more if the file was replaced or cut meanwhile.
pub fn read_file<V: Visitor>(
    path: &Path,
    context: &mut ReadContext,
    new_visitor: impl Fn() -> V,
) -> Result<Read<V>, StoreError> {
    read_with(path, context, new_visitor, feed_lines)
}

/// A visitor that needs some lines only.
pub trait Selective: Visitor {
    /// Whether it still wants every line, as at the start of a file.
    fn wants_all(&self) -> bool;
}

/// Reads the lines of `path` that hold `needle`, and all at its start for as long as the visitor
/// wants them. Searching costs a fraction of reading: other lines are not even split. Line numbers
/// and totals count only what was read.
pub fn read_selected<V: Selective>(
    path: &Path,
    context: &mut ReadContext,
    needle: &Finder<'_>,
    new_visitor: impl Fn() -> V,
) -> Result<Read<V>, StoreError> {
    read_with(path, context, new_visitor, |bytes, reader, visitor| {
        feed_selected(bytes, needle, reader, visitor);
    })
}

fn read_with<V: Visitor>(
    path: &Path,
    context: &mut ReadContext,
    new_visitor: impl Fn() -> V,
    feed: impl Fn(&[u8], &mut Reader, &mut V),
) -> Result<Read<V>, StoreError> {
    for _ in 0..2 {
        let (file, state) = open(path)?;
        let mut visitor = new_visitor();
        let mut reader = Reader::new(context.store.limits());
        let io = |cause| StoreError::Io { path: path.into(), cause };
        // Longer lines are skipped without being read.
        let held = context.store.held().filter(|_| state.size <= reader.max_line());
        let mut kept = held.and_then(|mut held| held.space(state));
        let keep = kept.is_some();
        let buffer = kept.as_mut().unwrap_or(&mut context.buffer);
        let whole = Feed { file: &file, at: 0, end: state.size, buffer, keep }
            .run(&mut reader, &mut visitor, &feed)
            .map_err(io)?;
        let now = file.metadata().map_err(io)?;
        let replaced = std::fs::metadata(path).is_ok_and(|there| !state.is_of(&there));
        if whole && !replaced && now.len() >= state.size {
            let growing = now.len() > state.size;
            if let Some((bytes, mut held)) = kept.zip(context.store.held()) {
                held.keep(path, state, bytes);
            }
            return Ok(Read { visitor, totals: reader.totals(), state, growing });
        }
    }
    Err(StoreError::Changed { path: path.into() })
}

/// Hands every line of a file, with its ending, to `each`: up to the size it had when it was
/// opened, or that it had in `before`, of which it must be the continuation.
pub fn each_line<E: From<StoreError>>(
    path: &Path,
    before: Option<FileState>,
    mut each: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<FileState, E> {
    let changed = || E::from(StoreError::Changed { path: path.into() });
    let (file, now) = open(path)?;
    if before.is_some_and(|before| !now.continues(&before)) {
        return Err(changed());
    }
    let state = before.unwrap_or(now);
    let mut lines = io::BufReader::with_capacity(WINDOW / 4, (&file).take(state.size));
    let mut line = Vec::new();
    let mut read = 0;
    loop {
        line.clear();
        let width = next_line(&mut lines, &mut line)
            .map_err(|cause| E::from(StoreError::Io { path: path.into(), cause }))?;
        if width == 0 {
            break;
        }
        read += width as u64;
        each(&line)?;
        if line.capacity() > KEEP {
            line = Vec::new();
        }
    }
    if read == state.size { Ok(state) } else { Err(changed()) }
}

/// `read_until` of a line's end, with the faster search: most of what is read goes through here.
fn next_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let mut width = 0;
    loop {
        let here = match lines.fill_buf() {
            Ok(here) => here,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = memchr(b'\n', here).map(|at| at + 1);
        let length = end.unwrap_or(here.len());
        line.extend_from_slice(here.part(..length));
        lines.consume(length);
        width += length;
        if end.is_some() || length == 0 {
            return Ok(width);
        }
    }
}

/// Reads bytes `start..end` of `path` (as far as it goes).
pub fn read_range(path: &Path, start: u64, end: u64) -> Result<(Vec<u8>, FileState), StoreError> {
    let ends = Ends::open(path)?;
    let mut bytes = Vec::new();
    ends.read(start, end, &mut bytes)?;
    Ok((bytes, ends.state))
}

/// A file of which parts are read.
#[derive(Debug)]
pub struct Ends<'a> {
    path: &'a Path,
    file: File,
    /// The file as it was when it was opened.
    pub state: FileState,
}

impl<'a> Ends<'a> {
    /// Opens the file for reads at both ends.
    pub fn open(path: &'a Path) -> Result<Ends<'a>, StoreError> {
        let (file, state) = open(path)?;
        Ok(Ends { path, file, state })
    }

    /// Reads bytes `start..end` (as far as the file goes) into `bytes`, replacing what it held.
    pub fn read(&self, start: u64, end: u64, bytes: &mut Vec<u8>) -> Result<(), StoreError> {
        bytes.clear();
        let length = end.min(self.state.size).saturating_sub(start);
        let read = (&self.file)
            .seek(SeekFrom::Start(start))
            .and_then(|_| append(&self.file, length as usize, bytes));
        read.map(drop).map_err(|cause| StoreError::Io { path: self.path.into(), cause })
    }

    /// Whether bytes `start..end` hold what `test` looks for, which is at most `longest` bytes
    /// long. Searches through a window, so memory does not depend on the file.
    pub fn any(
        &self,
        start: u64,
        end: u64,
        longest: usize,
        test: impl Fn(&[u8]) -> bool,
    ) -> Result<bool, StoreError> {
        let io = |cause| StoreError::Io { path: self.path.into(), cause };
        let mut left = end.min(self.state.size).saturating_sub(start);
        let mut window = Vec::with_capacity(WINDOW / 4);
        (&self.file).seek(SeekFrom::Start(start)).map_err(io)?;
        while left > 0 {
            // Keep the end of the last window: a match may lie across both.
            let kept = window.len().saturating_sub(longest);
            window.drain(..kept);
            let wanted = (WINDOW as u64 / 4).min(left);
            let read = append(&self.file, wanted as usize, &mut window).map_err(io)?;
            if test(&window) {
                return Ok(true);
            }
            if read == 0 {
                break;
            }
            left -= read as u64;
        }
        Ok(false)
    }
}

/// Appends `wanted` bytes to `buffer`, fewer only at the end of the file. Asks for all of them at
/// once: `read_to_end` starts with small reads and would make many calls.
fn append(file: &File, wanted: usize, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let start = buffer.len();
    buffer.resize(start + wanted, 0);
    let read = fill(file, buffer.part_mut(start..));
    buffer.truncate(start + read.as_ref().copied().unwrap_or(0));
    read
}

/// Reads until `space` is full or the file ends.
pub(super) fn fill(mut file: &File, space: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while let Some(rest) = space.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Opens a regular file without ever waiting for it.
pub(super) fn open(path: &Path) -> Result<(File, FileState), StoreError> {
    let io = |cause| StoreError::Io { path: path.into(), cause };
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    let file = options.open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err(StoreError::NotAFile { path: path.into() });
    }
    let state = FileState::of(&metadata);
    Ok((file, state))
}

/// Moves a window over the file and hands whole lines to the reader.
struct Feed<'a> {
    file: &'a File,
    /// Offset of the first byte that is not yet in the buffer.
    at: u64,
    end: u64,
    buffer: &'a mut Vec<u8>,
    /// Everything stays in the buffer. It is handed on window by window all the same: what was just
    /// read is at hand for the processor.
    keep: bool,
}

impl Feed<'_> {
    /// True when everything up to `end` was there.
    fn run<V: Visitor>(
        mut self,
        reader: &mut Reader,
        visitor: &mut V,
        feed: impl Fn(&[u8], &mut Reader, &mut V),
    ) -> io::Result<bool> {
        self.buffer.clear();
        let mut fed = 0;
        loop {
            if !self.fill(fed + WINDOW)? {
                return Ok(false);
            }
            let rest = self.buffer.part(fed..);
            if rest.is_empty() {
                break;
            }
            let last = self.at == self.end;
            let ready = if last { Some(rest.len()) } else { memrchr(b'\n', rest).map(|at| at + 1) };
            match ready {
                Some(ready) => {
                    feed(rest.part(..ready), reader, visitor);
                    if self.keep {
                        fed += ready;
                    } else {
                        self.buffer.drain(..ready);
                    }
                }
                None if self.keep => {
                    let twice = fed + 2 * rest.len();
                    if !self.fill(twice)? {
                        return Ok(false);
                    }
                }
                None if !self.long_line(reader, visitor)? => return Ok(false),
                None => {}
            }
        }
        if !self.keep && self.buffer.capacity() > KEEP {
            *self.buffer = Vec::new();
        }
        Ok(true)
    }

    /// Reads until the buffer holds `wanted` bytes or the end is reached; false when the file
    /// turned out shorter than it was.
    fn fill(&mut self, wanted: usize) -> io::Result<bool> {
        let missing = (wanted.saturating_sub(self.buffer.len()) as u64).min(self.end - self.at);
        if missing == 0 {
            return Ok(true);
        }
        let read = append(self.file, missing as usize, self.buffer)?;
        self.at += read as u64;
        Ok(read as u64 == missing)
    }

    /// The buffer holds the start of a line that is longer than the window: find its end without
    /// keeping it, then read it whole or pass it over.
    fn long_line(&mut self, reader: &mut Reader, visitor: &mut impl Visitor) -> io::Result<bool> {
        let resume = self.at;
        let start = resume - self.buffer.len() as u64;
        let mut chunk = vec![0; WINDOW / 4];
        let mut line_end = None;
        while self.at < self.end && line_end.is_none() {
            let wanted = (chunk.len() as u64).min(self.end - self.at) as usize;
            let space = chunk.part_mut(..wanted);
            let read = match self.file.read(space) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if read == 0 {
                return Ok(false);
            }
            let found = memchr(b'\n', space.part(..read));
            line_end = found.map(|at| self.at + at as u64 + 1);
            self.at += read as u64;
        }
        let width = line_end.unwrap_or(self.end) - start;
        if width <= reader.max_line() {
            self.file.seek(SeekFrom::Start(resume))?;
            self.at = resume;
            return self.fill(width as usize);
        }
        self.buffer.clear();
        reader.too_long(width, visitor);
        self.at = start + width;
        self.file.seek(SeekFrom::Start(self.at))?;
        Ok(true)
    }
}

fn feed_lines(bytes: &[u8], reader: &mut Reader, visitor: &mut impl Visitor) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let blank = rest.iter().take_while(|byte| **byte == b'\n').count();
        if blank > 0 {
            reader.empty_lines(blank as u64);
            rest = rest.part(blank..);
            continue;
        }
        let Some(line) = split(rest).next() else { break };
        rest = rest.part(line.width()..);
        reader.line(line, visitor);
    }
}

fn feed_selected<V: Selective>(
    bytes: &[u8],
    needle: &Finder<'_>,
    reader: &mut Reader,
    visitor: &mut V,
) {
    let mut rest = bytes;
    // The first line may begin with marks that decide about the whole file.
    while reader.totals().bytes == 0 || visitor.wants_all() {
        let Some(line) = split(rest).next() else { return };
        rest = rest.part(line.width()..);
        reader.line(line, visitor);
    }
    while let Some(found) = needle.find(rest) {
        let start = memrchr(b'\n', rest.part(..found)).map_or(0, |at| at + 1);
        rest = rest.part(start..);
        let Some(line) = split(rest).next() else { return };
        rest = rest.part(line.width()..);
        reader.line(line, visitor);
    }
}
