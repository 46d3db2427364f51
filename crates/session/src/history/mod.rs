//! What agents did to files: every edit, in order, and which lines are left of it.
//!
//! The steps: [`read`] takes edits and sightings of content out of a session; [`Gathered`] brings
//! those of all sessions together, each once, by path and time; `replay` finds the content
//! before and after every edit; [`trace`] carries the lines forward through all known states to
//! the file as it is now.
//!
//! The rule of the module: a line is attributed on evidence or not at all. Text that nobody is
//! known to have written stays unattributed, also where the agent's edit moved, restored or
//! re-indented it.

mod apply;
mod call_cache;
mod chain;
mod collect;
mod diff;
mod edit;
mod effects;
mod extract;
mod gather;
mod in_place;
mod last;
mod lazy_reads;
mod lines;
mod mark;
mod moves;
mod notebook;
mod order;
mod other_states;
mod path;
mod reformatted;
mod regions;
mod repeats;
mod replay;
mod report;
mod scope;
mod shell;
mod states;
mod trace;
mod tracer;
mod unified;

pub use call_cache::{CallCache, CallCacheBuilder};
pub use chain::Chain;
pub use collect::{Collected, collect, mentions_any, search_needle};
pub use diff::{DiffHunk, DiffLine, LineDiff, line_diff};
pub(crate) use diff::{added_lines, aligned};
pub use edit::{
    Backup, Committed, Edit, EditAction, Event, EventKind, Provenance, Rename, Sighting,
    SightingSource,
};
pub use extract::extract_cached;
pub use extract::{Extracted, Wanted, extract, read, read_stray};
pub use gather::Gathered;
pub use lines::split_lines;
pub use mark::{Confidence, LineOrigin, Mark, Why};
pub use order::When;
pub use path::normal_path;
pub use report::{Choice, Sum, by_model_and_session, created_by_agent};
pub use scope::PathScope;
pub use shell::ShellTouch;
pub use states::{EditState, edit_states};
pub use trace::{Span as OutsideSpan, Target, Traced, TracedEdit, trace, trace_recorded};
pub use unified::unified;
