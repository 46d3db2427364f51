//! All readers, and whose a file is.

use crate::file_head::FileHead;
use crate::place::{Home, OwnFolder, Surroundings, inside};
use crate::reader::{AgentReader, FolderKind, Recognised};
use crate::split::Layout;
use crate::{
    aider, claude_code, cline, codex, gemini_cli, mini_swe_agent, openhands, swe_agent, swe_smith,
};
use backstory_model::Agent;
use backstory_store::{Store, StoreError};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// One line per agent, in the order of lists. Files are recognised in this order, too.
static READERS: &[&dyn AgentReader] = &[
    &claude_code::ClaudeCode,
    &codex::Codex,
    &openhands::OpenHands,
    &swe_agent::SweAgent,
    &mini_swe_agent::MiniSweAgent,
    &swe_smith::SweSmith,
    &aider::Aider,
    &cline::Cline,
    &gemini_cli::GeminiCli,
];

/// Enough to recognise most files by.
const HEAD: u64 = 64 << 10;
/// If the first row is longer than that, this many times more is read each time,
const MORE: u64 = 16;
/// up to the length of the longest record that is read.
const LONGEST: u64 = 256 << 20;

/// Every reader.
pub fn readers() -> impl Iterator<Item = &'static dyn AgentReader> {
    READERS.iter().copied()
}

/// Every agent whose files can be read, in the order of lists.
pub fn all() -> impl Iterator<Item = Agent> {
    readers().map(AgentReader::agent)
}

/// The agent of this name.
pub fn named(name: &str) -> Option<Agent> {
    all().find(|agent| agent.name() == name)
}

/// The reader of an agent's files.
pub fn reader(agent: Agent) -> &'static dyn AgentReader {
    // Agents come from readers only.
    readers().find(|reader| reader.agent() == agent).unwrap_or_else(reader_of_unknown_lines)
}

/// The reader of files of lines that no reader recognises: a session that is damaged from its first
/// byte is still found, and its faults are reported.
pub fn reader_of_unknown_lines() -> &'static dyn AgentReader {
    &claude_code::ClaudeCode
}

/// Whose a file is.
#[derive(Clone, Copy)]
pub struct Recognition {
    /// Who reads it.
    pub reader: &'static dyn AgentReader,
    /// How sessions are arranged in it.
    pub layout: Layout,
}

impl std::fmt::Debug for Recognition {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?} {:?}", self.reader.agent(), self.layout)
    }
}

/// What each reader that knows files of this name says of one with these first bytes.
pub fn claims(path: &Path, head: &[u8]) -> Vec<(&'static dyn AgentReader, Recognised)> {
    let Some(file) = FileHead::new(path, head) else { return Vec::new() };
    candidates(path).map(|reader| (reader, reader.recognise(&file))).collect()
}

fn candidates(path: &Path) -> impl Iterator<Item = &'static dyn AgentReader> {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    readers().filter(move |reader| reader.endings().iter().any(|end| name.ends_with(end)))
}

/// The reader of a file; none if it is no agent's. Reads as much of the file as it takes: few have
/// a first row that is long and identifies itself at its end. Fails if a file that could be a
/// session cannot be read.
pub fn recognise(path: &Path, store: &Store) -> Result<Option<Recognition>, StoreError> {
    if candidates(path).next().is_none() {
        return Ok(None);
    }
    let mut length = HEAD;
    loop {
        let head = store.load(path, Some(0..length))?.bytes;
        let claims = claims(path, &head);
        let find = |sure: fn(Recognised) -> Option<Layout>| {
            let mut found = claims.iter().filter_map(|(reader, claim)| {
                sure(*claim).map(|layout| Recognition { reader: *reader, layout })
            });
            found.next()
        };
        let yes = |claim| if let Recognised::Yes(layout) = claim { Some(layout) } else { None };
        let likely =
            |claim| if let Recognised::Likely(layout) = claim { Some(layout) } else { None };
        if let Some(found) = find(yes).or_else(|| find(likely)) {
            return Ok(Some(found));
        }
        let is_open = claims.iter().any(|(_, claim)| *claim == Recognised::More);
        if !is_open || (head.len() as u64) < length || length >= LONGEST {
            return Ok(None);
        }
        length *= MORE;
    }
}

/// What a folder is, and to which reader.
pub fn recognise_folder(folder: &Path) -> Option<(&'static dyn AgentReader, FolderKind)> {
    let mut kinds = readers().map(|reader| (reader, reader.recognise_folder(folder)));
    kinds.find(|(_, kind)| *kind != FolderKind::Other)
}

/// Names of agents' own folders.
pub fn own_folders() -> impl Iterator<Item = &'static OwnFolder> {
    readers().flat_map(AgentReader::own_folders)
}

/// Where sessions are in a folder that is an agent's own; none for any other folder.
pub fn session_folders(root: &Path) -> Option<Vec<PathBuf>> {
    own_folders().find_map(|own| inside(own, root))
}

/// Where agents write on this machine, in the order of lists.
pub fn homes(around: &Surroundings<'_>) -> Vec<Home> {
    readers().flat_map(|reader| reader.homes(around)).collect()
}
