//! The messages and calls of a session, one after the other. Each is judged by itself.

use crate::query::{Field, Fields};
use backstory_model::{
    Block, Call, CallOutcome, Content, Event, Interjection, Session, SessionKind, Step,
    TitleSource, Turn, TurnKind,
};
use hashbrown::HashMap;
use jiff::Timestamp;

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// A prompt.
    Prompt,
    /// A message of the model.
    Answer,
    /// A call with its result.
    Call,
    /// The title of the session.
    Title,
    /// Something the client reports.
    Notice,
}

impl Who {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Who::Prompt => "prompt",
            Who::Answer => "answer",
            Who::Call => "call",
            Who::Title => "title",
            Who::Notice => "notice",
        }
    }
}

/// A message, a call with its result, a notice or a title.
#[derive(Debug)]
pub(crate) struct Unit<'s> {
    pub(crate) who: Who,
    /// The turn of the whole session that it belongs to, from 1.
    pub(crate) turn: Option<usize>,
    /// On a branch that the conversation left.
    pub(crate) abandoned: bool,
    pub(crate) uuid: Option<&'s str>,
    pub(crate) line: Option<u64>,
    pub(crate) time: Option<Timestamp>,
    pub(crate) step: Option<&'s Step>,
    pub(crate) call: Option<&'s Call>,
    pub(crate) prompted: Option<&'s Turn>,
    pub(crate) is_error: bool,
    pub(crate) is_compaction: bool,
    pub(crate) texts: Vec<(Field, Text<'s>)>,
}

/// Where a text comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Text<'s> {
    /// As it is.
    Plain(&'s Content),
    /// The values in some JSON.
    Values(&'s Content),
    /// What a call asks for.
    Input(&'s Call),
    /// Paths of the files that a call is about.
    Paths(&'s Call),
    /// Not from the file's texts.
    Known(&'s str),
}

impl<'s> Unit<'s> {
    fn new(who: Who) -> Unit<'s> {
        Unit {
            who,
            turn: None,
            abandoned: false,
            uuid: None,
            line: None,
            time: None,
            step: None,
            call: None,
            prompted: None,
            is_error: false,
            is_compaction: false,
            texts: Vec::new(),
        }
    }

    /// The title of a session, unless it is made of a prompt that is searched itself.
    pub(crate) fn title(session: &'s Session, fields: Fields) -> Option<Unit<'s>> {
        let title = session.title.as_ref()?;
        let of_prompt = matches!(
            title.source,
            TitleSource::FirstPrompt | TitleSource::LastPrompt | TitleSource::Command
        );
        if of_prompt && fields.has(Field::Prompt) {
            return None;
        }
        let texts = vec![(Field::Title, Text::Known(&title.text))];
        Some(Unit { time: session.ended, texts, ..Unit::new(Who::Title) })
    }

    fn of_prompt(turn: &'s Turn) -> Unit<'s> {
        let is_compaction = turn.kind == TurnKind::Compact;
        let field = match turn.kind {
            TurnKind::Compact => Field::Answer,
            TurnKind::TaskNotification => Field::Result,
            _ => Field::Prompt,
        };
        let blocks = &turn.prompt.blocks;
        let mut texts = Vec::with_capacity(blocks.len());
        for part in blocks {
            let field = if part.context { Field::Result } else { field };
            push_block(&mut texts, field, &part.block);
        }
        Unit {
            uuid: turn.uuid.as_deref(),
            line: turn.line,
            time: turn.timestamp,
            prompted: Some(turn),
            is_compaction,
            texts,
            ..Unit::new(Who::Prompt)
        }
    }

    fn of_interjection(one: &'s Interjection) -> Unit<'s> {
        let texts = vec![(Field::Prompt, Text::Plain(&one.text))];
        Unit { line: Some(one.line), time: one.timestamp, texts, ..Unit::new(Who::Prompt) }
    }

    fn of_event(event: &'s Event) -> Unit<'s> {
        Unit {
            line: Some(event.line),
            time: event.timestamp,
            is_error: event.kind.contains("error"),
            is_compaction: &*event.kind == "compacted",
            texts: event.text.iter().map(|text| (Field::Result, Text::Plain(text))).collect(),
            ..Unit::new(Who::Notice)
        }
    }

    fn of_step(step: &'s Step) -> Unit<'s> {
        let mut texts = Vec::with_capacity(step.blocks.len());
        for block in &step.blocks {
            push_block(&mut texts, Field::Answer, block);
        }
        Unit {
            uuid: step.uuids.first().map(AsRef::as_ref),
            line: step.lines.first().copied(),
            time: step.timestamp,
            step: Some(step),
            is_error: step.error.is_some(),
            texts,
            ..Unit::new(Who::Answer)
        }
    }

    /// The record of a call is the one with its block, where there is one for each.
    fn of_call(step: &'s Step, at: usize, call: &'s Call) -> Unit<'s> {
        let one_each = step.uuids.len() == step.blocks.len();
        let record = if one_each { at } else { 0 };
        let mut texts = vec![(Field::Call, Text::Input(call)), (Field::Path, Text::Paths(call))];
        if let Some(result) = &call.result {
            texts.extend(result.text.iter().map(|text| (Field::Result, Text::Plain(text))));
            for block in &result.blocks {
                push_block(&mut texts, Field::Result, block);
            }
        }
        let failed = call.result.as_ref().is_some_and(|result| result.outcome != CallOutcome::Ok);
        Unit {
            uuid: step.uuids.get(record).map(AsRef::as_ref),
            line: step.lines.get(record).copied(),
            time: step.timestamp,
            step: Some(step),
            call: Some(call),
            is_error: failed,
            texts,
            ..Unit::new(Who::Call)
        }
    }

    /// The models that it is of: of a prompt, those that answered it.
    pub(crate) fn models(&self) -> impl Iterator<Item = &'s str> {
        let answered = self.prompted.into_iter().flat_map(|turn| &turn.steps);
        self.step.into_iter().chain(answered).filter_map(|step| step.model.as_deref())
    }
}

fn push_block<'s>(texts: &mut Vec<(Field, Text<'s>)>, field: Field, block: &'s Block) {
    match block {
        Block::Text(text) => texts.push((field, Text::Plain(text))),
        Block::Thinking { text: Some(text), .. } => {
            texts.push((Field::Thinking, Text::Plain(text)));
        }
        Block::Other { value, .. } => texts.push((Field::Result, Text::Values(value))),
        Block::Thinking { .. } | Block::Call(_) | Block::Image { .. } | Block::Document { .. } => {}
    }
}

/// A session or one of its subagents, and the turn of the session that it was started in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member<'s> {
    pub(crate) session: &'s Session,
    pub(crate) turn: Option<usize>,
    pub(crate) is_subagent: bool,
}

/// A session with all its subagents, the session first.
pub(crate) fn members(root: &Session) -> Vec<Member<'_>> {
    let is_subagent = root.kind != SessionKind::Session;
    let mut all = vec![Member { session: root, turn: None, is_subagent }];
    let mut at = 0;
    while let Some(member) = all.get(at).copied() {
        let is_root = at == 0;
        at += 1;
        if member.session.subagents.is_empty() {
            continue;
        }
        let mut started: HashMap<&str, usize> = HashMap::new();
        for (turn, number) in member.session.turns.iter().zip(1..) {
            let ids = turn.calls().filter_map(|call| call.subagent.as_deref());
            started.extend(ids.map(|id| (id, number)));
        }
        all.extend(member.session.subagents.iter().map(|session| {
            let own = started.get(&*session.id).copied();
            let turn = if is_root { own } else { member.turn };
            Member { session, turn, is_subagent: true }
        }));
    }
    all
}

/// Hands the units of a session to `each`, without those of its subagents and those that another
/// session's file holds.
pub(crate) fn each_unit<'s, E>(
    member: Member<'s>,
    mut each: impl FnMut(Unit<'s>) -> Result<(), E>,
) -> Result<(), E> {
    let session = member.session;
    let inherited = session.inherited;
    for (turn, number) in session.turns.iter().zip(1..).skip(inherited.turns) {
        let number =
            if member.is_subagent && member.turn.is_some() { member.turn } else { Some(number) };
        turn_units(turn, |unit| each(Unit { turn: number, ..unit }))?;
    }
    let left = session.abandoned.iter().skip(inherited.branches);
    for turn in left.flat_map(|branch| &branch.turns) {
        turn_units(turn, |unit| each(Unit { turn: member.turn, abandoned: true, ..unit }))?;
    }
    Ok(())
}

fn turn_units<'s, E>(
    turn: &'s Turn,
    mut each: impl FnMut(Unit<'s>) -> Result<(), E>,
) -> Result<(), E> {
    each(Unit::of_prompt(turn))?;
    let typed = turn.interjections.iter().map(Unit::of_interjection);
    let mut between: Vec<Unit<'s>> = typed.chain(turn.events.iter().map(Unit::of_event)).collect();
    between.sort_by_key(|unit| unit.line);
    let mut between = between.into_iter().peekable();
    for step in &turn.steps {
        let line = step.lines.first().copied();
        while let Some(unit) = between.next_if(|unit| line.is_some() && unit.line <= line) {
            each(unit)?;
        }
        each(Unit::of_step(step))?;
        for (at, block) in step.blocks.iter().enumerate() {
            if let Block::Call(call) = block {
                each(Unit::of_call(step, at, call))?;
            }
        }
    }
    between.try_for_each(each)
}
