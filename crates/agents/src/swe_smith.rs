//! SWE-smith trajectories: rows of a data set, each one run of SWE-agent as chat messages.
//!
//! Three dialects: `tool` (tool calls; the messages may be JSON in a string), `xml` and `ticks`
//! (actions in the text, outcomes as messages of the user).

use crate::common::{
    Action, Chat, Cite, LINES_AND_DOCUMENTS, MESSAGE_IDS, document, fenced, problem,
};
use crate::file_head::FileHead;
use crate::openhands::is_evaluation;
use crate::place::{Home, Surroundings};
use crate::reader::{AgentReader, Recognised};
use crate::split::Layout;
use backstory_format::ProblemId;
use backstory_format::json::{IdPaths, Kind, Tape, Value, scan};
use backstory_model::SessionFiles;
use backstory_model::{Agent, AgentInfo, Benchmark, Session};
use backstory_store::{ReadContext, Store, StoreError};
use std::sync::LazyLock;

/// The agent.
const AGENT: Agent = Agent::new(&AgentInfo {
    name: "swe-smith",
    title: "SWE-smith",
    place: 5,
    unread: &[
        "times of messages",
        "tokens and cost",
        "release of the agent",
        "folder it worked in",
    ],
});

static IDS: LazyLock<IdPaths> = LazyLock::new(|| {
    let messages = MESSAGE_IDS.map(|name| format!("messages.{name}"));
    let names = ["instance_id", "traj_id"].into_iter();
    IdPaths::new(names.chain(messages.iter().map(String::as_str)))
});

/// Reads rows of SWE-smith's data sets.
#[derive(Debug)]
pub(crate) struct SweSmith;

impl AgentReader for SweSmith {
    fn agent(&self) -> Agent {
        AGENT
    }

    /// Data sets are where they were downloaded to.
    fn homes(&self, _: &Surroundings<'_>) -> Vec<Home> {
        Vec::new()
    }

    fn endings(&self) -> &'static [&'static str] {
        &LINES_AND_DOCUMENTS
    }

    /// By its keys, which other agents' documents may have.
    fn recognise(&self, file: &FileHead<'_>) -> Recognised {
        let layout = if file.is_lines() { Layout::Lines } else { Layout::Items };
        match file.first_row() {
            Some(row) if is_evaluation(row) => Recognised::No,
            Some(row) if row.has("messages") && (row.has("instance_id") || row.has("traj_id")) => {
                Recognised::Likely(layout)
            }
            Some(row) if row.may_be_row() => Recognised::More,
            _ => Recognised::No,
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
    if let Some(row) = document.value() {
        let cite = chat.cite;
        chat.draft.model = row.get_text("model").map(|model| std::sync::Arc::from(&*model));
        chat.draft.session.benchmark = Some(Benchmark {
            instance: row.get_text("instance_id").map(Into::into),
            resolved: row.get("resolved").and_then(|resolved| resolved.boolean()),
            exit_status: None,
            patch: cite.field(&row, "patch"),
        });
        if let Some(messages) = row.get("messages") {
            if messages.kind() == Kind::String {
                let text = messages.text().unwrap_or_default();
                let mut tape = Tape::new();
                let scanned = scan(text.as_bytes(), 0, store.limits().max_depth, &mut tape);
                match scanned.ok().and_then(|_| tape.root(text.as_bytes())) {
                    Some(messages) => {
                        chat.cite = Cite::copied();
                        add_messages(&messages, &mut chat);
                    }
                    None => chat.draft.session.problems.push(problem(ProblemId::InvalidJson, 1)),
                }
            } else {
                add_messages(&messages, &mut chat);
            }
        }
    }
    Ok(chat.draft.finish())
}

fn add_messages(messages: &Value<'_>, chat: &mut Chat) {
    if messages.kind() != Kind::Array {
        return chat.draft.session.problems.push(problem(ProblemId::WrongShape, 1));
    }
    for (number, message) in messages.items().enumerate() {
        chat.message(number as u64 + 1, &message, &actions);
    }
}

fn actions(_: &Value<'_>, text: &str) -> Vec<Action> {
    let functions = functions(text);
    if !functions.is_empty() {
        return functions;
    }
    // The parser of this dialect takes the last block.
    let block = fenced(text, &["", "bash"]).pop();
    block.map(|command| Action::shell(&command)).into_iter().collect()
}

/// `<function=NAME>` … `<parameter=KEY>VALUE</parameter>` … `</function>`. Values of several lines
/// are set off by one newline at either end.
fn functions(text: &str) -> Vec<Action> {
    let mut found = Vec::new();
    for part in text.split("<function=").skip(1) {
        let Some((name, rest)) = part.split_once('>') else { continue };
        let body = rest.split("</function>").next().unwrap_or(rest);
        let mut input = serde_json::Map::new();
        for parameter in body.split("<parameter=").skip(1) {
            let Some((key, rest)) = parameter.split_once('>') else { continue };
            let value = rest.rsplit_once("</parameter>").map_or(rest, |(value, _)| value);
            let value = value.strip_prefix('\n').unwrap_or(value);
            let value = value.strip_suffix('\n').unwrap_or(value);
            input.insert(key.to_owned(), value.into());
        }
        let input = serde_json::Value::Object(input).to_string();
        found.push(Action { name: name.trim().to_owned(), input });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_in_text() {
        let text = "I will look.\n<function=str_replace_editor>\n<parameter=command>str_replace</parameter>\n<parameter=path>/a.py</parameter>\n<parameter=old_str>\nx = 1\n</parameter>\n<parameter=new_str>\nx = 2\n\n</parameter>\n</function>";
        let found = functions(text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, "str_replace_editor");
        let input: serde_json::Value = serde_json::from_str(&found[0].input).unwrap();
        assert_eq!(input["old_str"], "x = 1");
        assert_eq!(input["new_str"], "x = 2\n");
    }
}
