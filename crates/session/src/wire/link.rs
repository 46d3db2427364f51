//! Links as JSON, documented in `docs/link-json.md`.

use crate::link::{Evidence, Link};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name and version of the JSON form of a link.
pub const LINK_SCHEMA: &str = "backstory.link/1";

/// Name and version of the JSON form of a note.
pub const NOTE_SCHEMA: &str = "backstory.link-note/1";

/// What `backstory link --json` prints for a session and a commit. Fields are in the order in which
/// they are printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LinkDocument {
    /// The commit.
    pub commit: LinkedCommit,
    /// Share of the found lines whose whitespace changed on their way into the commit.
    pub divergence: Option<f64>,
    /// Why they belong together.
    pub evidence: Vec<LinkEvidence>,
    /// Whether the commit contains work of the session.
    pub is_committed: bool,
    /// The top folder of the repository.
    pub repository: String,
    /// `backstory.link/1`
    pub schema: String,
    /// The session.
    pub session: String,
    /// The tier of the strongest evidence.
    pub tier: String,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LinkedCommit {
    /// When the change was made.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub authored: Option<Timestamp>,
    /// When the commit was made.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub committed: Option<Timestamp>,
    /// The full hash.
    pub id: String,
    /// The first line of the message.
    pub subject: String,
}

/// One reason why a session and a commit belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
#[serde(untagged)]
pub enum LinkEvidence {
    /// A call made the commit and printed its id.
    Printed {
        /// Whether the call's output announces the commit.
        announced: bool,
        /// The call.
        call: Option<String>,
        /// The line of the result in the session file.
        line: u64,
        /// The id as it was printed.
        printed_id: String,
        /// `printed`
        tier: String,
    },
    /// The commit contains a file exactly as the session left it.
    Blob {
        /// The hash of the content.
        blob: String,
        /// The call that wrote the content.
        call: Option<String>,
        /// Whether another commit had the content before, on another line of history.
        copied_commit: bool,
        /// Whether no later edit of the session changed the file.
        last_edit: bool,
        /// The line of the edit in the session file.
        line: u64,
        /// The path in the repository.
        path: String,
        /// The path that the session recorded. Not part of notes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recorded_path: Option<String>,
        /// `blob`
        tier: String,
    },
    /// The commit adds lines that the session added to the file before.
    Lines {
        /// Lines with content that the commit adds.
        lines_added: u64,
        /// Those that the session added.
        lines_exact: u64,
        /// Those that the session added with other whitespace.
        lines_reformatted: u64,
        /// The path in the repository.
        path: String,
        /// The path that the session recorded. Not part of notes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recorded_path: Option<String>,
        /// `lines`
        tier: String,
    },
    /// The commit changes a file that the session edited before.
    Overlap {
        /// The path in the repository.
        path: String,
        /// The path that the session recorded. Not part of notes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recorded_path: Option<String>,
        /// `overlap`
        tier: String,
    },
}

/// The note that `backstory link --note` adds to a commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NoteDocument {
    /// `backstory.link-note/1`
    pub schema: String,
    /// Sessions whose work the commit contains.
    pub sessions: Vec<NoteSession>,
}

/// A session in a note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NoteSession {
    /// The agent.
    pub agent: String,
    /// Why session and commit belong together.
    pub evidence: Vec<LinkEvidence>,
    /// The session.
    pub session: String,
    /// The tier of the strongest evidence.
    pub tier: String,
}

/// One link as a JSON object.
pub fn link_json(link: &Link, repository: &Path) -> LinkDocument {
    let kept = |path: &str| Some(path.to_owned());
    LinkDocument {
        commit: LinkedCommit {
            authored: link.commit.authored,
            committed: link.commit.committed,
            id: link.commit.id.clone(),
            subject: link.commit.subject.clone(),
        },
        divergence: link.divergence(),
        evidence: link.evidence.iter().map(|one| evidence(one, kept)).collect(),
        is_committed: link.is_committed(),
        repository: repository.to_string_lossy().into_owned(),
        schema: LINK_SCHEMA.to_owned(),
        session: link.session.clone(),
        tier: link.tier.name().to_owned(),
    }
}

/// The evidence, with what `recorded` makes of a path that the session recorded.
fn evidence(evidence: &Evidence, recorded_path: impl Fn(&str) -> Option<String>) -> LinkEvidence {
    let tier = evidence.tier().name().to_owned();
    match evidence {
        Evidence::Printed { id, line, call, announced } => LinkEvidence::Printed {
            announced: *announced,
            call: call.as_deref().map(str::to_owned),
            line: *line,
            printed_id: id.clone(),
            tier,
        },
        Evidence::Blob { path, recorded, blob, line, call, last, copy } => LinkEvidence::Blob {
            blob: blob.clone(),
            call: call.as_deref().map(str::to_owned),
            copied_commit: *copy,
            last_edit: *last,
            line: *line,
            path: path.clone(),
            recorded_path: recorded_path(recorded),
            tier,
        },
        Evidence::Lines { path, recorded, added, exact, reformatted } => LinkEvidence::Lines {
            lines_added: *added,
            lines_exact: *exact,
            lines_reformatted: *reformatted,
            path: path.clone(),
            recorded_path: recorded_path(recorded),
            tier,
        },
        Evidence::Overlap { path, recorded } => LinkEvidence::Overlap {
            path: path.clone(),
            recorded_path: recorded_path(recorded),
            tier,
        },
    }
}

/// The note of a commit: sessions and evidence, but no folder of this machine and no subject.
/// Nothing if no link has work of a session.
pub fn note_json(links: &[Link]) -> Option<NoteDocument> {
    let session = |link: &Link| NoteSession {
        agent: link.agent.name().to_owned(),
        evidence: link.evidence.iter().map(|one| evidence(one, |_| None)).collect(),
        session: link.session.clone(),
        tier: link.tier.name().to_owned(),
    };
    let sessions: Vec<NoteSession> =
        links.iter().filter(|link| link.is_committed()).map(session).collect();
    (!sessions.is_empty()).then(|| NoteDocument { schema: NOTE_SCHEMA.to_owned(), sessions })
}
