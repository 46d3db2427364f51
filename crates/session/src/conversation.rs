//! The conversation of a session as one list: prompts, answers, thinking, calls and results, in the
//! order in which they happened, with their texts.
//!
//! Not part of it: abandoned branches ([`Session::abandoned`](backstory_model::Session)), subagents
//! ([`Session::subagents`](backstory_model::Session), each with a conversation of its own), images and
//! documents, and events such as compactions and interruptions, which are in the turns.

use crate::between::{Between, Next};
use backstory_model::{Block, Call, Content, Session, Step, Turn};
use backstory_store::{SourceReader, StoreError};
use jiff::Timestamp;

/// The kinds of [`Part`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PartKind {
    /// A prompt: what a person typed, or what started a subagent.
    Prompt,
    /// Text that the client added to a prompt.
    Context,
    /// Text of the model.
    Answer,
    /// Thinking of the model. Its text is empty if the client did not keep it.
    Thinking,
    /// A tool call. Its text is the input, as JSON.
    Call,
    /// The result of a call. Its text is the part of it that is text.
    Result,
}

/// One part of a conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Part<'s> {
    /// Who says what.
    pub kind: PartKind,
    /// The text, fetched from the file.
    pub text: String,
    /// The turn that it belongs to, counted from 1.
    pub turn: usize,
    /// The line of its record, if the format has lines.
    pub line: Option<u64>,
    /// When its record was written.
    pub time: Option<Timestamp>,
    /// The message of the model that it is part of: the model, its tokens, its id.
    pub message: Option<&'s Step>,
    /// The call, for calls and results: the tool, the outcome, the subagent that it started.
    pub call: Option<&'s Call>,
}

/// Starts to read the conversation of a session.
///
/// The model of a session holds the places of texts and not the texts, so they are read from the
/// file as the iterator advances. An error means that the file is gone or has changed since the
/// session was read.
///
/// ```
/// use backstory_session::{PartKind, Sessions, conversation};
///
/// let sessions = Sessions::open(["../../testdata/sessions/edits.jsonl"])?;
/// for one in sessions.iter() {
///     let (session, _notices) = sessions.read(one)?;
///     for part in conversation(&session)? {
///         let part = part?;
///         match part.kind {
///             PartKind::Prompt => println!("> {}", part.text),
///             PartKind::Answer => println!("{}", part.text),
///             PartKind::Call => println!("{:?}", part.call.and_then(|call| call.name.as_deref())),
///             _ => {}
///         }
///     }
/// }
/// # let session = sessions.read(sessions.iter().next().unwrap())?.0;
/// # let kinds: Vec<_> = conversation(&session)?.map(|part| part.unwrap().kind).collect();
/// # assert_eq!(kinds[0], PartKind::Prompt);
/// # assert!(kinds.contains(&PartKind::Call) && kinds.contains(&PartKind::Result));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn conversation(session: &Session) -> Result<Conversation<'_>, StoreError> {
    let reader = session.source.open()?;
    Ok(Conversation {
        reader,
        turns: session.turns.iter(),
        turn: 0,
        waiting: Vec::new().into_iter(),
    })
}

/// The parts of a conversation; see [`conversation`].
#[derive(Debug)]
pub struct Conversation<'s> {
    reader: SourceReader,
    turns: std::slice::Iter<'s, Turn>,
    /// The number of the turn that `waiting` is of.
    turn: usize,
    waiting: std::vec::IntoIter<Piece<'s>>,
}

impl<'s> Iterator for Conversation<'s> {
    type Item = Result<Part<'s>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(piece) = self.waiting.next() {
                return Some(piece.fetch(self.turn, &mut self.reader));
            }
            self.waiting = pieces(self.turns.next()?).into_iter();
            self.turn += 1;
        }
    }
}

/// A part without its text.
#[derive(Debug)]
struct Piece<'s> {
    kind: PartKind,
    texts: Vec<&'s Content>,
    line: Option<u64>,
    time: Option<Timestamp>,
    message: Option<&'s Step>,
    call: Option<&'s Call>,
}

impl<'s> Piece<'s> {
    fn fetch(self, turn: usize, reader: &mut SourceReader) -> Result<Part<'s>, StoreError> {
        let Piece { kind, texts, line, time, message, call } = self;
        let mut text = String::new();
        for (at, content) in texts.into_iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            text.push_str(&reader.text(content)?);
        }
        Ok(Part { kind, text, turn, line, time, message, call })
    }
}

/// A turn in order.
fn pieces(turn: &Turn) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = turn
        .prompt
        .blocks
        .iter()
        .filter_map(|part| {
            let kind = if part.context { PartKind::Context } else { PartKind::Prompt };
            let Block::Text(text) = &part.block else { return None };
            let (line, time) = (turn.line, turn.timestamp);
            Some(Piece { kind, texts: vec![text], line, time, message: None, call: None })
        })
        .collect();
    let mut between = Between::of(turn);
    for step in &turn.steps {
        let line = step.lines.first().copied();
        pieces.extend(typed(&mut between, line.unwrap_or(0)));
        for block in &step.blocks {
            add_block(&mut pieces, step, block);
        }
    }
    pieces.extend(typed(&mut between, u64::MAX));
    pieces
}

/// What was typed before a line.
fn typed<'s>(between: &mut Between<'s>, line: u64) -> impl Iterator<Item = Piece<'s>> {
    let next = std::iter::from_fn(move || between.before(line));
    next.filter_map(|next| match next {
        Next::Prompt(one) => Some(Piece {
            kind: PartKind::Prompt,
            texts: vec![&one.text],
            line: Some(one.line),
            time: one.timestamp,
            message: None,
            call: None,
        }),
        Next::Event(_) => None,
    })
}

fn add_block<'s>(pieces: &mut Vec<Piece<'s>>, step: &'s Step, block: &'s Block) {
    let (line, time) = (step.lines.first().copied(), step.timestamp);
    let piece = |kind, texts, call| Piece { kind, texts, line, time, message: Some(step), call };
    match block {
        Block::Text(text) => pieces.push(piece(PartKind::Answer, vec![text], None)),
        Block::Thinking { text, .. } => {
            pieces.push(piece(PartKind::Thinking, text.iter().collect(), None));
        }
        Block::Call(call) => {
            pieces.push(piece(PartKind::Call, call.input.iter().collect(), Some(call)));
            if let Some(result) = &call.result {
                pieces.push(Piece {
                    line: Some(result.line),
                    time: result.timestamp,
                    ..piece(PartKind::Result, result.text.iter().collect(), Some(call))
                });
            }
        }
        _ => {}
    }
}
