//! SWE-agent: one `.traj` per task, a JSON document.
//!
//! `history` is the conversation; `trajectory` repeats it step by step with the state of the shell.
//! Releases differ: 0.x has actions in the text and states as JSON in a string, 1.x tool calls.

use crate::common::{Action, Chat, MESSAGE_IDS, document, ids_below};
use crate::file_head::FileHead;
use crate::place::{Home, Surroundings};
use crate::reader::{AgentReader, Recognised};
use crate::split::Layout;
use backstory_format::json::{IdPaths, Kind, Tape, Value, scan};
use backstory_model::SessionFiles;
use backstory_model::{Agent, AgentInfo, Benchmark, Session, UsageTotal};
use backstory_store::{ReadContext, Store, StoreError};
use std::sync::LazyLock;

/// The agent.
const AGENT: Agent = Agent::new(&AgentInfo {
    name: "swe-agent",
    title: "SWE-agent",
    place: 3,
    unread: &[
        "times of messages",
        "tokens of single messages",
        "tokens as the model counted them (they are the agent's own count)",
        "whether a command failed",
        "edits made by the line editor of 0.x",
    ],
});

static IDS: LazyLock<IdPaths> = LazyLock::new(|| {
    ids_below(&["history", "trajectory", "trajectory.query", "trajectory.messages"], &MESSAGE_IDS)
});

/// Reads trajectories of SWE-agent.
#[derive(Debug)]
pub(crate) struct SweAgent;

impl AgentReader for SweAgent {
    fn agent(&self) -> Agent {
        AGENT
    }

    fn homes(&self, around: &Surroundings<'_>) -> Vec<Home> {
        around.named("SWE_AGENT_TRAJECTORY_DIR").map(Home::whole).into_iter().collect()
    }

    fn endings(&self) -> &'static [&'static str] {
        &[".traj"]
    }

    /// By its name, which other agents' trajectories may have.
    fn recognise(&self, file: &FileHead<'_>) -> Recognised {
        if file.first_byte() == Some(b'{') {
            Recognised::Likely(Layout::One)
        } else {
            Recognised::No
        }
    }

    fn read_alone(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
    ) -> Result<Session, StoreError> {
        read(files, &context.store)
    }

    fn id_fields(&self) -> &'static IdPaths {
        &IDS
    }
}

fn read(files: &SessionFiles, store: &Store) -> Result<Session, StoreError> {
    let mut document = document(&files.path, files.part.clone(), store)?;
    let mut chat = Chat::new(document.draft(AGENT, files), document.cite());
    let mut usage = None;
    if let Some(value) = document.value() {
        let info = value.get("info");
        let info = info.as_ref();
        facts(&value, info, &mut chat);
        for (number, message) in
            value.get("history").iter().flat_map(|list| list.items()).enumerate()
        {
            chat.message(number as u64 + 1, &message, &actions);
        }
        usage = info.and_then(|info| info.get("model_stats")).map(|stats| total(&stats));
    }
    let mut session = chat.draft.finish();
    session.usage = usage.filter(|usage| usage.total() > 0).unwrap_or(session.usage);
    Ok(session)
}

fn facts(value: &Value<'_>, info: Option<&Value<'_>>, chat: &mut Chat) {
    let cite = chat.cite;
    let draft = &mut chat.draft;
    let text = |name: &str| info.and_then(|info| info.get_text(name));
    if let Some(version) = text("swe_agent_version") {
        draft.set_version(version);
    }
    let states = value.get("trajectory");
    for step in states.iter().flat_map(|steps| steps.items()).take(1) {
        let Some(state) = step.get("state") else { continue };
        if let Some(folder) = state.get_text("working_dir") {
            draft.folder(folder);
        } else if let Some(state) = state.text() {
            // 0.x wrote the state as JSON in a string.
            let mut tape = Tape::new();
            let bytes = state.as_bytes();
            let inner = scan(bytes, 0, 64, &mut tape).ok().and_then(|_| tape.root(bytes));
            if let Some(folder) = inner.and_then(|inner| inner.get_text("working_dir")) {
                draft.folder(folder);
            }
        }
    }
    draft.model = model(value).map(Into::into);
    let stats = info.and_then(|info| info.get("model_stats"));
    let cost = stats.and_then(|stats| stats.get("instance_cost")?.float());
    draft.session.reported_cost = cost;
    draft.session.benchmark = info.map(|info| Benchmark {
        instance: value
            .get_text("environment")
            .filter(|name| !matches!(&**name, "main" | "swe_main"))
            .map(Into::into),
        resolved: None,
        exit_status: info.get_text("exit_status").map(Into::into),
        patch: cite.field(info, "submission"),
    });
}

/// The model's name stands in the configuration, which is an object or JSON in a string.
fn model(value: &Value<'_>) -> Option<String> {
    let config = value.get("replay_config")?;
    let named = |config: &Value<'_>| {
        let model = config.get("agent")?.get("model")?;
        model.get_text("name").map(|name| name.into_owned())
    };
    if config.kind() == Kind::Object {
        return named(&config);
    }
    let text = config.text()?;
    let mut tape = Tape::new();
    scan(text.as_bytes(), 0, 256, &mut tape).ok()?;
    named(&tape.root(text.as_bytes())?)
}

fn total(stats: &Value<'_>) -> UsageTotal {
    let number = |name: &str| stats.get(name).and_then(|value| value.unsigned()).unwrap_or(0);
    UsageTotal {
        input: number("tokens_sent"),
        output: number("tokens_received"),
        messages: number("api_calls"),
        ..UsageTotal::default()
    }
}

/// Without tool calls the action stands beside the text.
fn actions(message: &Value<'_>, _: &str) -> Vec<Action> {
    let Some(action) = message.get_text("action").filter(|action| !action.trim().is_empty()) else {
        return Vec::new();
    };
    let mut shell = Action::shell(action.trim_end());
    let word = action.split_whitespace().next().unwrap_or_default();
    let own = ["open", "edit", "create", "goto", "scroll_up", "scroll_down", "submit"];
    let search = ["search_dir", "search_file", "find_file"];
    if own.contains(&word) || search.contains(&word) {
        shell.name = word.to_owned();
    }
    vec![shell]
}
