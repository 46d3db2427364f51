//! What one file of a session left out and another one holds.

use backstory_format::ProblemId;
use backstory_format::json::{Tape, scan};
use backstory_model::{Block, Call, Content, Prompt, PromptBlock, Session, SessionKind, TurnKind};

/// Deeper inputs of calls hold no prompt.
const DEPTH: u32 = 256;

/// Clients around 2.1.2x wrote the last text of a turn only into the file that guesses the next
/// prompt. It belongs to the message with the same id.
pub(super) fn adopt_text<'a>(session: &mut Session, agents: impl Iterator<Item = &'a Session>) {
    for agent in agents.filter(|agent| agent.kind == SessionKind::PromptSuggestion) {
        let Ok(mut reader) = agent.source.open() else { continue };
        let steps = agent.turns.iter().flat_map(|turn| &turn.steps);
        for lost in steps.filter(|step| step.message_id.is_some()) {
            let turns = session.turns.iter_mut();
            let mut known = turns.flat_map(|turn| turn.steps.iter_mut());
            let Some(step) = known.find(|step| step.message_id == lost.message_id) else {
                continue;
            };
            if step.blocks.iter().any(|block| matches!(block, Block::Text(_))) {
                continue;
            }
            for block in &lost.blocks {
                if let Block::Text(content) = block
                    && let Ok(text) = reader.text(content)
                {
                    step.blocks.push(Block::Text(Content::Owned(text.into())));
                }
            }
        }
    }
}

/// The prompt that `call` of `holder` gave to `agent`, if the agent's own file begins with the
/// answer: some releases before 2.1 did not write it there. A file that lost its beginning is
/// another matter: what it lost may be more than the prompt.
pub(super) fn prompt(agent: &Session, holder: &Session, call: &str) -> Option<Box<str>> {
    let first = agent.turns.first()?;
    let whole = agent.problems.counts().get(&ProblemId::MissingParent).is_none();
    if first.kind != TurnKind::Continuation || agent.kind != SessionKind::Task || !whole {
        return None;
    }
    let input = calls(holder).find(|known| known.id.as_deref() == Some(call))?.input.as_ref()?;
    let mut reader = holder.source.open().ok()?;
    let text = reader.text(input).ok()?;
    let mut tape = Tape::new();
    scan(text.as_bytes(), 0, DEPTH, &mut tape).ok()?;
    let prompt = tape.root(text.as_bytes())?.get_text("prompt")?;
    (!prompt.trim().is_empty()).then(|| prompt.as_ref().into())
}

fn calls(session: &Session) -> impl Iterator<Item = &Call> {
    let left = session.abandoned.iter().flat_map(|branch| &branch.turns);
    session.turns.iter().chain(left).flat_map(|turn| turn.calls())
}

/// Makes the agent's first turn the one that this prompt started. It keeps no line and no uuid:
/// no record of the file holds it.
pub(super) fn adopt_prompt(agent: &mut Session, prompt: Box<str>) {
    if let Some(first) = agent.turns.first_mut() {
        let block = PromptBlock { block: Block::Text(Content::Owned(prompt)), context: false };
        first.kind = TurnKind::Task;
        first.prompt = Prompt { blocks: vec![block] };
    }
}
