//! Sessions by name, and work on many of them.
//!
//! What a user may call a session is decided in [`resolve`](Found::resolve): an id, the start of
//! one, `latest`, `latest~2`; [`Found::at_path`] finds it by its file. Not here: where to look for
//! sessions, which is `discover`.

mod filter;
mod names;
mod reading;
mod resolve;
mod session_ref;

pub use filter::{Filter, matching};
pub use names::{distinct_names, looks_like_path, short_ids};
pub use reading::{fold_sessions, folder_inside, newest_first};
pub use resolve::ResolveError;
pub use session_ref::SessionRef;

#[cfg(doc)]
use crate::discover::Found;
