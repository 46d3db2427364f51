//! Files: the only part of this crate that touches the file system.

mod commits;
mod create;
mod discover;
mod foreign;
mod git;
mod git_write;
mod held;
mod load;
mod named;
mod open;
mod output;
mod project;
mod source;
mod spool;
mod subagents;
mod write;

pub use commits::{AddedLines, Commit, FileChange, Object};
pub use create::{StagedFolder, create_file, try_file};
pub(crate) use discover::is_uuid;
pub use discover::{
    AgentFile, AgentPlace, Found, Notice, NoticeKind, Root, SessionFiles, discover,
    discover_sessions,
};
pub use git::{Git, GitError, GitLine};
pub use git_write::NOTES;
pub use held::{Holding, hold};
pub(crate) use load::{Loaded, is_packed, load, named_packed};
pub use load::{TableReader, read_tables_with};
pub use named::{NamedFile, named_file};
pub use open::{
    Ends, FileState, Read, Selective, StoreError, each_line, read_file, read_range, read_selected,
};
pub use output::{Entry, MANIFEST, OutputError, OutputFolder};
pub use project::{ProjectScope, project_key};
pub use source::{Source, SourceReader};
pub use spool::Spool;
pub use write::{
    Access, create_folder, plain_name, remove_file, replace_file, resolve, write_file,
};
