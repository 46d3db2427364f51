//! A session read for an export.

use super::{Document, Format, Options, Secrets, learn, make};
use crate::agents::claude_code::{self, Heed};
use crate::agents::{self};
use crate::clear::Lessons;
use crate::history::Notes;
use backstory_format::Limits;
use backstory_model::{Agent, Session};
use backstory_model::{AgentFile, SessionFiles};
use backstory_redact::Scrubber;
use backstory_store::StoreError;

/// A session, what its calls say about files and what is to be taken out of it, taken down while it
/// was read: looking that up afterwards would mean to parse most of it a second time.
pub struct Material {
    pub session: Session,
    notes: Vec<Notes<'static>>,
    /// Of another agent: the files it was read from.
    files: Option<SessionFiles>,
    /// What there is to take out, as far as reading told.
    learnt: Option<Scrubber>,
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
    /// Reads a session with its subagents; agents that cannot be read are returned beside it. Where
    /// secrets are to be taken out they are failures: nobody can say what such a file holds, nor look
    /// for it elsewhere.
    pub fn read(
        files: &SessionFiles,
        format: Format<'_>,
        secrets: Secrets<'_>,
        limits: Limits,
        buffer: &mut Vec<u8>,
    ) -> Result<(Material, Vec<StoreError>), StoreError> {
        if files.agent != Agent::ClaudeCode {
            let (session, failures) = agents::read(files, limits, buffer)?;
            let failures = allowed(failures, secrets)?;
            let (notes, files) = (Vec::new(), Some(files.clone()));
            return Ok((Material { session, notes, files, learnt: None }, failures));
        }
        let lessons = lessons(secrets);
        let (session, notes, failures) =
            claude_code::read_heeding(files, limits, buffer, heed(format, lessons.as_ref()))?;
        let failures = allowed(failures, secrets)?;
        let learnt = lessons.and_then(Lessons::learnt);
        Ok((Material { session, notes, files: None, learnt }, failures))
    }

    /// The same for a subagent's file by itself.
    pub fn read_stray(
        file: &AgentFile,
        format: Format<'_>,
        secrets: Secrets<'_>,
        limits: Limits,
        buffer: &mut Vec<u8>,
    ) -> Result<Material, StoreError> {
        let lessons = lessons(secrets);
        let heed = heed(format, lessons.as_ref());
        let (session, notes) = claude_code::read_stray_heeding(file, limits, buffer, heed)?;
        let learnt = lessons.and_then(Lessons::learnt);
        Ok(Material { session, notes, files: None, learnt })
    }

    /// Makes a document of it. Nothing comes out when redaction or reading fails.
    pub fn export(
        &mut self,
        options: &Options<'_>,
        secrets: Secrets<'_>,
    ) -> Result<Document, StoreError> {
        let learnt = self.learnt.take();
        make(&self.session, self.files.as_ref(), learnt, &mut self.notes, options, secrets)
    }
}

/// What may be missing in an export.
fn allowed(
    mut missing: Vec<StoreError>,
    secrets: Secrets<'_>,
) -> Result<Vec<StoreError>, StoreError> {
    match (secrets, missing.is_empty()) {
        (Secrets::TakenOut(_), false) => Err(missing.swap_remove(0)),
        _ => Ok(missing),
    }
}

fn lessons(secrets: Secrets<'_>) -> Option<Lessons> {
    match secrets {
        Secrets::TakenOut(redactor) => Some(Lessons::new(redactor, learn::claude_code_ids())),
        Secrets::Kept(_) => None,
    }
}

fn heed<'l>(format: Format<'_>, lessons: Option<&'l Lessons>) -> Heed<'l> {
    Heed { wanted: format.tells_lines().then_some(&every_file), lessons }
}
