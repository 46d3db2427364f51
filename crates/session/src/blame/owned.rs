//! The lines of a file with their origins, free of what they were found in.

use super::Blame;
use crate::history::{Confidence, EditAction, Provenance, Why};
use backstory_model::Notice;
use backstory_store::{GitLine, StoreError};
use jiff::Timestamp;
use std::sync::Arc;

/// The lines of a file with their origins.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BlamedFile {
    /// All lines.
    pub lines: Vec<BlamedLine>,
    /// Sessions that could not be read and commits that could not be asked for.
    pub notices: Vec<Notice>,
}

/// A line with its origin.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BlamedLine {
    /// Counted from 1.
    pub number: u64,
    /// Without its end.
    pub text: String,
    /// The edit that wrote it. None for lines that no session is known to have written.
    pub edit: Option<Arc<BlamedEdit>>,
    /// How sure that is.
    pub confidence: Option<Confidence>,
    /// The reason, also if there is no edit.
    pub why: Why,
    /// The commit that has the line.
    pub commit: Option<GitLine>,
}

/// An edit of an agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BlamedEdit {
    /// When it was made.
    pub time: Option<Timestamp>,
    /// Whether it created the file, replaced it or changed a part.
    pub action: EditAction,
    /// Agent, session, model, tool and turn.
    pub by: Provenance,
}

impl BlamedEdit {
    /// The prompt that led to the edit, read from the session's file.
    pub fn prompt(&self) -> Result<Option<String>, StoreError> {
        let Some((source, content)) = &self.by.prompt else { return Ok(None) };
        Ok(Some(source.open()?.text(content)?.into_owned()))
    }
}

impl BlamedFile {
    /// A copy of what is known of each line.
    pub fn of(blame: &Blame<'_>) -> BlamedFile {
        let edits: Vec<Arc<BlamedEdit>> = blame
            .traced
            .edits
            .iter()
            .map(|edit| {
                let (action, by) = (edit.edit.action(), edit.edit.by.clone());
                Arc::new(BlamedEdit { time: edit.event.time, action, by })
            })
            .collect();
        let lines = blame.lines.iter().map(|line| {
            let edit = line.mark.edit().and_then(|at| edits.get(at as usize)).cloned();
            BlamedLine {
                number: line.number,
                text: line.text.to_owned(),
                confidence: edit.as_ref().map(|_| line.mark.confidence),
                edit,
                why: line.mark.why,
                commit: line.git.clone(),
            }
        });
        BlamedFile { lines: lines.collect(), notices: blame.history.notices.clone() }
    }
}
