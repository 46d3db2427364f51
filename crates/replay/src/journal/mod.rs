//! What was asked and answered, in a file that is only ever appended to.

mod entry;

pub use entry::{Call, Dropped, Entry, Failure, Key, Run, Sent, Skip, TeacherNote, Usage};
