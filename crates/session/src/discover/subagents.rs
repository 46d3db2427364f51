//! Files of subagents: which they are, and whose.

use super::Found;
use super::once::RealPlaces;
use backstory_agents::{reader, reader_of_unknown_lines};
use backstory_model::{AgentFile, AgentPlace, SessionFiles};
use backstory_store::modified;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Gives each agent to its session: the one whose folder it is in, or the one it names and
/// that is next to it.
pub(super) fn assign(found: &mut Found, agents: Vec<AgentFile>, places: &mut RealPlaces) {
    let mut owners: HashMap<(PathBuf, String), usize> = HashMap::new();
    for (at, session) in found.sessions.iter().enumerate() {
        let path = places.of(&session.path);
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        owners.insert((folder, session.id.clone()), at);
    }
    for agent in agents {
        let path = places.of(&agent.path);
        let folder = match agent.place {
            AgentPlace::Beside => path.parent(),
            AgentPlace::Below | AgentPlace::Workflow => {
                session_folder(&path).and_then(Path::parent)
            }
        };
        let key = folder.map(Path::to_path_buf).zip(agent.owner.clone());
        let place = key.and_then(|key| owners.get(&key));
        match place.and_then(|at| found.sessions.get_mut(*at)) {
            Some(session) => session.agents.push(agent),
            None => found.stray_agents.push(agent),
        }
    }
    for session in &mut found.sessions {
        session.agents.sort_by(|a, b| a.path.cmp(&b.path));
    }
    found.stray_agents.sort_by(|a, b| a.path.cmp(&b.path));
}

pub(super) fn agent_file(path: &Path, metadata: &std::fs::Metadata) -> AgentFile {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let meta = path.with_extension("meta.json");
    let folder = session_folder(path);
    let place = match folder {
        None => AgentPlace::Beside,
        Some(_) if path.components().any(|part| part.as_os_str() == "workflows") => {
            AgentPlace::Workflow
        }
        Some(_) => AgentPlace::Below,
    };
    AgentFile {
        id: stem.strip_prefix("agent-").unwrap_or(&stem).to_owned(),
        path: path.to_path_buf(),
        meta: meta.is_file().then_some(meta),
        agent: reader_of_unknown_lines().agent(),
        place,
        owner: folder.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()),
        bytes: metadata.len(),
        modified: modified(metadata),
    }
}

/// Subagents that the reader of a session finds itself.
pub(super) fn inner_agents(session: &SessionFiles) -> Vec<AgentFile> {
    let file = |path: PathBuf| {
        let metadata = std::fs::metadata(&path).ok()?;
        Some(AgentFile {
            id: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            meta: None,
            agent: session.agent,
            place: AgentPlace::Below,
            owner: Some(session.id.clone()),
            bytes: metadata.len(),
            modified: modified(&metadata),
            path,
        })
    };
    reader(session.agent).subagents(session).into_iter().filter_map(file).collect()
}

/// `<project>/<session>` of a file below `<project>/<session>/subagents`.
pub(super) fn session_folder(path: &Path) -> Option<&Path> {
    let subagents = path
        .ancestors()
        .skip(1)
        .find(|folder| folder.file_name() == Some(OsStr::new("subagents")))?;
    subagents.parent()
}

/// The session that the first records of a file name.
pub(super) fn owner_of(path: &Path) -> Option<String> {
    reader_of_unknown_lines().owner(path)
}
