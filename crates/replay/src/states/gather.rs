//! Files of training states, full or compact, as conversations.
//!
//! Full states repeat each other; here the messages of a conversation are put together again while the
//! lines pass by, so that a file of any length needs the memory of its longest conversation. States
//! whose history is not the beginning of the next one's (its front was cut) are kept as they are.

use super::conversation::{Conversation, State};
use backstory_format::slice::Part;
use serde_json::{Map, Value};
use std::io::BufRead;

/// What is wrong with a line.
#[allow(missing_docs, reason = "the messages say what the fields are")]
#[derive(Debug, thiserror::Error)]
pub enum StatesError {
    #[error("line {0}: {1}")]
    Line(u64, String),
    #[error("{0}")]
    Read(#[from] std::io::Error),
}

/// Whether the first line of a file says that it holds states.
pub fn looks_like_states(line: &str) -> bool {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(line) else { return false };
    let full = fields.contains_key("state_id") && fields.contains_key("student_action");
    let compact = fields.contains_key("states") && fields.contains_key("session_id");
    fields.contains_key("messages") && (full || compact)
}

/// Puts conversations together.
#[derive(Debug, Default)]
pub struct Gatherer {
    open: Option<Conversation>,
}

impl Gatherer {
    /// Hands every conversation of a file to `take`; lines that hold no state are handed to `wrong`.
    pub fn read<E: From<StatesError>>(
        mut file: impl BufRead,
        mut take: impl FnMut(Conversation) -> Result<(), E>,
        mut wrong: impl FnMut(StatesError),
    ) -> Result<(), E> {
        let mut gatherer = Gatherer::default();
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            if file.read_until(b'\n', &mut line).map_err(StatesError::Read)? == 0 {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            match gatherer.line(&line) {
                Ok(done) => done.into_iter().try_for_each(&mut take)?,
                Err(cause) => wrong(StatesError::Line(number, cause)),
            }
        }
        gatherer.open.take().map_or(Ok(()), take)
    }

    /// Takes a line; gives what is complete with it.
    fn line(&mut self, line: &[u8]) -> Result<Vec<Conversation>, String> {
        let value: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let Value::Object(mut fields) = value else { return Err("no object".to_owned()) };
        if fields.contains_key("states") {
            let whole = Conversation::read(Value::Object(fields))?;
            return Ok(self.open.take().into_iter().chain([whole]).collect());
        }
        let Some(Value::Array(messages)) = fields.remove("messages") else {
            return Err("no list `messages`".to_owned());
        };
        let tools = match fields.remove("tools") {
            Some(Value::Array(tools)) => tools,
            _ => Vec::new(),
        };
        let session = session_of(&fields);
        let state = State::read(fields)?;
        let is_system = |message: &Value| message.get("role").is_some_and(|role| role == "system");
        let front = messages.iter().take_while(|message| is_system(message)).count();
        let mut system = messages;
        let messages = system.split_off(front);
        let done = match &self.open {
            Some(open) if open.session_id == session && open.system == system => None,
            _ => self.open.take(),
        };
        let open = self.open.get_or_insert_with(|| Conversation {
            session_id: session,
            system,
            tools: Vec::new(),
            messages: Vec::new(),
            states: Vec::new(),
        });
        open.tools.extend(
            tools.into_iter().filter(|tool| !open.tools.contains(tool)).collect::<Vec<_>>(),
        );
        add(open, state, messages);
        Ok(done.into_iter().collect())
    }
}

/// The session that a state says it is of, else the front of its id.
fn session_of(fields: &Map<String, Value>) -> String {
    let meta = fields.get("meta").and_then(|meta| meta.get("session_id"));
    let id = fields.get("state_id").and_then(Value::as_str).unwrap_or_default();
    let front = id.split(':').next().unwrap_or_default();
    meta.and_then(Value::as_str).unwrap_or(front).to_owned()
}

/// Adds a state; messages that the last state has are not added again.
fn add(conversation: &mut Conversation, state: State, messages: Vec<Value>) {
    let all = &mut conversation.messages;
    let from = conversation.states.last().map_or(0, |state| state.from);
    let known = all.part(from..);
    let same = known.iter().zip(&messages).take_while(|(one, other)| one == other).count();
    let continues = same == known.len() || same == messages.len();
    let (from, fresh) = if continues { (from, same) } else { (all.len(), 0) };
    let upto = from + messages.len();
    all.extend(messages.into_iter().skip(fresh));
    conversation.states.push(State { from, upto, ..state });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn full(session: &str, number: usize, messages: &[&str]) -> String {
        let messages: Vec<Value> =
            messages.iter().map(|words| json!({"role": "user", "content": words})).collect();
        json!({"state_id": format!("{session}:{number}"), "student_action": "x",
            "messages": messages, "meta": {"session_id": session}})
        .to_string()
            + "\n"
    }

    #[test]
    fn full_states_become_conversations() {
        let text = [
            full("a", 1, &["1"]),
            full("a", 2, &["1", "2", "3"]),
            full("a", 3, &["summary"]),
            full("a", 4, &["summary", "4"]),
            "{broken\n".to_owned(),
            full("b", 1, &["1"]),
        ]
        .concat();
        let (mut all, mut faults) = (Vec::new(), Vec::new());
        Gatherer::read::<StatesError>(
            text.as_bytes(),
            |conversation| {
                all.push(conversation);
                Ok(())
            },
            |fault| faults.push(fault.to_string()),
        )
        .unwrap();
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("line 5: "), "{faults:?}");
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].messages.len(), 5);
        let ranges: Vec<_> = all[0].states.iter().map(|state| (state.from, state.upto)).collect();
        assert_eq!(ranges, [(0, 1), (0, 3), (3, 4), (3, 5)]);
        let line = all[0].clone().line().unwrap();
        assert_eq!(Conversation::parse(&line).unwrap(), all[0]);
        assert!(looks_like_states(&line) && looks_like_states(text.lines().next().unwrap()));
        assert!(!looks_like_states("{\"type\":\"user\",\"message\":{}}"));
    }
}
