//! Files: the only part of this crate that touches the file system.

mod discover;
mod open;
mod project;
mod source;

pub use discover::{AgentFile, AgentPlace, Found, Notice, Root, SessionFiles, discover};
pub use open::{FileState, Read, StoreError, contains_any, read_file, read_range};
pub use project::{ProjectScope, project_key};
pub use source::{Source, SourceReader};
