//! Finding the traces of agents other than Claude Code.
//!
//! By names where an agent has its own, and always by content: a file counts as an agent's only if
//! it reads like one.

use super::discover::{SessionFiles, is_uuid};
use super::load::load;
use super::open::modified;
use crate::agents::{Shape, detect, parts};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Enough to recognise a file by.
const HEAD: u64 = 64 << 10;

/// The sessions of a file or folder, if another agent than Claude Code wrote it.
pub(super) fn foreign(path: &Path, metadata: &Metadata) -> Option<Vec<SessionFiles>> {
    let name = path.file_name().and_then(OsStr::to_str)?;
    let stem = name.strip_suffix(".jsonl");
    if stem.is_some_and(is_uuid) || metadata.len() == 0 || !is_candidate(path, name) {
        return None;
    }
    let shape = if metadata.is_dir() {
        Shape::folder()
    } else {
        detect(path, &load(path, Some(0..HEAD)).ok()?.bytes)?
    };
    let key = path.parent().and_then(Path::file_name);
    let whole = SessionFiles {
        id: String::new(),
        path: path.to_path_buf(),
        project_key: key.map(|name| name.to_string_lossy().into_owned()),
        bytes: metadata.len(),
        modified: modified(metadata),
        agents: Vec::new(),
        agent: shape.agent,
        part: None,
    };
    let sessions = parts(&shape, path).into_iter().map(|part| SessionFiles {
        id: part.id,
        bytes: part.range.as_ref().map_or(whole.bytes, |range| range.end - range.start),
        part: part.range,
        ..whole.clone()
    });
    Some(sessions.collect())
}

/// Whether a name could be that of a trace.
fn is_candidate(path: &Path, name: &str) -> bool {
    let ends = [".jsonl", ".jsonl.zst", ".traj", ".json", ".md"];
    path.is_dir() || ends.iter().any(|end| name.ends_with(end))
}

/// Whether a folder is one conversation: events in files of their own.
pub(super) fn is_conversation_folder(path: &Path) -> bool {
    let events = path.join("events");
    events.is_dir()
        && (path.join("base_state.json").is_file()
            || path.join("metadata.json").is_file()
            || events.join("0.json").is_file())
}

/// Where sessions lie below an agent's own folder; any other folder itself.
pub(super) fn own_folders(root: &Path) -> Vec<PathBuf> {
    const NAMED: [&str; 4] = [".codex", ".openhands", ".cline", "saoudrizwan.claude-dev"];
    const INSIDE: [&str; 6] =
        ["sessions", "archived_sessions", "conversations", "tasks", "data/sessions", "data/tasks"];
    let name = root.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if !NAMED.contains(&name) {
        return vec![root.to_path_buf()];
    }
    let inside = INSIDE.iter().map(|folder| root.join(folder));
    inside.filter(|folder| folder.is_dir()).collect()
}
