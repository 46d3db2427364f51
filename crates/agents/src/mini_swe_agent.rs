//! mini-swe-agent: one `.traj.json` per task: chat messages with facts beside them.

use crate::common::{Action, Chat, document, fenced, ids_below};
use crate::file_head::FileHead;
use crate::place::{Home, Surroundings};
use crate::reader::{AgentReader, Recognised};
use crate::split::Layout;
use backstory_format::json::{IdPaths, Kind, Value};
use backstory_model::SessionFiles;
use backstory_model::{Agent, AgentInfo, Benchmark, Session};
use backstory_store::{ReadContext, Store, StoreError};
use std::sync::LazyLock;

/// The agent.
const AGENT: Agent = Agent::new(&AgentInfo {
    name: "mini-swe-agent",
    title: "mini-swe-agent",
    place: 4,
    unread: &[
        "edits (every action is a shell command)",
        "tokens, where the answer's usage was not kept",
    ],
});

/// Messages of a trajectory, or the messages alone; answers as the API gave them.
static IDS: LazyLock<IdPaths> = LazyLock::new(|| {
    let names = [
        "id",
        "call_id",
        "tool_call_id",
        "tool_calls.id",
        "output.id",
        "output.call_id",
        "extra.response.id",
        "extra.response.choices.message.tool_calls.id",
        "extra.actions.tool_call_id",
        "instance_id",
    ];
    ids_below(&["", "messages"], &names)
});

/// Reads trajectories of mini-swe-agent.
#[derive(Debug)]
pub(crate) struct MiniSweAgent;

impl AgentReader for MiniSweAgent {
    fn agent(&self) -> Agent {
        AGENT
    }

    fn homes(&self, around: &Surroundings<'_>) -> Vec<Home> {
        let named = around.named("MSWEA_GLOBAL_CONFIG_DIR");
        around.configured(named, ".config/mini-swe-agent", Home::whole)
    }

    fn endings(&self) -> &'static [&'static str] {
        &[".json", ".traj"]
    }

    /// By what it says of its release, or by its name.
    fn recognise(&self, file: &FileHead<'_>) -> Recognised {
        let says_so = || {
            let names_release = file.holds("\"mini_version\"") || file.holds("\"mini-swe-agent-");
            file.first_byte() == Some(b'{') && names_release
        };
        let named = file.name().ends_with(".traj.json") && file.first_byte().is_some();
        let others = file.name().ends_with(".messages.json");
        if !others && (named || says_so()) { Recognised::Yes(Layout::One) } else { Recognised::No }
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
    if let Some(value) = document.value() {
        let messages = match value.kind() {
            // Early releases wrote the messages alone.
            Kind::Array => Some(value),
            _ => value.get("messages"),
        };
        if let Some(info) = value.get("info") {
            facts(&info, &files.id, &mut chat);
        }
        for (number, message) in messages.iter().flat_map(|list| list.items()).enumerate() {
            let number = number as u64 + 1;
            // With the Responses API an answer is the response itself.
            match message.get("output").filter(|_| message.get("role").is_none()) {
                Some(output) => response(number, &output, &mut chat),
                None => chat.message(number, &message, &actions),
            }
        }
    }
    Ok(chat.draft.finish())
}

fn facts(info: &Value<'_>, id: &str, chat: &mut Chat) {
    let cite = chat.cite;
    let draft = &mut chat.draft;
    if let Some(version) = info.get_text("mini_version") {
        draft.set_version(version);
    }
    let config = info.get("config");
    let config = config.as_ref();
    let model = config.and_then(|config| config.get("model")?.get_text("model_name"));
    draft.model = model.map(|model| std::sync::Arc::from(&*model));
    let folder = config.and_then(|config| config.get("environment")?.get_text("cwd"));
    if let Some(folder) = folder {
        draft.folder(folder);
    }
    let cost = info.get("model_stats").and_then(|stats| stats.get("instance_cost")?.float());
    draft.session.reported_cost = cost;
    draft.session.benchmark = Some(Benchmark {
        instance: id.contains("__").then(|| id.into()),
        resolved: None,
        exit_status: info.get_text("exit_status").map(Into::into),
        patch: cite.field(info, "submission"),
    });
}

/// Commands that the program took out of the answer; in bare messages, the fenced block. The
/// program refuses an answer that has none or several.
fn actions(message: &Value<'_>, text: &str) -> Vec<Action> {
    let recorded = message.get("extra").and_then(|extra| extra.get("actions"));
    let commands = recorded.map(|list| {
        let commands =
            list.items().filter_map(|action| action.get_text("command").or(action.text()));
        commands.map(|command| Action::shell(&command)).collect::<Vec<_>>()
    });
    commands.unwrap_or_else(|| match fenced(text, &["mswea_bash_command", "bash"]).as_slice() {
        [command] => vec![Action::shell(command)],
        _ => Vec::new(),
    })
}

/// Items of a response: reasoning, messages, calls.
fn response(number: u64, output: &Value<'_>, chat: &mut Chat) {
    chat.draft.move_to(number, None);
    chat.draft.close();
    let cite = chat.cite;
    for item in output.items() {
        match item.get_text("type").as_deref() {
            Some("reasoning") => {
                for part in item.get("summary").iter().flat_map(|list| list.items()) {
                    chat.draft.thinking(cite.field(&part, "text"));
                }
            }
            Some("message") => {
                for part in item.get("content").iter().flat_map(|list| list.items()) {
                    if let Some(text) = cite.field(&part, "text") {
                        chat.draft.text(text);
                    }
                }
            }
            Some("function_call") => {
                let name = item.get_text("name").unwrap_or_default().into_owned();
                let input = item.get_text("arguments").unwrap_or_else(|| "{}".into()).into_owned();
                let id = item.get_text("call_id").map(|id| id.into_owned());
                chat.call(id, Action { name, input });
            }
            _ => {}
        }
    }
    chat.draft.close();
}
