//! Where the records of agents other than Claude Code hold ids: what redaction leaves alone.
//!
//! Exact paths only. A field of the same name inside a tool's input or output is text: whoever
//! wrote it may have put anything there.

use backstory_format::json::IdPaths;

/// Every name below every holder; the holder `""` is the record itself.
fn below(holders: &[&str], names: &[&str]) -> IdPaths {
    let mut paths: Vec<String> = Vec::new();
    for holder in holders {
        paths.extend(names.iter().map(|name| match *holder {
            "" => (*name).to_owned(),
            holder => format!("{holder}.{name}"),
        }));
    }
    IdPaths::new(paths.iter().map(String::as_str))
}

/// Rollouts: records with a payload, bare records, and documents of items.
pub(super) fn codex() -> IdPaths {
    let holders =
        ["", "payload", "payload.item", "payload.replacement_history", "session", "items"];
    let names = [
        "id",
        "timestamp",
        "session_id",
        "call_id",
        "turn_id",
        "response_id",
        "thread_id",
        "forked_from_id",
        "parent_thread_id",
        "history_base.thread_id",
    ];
    below(&holders, &names)
}

/// Events by themselves, in a list and in an evaluation's row; a conversation's state.
pub(super) fn openhands() -> IdPaths {
    let names = [
        "id",
        "timestamp",
        "parent_id",
        "action_id",
        "tool_call_id",
        "tool_call.id",
        "llm_response_id",
        "llm_message.tool_call_id",
        "llm_message.tool_calls.id",
        "tool_call_metadata.tool_call_id",
        "tool_call_metadata.model_response.id",
        "tool_call_metadata.model_response.choices.message.tool_calls.id",
        "instance_id",
        "instance.instance_id",
        "stats.usage_to_metrics.*.token_usages.response_id",
    ];
    below(&["", "history"], &names)
}

/// What links calls with results in messages of a chat API.
const MESSAGE: [&str; 4] = ["id", "tool_call_id", "tool_call_ids", "tool_calls.id"];

pub(super) fn swe_agent() -> IdPaths {
    below(&["history", "trajectory", "trajectory.query", "trajectory.messages"], &MESSAGE)
}

/// Messages of a trajectory, or the messages alone; answers as the API gave them.
pub(super) fn mini_swe_agent() -> IdPaths {
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
    below(&["", "messages"], &names)
}

pub(super) fn swe_smith() -> IdPaths {
    let names = ["instance_id", "traj_id"].into_iter();
    let messages = MESSAGE.iter().map(|name| format!("messages.{name}"));
    let paths: Vec<String> = names.map(str::to_owned).chain(messages).collect();
    IdPaths::new(paths.iter().map(String::as_str))
}

/// Messages of a session or of a task, and a session's record.
pub(super) fn cline() -> IdPaths {
    let names = [
        "id",
        "content.id",
        "content.tool_use_id",
        "sessionId",
        "session_id",
        "metadata.fork.forkedFromSessionId",
    ];
    below(&["", "messages"], &names)
}
