//! The messages of a session and what they took, from the session as it was read.

use backstory_model::SessionFiles;
use backstory_model::{Detail, Expense, FileSpending, Session, Spent, Step};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// The messages of a session and of its subagents. Those in the file of a session that this one
/// continues are not its own. Where only totals are known, they are one message.
pub(crate) fn spending(session: &Session, files: &SessionFiles, detail: Detail) -> FileSpending {
    let mut messages: Vec<Expense> = Vec::new();
    for (at, member) in session.walk().into_iter().enumerate() {
        add(member, Whose { files, sidechain: at > 0 }, detail, &mut messages);
    }
    if messages.iter().all(|message| message.spent.is_none())
        && session.usage.total() > 0
        && session.inherited.turns == 0
        && let Some(first) = messages.first_mut()
    {
        first.spent = Some(Spent { tokens: session.usage.tokens(), ..Spent::default() });
    }
    FileSpending {
        session: Some(session.id.clone()),
        cwd: session.cwds.first().cloned(),
        started: session.started,
        forked: session.forked_from.is_some(),
        messages,
        ..FileSpending::default()
    }
}

/// Whose messages are added.
#[derive(Clone, Copy)]
struct Whose<'a> {
    files: &'a SessionFiles,
    /// Whether a subagent wrote them.
    sidechain: bool,
}

fn add(session: &Session, whose: Whose<'_>, detail: Detail, messages: &mut Vec<Expense>) {
    let own = session.turns.iter().skip(session.inherited.turns);
    let left = session.abandoned.iter().skip(session.inherited.branches);
    let turns = own.chain(left.flat_map(|branch| &branch.turns));
    for step in turns.flat_map(|turn| &turn.steps).filter(|step| !step.synthetic) {
        let calls = step.calls().filter(|_| detail == Detail::Calls).filter_map(|call| {
            let id = FixedState::default().hash_one(call.id.as_deref()?.as_bytes());
            Some((id, call.name.clone()?))
        });
        let spent = step.usage.as_ref();
        messages.push(Expense {
            id: id(step, messages.len(), whose.files),
            model: step.model.clone(),
            time: step.timestamp,
            sidechain: whose.sidechain,
            spent: spent.map(|usage| Spent { tokens: usage.tokens(), ..Spent::default() }),
            finished: true,
            calls: calls.collect(),
        });
    }
}

/// What a message is known by: its own id, which copies of it share, else its place.
fn id(step: &Step, number: usize, files: &SessionFiles) -> Box<str> {
    match &step.message_id {
        Some(id) => format!("{}:{id}", files.agent.name()).into(),
        None => {
            let (path, start) = files.place();
            format!("{}:{}:{number}", path.display(), start.unwrap_or(0)).into()
        }
    }
}
