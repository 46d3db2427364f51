//! Where a session was found.

use backstory_model::SessionKind;
use backstory_store::Source;

/// A file, and what its place says of the session in it.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) id: String,
    pub(super) kind: SessionKind,
    pub(super) project_key: Option<String>,
    pub(super) source: Source,
    pub(super) modified: Option<jiff::Timestamp>,
}
