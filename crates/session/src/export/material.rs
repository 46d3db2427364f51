//! A session read for an export.

use super::{Document, Format, Options, Secrets, make};
use crate::agents::{self, claude_code};
use crate::history::Notes;
use crate::model::{Agent, Session};
use crate::store::{AgentFile, SessionFiles, StoreError};
use backstory_format::Limits;

/// A session, and what its calls say about files, taken down while it was read: looking that up
/// afterwards would mean to parse most of it a second time.
pub struct Material {
    pub session: Session,
    notes: Vec<Notes<'static>>,
    /// Of another agent: the files it was read from.
    files: Option<SessionFiles>,
}

impl std::fmt::Debug for Material {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Material").field("session", &self.session).finish_non_exhaustive()
    }
}

/// Notes are taken of every file.
fn every_file(_: &str) -> bool {
    true
}

impl Material {
    /// Reads a session with its subagents; agents that cannot be read are returned beside it.
    pub fn read(
        files: &SessionFiles,
        format: Format<'_>,
        limits: Limits,
        buffer: &mut Vec<u8>,
    ) -> Result<(Material, Vec<StoreError>), StoreError> {
        if files.agent != Agent::ClaudeCode || !format.tells_lines() {
            let (session, failures) = agents::read(files, limits, buffer)?;
            let foreign = (files.agent != Agent::ClaudeCode).then(|| files.clone());
            return Ok((Material { session, notes: Vec::new(), files: foreign }, failures));
        }
        let (session, notes, failures) =
            claude_code::read_noted(files, limits, buffer, &every_file)?;
        Ok((Material { session, notes, files: None }, failures))
    }

    /// The same for a subagent's file by itself.
    pub fn read_stray(
        file: &AgentFile,
        limits: Limits,
        buffer: &mut Vec<u8>,
    ) -> Result<Material, StoreError> {
        let (session, notes) = claude_code::read_stray_noted(file, limits, buffer, &every_file)?;
        Ok(Material { session, notes: vec![notes], files: None })
    }

    /// Makes a document of it. Nothing comes out when redaction or reading fails.
    pub fn export(
        &mut self,
        options: &Options<'_>,
        secrets: Secrets<'_>,
    ) -> Result<Document, StoreError> {
        make(&self.session, self.files.as_ref(), &mut self.notes, options, secrets)
    }
}
