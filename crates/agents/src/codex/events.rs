//! Events: what the screen showed. Most repeat items; the rest is told here.

use super::patch;
use super::rollout::Rollout;
use crate::common::{Cite, Place, typed};
use backstory_format::json::Value;
use backstory_model::{Block, CallOutcome, Content, Effect};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::collections::VecDeque;
use std::hash::BuildHasher;

/// Texts of a turn that were told as items, and texts that so far only the screen showed.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    items: HashMap<u64, u32>,
    /// In the order in which they were shown; those that an item said after all are gone.
    waiting: Vec<Option<Echo>>,
    /// Where texts wait, by their hash.
    places: HashMap<u64, VecDeque<usize>>,
}

#[derive(Debug)]
struct Echo {
    place: Place,
    block: Block,
}

impl Echoes {
    /// An item with this text; an event that said it before is only its echo.
    pub(super) fn item(&mut self, text: &str) {
        let hash = hash(text);
        let first = self.places.get_mut(&hash).and_then(VecDeque::pop_front);
        match first.and_then(|at| self.waiting.get_mut(at)) {
            Some(echo) => *echo = None,
            None => *self.items.entry(hash).or_default() += 1,
        }
    }

    /// Whether an item said this; each item has one echo.
    fn takes(&mut self, text: &str) -> bool {
        match self.items.get_mut(&hash(text)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    fn wait(&mut self, text: &str, place: Place, block: Block) {
        if !self.takes(text) {
            self.places.entry(hash(text)).or_default().push_back(self.waiting.len());
            self.waiting.push(Some(Echo { place, block }));
        }
    }
}

fn hash(text: &str) -> u64 {
    FixedState::with_seed(0).hash_one(text.trim())
}

impl Rollout {
    /// Tells what only events said, once the turn is over.
    pub(super) fn flush_echoes(&mut self) {
        let Echoes { waiting, .. } = std::mem::take(&mut self.echoes);
        let waiting: Vec<Echo> = waiting.into_iter().flatten().collect();
        if waiting.is_empty() {
            return;
        }
        self.draft.close();
        let here = self.draft.place;
        for echo in waiting {
            self.draft.place = echo.place;
            self.speak();
            self.draft.step().blocks.push(echo.block);
        }
        self.draft.place = here;
        self.draft.close();
    }

    /// One event.
    pub(super) fn event(&mut self, event: &Value<'_>, cite: Cite) {
        let type_name = event.get_text("type").unwrap_or_default();
        let message = event.get_text("message");
        let place = self.draft.place;
        match &*type_name {
            "user_message" => {
                let Some(text) = message.filter(|text| !self.echoes.takes(text)) else { return };
                let Some(content) = cite.field(event, "message") else { return };
                self.flush_echoes();
                self.begin_turn(vec![typed(content)], Some(&text));
            }
            "agent_message" | "agent_reasoning" => {
                let text = message.or_else(|| event.get_text("text")).unwrap_or_default();
                let content = cite.field(event, "message").or_else(|| cite.field(event, "text"));
                let Some(content) = content else { return };
                self.echoes.wait(&text, place, block(&type_name, content));
            }
            "item_completed" => self.completed(event, cite),
            "patch_apply_end" => self.changed(event, "call_id"),
            "token_count" => self.counted_usage(event),
            "task_complete" | "turn_complete" => {
                self.flush_echoes();
                let duration = event.get("duration_ms").and_then(|value| value.unsigned());
                if let Some(turn) = self.draft.turn() {
                    turn.duration_ms = turn.duration_ms.or(duration);
                }
            }
            "turn_aborted" => {
                self.flush_echoes();
                self.draft.event("interrupted", cite.field(event, "reason"));
            }
            "thread_rolled_back" => {
                self.flush_echoes();
                match event.get("num_turns").and_then(|turns| turns.unsigned()) {
                    Some(turns) => self.draft.roll_back(usize::try_from(turns).unwrap_or(0)),
                    None => self.draft.event("rolled-back", None),
                }
            }
            "error" | "stream_error" => {
                self.flush_echoes();
                self.draft.event("api-error", cite.field(event, "message"));
            }
            "entered_review_mode" | "exited_review_mode" | "undo_completed" => {
                self.draft.event(&type_name.replace('_', "-"), None);
            }
            _ => {}
        }
    }

    /// An item of the newest clients' history.
    fn completed(&mut self, event: &Value<'_>, cite: Cite) {
        let Some(item) = event.get("item") else { return };
        let type_name = item.get_text("type").unwrap_or_default();
        let kind = type_name.replace('_', "").to_ascii_lowercase();
        match kind.as_str() {
            "filechange" => self.changed(&item, "id"),
            "usermessage" | "agentmessage" | "reasoning" | "plan" => {
                for (text, content) in texts(&item, cite) {
                    if kind == "usermessage" {
                        if !self.echoes.takes(&text) {
                            self.flush_echoes();
                            self.begin_turn(vec![typed(content)], Some(&text));
                        }
                    } else {
                        let place = self.draft.place;
                        self.echoes.wait(&text, place, block(&kind, content));
                    }
                }
            }
            _ => {}
        }
    }

    /// What a patch did, as the client says: better than what the model asked for.
    fn changed(&mut self, item: &Value<'_>, id: &str) {
        let Some(id) = item.get_text(id) else { return };
        let status = item.get_text("status");
        let success = item.get("success").and_then(|success| success.boolean());
        let failed = status.is_some_and(|status| status != "completed") || success == Some(false);
        let effects = item.get("changes").map(|changes| patch::changes(&changes));
        let Some(call) = self.draft.find_call(&id) else { return };
        let refused = call.result.as_ref().is_some_and(|result| result.outcome != CallOutcome::Ok);
        // What else the command did beside the patch stays.
        let is_edit = |effect: &Effect| matches!(effect, Effect::Edit(_));
        if failed || refused {
            call.effects.retain(|effect| !refused && !is_edit(effect));
        } else if let Some(effects) = effects.filter(|effects| !effects.is_empty()) {
            call.effects.retain(|effect| !is_edit(effect));
            call.effects.splice(0..0, effects);
        }
    }
}

fn block(kind: &str, content: Content) -> Block {
    if kind.contains("reasoning") {
        Block::Thinking { text: Some(content), signed: false, redacted: false }
    } else {
        Block::Text(content)
    }
}

/// Texts of an item: `text`, `content[].text`, `summary_text[]`, `raw_content[]`.
fn texts(item: &Value<'_>, cite: Cite) -> Vec<(String, Content)> {
    let mut values: Vec<Value<'_>> = item.get("text").into_iter().collect();
    for name in ["content", "summary_text", "raw_content"] {
        for part in item.get(name).iter().flat_map(|list| list.items()) {
            values.push(part.get("text").unwrap_or(part));
        }
    }
    values
        .iter()
        .filter_map(|value| Some((value.text()?.into_owned(), cite.text(value)?)))
        .filter(|(text, _)| !text.is_empty())
        .collect()
}
