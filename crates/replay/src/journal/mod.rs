//! What was asked and answered, in a file that is only ever appended to.

mod entry;
mod known;
mod writer;

pub use entry::{Call, Dropped, Entry, Failure, Key, Run, Sent, Skip, TeacherNote, Usage};
pub use known::{CallState, Known};
pub use writer::{Journal, JournalError};
