//! What goes over the wire: requests in two protocols, and what answers mean.
//!
//! Requests are put together from messages that were written once per conversation. Ids of calls are
//! counted anew and names of tools made to fit, because servers refuse long ones; both are the same in
//! every state of a conversation, so that prompt caches hit.

mod answer;
mod anthropic;
mod names;
mod openai;
mod tools;

pub(crate) use answer::error_text;
pub use answer::{Answer, NoAnswer, read as read_answer};
pub use names::Names;

use crate::states::{Conversation, State};
use crate::teacher::{Api, Teacher, Tools};
use backstory_export::digest;
use backstory_format::slice::{Part, item};
use backstory_redact::Cleared;
use std::fmt::Write as _;

/// A conversation ready to be sent to teachers of one protocol.
#[derive(Debug)]
pub struct Wire {
    shape: Shape,
    pub(crate) names: Names,
    tools: Vec<String>,
    system: Vec<String>,
    /// Bytes of all messages before each one.
    weights: Vec<u64>,
}

#[derive(Debug)]
enum Shape {
    OpenAi(Vec<String>),
    Anthropic(Vec<anthropic::Message>),
}

/// A request as it is sent.
#[derive(Debug, Clone)]
pub struct Request {
    /// The body, as JSON.
    pub body: String,
    /// Of the body, in hexadecimal digits.
    pub hash: String,
}

/// Bytes of a state's prompt, for estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// Bytes of the body.
    pub bytes: u64,
    /// How many of them the state before had, too.
    pub shared: u64,
}

impl Wire {
    /// Requests of a conversation in one protocol.
    pub fn new(conversation: &Cleared<Conversation>, api: Api) -> Wire {
        let conversation = conversation.get();
        let mut names = Names::default();
        let tools = tools::definitions(conversation, api, &mut names);
        let (shape, system) = match api {
            Api::OpenAi => openai::messages(conversation, &mut names),
            Api::Anthropic => anthropic::messages(conversation, &mut names),
        };
        let lengths: Vec<u64> = match &shape {
            Shape::OpenAi(messages) => messages.iter().map(|one| one.len() as u64).collect(),
            Shape::Anthropic(messages) => messages.iter().map(anthropic::Message::weight).collect(),
        };
        let mut weights = vec![0];
        let mut sum = 0;
        for length in lengths {
            sum += length;
            weights.push(sum);
        }
        Wire { shape, names, tools, system, weights }
    }

    /// The request for state `at`. It is the same whichever states are asked: where marks for caches
    /// stand follows from the states themselves.
    pub fn request(&self, states: &[State], at: usize, teacher: &Teacher) -> Option<Request> {
        let state = states.get(at)?;
        let before = at.checked_sub(1).and_then(|before| states.get(before));
        let mut body = serde_json::Map::new();
        body.insert("model".to_owned(), teacher.model.clone().into());
        body.insert(teacher.max_tokens_name.clone(), teacher.max_tokens.into());
        if let Some(temperature) = teacher.temperature {
            body.insert("temperature".to_owned(), temperature.into());
        }
        body.extend(teacher.body.clone());
        let mut text = serde_json::Value::Object(body).to_string();
        text.pop();
        let tools = match teacher.tools {
            Tools::Offered => self.tools.as_slice(),
            Tools::Withheld => &[],
        };
        match &self.shape {
            Shape::OpenAi(messages) => {
                openai::write(&mut text, tools, &self.system, &pick(messages, state));
            }
            Shape::Anthropic(messages) => {
                let old = before.filter(|before| continues(before, state));
                let old = old.map(|before| before.kept.len() + before.upto - before.from);
                anthropic::write(&mut text, tools, &self.system, &pick(messages, state), old);
            }
        }
        text.push('}');
        let hash = digest(&[text.as_bytes()]).iter().fold(String::new(), |mut hash, byte| {
            let _ = write!(hash, "{byte:02x}");
            hash
        });
        Some(Request { body: text, hash })
    }

    /// How long a state's prompt is, without building it.
    pub fn weight(&self, state: &State, before: Option<&State>, tools: Tools) -> Weight {
        let at = |at: usize| item(&self.weights, at);
        let own = |state: &State| {
            let kept: u64 = state.kept.iter().map(|one| at(one + 1) - at(*one)).sum();
            kept + at(state.upto) - at(state.from)
        };
        let length = |texts: &[String]| texts.iter().map(|text| text.len() as u64).sum::<u64>();
        let front = length(&self.system)
            + match tools {
                Tools::Offered => length(&self.tools),
                Tools::Withheld => 0,
            };
        let shared = match before {
            None => 0,
            Some(before) if continues(before, state) => front + own(before),
            Some(_) => front,
        };
        Weight { bytes: front + own(state), shared }
    }
}

/// Whether a state's history begins with another's.
fn continues(before: &State, state: &State) -> bool {
    before.kept == state.kept && before.from == state.from && before.upto <= state.upto
}

/// The messages of a state.
fn pick<'m, T>(messages: &'m [T], state: &State) -> Vec<&'m T> {
    let kept = state.kept.iter().filter_map(|at| messages.get(*at));
    kept.chain(messages.part(state.from..state.upto)).collect()
}

/// `[a,b]` of values that are written already.
fn list<'t>(out: &mut String, name: &str, items: impl IntoIterator<Item = &'t str>) {
    let _ = write!(out, ",\"{name}\":[");
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(item);
    }
    out.push(']');
}

#[cfg(test)]
mod tests;
