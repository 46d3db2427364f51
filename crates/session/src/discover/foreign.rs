//! Finding the traces of agents other than Claude Code.
//!
//! By names where an agent has its own, and always by content: a file counts as an agent's only if
//! it reads like one.

use backstory_agents::{Detected, Shape, detect, files_of, parts};
use backstory_format::is_uuid;
use backstory_model::SessionFiles;
use backstory_store::load;
use backstory_store::{StoreError, modified};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Enough to recognise most files by.
const HEAD: u64 = 64 << 10;
/// Where the first row is longer than that, so much more is read each time,
const MORE: u64 = 16;
/// up to the length of the longest record that is read.
const LONGEST: u64 = 256 << 20;

/// The form of a file or folder, if another agent than Claude Code wrote it. Fails where a file that
/// could be a trace cannot be read.
pub(super) fn shape(path: &Path, metadata: &Metadata) -> Result<Option<Shape>, StoreError> {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return Ok(None) };
    let stem = name.strip_suffix(".jsonl");
    if stem.is_some_and(is_uuid) || metadata.len() == 0 || !is_candidate(path, name) {
        return Ok(None);
    }
    Ok(if metadata.is_dir() { Some(Shape::folder()) } else { by_head(path)? })
}

/// By as much of a file as it takes: few have a first row that is long and names itself at its end.
fn by_head(path: &Path) -> Result<Option<Shape>, StoreError> {
    let mut length = HEAD;
    loop {
        let head = load(path, Some(0..length))?.bytes;
        match detect(path, &head) {
            Detected::Known(shape) => return Ok(shape),
            Detected::Open if (head.len() as u64) < length || length >= LONGEST => return Ok(None),
            Detected::Open => length *= MORE,
        }
    }
}

/// The sessions of such a file or folder.
pub(super) fn foreign(
    path: &Path,
    metadata: &Metadata,
) -> Result<Option<Vec<SessionFiles>>, StoreError> {
    let Some(shape) = shape(path, metadata)? else { return Ok(None) };
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
    let whole = if metadata.is_dir() { of_folder(whole) } else { whole };
    let sessions = parts(&shape, path).into_iter().map(|part| SessionFiles {
        id: part.id,
        bytes: part.range.as_ref().map_or(whole.bytes, |range| range.end - range.start),
        part: part.range,
        ..whole.clone()
    });
    Ok(Some(sessions.collect()))
}

/// Size and time of a conversation are those of its files, not of the folder.
fn of_folder(files: SessionFiles) -> SessionFiles {
    let (mut bytes, mut newest) = (0, None);
    for file in files_of(&files) {
        if let Ok(metadata) = std::fs::metadata(&file.path) {
            bytes += metadata.len();
            newest = newest.max(modified(&metadata));
        }
    }
    SessionFiles { bytes, modified: newest.or(files.modified), ..files }
}

/// Whether a name could be that of a trace.
fn is_candidate(path: &Path, name: &str) -> bool {
    let ends = [".jsonl", ".jsonl.zst", ".parquet", ".traj", ".json", ".md"];
    path.is_dir() || ends.iter().any(|end| name.ends_with(end))
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
