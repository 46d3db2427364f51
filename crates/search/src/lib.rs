//! Searching what was said in sessions.
//!
//! [`parse`] and [`compile`] turn what a user types into a [`Matcher`]; [`search`] asks it of
//! sessions. There is no index: the bytes of each file are searched for letters that a match must
//! contain (`raw`), and only sessions with them are read and judged, message by message (`judge`).
//! Whatever the bytes show, the decoded texts decide.
//!
//! Not here: how hits look on a terminal, and which sessions are searched.

mod ansi;
mod copies;
mod hit;
mod judge;
mod literal;
mod matcher;
mod query;
mod rank;
mod raw;
mod search;
mod snippet;
mod term;
mod text;
mod unit;

pub use copies::Seen;
pub use hit::{Hit, HitSession};
pub use matcher::{Matcher, ReadTime, compile};
pub use query::{
    At, Condition, Field, Fields, LONGEST_QUERY, Property, Qualifier, Query, QueryError, parse,
};
pub use rank::{Group, grouped, ranked};
pub use search::{Found, Search, search, search_in_order};
pub use snippet::{Snippet, SnippetLine};
pub use unit::Who;
