//! What was found.

use crate::matcher::Matcher;
use crate::query::Field;
use crate::snippet::{Snippet, snippet};
use crate::text::Segment;
use crate::unit::{Member, Unit, Who};
use backstory_agents as agents;
use backstory_model::{Agent, Session};
use foldhash::fast::FixedState;
use jiff::Timestamp;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Places that are noted in one text, at most.
const PLACES: usize = 100;

/// A session in which something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitSession {
    /// Its id, by which `show` finds it.
    pub id: String,
    /// Who wrote it.
    pub agent: Agent,
    /// Its title.
    pub title: Option<String>,
    /// The folder that it worked in first.
    pub project: Option<String>,
    /// Its file, or its folder.
    pub path: PathBuf,
    /// When it began.
    pub started: Option<Timestamp>,
    /// When something last happened.
    pub last: Option<Timestamp>,
    /// Whether it is a copy of another session.
    pub forked: bool,
}

impl HitSession {
    pub(crate) fn of(session: &Session) -> HitSession {
        HitSession {
            id: session.id.clone(),
            agent: session.agent,
            title: session.title.as_ref().map(|title| title.text.clone()),
            project: session.cwds.first().map(ToString::to_string),
            path: session.source.path().to_path_buf(),
            started: session.started,
            last: session.ended.or(session.file.modified),
            forked: session.forked_from.is_some(),
        }
    }
}

/// A message or a call that meets a query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// The session.
    pub session: Arc<HitSession>,
    /// The subagent that it is of.
    pub subagent: Option<Arc<str>>,
    /// The file with its record.
    pub path: Arc<std::path::Path>,
    /// What it is.
    pub who: Who,
    /// The turn of the session, from 1. None on an abandoned branch.
    pub turn: Option<usize>,
    /// Whether it is on a branch that the conversation left.
    pub abandoned: bool,
    /// Its record.
    pub uuid: Option<String>,
    /// The id of the call.
    pub call: Option<String>,
    /// The tool of the call.
    pub tool: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The line of its record.
    pub line: Option<u64>,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// The text that is shown.
    pub field: Field,
    /// Where that text begins in the file, in bytes.
    pub offset: Option<u64>,
    /// Bytes of that text, decoded.
    pub length: usize,
    /// What was found in it, in bytes of the decoded text.
    pub matches: Vec<Range<usize>>,
    /// Lines of it.
    pub snippet: Snippet,
    /// Other sessions with the same message.
    pub also_in: Vec<String>,
    /// The larger, the more closely it is what was asked for.
    pub(crate) closeness: u8,
    /// Equal for copies of a message.
    pub(crate) key: Option<(u64, u64)>,
    /// The client ran it for itself.
    pub(crate) housekeeping: bool,
}

impl Hit {
    /// The record or call to show: what `show --at` takes.
    pub fn at(&self) -> Option<&str> {
        self.call.as_deref().or(self.uuid.as_deref())
    }

    pub(crate) fn new(
        matcher: &Matcher,
        session: &Arc<HitSession>,
        member: Member<'_>,
        unit: &Unit<'_>,
        segments: &[Segment],
        context: Option<usize>,
    ) -> Option<Hit> {
        let (segment, closeness) = best(matcher, segments)?;
        let matches = places(matcher, &segment.text, closeness);
        let own = member.session;
        let is_root = own.id == session.id;
        let snippet = snippet(&segment.text, &matches, context);
        Some(Hit {
            session: session.clone(),
            subagent: (!is_root).then(|| own.id.as_str().into()),
            path: own.source.path().into(),
            who: unit.who,
            turn: unit.turn,
            abandoned: unit.abandoned,
            uuid: unit.uuid.map(str::to_owned),
            call: unit.call.and_then(|call| call.id.as_deref()).map(str::to_owned),
            tool: unit.call.and_then(|call| call.name.as_deref()).map(str::to_owned),
            model: unit.step.and_then(|step| step.model.as_deref()).map(str::to_owned),
            line: unit.line,
            time: unit.time,
            field: segment.field,
            offset: segment.offset,
            length: segment.text.len(),
            matches,
            snippet,
            also_in: Vec::new(),
            closeness,
            key: key(unit, segments),
            housekeeping: own.kind.is_housekeeping(),
        })
    }
}

/// The text to show, and how close it is to what was asked for.
fn best<'t>(matcher: &Matcher, segments: &'t [Segment]) -> Option<(&'t Segment, u8)> {
    let rated = segments.iter().map(|segment| {
        let is_match = |regex: &Option<regex::Regex>| {
            regex.as_ref().is_some_and(|regex| regex.is_match(&segment.text))
        };
        let terms = matcher.positive.iter().filter_map(|at| matcher.terms.get(*at));
        let found = terms.filter(|term| term.regex.is_match(&segment.text)).count();
        let closeness =
            if is_match(&matcher.whole_words) { 2 } else { u8::from(is_match(&matcher.phrase)) };
        (segment, closeness, found)
    });
    let best = rated.max_by_key(|(segment, closeness, found)| {
        (*closeness, *found, std::cmp::Reverse((weight(segment.field), segment.text.len())))
    });
    best.map(|(segment, closeness, _)| (segment, closeness))
}

/// What comes first in a ranking: the smaller, the earlier.
pub(crate) fn weight(field: Field) -> u8 {
    match field {
        Field::Prompt | Field::Answer | Field::Title => 0,
        Field::Thinking | Field::Call | Field::Path => 1,
        Field::Result => 2,
    }
}

/// Where the words are, or all of them in a row, in order and without overlaps.
fn places(matcher: &Matcher, text: &str, closeness: u8) -> Vec<Range<usize>> {
    let phrase = match closeness {
        2 => matcher.whole_words.as_ref(),
        1 => matcher.phrase.as_ref(),
        _ => None,
    };
    let terms = matcher.positive.iter().filter_map(|at| matcher.terms.get(*at));
    let regexes: Vec<&regex::Regex> = match phrase {
        Some(phrase) => vec![phrase],
        None => terms.map(|term| &term.regex).collect(),
    };
    let found = regexes.iter().flat_map(|regex| regex.find_iter(text).take(PLACES));
    let mut places: Vec<Range<usize>> =
        found.map(|found| found.range()).filter(|place| !place.is_empty()).collect();
    places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    let mut end = 0;
    places.retain(|place| {
        let keep = place.start >= end;
        end = end.max(place.end);
        keep
    });
    places.truncate(PLACES);
    places
}

impl Matcher {
    /// What a query is about in a text, in bytes, in order.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        places(self, text, 0)
    }
}

/// Equal for copies of a message; none where nothing tells whether it is one.
fn key(unit: &Unit<'_>, segments: &[Segment]) -> Option<(u64, u64)> {
    let id = match (unit.call, unit.step) {
        (Some(call), _) => call.native_id(),
        (None, Some(step)) => step.message_id.as_deref(),
        (None, None) => None,
    };
    if unit.who == Who::Title || (id.is_none() && unit.time.is_none()) {
        return None;
    }
    let half = |seed: u64| {
        let mut state = FixedState::with_seed(seed).build_hasher();
        unit.who.hash(&mut state);
        match id {
            Some(id) => id.hash(&mut state),
            None => unit.time.hash(&mut state),
        }
        // The result of a call may be missing in one of two copies.
        let same = segments.iter().filter(|one| unit.call.is_none() || one.field == Field::Call);
        same.for_each(|segment| segment.text.hash(&mut state));
        state.finish()
    };
    Some((half(1), half(2)))
}

/// Whether subagents of this agent's session can be shown by themselves.
pub(crate) fn id_is_name(agent: Agent) -> bool {
    agents::reader(agent).id_source() == agents::IdSource::Name
}
