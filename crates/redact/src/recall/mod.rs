//! Remembering: values to be found again in other forms, and texts that were searched before.

pub(crate) mod encodings;
pub(crate) mod known_values;
pub(crate) mod search_cache;
pub(crate) mod unwrapped;
