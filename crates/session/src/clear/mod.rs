//! Files of sessions without their secrets.
//!
//! A [`ClearedCopy`] learns from all files of a session and gives a copy to read instead. Each
//! agent's files are read as that agent writes them, so this is above the readers; how secrets are
//! found is in `backstory-redact`, which knows no files.

mod collector;
mod copy;
mod documents;
mod file;
mod parts;

pub use collector::SecretCollector;
pub use copy::ClearedCopy;
pub use documents::{DocumentFile, study_documents};
pub use file::{CopyError, Studied, study};
pub use parts::CopyPart;
