//! The one walk over a session that every format follows.
//!
//! It decides what is shown and in which order; a [`Sink`] decides how it looks. So the formats
//! cannot disagree about what happened. Content is fetched piece by piece.

use super::call::{Attachment, CallReader, other};
use super::heading;
use super::outline;
use super::participants::Participants;
use super::sink::{Aside, Chapter, Document, Placement, Rendered, Sink, Thinking, Wants};
use super::view::View;
use crate::between::{Between, Next};
use backstory_model::{ActionKind, Block, Branch, Call, Compaction, Session, Step, Turn};
use backstory_store::SourceReader;
use hashbrown::HashMap;
use jiff::Timestamp;

/// Deeper subagents come behind the conversation instead of under their call.
const DEEPEST_INLINE: usize = 8;

/// Shows a session.
pub(super) fn walk<S: Sink>(session: &Session, view: &View, sink: &mut S) -> Rendered {
    let participants = Participants::of(session, view);
    let mut walk = Walk {
        wants: sink.wants(view),
        placement: sink.placement(),
        view,
        sink,
        shown: vec![false; participants.len()],
        callers: vec![None; participants.len()],
        participants: &participants,
        calls: 0,
        left_behind: 0,
        heads: Vec::new().into_iter(),
        call_reader: CallReader::default(),
        compactions: session.compactions.iter().map(|one| (one.line, one)).collect(),
    };
    walk.document(session)
}

struct Walk<'a, S> {
    view: &'a View,
    sink: &'a mut S,
    wants: Wants,
    placement: Placement,
    participants: &'a Participants<'a>,
    /// By number of the participant: whether it was shown, and the number of the call that started it.
    shown: Vec<bool>,
    callers: Vec<Option<usize>>,
    calls: usize,
    left_behind: usize,
    /// Heads of the main conversation's turns, if there was an outline.
    heads: std::vec::IntoIter<outline::TurnView>,
    call_reader: CallReader,
    compactions: HashMap<u64, &'a Compaction>,
}

impl<'a, S: Sink> Walk<'a, S> {
    fn document(&mut self, session: &'a Session) -> Rendered {
        let kept: Vec<usize> = self.kept(session).map(|(number, _)| number).collect();
        let mut outline = Vec::new();
        if self.wants.outline {
            let mut reader = session.source.open()?;
            for (number, turn) in self.kept(session) {
                outline.push(outline::turn("", number, turn, self.view, &mut reader)?);
            }
        }
        self.heads = outline.clone().into_iter();
        self.sink.begin(&Document {
            title: heading::title(session),
            facts: heading::facts(session, self.view),
            outline,
            agents: self.participants.links().filter(|link| link.shown).cloned().collect(),
            left_out: session.turns.len() - kept.len(),
        })?;
        self.conversation(0, 0)?;
        for number in 1..self.participants.len() {
            if self.shows_chapter(number) {
                self.agent_chapter(number, DEEPEST_INLINE)?;
            }
        }
        self.sink.finish()
    }

    fn kept(&self, session: &'a Session) -> impl Iterator<Item = (usize, &'a Turn)> {
        let view = self.view;
        let turns = session.turns.iter().enumerate().map(|(at, turn)| (at + 1, turn));
        turns.filter(move |(number, turn)| {
            view.turns.holds(*number)
                && view.since.is_none_or(|since| last_time(turn).is_none_or(|last| last >= since))
        })
    }

    fn is_everything(&self) -> bool {
        self.view.turns.is_everything() && self.view.since.is_none()
    }

    /// With turns left out, only the agents of calls that are shown.
    fn shows_chapter(&self, number: usize) -> bool {
        let wanted = self.participants.link(number).is_some_and(|link| link.shown);
        let already = self.shown.get(number).copied().unwrap_or(true);
        let called = self.callers.get(number).copied().flatten().is_some();
        wanted && !already && (called || self.is_everything() || !self.view.parts.tools)
    }

    fn agent_chapter(&mut self, number: usize, depth: usize) -> Rendered {
        let (Some(link), Some(session)) =
            (self.participants.link(number), self.participants.session(number))
        else {
            return Ok(());
        };
        if let Some(shown) = self.shown.get_mut(number) {
            *shown = true;
        }
        let call = self.callers.get(number).copied().flatten();
        self.sink.chapter(&Chapter::Agent { link, session, call })?;
        self.conversation(number, depth)?;
        self.sink.end_chapter()
    }

    /// The turns of one participant and its abandoned branches.
    fn conversation(&mut self, number: usize, depth: usize) -> Rendered {
        let Some(session) = self.participants.session(number) else { return Ok(()) };
        let mut reader = session.source.open()?;
        let prefix = if number == 0 { String::new() } else { format!("agent-{number}-") };
        if number == 0 {
            for (place, turn) in self.kept(session).collect::<Vec<_>>() {
                self.turn(
                    &Place { session, number, depth, prefix: &prefix },
                    place,
                    turn,
                    &mut reader,
                )?;
            }
        } else {
            for (at, turn) in session.turns.iter().enumerate() {
                self.turn(
                    &Place { session, number, depth, prefix: &prefix },
                    at + 1,
                    turn,
                    &mut reader,
                )?;
            }
        }
        if self.is_everything() || number > 0 {
            for branch in &session.abandoned {
                self.branch(&Place { session, number, depth, prefix: "" }, branch, &mut reader)?;
            }
        }
        if self.placement == Placement::Inline && depth < DEEPEST_INLINE {
            for &child in self.participants.children(number) {
                if self.shows_chapter(child) {
                    self.agent_chapter(child, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn branch(
        &mut self,
        place: &Place<'a>,
        branch: &'a Branch,
        reader: &mut SourceReader,
    ) -> Rendered {
        if branch.turns.is_empty() {
            return Ok(());
        }
        self.left_behind += 1;
        let prefix = format!("left-{}-", self.left_behind);
        self.sink.chapter(&Chapter::LeftBehind { number: self.left_behind, branch })?;
        for (at, turn) in branch.turns.iter().enumerate() {
            self.turn(&Place { prefix: &prefix, ..*place }, at + 1, turn, reader)?;
        }
        self.sink.end_chapter()
    }

    fn turn(
        &mut self,
        place: &Place<'_>,
        number: usize,
        turn: &'a Turn,
        reader: &mut SourceReader,
    ) -> Rendered {
        let ready = if place.prefix.is_empty() { self.heads.next() } else { None };
        let head = match ready {
            Some(head) => head,
            None => outline::turn(place.prefix, number, turn, self.view, reader)?,
        };
        self.sink.turn(&head)?;
        if self.view.parts.prompts {
            self.prompt(turn, reader)?;
        }
        let mut between = Between::of(turn);
        for step in &turn.steps {
            let line = step.lines.first().copied().unwrap_or(0);
            while let Some(next) = between.before(line) {
                self.between(&next, reader)?;
            }
            self.step(place, step, reader)?;
        }
        while let Some(next) = between.before(u64::MAX) {
            self.between(&next, reader)?;
        }
        self.sink.end_turn(&head)
    }

    fn prompt(&mut self, turn: &Turn, reader: &mut SourceReader) -> Rendered {
        for part in &turn.prompt.blocks {
            match &part.block {
                Block::Text(text) => {
                    let text = reader.text(text)?;
                    let text = outline::typed(turn.kind, &text);
                    if !text.trim().is_empty() {
                        self.sink.prompt(&text, part.context)?;
                    }
                }
                block => self.block(block, reader)?,
            }
        }
        Ok(())
    }

    fn step(&mut self, place: &Place<'_>, step: &'a Step, reader: &mut SourceReader) -> Rendered {
        if let Some(error) = &step.error {
            let kind = "API error";
            self.sink.aside(&Aside {
                kind,
                text: error,
                is_compaction: false,
                is_failure: true,
            })?;
        }
        for block in &step.blocks {
            match block {
                Block::Call(call) => self.call(place, call, reader)?,
                block => self.block(block, reader)?,
            }
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, reader: &mut SourceReader) -> Rendered {
        let parts = self.view.parts;
        match block {
            Block::Text(text) if parts.text => {
                let text = reader.text(text)?;
                if !text.trim().is_empty() {
                    self.sink.text(&text)?;
                }
            }
            Block::Thinking { text, redacted, .. } if parts.thinking => {
                let text = text.as_ref().map(|text| reader.text(text)).transpose()?;
                let thinking = match text.as_deref().filter(|text| !text.trim().is_empty()) {
                    Some(text) => Thinking::Text(text),
                    None => Thinking::Absent { redacted: *redacted },
                };
                self.sink.thinking(&thinking)?;
            }
            Block::Image { .. } | Block::Document { .. } => {
                if let Some(attachment) = Attachment::read(block, self.wants, reader)? {
                    self.sink.attachment(&attachment)?;
                }
            }
            Block::Other { type_name, value } if parts.text => {
                let text = other(value, reader)?;
                let kind = type_name.as_deref().unwrap_or("unknown block");
                let aside = Aside { kind, text: &text, is_compaction: false, is_failure: false };
                self.sink.aside(&aside)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn call(&mut self, place: &Place<'_>, call: &'a Call, reader: &mut SourceReader) -> Rendered {
        let child =
            call.subagent.as_deref().and_then(|id| self.participants.child(place.number, id));
        let agent = place.session.agent;
        let is_edit = backstory_agents::does(agent, call, ActionKind::Edit);
        if !self.view.parts.shows_call(is_edit) {
            return self.inline_agent(place, child);
        }
        self.calls += 1;
        if let Some(caller) = child.and_then(|child| self.callers.get_mut(child)) {
            *caller = caller.or(Some(self.calls));
        }
        let folder = place.session.cwds.first().map(AsRef::as_ref).unwrap_or_default();
        let mut view =
            self.call_reader.view(call, self.calls, (agent, folder), self.wants, reader)?;
        view.subagent = child.and_then(|child| self.participants.link(child)).cloned();
        self.sink.call(&view)?;
        self.inline_agent(place, child)
    }

    fn inline_agent(&mut self, place: &Place<'_>, child: Option<usize>) -> Rendered {
        match child {
            Some(child)
                if self.placement == Placement::Inline
                    && place.depth < DEEPEST_INLINE
                    && self.participants.link(child).is_some_and(|link| link.shown)
                    && self.shown.get(child) == Some(&false) =>
            {
                self.agent_chapter(child, place.depth + 1)
            }
            _ => Ok(()),
        }
    }

    fn between(&mut self, next: &Next<'_>, reader: &mut SourceReader) -> Rendered {
        match next {
            Next::Prompt(one) if self.view.parts.prompts => {
                let text = reader.text(&one.text)?;
                self.sink.prompt(&text, false)
            }
            Next::Event(event) if self.view.parts.text => {
                let text = event.text.as_ref().map(|text| reader.text(text)).transpose()?;
                let compaction = self.compactions.get(&event.line).copied();
                let text = match compaction {
                    Some(compaction) => outline::compaction_words(compaction),
                    None => outline::event_words(text.as_deref().unwrap_or_default()),
                };
                let kind = event.kind.as_ref();
                let is_compaction = compaction.is_some() || kind == "compacted";
                let is_failure = kind.contains("error") || kind.starts_with("interrupted");
                self.sink.aside(&Aside { kind, text: &text, is_compaction, is_failure })
            }
            _ => Ok(()),
        }
    }
}

/// Where in the document a turn stands.
struct Place<'a> {
    session: &'a Session,
    number: usize,
    depth: usize,
    prefix: &'a str,
}

/// The last time anything in a turn names.
fn last_time(turn: &Turn) -> Option<Timestamp> {
    let steps = turn.steps.iter().filter_map(|step| step.timestamp);
    let results = turn.calls().filter_map(|call| call.result.as_ref()?.timestamp);
    let events = turn.events.iter().filter_map(|event| event.timestamp);
    steps.chain(results).chain(events).chain(turn.timestamp).max()
}
