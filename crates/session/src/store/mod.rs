//! Files: the only part of this crate that touches the file system.

mod discover;
mod git;
mod open;
mod project;
mod source;
mod write;

pub use discover::{
    AgentFile, AgentPlace, Found, Notice, Root, SessionFiles, discover, discover_sessions,
};
pub use git::{Git, GitError, GitLine};
pub use open::{Ends, FileState, Read, StoreError, read_file, read_range};
pub use project::{ProjectScope, project_key};
pub use source::{Source, SourceReader};
pub use write::write_file;
