//! Lines of a journal: what they say, written and read.
//!
//! One JSON object on each line; `kind` says which. Of several `call` lines with one key the last
//! counts: it is there because the user asked failed calls again. Fields that a reader does not
//! know are skipped, so that newer journals stay readable.

use backstory_model::Money;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// A run begins; the first line of a journal is one, and each start adds another.
    Run(Run),
    /// A call is about to be sent: written before the first byte leaves.
    Sent(Sent),
    /// A call is over, well or not.
    Call(Call),
    /// A call that is not made, and why.
    Skip(Skip),
    /// An attempt ended without an answer and without cost; the call is still to be made.
    Dropped(Dropped),
}

impl Entry {
    /// Reads a line; the error says what is wrong with it.
    pub fn parse(line: &str) -> Result<Entry, serde_json::Error> {
        serde_json::from_str(line)
    }

    /// The line, with its end.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        Ok(line)
    }
}

/// What a call is known by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The state.
    pub state_id: String,
    /// The teacher.
    pub teacher_id: String,
    /// The hash of the request.
    pub prompt_hash: String,
}

impl Key {
    /// The key of a request.
    pub fn new(state_id: &str, teacher_id: &str, prompt_hash: &str) -> Key {
        let (state_id, teacher_id) = (state_id.to_owned(), teacher_id.to_owned());
        Key { state_id, teacher_id, prompt_hash: prompt_hash.to_owned() }
    }
}

/// A run begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Version of the journal's format.
    pub v: u32,
    /// Id of this start of the run.
    pub id: String,
    /// When, RFC 3339.
    pub at: String,
    /// Version of the program.
    pub program: String,
    /// Name of the file that holds the states, next to the journal.
    pub states: String,
    /// The teachers, as they were set up.
    pub teachers: Vec<TeacherNote>,
    /// The budget in dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<Money>,
    /// The largest number of states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The gate by name, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
}

/// A teacher as a run knows it; never its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TeacherNote {
    /// The teacher's name.
    pub id: String,
    /// The model it asks.
    pub model: String,
    /// `openai` or `anthropic`.
    pub api: String,
    /// Dollars for a million tokens: read, written, read from the cache, written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<[Money; 4]>,
}

/// A call is about to be sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// The state.
    pub state_id: String,
    /// The teacher.
    pub teacher_id: String,
    /// The hash of the request.
    pub prompt_hash: String,
    /// Which attempt, from one.
    pub attempt: u32,
    /// The most that this attempt can cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_usd: Option<Money>,
    /// The most that earlier attempts cost of which nothing was heard.
    #[serde(default)]
    pub unsure_usd: Money,
    /// The time of sending.
    pub at: String,
}

/// An attempt ended and the call is still to be made: the run was stopped, or the teacher refused
/// everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// The state.
    pub state_id: String,
    /// The teacher.
    pub teacher_id: String,
    /// The hash of the request.
    pub prompt_hash: String,
    /// The most that attempts cost of which nothing was heard.
    #[serde(default)]
    pub unsure_usd: Money,
    /// Why no answer is expected.
    pub why: String,
    /// The time.
    pub at: String,
}

/// A call is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The state.
    pub state_id: String,
    /// The teacher.
    pub teacher_id: String,
    /// The model that was asked.
    pub model: String,
    /// The hash of the request.
    pub prompt_hash: String,
    /// What the teacher did, in the form of a state's `student_action`; none where it failed.
    pub action: Option<String>,
    /// The answer as it came, without the words around it.
    pub raw: Value,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// Tokens, as the server counted them.
    pub usage: Option<Usage>,
    /// None where no price is known.
    pub cost_usd: Option<Money>,
    /// The most that attempts cost of which nothing was heard, those of killed runs included.
    #[serde(default)]
    pub unsure_usd: Money,
    /// Milliseconds from sending to the whole answer.
    pub latency_ms: u64,
    /// Attempts, the last one included.
    pub attempts: u32,
    /// Why there is no answer.
    pub error: Option<Failure>,
    /// The time of the answer.
    pub at: String,
}

/// Why a call failed in the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// `http`, `timeout`, `connection`, `unreadable`, `no_answer` or `too_long`.
    pub what: String,
    /// The status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What went wrong.
    pub message: String,
}

/// Tokens of a call, counted the same way for every teacher: `prompt_tokens` is all that was read,
/// cached or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// Prompt tokens read from a cache.
    pub cached_tokens: u64,
    /// Prompt tokens written to a cache.
    pub cache_write_tokens: u64,
    /// Tokens of reasoning, part of the answer's.
    pub reasoning_tokens: u64,
}

/// A call that is not made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skip {
    /// The state.
    pub state_id: String,
    /// None: no teacher is asked.
    pub teacher_id: Option<String>,
    /// `gate`: not worth its cost; `tier`: the cheap teacher agrees with the student.
    pub why: String,
    /// The time.
    pub at: String,
}

impl Call {
    /// The key of the call.
    pub fn key(&self) -> Key {
        Key::new(&self.state_id, &self.teacher_id, &self.prompt_hash)
    }
}

impl Sent {
    /// The key of the call.
    pub fn key(&self) -> Key {
        Key::new(&self.state_id, &self.teacher_id, &self.prompt_hash)
    }
}

impl Dropped {
    /// The key of the call.
    pub fn key(&self) -> Key {
        Key::new(&self.state_id, &self.teacher_id, &self.prompt_hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Call {
        Call {
            state_id: "s:u".to_owned(),
            teacher_id: "cheap".to_owned(),
            model: "m".to_owned(),
            prompt_hash: "00".to_owned(),
            action: Some("done".to_owned()),
            raw: serde_json::json!({"content": "done"}),
            finish_reason: Some("stop".to_owned()),
            usage: Some(Usage { prompt_tokens: 7, ..Usage::default() }),
            cost_usd: Some(Money::from_nanos(123)),
            unsure_usd: Money::ZERO,
            latency_ms: 5,
            attempts: 1,
            error: None,
            at: "2026-01-01T00:00:00Z".to_owned(),
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let entry = Entry::Call(call());
        let line = entry.line().unwrap();
        assert!(line.starts_with(r#"{"kind":"call","state_id":"s:u","#), "{line}");
        assert!(line.contains(r#""cost_usd":0.000000123,"#), "{line}");
        assert_eq!(Entry::parse(line.trim_end()).unwrap(), entry);
    }

    #[test]
    fn journal_ignores_unknown_fields_and_kinds() {
        let line = Entry::Call(call()).line().unwrap();
        let newer = line.replace(r#""kind":"call","#, r#""kind":"call","colour":"red","#);
        assert_eq!(Entry::parse(&newer).unwrap(), Entry::Call(call()));
        assert!(Entry::parse(r#"{"kind":"poem"}"#).is_err());
        assert!(Entry::parse("").is_err());
    }
}
