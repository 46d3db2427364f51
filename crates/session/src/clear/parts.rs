//! What the files of a copy are called where they go: agents are known by names, too, so a copy is
//! named such that it is read as a session of the same agent with the same id.

use super::copy::ClearedCopy;
use backstory_agents::{AIDER_HISTORY, CLINE_TASK};
use backstory_model::Agent;
use backstory_store::plain_name;
use std::path::{Path, PathBuf};

/// Letters of an id.
const UUID: usize = 36;

/// A cleared file, and its name in the folder it goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyPart {
    pub copy: PathBuf,
    /// Plain names joined by `/`.
    pub name: String,
}

impl CopyPart {
    fn new(copy: &Path, name: String) -> CopyPart {
        CopyPart { copy: copy.to_path_buf(), name }
    }
}

impl ClearedCopy {
    /// The files of the copy: a session of Claude Code as `NAME.jsonl` with its subagents below
    /// `NAME`, that of another agent as `NAME` with its own ending, or below `NAME` if it is several
    /// files.
    pub fn parts(&self, name: &str) -> Vec<CopyPart> {
        // Colons, which times in ids have, are no part of a name.
        let files = self.session().map(|files| files.into_inner());
        let id = files.map(|files| files.id.as_str());
        let spelt = id.filter(|id| id.contains(':') && plain_name(id) == name);
        let spelt = spelt.map(|id| plain_name(&id.replace(':', "-")));
        let name = spelt.as_deref().unwrap_or(name);
        let below = |own: &Path| {
            let parts = own.iter().map(|part| plain_name(&part.to_string_lossy()));
            std::iter::once(name.to_owned()).chain(parts).collect::<Vec<_>>().join("/")
        };
        match self.files().into_inner().as_slice() {
            [] => self.own_parts(name),
            // A file that is known by its own name, or by its folder's.
            [(path, own)] if own.iter().count() > 1 || own.as_os_str() == CLINE_TASK => {
                vec![CopyPart::new(path, below(own))]
            }
            [(path, own)] => {
                let agent = files.map(|files| files.agent);
                vec![CopyPart::new(path, named_after(name, own, agent))]
            }
            several => several.iter().map(|(path, own)| CopyPart::new(path, below(own))).collect(),
        }
    }

    /// Those of Claude Code.
    fn own_parts(&self, name: &str) -> Vec<CopyPart> {
        let main =
            self.session().map(|files| CopyPart::new(&files.get().path, format!("{name}.jsonl")));
        let alone = main.is_none();
        let mut parts: Vec<CopyPart> = main.into_iter().collect();
        for agent in self.agents().into_inner() {
            if alone {
                parts.push(CopyPart::new(&agent.path, format!("{name}.jsonl")));
                continue;
            }
            let id = plain_name(agent.id.trim_start_matches("agent-"));
            let beside = format!("{name}/subagents/agent-{id}");
            parts.push(CopyPart::new(&agent.path, format!("{beside}.jsonl")));
            let meta = agent.meta.as_ref();
            parts.extend(meta.map(|meta| CopyPart::new(meta, format!("{beside}.meta.json"))));
        }
        parts
    }
}

/// The name of another agent's only file. One that is named after its session keeps its name.
fn named_after(name: &str, own: &Path, agent: Option<Agent>) -> String {
    let own = own.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let end = match agent {
        Some(Agent::Aider) => AIDER_HISTORY.trim_start_matches('.'),
        _ => own.split_once('.').map_or("", |(_, end)| end),
    };
    let rest = own.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    // Names of rollouts end with the id.
    let inside = name.len() >= UUID && own.contains(name);
    if rest || inside { plain_name(&own) } else { format!("{name}.{}", plain_name(end)) }
}
