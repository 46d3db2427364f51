//! `show --at` and `show --find`: beginning at one message.

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::CliError;
use crate::filter::Choice;
use crate::select::Selection;
use crate::times;
use backstory_model::{Session, Step, Turn};
use backstory_search::{Found, Matcher, Search, compile, parse, search};
use backstory_session::render::{TurnRange, View};

/// A query, ready to be asked of the session.
pub(super) fn matcher(query: &str) -> Result<Matcher, CliError> {
    let now = environment::now();
    parse(query)
        .and_then(|parsed| compile(&parsed, &|text| times::parse(text, now)))
        .map_err(|error| super::super::search::wrong(query, &error))
}

/// The first message of a session that meets a query, as [`begin_at`] takes it.
pub(super) fn first(
    wanted: &str,
    choice: &Choice,
    global: &GlobalArguments,
    matcher: &Matcher,
) -> Result<Option<String>, CliError> {
    let (selection, path) = Selection::for_one(wanted, global)?;
    let session = selection.one(wanted, path.as_ref(), choice, global)?;
    let asked = Search { matcher, store: &global.store, context: None, redactor: None };
    let Found { hits, .. } = search(&[session], &asked, &());
    let on_story = hits.iter().filter(|hit| !hit.abandoned && hit.turn.is_some());
    let Some(first) = on_story.min_by_key(|hit| (hit.turn, hit.time, hit.line)) else {
        return Err(CliError::not_found("--find: not found in this session")
            .hint("in:prompt,answer,thinking,call,result searches everything"));
    };
    Ok(first.at().map(str::to_owned).or_else(|| first.turn.map(|turn| turn.to_string())))
}

/// Leaves out what comes before a message: by the number of a turn, the id of a record, or the id of
/// a call.
pub(super) fn begin_at(session: &mut Session, at: &str, view: &mut View) -> Result<(), CliError> {
    let number =
        at.parse::<usize>().ok().filter(|number| (1..=session.turns.len()).contains(number));
    let turn = number.or_else(|| cut(session, at).map(|turn| turn + 1));
    let Some(turn) = turn else {
        if session
            .abandoned
            .iter()
            .flat_map(|branch| &branch.turns)
            .any(|turn| place(turn, at).is_some())
        {
            // Branches come after the conversation, and only with all of it.
            view.turns = TurnRange::default();
            return Ok(());
        }
        return Err(CliError::not_found(format!("--at `{at}`: no such message in this session"))
            .hint("give a turn, or what `backstory search` prints after --at"));
    };
    if view.turns == TurnRange::default() {
        view.turns = TurnRange { first: Some(turn), last: None };
    }
    Ok(())
}

/// Leaves out the messages before the wanted one in its turn, and in those of the sessions around
/// it; the index of the outermost turn.
fn cut(session: &mut Session, at: &str) -> Option<usize> {
    let own = |turn: &Turn| place(turn, at);
    if let Some(turn) = cut_turn(&mut session.turns, own) {
        return Some(turn);
    }
    let id = session.subagents.iter_mut().find_map(|sub| cut(sub, at).map(|_| sub.id.clone()))?;
    let starts = |step: &Step| step.calls().any(|call| call.subagent.as_deref() == Some(&*id));
    cut_turn(&mut session.turns, |turn| turn.steps.iter().position(starts))
}

fn cut_turn(turns: &mut [Turn], place: impl Fn(&Turn) -> Option<usize>) -> Option<usize> {
    let (number, turn, step) = turns
        .iter_mut()
        .enumerate()
        .find_map(|(number, turn)| place(turn).map(|step| (number, turn, step)))?;
    let line = turn.steps.get(step).and_then(|step| step.lines.first().copied());
    if step > 0 {
        turn.interjections.retain(|one| line.is_none_or(|line| one.line >= line));
        turn.events.retain(|event| line.is_none_or(|line| event.line >= line));
    }
    // They stay as messages without text, so that what the turn took stays what it was.
    for earlier in turn.steps.iter_mut().take(step) {
        earlier.blocks.clear();
        earlier.error = None;
    }
    Some(number)
}

/// The message of a turn that a record or a call is part of; 0 for its prompt.
fn place(turn: &Turn, at: &str) -> Option<usize> {
    if turn.uuid.as_deref() == Some(at) {
        return Some(0);
    }
    turn.steps.iter().position(|step| {
        step.uuids.iter().any(|uuid| **uuid == *at)
            || step.calls().any(|call| {
                let result = call.result.as_ref().and_then(|result| result.uuid.as_deref());
                call.id.as_deref() == Some(at) || result == Some(at)
            })
    })
}
