//! Sessions of coding agents: finding them, what happened in them, and every view on that.
//!
//! [`Sessions`] finds and reads sessions of all agents; [`conversation`] lists what was said and done
//! in one. The modules contain the parts that these are made of, and the other views: rendering,
//! JSON, costs, links to commits, provenance of lines.
//!
//! ```
//! use backstory_session::{PartKind, Sessions, conversation};
//!
//! let sessions = Sessions::open(["../../testdata/sample"])?;
//! for one in sessions.iter() {
//!     let (session, _notices) = sessions.read(one)?;
//!     let first = conversation(&session)?.find(|part| {
//!         part.as_ref().is_ok_and(|part| part.kind == PartKind::Prompt)
//!     });
//!     if let Some(prompt) = first {
//!         println!("{}: {}", session.agent.title(), prompt?.text);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `Sessions::open_default()` takes the folders that agents use on this machine instead. Nothing in
//! this crate prints or reaches the network. Files are touched through `backstory-store`; what
//! happened in a session is the data of `backstory-model`. To remove secrets from texts before they
//! leave the machine, use `backstory-redact`.

pub mod annotate;
mod between;
pub mod blame;
pub mod clear;
mod compare;
mod conversation;
pub mod discover;
pub mod environment;
pub mod history;
pub mod link;
pub mod parallel;
pub mod render;
pub mod select;
mod sessions;
pub mod stats;
pub mod trust;
pub mod wire;

pub use backstory_format::Limits;
pub use backstory_model::{
    Agent, Block, Call, CallResult, Content, Notice, Session, SessionKind, Step, Turn,
};
pub use backstory_store::{Source, SourceReader, StoreError};
pub use conversation::{Conversation, Part, PartKind, conversation};
pub use select::SessionRef;
pub use sessions::{BlameError, OpenError, Sessions};
