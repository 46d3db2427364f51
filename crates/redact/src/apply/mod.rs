//! Learning from the texts of a session, and taking out what was found.

pub(crate) mod cleared;
pub(crate) mod record;
pub(crate) mod scrubber;
