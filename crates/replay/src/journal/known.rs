//! What a journal says already: calls that are over, calls that were lost, money.
//!
//! Kept of a call are sixteen bytes of its key's hash and its place; the rest is read again when
//! somebody wants it.

use super::entry::{Call, Entry, Key};
use backstory_export::digest;
use backstory_model::Money;
use backstory_store::open_file;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The hash of a key.
type Hash = [u8; 16];

/// A call that is over.
#[derive(Debug, Clone, Copy)]
struct Over {
    offset: u64,
    length: usize,
    failed: bool,
    /// How often it was made.
    times: u32,
}

/// What a journal says.
#[derive(Debug, Default)]
pub struct Known {
    path: PathBuf,
    calls: HashMap<Hash, Over>,
    /// The most that calls cost that were sent and never heard of again.
    lost: HashMap<Hash, Money>,
    skips: HashSet<Hash>,
    /// What answers cost.
    pub spent: Money,
    /// The most that everything else cost of which nothing was heard, lost calls included.
    pub unsure: Money,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// Answers whose price is not known.
    pub unpriced: u64,
}

/// Whether a call is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallState {
    /// Never asked; or asked and not heard of again, which may have cost something.
    Open {
        /// What lost attempts may have cost.
        lost: Money,
        /// Attempts so far.
        times: u32,
    },
    /// There is an answer.
    Answered,
    /// The last attempt failed.
    Failed {
        /// Attempts so far.
        times: u32,
    },
}

impl Known {
    /// Reads a journal; nothing is known where there is none.
    pub fn read(path: &Path) -> io::Result<Known> {
        let mut known = Known { path: path.to_path_buf(), ..Known::default() };
        let file = match open_file(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(known),
            Err(error) => return Err(error),
        };
        let mut file = BufReader::with_capacity(256 << 10, file);
        let (mut line, mut offset) = (Vec::new(), 0);
        loop {
            line.clear();
            let length = file.read_until(b'\n', &mut line)?;
            if length == 0 {
                break;
            }
            if !line.trim_ascii().is_empty() {
                let text = std::str::from_utf8(&line).ok();
                match text.and_then(|text| Entry::parse(text).ok()) {
                    Some(entry) => known.note(entry, offset, length),
                    None => known.unreadable += 1,
                }
            }
            offset += length as u64;
        }
        known.unsure += known.lost.values().copied().sum();
        Ok(known)
    }

    fn note(&mut self, entry: Entry, offset: u64, length: usize) {
        match entry {
            Entry::Run(_) => {}
            Entry::Skip(skip) => {
                self.skips.insert(skip_hash(&skip.state_id, skip.teacher_id.as_deref(), &skip.why));
            }
            Entry::Sent(sent) => {
                let most = sent.unsure_usd + sent.reserved_usd.unwrap_or_default();
                self.lost.insert(hash(&sent.key()), most);
            }
            Entry::Dropped(dropped) => {
                self.lost.insert(hash(&dropped.key()), dropped.unsure_usd);
            }
            Entry::Call(call) => {
                let hash = hash(&call.key());
                self.lost.remove(&hash);
                let times = self.calls.get(&hash).map_or(0, |over| over.times) + 1;
                let failed = call.action.is_none();
                self.calls.insert(hash, Over { offset, length, failed, times });
                self.spent += call.cost_usd.unwrap_or_default();
                self.unsure += call.unsure_usd;
                self.unpriced += u64::from(call.cost_usd.is_none() && !failed);
            }
        }
    }

    /// What became of a call.
    pub fn state(&self, key: &Key) -> CallState {
        let hash = hash(key);
        let lost = self.lost.get(&hash).copied();
        match (self.calls.get(&hash), lost) {
            (None, lost) => CallState::Open { lost: lost.unwrap_or_default(), times: 0 },
            (Some(over), Some(lost)) => CallState::Open { lost, times: over.times },
            (Some(over), None) if over.failed => CallState::Failed { times: over.times },
            (Some(_), None) => CallState::Answered,
        }
    }

    /// A call that is over, read again.
    pub fn call(&self, key: &Key) -> io::Result<Option<Call>> {
        let Some(over) = self.calls.get(&hash(key)) else { return Ok(None) };
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(over.offset))?;
        let mut line = String::new();
        file.take(over.length as u64).read_to_string(&mut line)?;
        match Entry::parse(&line) {
            Ok(Entry::Call(call)) => Ok(Some(call)),
            _ => Err(io::Error::other("the journal changed while it was read")),
        }
    }

    /// Calls that are over.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether the journal holds no call.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether it says already that a call is not made.
    pub fn skipped(&self, state_id: &str, teacher_id: Option<&str>, why: &str) -> bool {
        self.skips.contains(&skip_hash(state_id, teacher_id, why))
    }
}

fn skip_hash(state_id: &str, teacher_id: Option<&str>, why: &str) -> Hash {
    short(&[
        state_id.as_bytes(),
        b"\0",
        teacher_id.unwrap_or_default().as_bytes(),
        b"\0",
        why.as_bytes(),
    ])
}

fn hash(key: &Key) -> Hash {
    let Key { state_id, teacher_id, prompt_hash } = key;
    let parts = [state_id, teacher_id, prompt_hash].map(|part| part.as_bytes());
    let [state, teacher, prompt] = parts;
    short(&[state, b"\0", teacher, b"\0", prompt])
}

fn short(parts: &[&[u8]]) -> Hash {
    let mut hash = Hash::default();
    hash.iter_mut().zip(digest(parts)).for_each(|(slot, byte)| *slot = byte);
    hash
}
