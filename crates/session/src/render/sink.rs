//! What the walk hands to a format.

use super::call::{AgentLink, Attachment, CallView};
use super::outline::TurnView;
use super::view::View;
use backstory_model::{Branch, Session};
use backstory_store::StoreError;
use backstory_text::excerpt::Keep;
use std::io;

/// Why a session could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The output failed.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The session's file failed.
    #[error(transparent)]
    Read(#[from] StoreError),
}

pub(super) type Rendered = Result<(), RenderError>;

/// What a format asks for; content it does not want is never fetched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wants {
    pub(super) inputs: bool,
    pub(super) edits: bool,
    pub(super) results: bool,
    /// Results of failed calls, even if no others.
    pub(super) failures: bool,
    pub(super) images: bool,
    pub(super) outline: bool,
    pub(super) keep: Keep,
}

impl Wants {
    /// All that a document shows of the parts in view, without images.
    pub(super) fn of_document(view: &View) -> Wants {
        Wants {
            inputs: view.parts.tools,
            edits: view.parts.edits,
            results: view.parts.results,
            failures: false,
            images: false,
            outline: true,
            keep: view.result,
        }
    }
}

/// Where a subagent's conversation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placement {
    /// Under the call that started it.
    Inline,
    /// Into a chapter of its own after the conversation.
    Chapters,
}

/// What is known before the first turn.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) title: String,
    pub(super) facts: Vec<(String, String)>,
    /// Turns that are shown, if the format wants an outline.
    pub(super) outline: Vec<TurnView>,
    /// Subagents that get a chapter.
    pub(super) agents: Vec<AgentLink>,
    /// How many turns of the session are not shown.
    pub(super) left_out: usize,
}

/// A part of the document that is not the main conversation.
#[derive(Debug)]
pub(super) enum Chapter<'a> {
    Agent {
        link: &'a AgentLink,
        session: &'a Session,
        call: Option<usize>,
    },
    /// Turns that the user went back on.
    LeftBehind {
        number: usize,
        branch: &'a Branch,
    },
}

/// Something between prompts and answers.
#[derive(Debug)]
pub(super) struct Aside<'a> {
    pub(super) kind: &'a str,
    pub(super) text: &'a str,
    pub(super) is_compaction: bool,
    pub(super) is_failure: bool,
}

/// What the model thought.
#[derive(Debug)]
pub(super) enum Thinking<'a> {
    Text(&'a str),
    /// The file holds no words of it.
    Absent {
        redacted: bool,
    },
}

/// One format.
pub(super) trait Sink {
    fn placement(&self) -> Placement;
    fn wants(&self, view: &View) -> Wants;
    fn begin(&mut self, document: &Document) -> Rendered;
    fn chapter(&mut self, chapter: &Chapter<'_>) -> Rendered;
    fn end_chapter(&mut self) -> Rendered;
    fn turn(&mut self, turn: &TurnView) -> Rendered;
    fn end_turn(&mut self, turn: &TurnView) -> Rendered;
    fn prompt(&mut self, text: &str, context: bool) -> Rendered;
    fn text(&mut self, text: &str) -> Rendered;
    fn thinking(&mut self, thinking: &Thinking<'_>) -> Rendered;
    fn attachment(&mut self, attachment: &Attachment) -> Rendered;
    fn call(&mut self, call: &CallView<'_>) -> Rendered;
    fn aside(&mut self, aside: &Aside<'_>) -> Rendered;
    fn finish(&mut self) -> Rendered;
}
