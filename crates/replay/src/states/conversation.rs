//! One conversation with its states: a line of a states file.

use serde_json::{Map, Value, json};

/// A conversation: messages once, and what was done where.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The session's id.
    pub session_id: String,
    /// The system messages.
    pub system: Vec<Value>,
    /// Definitions as OpenAI has them.
    pub tools: Vec<Value>,
    /// The messages after them.
    pub messages: Vec<Value>,
    /// The states, in order.
    pub states: Vec<State>,
}

/// A place where the student did something.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The id of the state.
    pub state_id: String,
    /// The student's action.
    pub student_action: String,
    /// Messages in front of the others.
    pub kept: Vec<usize>,
    /// The first message of its history.
    pub from: usize,
    /// The end of its history.
    pub upto: usize,
    /// Further facts about the state.
    pub meta: Value,
    /// Fields that are not ours.
    pub others: Map<String, Value>,
}

impl State {
    /// Reads everything but where the messages are.
    pub(super) fn read(mut fields: Map<String, Value>) -> Result<State, String> {
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(format!("a state without `{name}`")),
        };
        let (state_id, student_action) = (text("state_id")?, text("student_action")?);
        let meta = fields.remove("meta").unwrap_or(Value::Null);
        let others = fields;
        let (kept, from, upto) = (Vec::new(), 0, 0);
        Ok(State { state_id, student_action, kept, from, upto, meta, others })
    }

    fn value(self) -> Value {
        let State { state_id, student_action, kept, from, upto, meta, others } = self;
        let mut fields = others;
        fields.insert("kept".to_owned(), json!(kept));
        fields.insert("from".to_owned(), json!(from));
        fields.insert("upto".to_owned(), json!(upto));
        fields.insert("meta".to_owned(), meta);
        fields.insert("state_id".to_owned(), Value::String(state_id));
        fields.insert("student_action".to_owned(), Value::String(student_action));
        Value::Object(fields)
    }
}

impl Conversation {
    /// Reads a line of the compact form.
    pub fn parse(line: &str) -> Result<Conversation, String> {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        Conversation::read(value)
    }

    pub(super) fn read(value: Value) -> Result<Conversation, String> {
        let Value::Object(mut fields) = value else { return Err("no object".to_owned()) };
        let mut list = |name: &str| match fields.remove(name) {
            Some(Value::Array(items)) => Ok(items),
            None if name == "tools" || name == "system" => Ok(Vec::new()),
            _ => Err(format!("no list `{name}`")),
        };
        let (system, tools, messages) = (list("system")?, list("tools")?, list("messages")?);
        let mut states = Vec::new();
        for state in list("states")? {
            let Value::Object(mut fields) = state else { return Err("no state".to_owned()) };
            let number = |value: Option<Value>, name: &str| {
                let number = value.and_then(|value| value.as_u64());
                let number = number.and_then(|number| usize::try_from(number).ok());
                number.ok_or_else(|| format!("a state without `{name}`"))
            };
            let from = number(fields.remove("from"), "from")?;
            let upto = number(fields.remove("upto"), "upto")?;
            let kept = match fields.remove("kept") {
                Some(Value::Array(kept)) => {
                    kept.into_iter().map(|at| number(Some(at), "kept")).collect::<Result<_, _>>()?
                }
                _ => Vec::new(),
            };
            let state = State { kept, from, upto, ..State::read(fields)? };
            let inside = |at: usize| at < messages.len();
            if from > upto || upto > messages.len() || !state.kept.iter().all(|at| inside(*at)) {
                return Err(format!("state `{}` names messages that do not exist", state.state_id));
            }
            states.push(state);
        }
        let session_id = match fields.remove("session_id") {
            Some(Value::String(id)) => id,
            _ => return Err("no `session_id`".to_owned()),
        };
        Ok(Conversation { session_id, system, tools, messages, states })
    }

    /// The line, without its end.
    pub fn line(self) -> Result<String, serde_json::Error> {
        let states: Vec<Value> = self.states.into_iter().map(State::value).collect();
        serde_json::to_string(&json!({
            "session_id": self.session_id,
            "system": self.system,
            "tools": self.tools,
            "messages": self.messages,
            "states": states,
        }))
    }
}
