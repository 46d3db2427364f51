//! Files, read and written safely, and git.
//!
//! Everything that touches the file system goes through here: reading files that may be written at the same time,
//! unpacking, writing a file whole or not at all, and asking git without running what a repository
//! says.

mod commit_log;
mod commits;
mod context;
mod create;
mod file_cache;
mod file_state;
mod git;
mod git_run;
mod git_write;
mod guard;
mod load;
mod open;
mod output;
mod resolve;
mod scratch;
mod small;
mod source;
mod spool;
mod write;

pub use commit_log::CommitLog;
pub use commits::{Commit, FileChange, Object, parse_blobs, parse_commits};
pub use context::{ReadContext, Store, TableReader};
pub use create::{StagedFolder, create_file, try_file};
pub use file_state::{FileState, modified};
pub use git::{Git, GitError, GitLine, parse_blame};
pub use git_write::NOTES;
pub use guard::{Destination, Guard, GuardError, MANIFEST};
pub use load::{Loaded, is_packed, named_packed};
pub use open::{
    Ends, Read, Selective, StoreError, each_line, read_file, read_range, read_selected,
};
pub use output::{Entry, Holder, OutputError, OutputFolder};
pub use resolve::resolve;
pub use scratch::Scratch;
pub use small::LARGEST_META;
pub use small::{open_file, read_small, read_small_text};
pub use source::{Source, SourceReader};
pub use spool::Spool;
pub use write::{Access, create_folder, create_folder_of, plain_name, remove_file, write_file};
