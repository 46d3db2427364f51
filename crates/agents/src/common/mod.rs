//! Code shared by the readers of plainer formats.
//!
//! Claude Code's files are trees with copies, branches and fragments, and have machinery of their
//! own. Other agents record a conversation in order: their readers go through it once and add what
//! they see to a [`Draft`].

mod blocks;
mod calls;
mod chat;
mod content_ref;
mod document;
mod draft;
mod editor;
mod fence;
mod json_lines;
mod names;
mod parts;
mod prompt;
mod spending;
mod times;

pub(super) use blocks::{Dialect, search_replace};
pub(super) use chat::{Action, Chat, chat_usage};
pub(super) use content_ref::Cite;
pub(super) use document::{document, parse};
pub(super) use draft::{Draft, Place, problem};
pub(super) use editor::{Editor, editor};
pub(super) use fence::{Fence, fenced};
pub(super) use json_lines::json_lines;
pub(super) use names::{LINES, LINES_AND_DOCUMENTS, MESSAGE_IDS, copy_name, ids_below, stem, text};
pub(super) use parts::{Part, content_of, other, parts};
pub(super) use prompt::{context, typed};
pub(super) use spending::spending;
pub(super) use times::{local, timestamp};
