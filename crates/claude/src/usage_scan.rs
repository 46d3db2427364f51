//! The messages of models in one file and what they took, without the model.
//!
//! Every record of a model holds `"assistant"`, so only lines with that word are read, plus the
//! first ones until folder and time are known. Inside a string the quotes would be escaped. The
//! rule of [`turns`](crate::turns) applies: the record with the largest output count is the truest.

use crate::time;
use backstory_format::claude::{self, BlockKind, Envelope, Message, RecordKind, Usage};
use backstory_format::json::Value;
use backstory_format::{Problem, Record, Visitor};
use backstory_model::{Detail, Expense, FileSpending, Geography, Speed, Spent};
use backstory_store::{ReadContext, Selective, StoreError, read_selected};
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use jiff::Timestamp;
use memchr::memmem::Finder;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::{Arc, LazyLock};

static MODEL_RECORD: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"assistant\""));

/// Looks for what a file says about spending.
struct Scan {
    found: FileSpending,
    by_id: HashMap<Box<str>, usize, FixedState>,
    texts: HashSet<Arc<str>, FixedState>,
    detail: Detail,
}

/// Reads the messages of a file, each once.
pub fn spending(
    path: &Path,
    detail: Detail,
    context: &mut ReadContext,
) -> Result<FileSpending, StoreError> {
    let new = || Scan::new(detail);
    Ok(read_selected(path, context, &MODEL_RECORD, new)?.visitor.found)
}

impl Scan {
    fn new(detail: Detail) -> Scan {
        let (found, by_id, texts) =
            (FileSpending::default(), HashMap::default(), HashSet::default());
        Scan { found, by_id, texts, detail }
    }
}

impl Selective for Scan {
    fn wants_all(&self) -> bool {
        self.found.cwd.is_none() || self.found.started.is_none()
    }
}

impl Visitor for Scan {
    fn record(&mut self, record: &Record<'_>) {
        if record.kind() == RecordKind::Progress {
            self.copy(record);
        }
        if record.kind() != RecordKind::Assistant && !self.wants_all() {
            return;
        }
        let envelope = Envelope::read(record, |_| {});
        let time = envelope.timestamp.and_then(|value| time::parse(value.raw_text()?));
        self.found.forked |= envelope.forked_from.is_some();
        if self.wants_all() {
            self.found.started = self.found.started.or(time);
            if claude::is_transcript(record.kind()) && self.found.cwd.is_none() {
                self.found.cwd = envelope.cwd.and_then(|cwd| cwd.text()).map(Into::into);
            }
        }
        // A record without a uuid is part of no conversation.
        if let (RecordKind::Assistant, Some(uuid), Some(message)) =
            (record.kind(), envelope.uuid, envelope.message)
        {
            self.message(&envelope, uuid, Message::read(message).0, time);
        }
    }

    fn problem(&mut self, _: Problem) {}
}

impl Scan {
    /// A message of a subagent inside a progress record (2.1.9 to 2.1.83). Its own file holds it as
    /// well, unless that is gone.
    fn copy(&mut self, record: &Record<'_>) {
        let held = record.value().get("data").and_then(|data| data.get("message"));
        let held =
            held.filter(|held| held.get("type").is_some_and(|kind| kind.is_text("assistant")));
        let Some(message) = held.and_then(|held| held.get("message")) else { return };
        let synthetic = message.get("model").is_some_and(|model| model.is_text("<synthetic>"));
        let id = message.get_text("id").filter(|_| !synthetic && message.get("usage").is_some());
        if let Some(id) = id.filter(|id| !self.found.copies.contains(id.as_ref())) {
            self.found.copies.insert(id.as_ref().into());
        }
    }

    fn message(
        &mut self,
        envelope: &Envelope<'_>,
        uuid: Value<'_>,
        message: Message<'_>,
        time: Option<Timestamp>,
    ) {
        if message.model.is_some_and(|model| model.is_text("<synthetic>")) {
            return;
        }
        // A copy of a message that has no id says which record it was made from.
        let original = envelope.forked_from.and_then(|from| from.get("messageUuid"));
        let id = message.id.or(original).unwrap_or(uuid);
        let Some(id) = id.text() else { return };
        let at = match self.by_id.get(id.as_ref()) {
            Some(at) => *at,
            None => {
                let model = message.model.and_then(|model| model.text());
                let model = model.map(|model| self.shared(&model));
                self.found.messages.push(Expense {
                    id: id.as_ref().into(),
                    model,
                    time,
                    sidechain: envelope.flags.sidechain,
                    spent: None,
                    finished: false,
                    calls: Vec::new(),
                });
                self.by_id.insert(id.as_ref().into(), self.found.messages.len() - 1);
                self.found.messages.len() - 1
            }
        };
        let calls = match self.detail {
            Detail::Usage => Vec::new(),
            Detail::Calls => self.calls(message.content),
        };
        let Some(expense) = self.found.messages.get_mut(at) else { return };
        expense.finished |= message.stop_reason.is_some();
        if let Some(usage) = message.usage {
            let spent = read_spent(usage);
            let known = expense.spent.map(|known| known.tokens.output);
            if known.is_none_or(|known| spent.tokens.output >= known) {
                expense.spent = Some(spent);
            }
        }
        for call in calls {
            if !expense.calls.iter().any(|known| known.0 == call.0) {
                expense.calls.push(call);
            }
        }
    }

    fn calls(&mut self, content: Option<Value<'_>>) -> Vec<(u64, Arc<str>)> {
        let blocks = claude::blocks(content).filter(|block| block.kind == BlockKind::ToolUse);
        blocks
            .map(|block| {
                let id = block.string("id").and_then(|id| id.text()).unwrap_or_default();
                let name = block.string("name").and_then(|name| name.text()).unwrap_or_default();
                (FixedState::default().hash_one(id.as_bytes()), self.shared(&name))
            })
            .collect()
    }

    fn shared(&mut self, text: &str) -> Arc<str> {
        self.texts.get_or_insert_with(text, |text| Arc::from(text)).clone()
    }
}

fn read_spent(usage: Value<'_>) -> Spent {
    let searches = usage
        .get("server_tool_use")
        .and_then(|used| used.get("web_search_requests"))
        .and_then(|count| count.unsigned())
        .filter(|count| *count <= 1 << 53);
    let speed = match usage.get("speed").and_then(|speed| speed.raw_text()) {
        None | Some(b"" | b"standard") => Speed::Standard,
        Some(b"fast") => Speed::Fast,
        Some(_) => Speed::Other,
    };
    let geography = match usage.get("inference_geo").and_then(|place| place.raw_text()) {
        Some(b"us") => Geography::UnitedStates,
        _ => Geography::Any,
    };
    Spent { tokens: Usage::read(usage), web_searches: searches.unwrap_or(0), speed, geography }
}
