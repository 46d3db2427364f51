//! Files of an agent, made for a test.

use crate::write_file;
use backstory_model::{Agent, Session};
use serde_json::Value;
use std::path::Path;

/// Files of an agent, by their paths below the test's folder.
#[derive(Debug, Clone)]
pub struct Sample {
    pub agent: Agent,
    pub files: Vec<(&'static str, Vec<u8>)>,
}

impl Sample {
    pub fn write(&self, folder: &Path) {
        for (name, content) in &self.files {
            write_file(&folder.join(name), content);
        }
    }

    /// The sessions that are read from the files, which stay as long as the folder does.
    pub fn sessions(&self) -> (tempfile::TempDir, Vec<Session>) {
        let folder = tempfile::tempdir().unwrap();
        self.write(folder.path());
        let sessions = crate::sessions(folder.path());
        for session in &sessions {
            assert_eq!(session.agent, self.agent);
        }
        (folder, sessions)
    }
}

/// The only session of some files.
pub fn one_session(
    agent: Agent,
    files: Vec<(&'static str, Vec<u8>)>,
) -> (tempfile::TempDir, Session) {
    let (folder, mut sessions) = Sample { agent, files }.sessions();
    assert_eq!(sessions.len(), 1);
    (folder, sessions.remove(0))
}

/// Records as JSON Lines.
pub fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}
