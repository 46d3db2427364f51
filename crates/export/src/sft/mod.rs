//! Rows for supervised training, in the shapes that trainers really load.
//!
//! A row is a conversation (from its start or a compaction on) or one message with its history. Rows
//! of conversations hold only messages that are to be learned: what the client made up itself, and what
//! is not on the chain, is left out and counted. A row begins with a prompt and ends with the model.

mod columns;
mod shape;

pub use shape::BETWEEN_RESULTS;

use crate::chat::MemberWriter;
use crate::context::Context;
use crate::fetch::Fetcher;
use crate::json::CanonicalWriter;
use crate::options::Synthetic;
use crate::options::*;
use crate::rows::{Piece, Rows};
use crate::shapes::Shapes;
use crate::states::WriteOutput;
use crate::states::{
    Active, Conversation, Disposition, Keep, Skipped, StateFigures, Window,
    count_subagent_messages, members_in_order, reason_to_skip,
};
use crate::timeline::{Entry, Item};
use backstory_model::{Step, TurnKind};
use backstory_store::StoreError;
use hashbrown::HashMap;
use shape::{BetweenMessages, Role, Shape};
use std::cell::RefMut;

pub(super) fn write(
    context: &Context<'_>,
    sft: &SftOptions<'_>,
    options: &Options<'_>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<WriteOutput, StoreError> {
    canon.keep_order();
    let mut fetcher = context.fetcher();
    let shapes = Shapes::of(&context.timeline, &mut fetcher, canon)?;
    let mut writer = Writer {
        active: Active::of(&context.timeline),
        context,
        shapes,
        sft,
        shape: Shape { sft, options },
        dialogues: context.timeline.members.iter().map(|_| Dialogue::default()).collect(),
        fetcher,
        canon,
        figures: StateFigures::default(),
        fates: vec![Disposition::Unseen; context.timeline.items.len()],
        pieces: Vec::new(),
        tools: Vec::new(),
        tools_of: HashMap::new(),
    };
    for part in members_in_order(context.timeline.members.len(), sft.states.subagents) {
        writer.walk(|item| part.is_none_or(|member| item.member == member))?;
    }
    for member in 0..context.timeline.members.len() {
        writer.end_row(member)?;
    }
    count_subagent_messages(&context.timeline, &mut writer.fates, &mut writer.figures);
    let Writer { dialogues, tools, pieces, figures, fates, .. } = writer;
    let shared = dialogues
        .into_iter()
        .flat_map(|dialogue| [dialogue.messages.system, dialogue.messages.bytes]);
    let rows = Rows::new(shared.chain(tools).collect(), pieces);
    Ok(WriteOutput { states: figures, fates, rows: Some(rows) })
}

/// One conversation.
#[derive(Debug, Default)]
struct Dialogue<'s> {
    messages: Conversation,
    between: BetweenMessages,
    /// Words stand in the row already, or wait.
    prompted: bool,
    /// Answers of the row so far, by item.
    answers: Vec<(usize, &'s Step)>,
}

struct Writer<'w, 's, 'c> {
    active: Active<'s>,
    context: &'w Context<'s>,
    shapes: Shapes,
    sft: &'w SftOptions<'w>,
    shape: Shape<'w>,
    dialogues: Vec<Dialogue<'s>>,
    fetcher: RefMut<'w, Fetcher<'s>>,
    canon: &'w mut CanonicalWriter<'c>,
    figures: StateFigures,
    fates: Vec<Disposition>,
    pieces: Vec<Piece>,
    /// Lists of tools, each once.
    tools: Vec<Vec<u8>>,
    tools_of: HashMap<Vec<String>, usize>,
}

impl<'s, 'c> Writer<'_, 's, 'c> {
    fn member_writer(&mut self, member: usize) -> MemberWriter<'_, 's, 'c> {
        MemberWriter { member, fetcher: &mut self.fetcher, canon: self.canon }
    }

    fn walk(&mut self, wanted: impl Fn(&Item<'_>) -> bool) -> Result<(), StoreError> {
        let context = self.context;
        let items = context.timeline.items.iter().enumerate();
        for (at, item) in items.filter(|(_, item)| wanted(item)) {
            let member = item.member;
            match item.what {
                Entry::Step(step) => {
                    let fate = self.step(at, member, step)?;
                    if let Some(slot) = self.fates.get_mut(at) {
                        *slot = fate;
                    }
                }
                Entry::Prompt(turn) if turn.kind == TurnKind::Compact => self.end_row(member)?,
                Entry::Prompt(_) | Entry::Interjection(_) => {}
            }
            let Some(words) = self.fetcher.said(item)? else { continue };
            let Some(dialogue) = self.dialogues.get_mut(member) else { continue };
            if !words.trim().is_empty() {
                dialogue.between.words.push(words);
                dialogue.prompted = true;
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        at: usize,
        member: usize,
        step: &'s Step,
    ) -> Result<Disposition, StoreError> {
        self.figures.messages += 1;
        let skipped = self.reason(member, step)?;
        let of_client = step.synthetic && self.sft.states.synthetic == Synthetic::Skip;
        let stays = match (skipped, self.sft.per) {
            (None, _) => true,
            (Some(Skipped::EmptyAction | Skipped::NoPrompt), _) => false,
            // A history is what it was, whether its messages are learned elsewhere or not.
            (Some(_), Per::Step) => !of_client,
            (Some(_), Per::Session) => false,
        };
        let fate = match skipped {
            Some(reason) => self.figures.skip(reason),
            None => Disposition::Answer,
        };
        if !stays {
            if skipped == Some(Skipped::OffChain) {
                self.forget(member);
            }
            return Ok(fate);
        }
        self.begin(member, step);
        self.flush(member);
        let role = match self.sft.per {
            Per::Session => Role::Unmarked,
            Per::Step => Role::Before,
        };
        let shape = self.shape;
        let (message, lost) = shape.answer(step, role, self.member_writer(member))?;
        let fate = match (fate, self.sft.per) {
            (Disposition::Answer, Per::Step) => {
                let answer = if self.sft.format.has_marks() {
                    shape.answer(step, Role::Answer, self.member_writer(member))?.0
                } else {
                    message.clone()
                };
                self.row_of_step(member, step, answer, lost)?
            }
            (fate, _) => fate,
        };
        let results = shape.results(step, self.member_writer(member))?;
        let Some(dialogue) = self.dialogues.get_mut(member) else { return Ok(fate) };
        dialogue.messages.begin_step();
        dialogue.messages.push(&message, &self.sft.states.tokenizer);
        dialogue.between.results = results;
        if self.sft.per == Per::Session {
            self.figures.left_out_words += u64::from(lost);
            dialogue.answers.push((at, step));
        }
        Ok(fate)
    }

    /// Words before a message that is not on the chain are not on it either.
    fn forget(&mut self, member: usize) {
        let Some(dialogue) = self.dialogues.get_mut(member) else { return };
        dialogue.between.words.clear();
        dialogue.prompted = !dialogue.answers.is_empty();
    }

    fn reason(&mut self, member: usize, step: &Step) -> Result<Option<Skipped>, StoreError> {
        let states = &self.sft.states;
        let reason = reason_to_skip(member, step, states, &self.active, &mut self.figures);
        if reason.is_some() {
            return Ok(reason);
        }
        if step.uuids.is_empty() {
            return Ok(Some(Skipped::WithoutUuid));
        }
        if step.calls().next().is_none() {
            let words = self.fetcher.words(member, &step.blocks)?;
            let length = words.trim().chars().count();
            if length == 0 {
                return Ok(Some(Skipped::EmptyAction));
            }
            if length < self.sft.states.min_action_chars {
                return Ok(Some(Skipped::ShortAction));
            }
        }
        let prompted = self.dialogues.get(member).is_some_and(|dialogue| dialogue.prompted);
        Ok((!prompted).then_some(Skipped::NoPrompt))
    }

    fn begin(&mut self, member: usize, step: &Step) {
        if self.dialogues.get(member).is_none_or(|dialogue| dialogue.messages.began) {
            return;
        }
        let system = self.sft.states.system;
        let prompt = self.shapes.system(&self.context.timeline, member, step, system, self.canon);
        let message = prompt.map(|prompt| self.shape.system(&prompt, self.canon));
        let Some(dialogue) = self.dialogues.get_mut(member) else { return };
        dialogue.messages.begin(message, &self.sft.states.tokenizer);
    }

    /// Puts what happened since the last message of the model behind it.
    fn flush(&mut self, member: usize) {
        let Some(dialogue) = self.dialogues.get_mut(member) else { return };
        let between = std::mem::take(&mut dialogue.between);
        let alternating = self.sft.format == SftFormat::LlamaFactory;
        if between.results.is_empty() && (!between.words.is_empty() || alternating) {
            dialogue.messages.begin_turn();
        }
        for message in self.shape.meanwhile(between, self.canon) {
            dialogue.messages.push(&message, &self.sft.states.tokenizer);
        }
    }

    fn row_of_step(
        &mut self,
        member: usize,
        step: &'s Step,
        answer: Vec<u8>,
        lost: bool,
    ) -> Result<Disposition, StoreError> {
        let states = &self.sft.states;
        let Some(dialogue) = self.dialogues.get(member) else { return Ok(Disposition::Unseen) };
        let most = states.max_history_tokens;
        let window = dialogue.messages.window(most, Keep::TurnsPrompt, &states.tokenizer);
        let Some(window) = window else { return Ok(self.figures.skip(Skipped::TooLong)) };
        self.figures.left_out_words += u64::from(lost);
        self.figures.cut_histories += u64::from(!window.is_whole(&dialogue.messages));
        self.row(member, &window, Some(answer), &[step])?;
        Ok(Disposition::Answer)
    }

    /// Writes the row of a conversation so far.
    fn end_row(&mut self, member: usize) -> Result<(), StoreError> {
        let Some(dialogue) = self.dialogues.get_mut(member) else { return Ok(()) };
        // What is left is nobody's history.
        dialogue.between = BetweenMessages::default();
        dialogue.prompted = false;
        let answers = std::mem::take(&mut dialogue.answers);
        let window = dialogue.messages.window(None, Keep::TurnsPrompt, &self.sft.states.tokenizer);
        dialogue.messages.start = dialogue.messages.len();
        let (Some(window), false) = (window, answers.is_empty()) else { return Ok(()) };
        if self.sft.states.max_history_tokens.is_some_and(|most| window.tokens > most) {
            for (at, _) in &answers {
                let fate = self.figures.skip(Skipped::TooLong);
                self.fates.get_mut(*at).into_iter().for_each(|slot| *slot = fate);
            }
            return Ok(());
        }
        let steps: Vec<&Step> = answers.iter().map(|(_, step)| *step).collect();
        self.row(member, &window, None, &steps)
    }

    fn row(
        &mut self,
        member: usize,
        window: &Window,
        answer: Option<Vec<u8>>,
        steps: &[&Step],
    ) -> Result<(), StoreError> {
        self.figures.rows += 1;
        self.figures.states += steps.len() as u64;
        let tools = self.tools(member, steps)?;
        let tail = self.meta(member, steps);
        let Some(dialogue) = self.dialogues.get(member) else { return Ok(()) };
        let system = Piece::Shared(2 * member, 0..dialogue.messages.system.len());
        let format = self.sft.format;
        let pieces = &mut self.pieces;
        let own = |text: &[u8]| Piece::Own(text.to_vec());
        match (format, answer.is_some()) {
            (SftFormat::LlamaFactory, _) => {
                pieces.push(own(b"{\"system\": "));
                pieces.push(if dialogue.messages.system.is_empty() {
                    own(b"\"\"")
                } else {
                    system
                });
                pieces.push(own(b", \"conversations\": ["));
                dialogue.messages.pieces_without_system(window, 2 * member, pieces);
            }
            (SftFormat::Trl, true) => {
                pieces.push(own(b"{\"prompt\": ["));
                dialogue.messages.pieces(window, 2 * member, pieces);
            }
            _ => {
                pieces.push(own(b"{\"messages\": ["));
                dialogue.messages.pieces(window, 2 * member, pieces);
            }
        }
        if let Some(answer) = answer {
            pieces.push(match format {
                SftFormat::Trl => own(b"], \"completion\": ["),
                _ => own(b", "),
            });
            pieces.push(Piece::Own(answer));
        }
        pieces.push(own(b"]"));
        let shared = 2 * self.dialogues.len() + tools;
        let length = self.tools.get(tools).map_or(0, Vec::len);
        pieces.push(Piece::Shared(shared, 0..length));
        pieces.push(Piece::Own(tail));
        Ok(())
    }
}
