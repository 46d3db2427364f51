//! The sessions of a file or folder that a reader recognises.

use backstory_agents::{AgentReader, Recognition, files_of, recognise, session_folders};
use backstory_model::SessionFiles;
use backstory_store::{Store, StoreError, modified};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// The sessions of a file; none if no reader recognises it. Fails if a file that could be a session
/// cannot be read.
pub(super) fn recognised(
    path: &Path,
    metadata: &Metadata,
    store: &Store,
) -> Result<Option<Vec<SessionFiles>>, StoreError> {
    if metadata.len() == 0 {
        return Ok(None);
    }
    let found = recognise(path, store)?;
    Ok(found.map(|Recognition { reader, layout }| {
        let whole = whole(reader, path, metadata);
        let parts = reader.sessions(path, layout, store).into_iter().map(|part| SessionFiles {
            id: part.id,
            bytes: part.range.as_ref().map_or(whole.bytes, |range| range.end - range.start),
            part: part.range,
            ..whole.clone()
        });
        parts.collect()
    }))
}

/// A file that is one session.
pub(super) fn one_session(
    reader: &dyn AgentReader,
    path: &Path,
    metadata: &Metadata,
) -> SessionFiles {
    SessionFiles { id: reader.id(path), ..whole(reader, path, metadata) }
}

/// A folder that is one session. Its size and time are those of its files.
pub(super) fn folder_session(
    reader: &dyn AgentReader,
    folder: &Path,
    metadata: &Metadata,
    store: &Store,
) -> SessionFiles {
    let files = one_session(reader, folder, metadata);
    let (mut bytes, mut newest) = (0, None);
    for file in files_of(&files, store) {
        if let Ok(metadata) = std::fs::metadata(&file.path) {
            bytes += metadata.len();
            newest = newest.max(modified(&metadata));
        }
    }
    SessionFiles { bytes, modified: newest.or(files.modified), ..files }
}

fn whole(reader: &dyn AgentReader, path: &Path, metadata: &Metadata) -> SessionFiles {
    let key = path.parent().and_then(Path::file_name);
    SessionFiles {
        id: String::new(),
        path: path.to_path_buf(),
        project_key: key.map(|name| name.to_string_lossy().into_owned()),
        bytes: metadata.len(),
        modified: modified(metadata),
        agents: Vec::new(),
        agent: reader.agent(),
        part: None,
    }
}

/// Where sessions are below an agent's own folder; any other folder itself.
pub(super) fn own_folders(root: &Path) -> Vec<PathBuf> {
    session_folders(root).unwrap_or_else(|| vec![root.to_path_buf()])
}
