//! Files: the only part of this crate that touches the file system.

mod commit_log;
mod commits;
mod create;
mod discover;
mod foreign;
mod git;
mod git_run;
mod git_write;
mod guard;
mod held;
mod load;
mod named;
mod once;
mod open;
mod output;
mod project;
mod scratch;
mod small;
mod source;
mod spool;
mod subagents;
mod write;

pub use commit_log::CommitLog;
pub use commits::{Commit, FileChange, Object, parse_blobs, parse_commits};
pub use create::{StagedFolder, create_file, try_file};
pub use discover::{
    AgentFile, AgentPlace, Found, Notice, NoticeKind, Root, SessionFiles, discover,
    discover_sessions,
};
pub use git::{Git, GitError, GitLine, parse_blame};
pub use git_run::limit_git;
pub use git_write::NOTES;
pub use guard::{Destination, Guard, GuardError};
pub use held::{Holding, hold};
pub(crate) use load::{Loaded, is_packed, load, named_packed};
pub use load::{TableReader, read_tables_with};
pub use named::{NamedFile, named_file};
pub use once::once_each;
pub use open::{
    Ends, FileState, Read, Selective, StoreError, each_line, read_file, read_range, read_selected,
};
pub use output::{Entry, MANIFEST, OutputError, OutputFolder};
pub use project::{ProjectScope, project_key};
pub use scratch::Scratch;
pub(crate) use small::LARGEST_META;
pub use small::{open_file, read_small, read_small_text};
pub use source::{Source, SourceReader};
pub use spool::Spool;
pub use write::{
    Access, create_folder, create_folder_of, plain_name, remove_file, resolve, write_file,
};
