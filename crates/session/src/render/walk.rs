//! The one walk over a session that every format follows.
//!
//! It decides what is shown and in which order; a [`Sink`] decides how it looks. So the formats
//! cannot disagree about what happened. Content is fetched piece by piece.

use super::call::{Attachment, CallReader, other};
use super::heading;
use super::outline;
use super::participants::Participants;
use super::sink::{
    Aside, Chapter, ClientMessage, Document, Placement, RenderError, Rendered, Sink, Thinking,
    Wants,
};
use super::summary::Summary;
use super::talk::{KnownTodos, Talk};
use super::turn_items::{self, Group, Item};
use super::view::View;
use super::words::{self, Voice};
use crate::between::Next;
use backstory_model::{
    ActionKind, Block, Branch, Call, CallOutcome, Compaction, Dialogue, Session, Turn, TurnKind,
};
use backstory_store::SourceReader;
use hashbrown::HashMap;

/// Deeper subagents come after the conversation instead of under their call.
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
        todos: HashMap::new(),
        summary: Summary::default(),
        hidden: 0,
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
    /// What is to be done, by number in the cast.
    todos: HashMap<usize, KnownTodos>,
    summary: Summary,
    /// Messages of the client that are not shown.
    hidden: usize,
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
        let summary = std::mem::take(&mut self.summary);
        if !summary.is_empty() {
            self.sink.summary(&summary)?;
        }
        self.sink.finish(self.hidden)
    }

    fn kept(&self, session: &'a Session) -> impl Iterator<Item = (usize, &'a Turn)> {
        let view = self.view;
        let turns = session.turns.iter().enumerate().map(|(at, turn)| (at + 1, turn));
        turns.filter(move |(number, _)| view.turns.holds(*number))
    }

    fn is_everything(&self) -> bool {
        self.view.turns.is_everything()
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
        let mut turn_place = TurnPlace { place, messages: Vec::new() };
        if self.view.parts.prompts {
            self.prompt(&mut turn_place, turn, reader)?;
        }
        let all = turn_items::items(turn);
        let mut rest = all.as_slice();
        while let Some((first, others)) = rest.split_first() {
            let group = Group::at_start(rest, place.session.agent);
            let (now, later) = match group.filter(|_| self.view.parts.tools) {
                Some(group) => {
                    self.sink.begin_group(&group)?;
                    rest.split_at_checked(group.items).unwrap_or((rest, &[]))
                }
                None => (std::slice::from_ref(first), others),
            };
            for item in now {
                self.item(&mut turn_place, item, reader)?;
            }
            if group.is_some() && self.view.parts.tools {
                self.sink.end_group()?;
            }
            rest = later;
        }
        if !turn_place.messages.is_empty() {
            if self.wants.folds_client_messages {
                self.sink.client_messages(&turn_place.messages)?;
            } else {
                self.hidden += turn_place.messages.len();
            }
        }
        self.sink.end_turn(&head)
    }

    fn item(
        &mut self,
        turn: &mut TurnPlace<'_>,
        item: &Item<'a>,
        reader: &mut SourceReader,
    ) -> Rendered {
        match item {
            Item::Between(next) => self.between(turn, next, reader),
            Item::Error(text) => self.sink.aside(&Aside {
                kind: "API error",
                text,
                is_compaction: false,
                is_failure: true,
            }),
            Item::Block(Block::Call(call)) => self.call(turn.place, call, reader),
            Item::Block(block) => self.block(block, reader),
        }
    }

    fn prompt(
        &mut self,
        place: &mut TurnPlace<'_>,
        turn: &Turn,
        reader: &mut SourceReader,
    ) -> Rendered {
        for part in &turn.prompt.blocks {
            match &part.block {
                Block::Text(text) => {
                    let text = reader.text(text)?;
                    let typed = words::typed(turn.kind, &text);
                    if !typed.text.trim().is_empty() {
                        self.sink.prompt(&typed.text, Voice::of(turn.kind, part.context))?;
                    }
                    for reminder in typed.added {
                        self.client_message(place, "reminder", reminder)?;
                    }
                }
                block => self.block(block, reader)?,
            }
        }
        Ok(())
    }

    /// Shows what the client says to the model or to itself, or keeps it for the end of the turn.
    fn client_message(&mut self, turn: &mut TurnPlace<'_>, kind: &str, text: &str) -> Rendered {
        if !self.view.parts.text {
            return Ok(());
        }
        if self.view.noise {
            let aside = Aside { kind, text, is_compaction: false, is_failure: false };
            return self.sink.aside(&aside);
        }
        turn.messages.push(ClientMessage { kind: kind.to_owned(), text: text.to_owned() });
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
        let dialogue = if self.view.parts.prompts || self.view.parts.tools {
            backstory_agents::dialogue(agent, call, reader)?
        } else {
            None
        };
        if !self.view.parts.shows_call(is_edit) && !self.says_something(call, dialogue.as_ref())? {
            return self.inline_agent(place, child);
        }
        self.calls += 1;
        if let Some(caller) = child.and_then(|child| self.callers.get_mut(child)) {
            *caller = caller.or(Some(self.calls));
        }
        let objection = match dialogue {
            Some(Dialogue::Objection(words)) => Some(words),
            Some(dialogue) if !is_error(call) => {
                let known = self.todos.entry(place.number).or_default();
                if let Some(talk) = Talk::of(self.calls, call, dialogue, known) {
                    self.sink.talk(&talk)?;
                    return self.inline_agent(place, child);
                }
                None
            }
            _ => None,
        };
        let folder = place.session.cwds.first().map(AsRef::as_ref).unwrap_or_default();
        let mut view =
            self.call_reader.view(call, self.calls, (agent, folder), self.wants, reader)?;
        view.subagent = child.and_then(|child| self.participants.link(child)).cloned();
        view.objection = objection;
        self.sink.call(&view)?;
        self.summary.add(&view, folder);
        self.inline_agent(place, child)
    }

    /// Whether a call is shown for the words of people alone; an objection is shown by itself.
    fn says_something(
        &mut self,
        call: &Call,
        dialogue: Option<&Dialogue>,
    ) -> Result<bool, RenderError> {
        match dialogue.filter(|_| self.view.parts.prompts) {
            Some(Dialogue::Objection(words)) => {
                self.sink.prompt(words, Voice::Meanwhile)?;
                Ok(false)
            }
            Some(Dialogue::Questions(_) | Dialogue::Plan(_)) => Ok(!is_error(call)),
            Some(Dialogue::Todos(_)) | None => Ok(false),
        }
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

    fn between(
        &mut self,
        turn: &mut TurnPlace<'_>,
        next: &Next<'_>,
        reader: &mut SourceReader,
    ) -> Rendered {
        match next {
            Next::Prompt(one) if self.view.parts.prompts => {
                let text = reader.text(&one.text)?;
                let typed = words::typed(TurnKind::Queued, &text);
                if !typed.text.trim().is_empty() {
                    self.sink.prompt(&typed.text, Voice::Meanwhile)?;
                }
                for reminder in typed.added {
                    self.client_message(turn, "reminder", reminder)?;
                }
                Ok(())
            }
            Next::Event(event) if self.view.parts.text => {
                let text = event.text.as_ref().map(|text| reader.text(text)).transpose()?;
                let kind = event.kind.as_ref();
                let compaction = self.compactions.get(&event.line).copied();
                let text = match compaction {
                    Some(compaction) => words::of_compaction(compaction),
                    None => words::of_event(kind, text.as_deref().unwrap_or_default()),
                };
                if compaction.is_none() && words::is_client_message(event) {
                    return self.client_message(turn, kind, &text);
                }
                let is_compaction = compaction.is_some() || kind == "compacted";
                let is_failure = kind.contains("error") || kind.starts_with("interrupted");
                self.sink.aside(&Aside { kind, text: &text, is_compaction, is_failure })
            }
            _ => Ok(()),
        }
    }
}

/// Whether a call failed for reasons that are not the person's.
fn is_error(call: &Call) -> bool {
    call.result.as_ref().is_some_and(|result| result.outcome == CallOutcome::Error)
}

/// A turn that is being shown.
struct TurnPlace<'a> {
    place: &'a Place<'a>,
    /// What the client said in it, to be folded or counted.
    messages: Vec<ClientMessage>,
}

/// Where in the document a turn is.
struct Place<'a> {
    session: &'a Session,
    number: usize,
    depth: usize,
    prefix: &'a str,
}
