//! What calls do, as the reader of the agent that made them says.

use crate::registry::reader;
use backstory_model::{Action, ActionKind, Agent, Call, Dialogue, FileEdit, Reading};
use backstory_store::{SourceReader, StoreError};
use std::borrow::Cow;

/// Whether a call does something of this kind.
pub fn does(agent: Agent, call: &Call, kind: ActionKind) -> bool {
    reader(agent).does(call, kind)
}

/// What a call asks for.
pub fn actions<'c>(
    agent: Agent,
    call: &'c Call,
    content: &mut SourceReader,
) -> Result<Vec<Action<'c>>, StoreError> {
    reader(agent).actions(call, content)
}

/// What a call did to files, or would have done had it not failed, with all that its result says.
pub fn edits<'c>(
    agent: Agent,
    call: &'c Call,
    content: &mut SourceReader,
) -> Result<Vec<Cow<'c, FileEdit>>, StoreError> {
    reader(agent).edits(call, content)
}

/// What a call saw of a file, as its result says.
pub fn reading<'c>(
    agent: Agent,
    call: &'c Call,
    content: &mut SourceReader,
) -> Result<Option<Reading<'c>>, StoreError> {
    reader(agent).reading(call, content)
}

/// What a call says to the person and the person to it, if it is a part of their conversation.
pub fn dialogue(
    agent: Agent,
    call: &Call,
    content: &mut SourceReader,
) -> Result<Option<Dialogue>, StoreError> {
    reader(agent).dialogue(call, content)
}
