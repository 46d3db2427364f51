//! What the files of a copy are called where they go: agents are known by names, too, so a copy is
//! named such that it is read as a session of the same agent with the same id.

use super::copy::ClearedCopy;
use backstory_agents::reader;
use backstory_store::plain_name;
use std::path::{Path, PathBuf};

/// A cleared file, and its name in the folder it goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyPart {
    /// The file of the copy.
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
    /// The files of the copy: a session of records as `NAME.jsonl` with its subagents below `NAME`,
    /// one of documents as `NAME` with its own ending, or below `NAME` if it is several files.
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
            [(path, own)] => {
                let renamed = files.and_then(|files| reader(files.agent).copy_name(own, name));
                vec![CopyPart::new(path, renamed.unwrap_or_else(|| below(own)))]
            }
            several => several.iter().map(|(path, own)| CopyPart::new(path, below(own))).collect(),
        }
    }

    /// Those of records.
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
