//! The states file next to a journal: written once at the start of a run, then read by place.

use super::clear::clear;
use super::conversation::Conversation;
use backstory_redact::{Cleared, Redactor};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Where a conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Where the conversation begins.
    pub offset: u64,
    /// Its length in bytes.
    pub length: usize,
    /// How many states it has.
    pub states: usize,
}

/// Writes a states file and notes where conversations are.
#[derive(Debug)]
pub struct StatesFile {
    path: PathBuf,
    places: Vec<Place>,
    end: u64,
    /// Ids of all states so far, by hash: a file of sessions may hold one twice.
    known: HashSet<u64>,
    state: std::hash::RandomState,
    /// States that were there already under the same id.
    pub repeated: u64,
}

impl StatesFile {
    /// An empty file of states.
    pub fn new(path: &Path) -> StatesFile {
        StatesFile {
            path: path.to_path_buf(),
            places: Vec::new(),
            end: 0,
            known: HashSet::new(),
            state: std::hash::RandomState::new(),
            repeated: 0,
        }
    }

    /// Adds a conversation; states whose ids are known are left out and counted.
    pub fn add(&mut self, cleared: Cleared<Conversation>, out: &mut impl Write) -> io::Result<()> {
        if let Some(place) = self.put(cleared.into_inner(), out)? {
            self.places.push(place);
        }
        Ok(())
    }

    /// Adds what an earlier file has besides: states of a journal must not go because another run is
    /// about others. They are not asked again.
    pub fn keep(&mut self, earlier: &mut impl BufRead, out: &mut impl Write) -> io::Result<()> {
        let repeated = self.repeated;
        let mut line = String::new();
        loop {
            line.clear();
            if earlier.read_line(&mut line)? == 0 {
                break;
            }
            if let Ok(conversation) = Conversation::parse(&line) {
                self.put(conversation, out)?;
            }
        }
        self.repeated = repeated;
        Ok(())
    }

    fn put(
        &mut self,
        mut conversation: Conversation,
        out: &mut impl Write,
    ) -> io::Result<Option<Place>> {
        use std::hash::BuildHasher as _;
        let before = conversation.states.len();
        conversation.states.retain(|state| self.known.insert(self.state.hash_one(&state.state_id)));
        self.repeated += (before - conversation.states.len()) as u64;
        let states = conversation.states.len();
        if states == 0 {
            return Ok(None);
        }
        let mut line = conversation.line()?;
        line.push('\n');
        out.write_all(line.as_bytes())?;
        let place = Place { offset: self.end, length: line.len(), states };
        self.end += line.len() as u64;
        Ok(Some(place))
    }

    /// The conversations to ask about.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// All states in the file.
    pub fn states(&self) -> u64 {
        self.places.iter().map(|place| place.states as u64).sum()
    }

    /// Reads a conversation back, and clears it again: what leaves comes from here, and a file can be
    /// changed meanwhile.
    pub fn load(&self, place: Place, redactor: &Redactor) -> io::Result<Cleared<Conversation>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(place.offset))?;
        let mut line = String::with_capacity(place.length);
        file.take(place.length as u64).read_to_string(&mut line)?;
        let conversation = Conversation::parse(&line).map_err(io::Error::other)?;
        clear(conversation, redactor).map_err(io::Error::other)
    }
}
