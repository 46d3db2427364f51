//! What happened in a session, in words that can be compared.

use backstory_model::{Block, Change, Effect, Session};

/// What the calls of a session did to files: `("a.py", "create")`.
pub fn edits(session: &Session) -> Vec<(String, &'static str)> {
    let effects = session.turns.iter().flat_map(|turn| turn.calls()).flat_map(|call| &call.effects);
    let word = |effect: &Effect| {
        let Effect::Edit(edit) = effect else { return None };
        let change = match edit.change {
            Change::Write { created: true, .. } => "create",
            Change::Write { .. } => "write",
            Change::Replace(_) | Change::Cell { .. } => "replace",
            Change::Delete => "delete",
            Change::Move { .. } => "move",
        };
        Some((edit.path.to_string(), change))
    };
    effects.filter_map(word).collect()
}

/// Prompts, answers, and calls with their outcomes, in order.
pub fn texts(session: &Session) -> Vec<String> {
    let mut reader = session.source.open().unwrap();
    let mut texts = Vec::new();
    for turn in &session.turns {
        for part in &turn.prompt.blocks {
            if let Block::Text(text) = &part.block {
                texts.push(format!("user: {}", reader.text(text).unwrap()));
            }
        }
        for block in turn.steps.iter().flat_map(|step| &step.blocks) {
            match block {
                Block::Text(text) => texts.push(reader.text(text).unwrap().into_owned()),
                Block::Thinking { text: Some(text), .. } => {
                    texts.push(format!("thinking: {}", reader.text(text).unwrap()));
                }
                Block::Call(call) => {
                    let result = call.result.as_ref().map(|result| result.outcome.name());
                    let name = call.name.as_deref().unwrap_or_default();
                    texts.push(format!("{name} {}", result.unwrap_or("-")));
                }
                _ => {}
            }
        }
    }
    texts
}
