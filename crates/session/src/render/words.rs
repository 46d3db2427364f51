//! Whose words they are, and what they say without the tags that a client wraps them in.

use backstory_claude::prompts;
use backstory_format::slice::Part;
use backstory_model::{Compaction, CompactionKind, Event, Trigger, TurnKind};
use backstory_text::ansi;
use backstory_text::figures::compact;
use std::borrow::Cow;

/// Who speaks where a prompt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// The person typed it.
    Person,
    /// The person typed it while the model worked.
    Meanwhile,
    /// An editor added it to what the person typed.
    Editor,
    /// The client summed up the conversation so far.
    Summary,
    /// A background task reported back.
    Notification,
    /// Another agent of the team.
    Teammate,
    /// The agent that started this one.
    Caller,
}

impl Voice {
    /// Who speaks in a turn's prompt.
    pub(super) fn of(kind: TurnKind, is_context: bool) -> Voice {
        match kind {
            _ if is_context => Voice::Editor,
            TurnKind::Compact => Voice::Summary,
            TurnKind::TaskNotification => Voice::Notification,
            TurnKind::Teammate => Voice::Teammate,
            TurnKind::Task => Voice::Caller,
            TurnKind::Human
            | TurnKind::Command
            | TurnKind::Queued
            | TurnKind::Bash
            | TurnKind::Continuation => Voice::Person,
        }
    }

    /// Whether a person typed it.
    pub(super) fn is_person(self) -> bool {
        matches!(self, Voice::Person | Voice::Meanwhile)
    }

    /// What is written above it.
    pub(super) fn label(self) -> &'static str {
        match self {
            Voice::Person => "Prompt",
            Voice::Meanwhile => "Prompt, typed while the model worked",
            Voice::Editor => "Context from the editor",
            Voice::Summary => "Summary of the conversation so far",
            Voice::Notification => "Task notification",
            Voice::Teammate => "Message of a teammate",
            Voice::Caller => "Task from the calling agent",
        }
    }
}

/// A prompt as it was typed, and what the client added to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Typed<'a> {
    pub(super) text: Cow<'a, str>,
    /// Reminders for the model.
    pub(super) added: Vec<&'a str>,
}

/// Commands and shell input come wrapped in tags, and reminders for the model around them.
pub(super) fn typed(kind: TurnKind, text: &str) -> Typed<'_> {
    let (text, added) = without_reminders(text);
    let text = match kind {
        TurnKind::Command => match prompts::command_name(text) {
            Some(name) => match prompts::command_arguments(text) {
                Some(arguments) => Cow::Owned(format!("{name} {arguments}")),
                None => Cow::Borrowed(name),
            },
            None => Cow::Borrowed(text),
        },
        TurnKind::Bash => {
            let inside = text.trim().strip_prefix("<bash-input>");
            let inside = inside.map(|rest| rest.strip_suffix("</bash-input>").unwrap_or(rest));
            inside.map_or(Cow::Borrowed(text), |command| Cow::Owned(format!("! {command}")))
        }
        TurnKind::TaskNotification => Cow::Owned(notification(text)),
        TurnKind::Teammate => Cow::Owned(teammate(text)),
        _ => Cow::Borrowed(text),
    };
    Typed { text, added }
}

const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");

/// A text without the reminders before and after it. Those in the middle may have been pasted.
fn without_reminders(text: &str) -> (&str, Vec<&str>) {
    let (open, close) = REMINDER;
    let mut added = Vec::new();
    let mut rest = text;
    while let Some(inside) = rest.trim_start().strip_prefix(open) {
        let Some((reminder, after)) = inside.split_once(close) else { break };
        added.push(reminder.trim());
        rest = after;
    }
    while let Some(inside) = rest.trim_end().strip_suffix(close) {
        let Some(at) = inside.rfind(open) else { break };
        added.push(inside.part(at + open.len()..).trim());
        rest = inside.part(..at);
    }
    (rest, added)
}

/// What a background task reports: its summary first, then its result and the rest of the fields.
fn notification(text: &str) -> String {
    let field = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (inside, _) = rest.split_once(&format!("</{name}>"))?;
        Some(inside.trim()).filter(|inside| !inside.is_empty())
    };
    let mut words: Vec<String> = field("summary").map(str::to_owned).into_iter().collect();
    words.extend(field("result").or_else(|| field("event")).map(|inside| format!("\n{inside}\n")));
    let details = ["status", "task-id", "output-file"].into_iter();
    let details = details.filter_map(|name| Some(format!("{name}: {}", field(name)?)));
    words.extend(details);
    // Whatever has none of these fields is shown as it is.
    if words.is_empty() { text.trim().to_owned() } else { words.join("\n") }
}

/// A message of another agent, with its sender in front.
fn teammate(text: &str) -> String {
    let inside = text.trim().strip_prefix("<teammate-message").and_then(|rest| {
        let (attributes, rest) = rest.split_once('>')?;
        let (words, _) = rest.rsplit_once("</teammate-message>")?;
        let from = attributes.split_once("teammate_id=\"").and_then(|(_, id)| id.split('"').next());
        Some((from, words.trim()))
    });
    match inside {
        Some((Some(from), words)) => format!("{from}: {words}"),
        Some((None, words)) => words.to_owned(),
        None => text.trim().to_owned(),
    }
}

/// What an event says, without the tags it is wrapped in.
pub(super) fn of_event(kind: &str, text: &str) -> String {
    match kind {
        "task-notification" => return notification(text),
        "teammate" => return teammate(text),
        _ => {}
    }
    if let Some(name) = prompts::command_name(text) {
        return typed(TurnKind::Command, text).text.trim().replace(name, name.trim());
    }
    let mut words = text.to_owned();
    for tag in ["local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr"] {
        if words.contains(tag) {
            words = words.replace(&format!("<{tag}>"), "").replace(&format!("</{tag}>"), "");
        }
    }
    ansi::plain(words.trim()).into_owned()
}

/// Events that are a part of what happened, and not the client's messages to the model or to itself.
const TOLD: [&str; 9] = [
    "bash-output",
    "commit",
    "compacted",
    "history-written-again",
    "local-command",
    "local-command-output",
    "rolled-back",
    "task-notification",
    "teammate",
];

/// Whether an event is a message of the client: a hook's summary, a caveat, a reminder.
pub(super) fn is_client_message(event: &Event) -> bool {
    let kind = event.kind.as_ref();
    let fails = kind.contains("error") || kind.starts_with("interrupted");
    !fails && !kind.contains("compact") && !TOLD.contains(&kind)
}

/// `context compacted (automatically, 155k tokens before, 12k after)`
pub(super) fn of_compaction(compaction: &Compaction) -> String {
    let what = match compaction.kind {
        CompactionKind::Full => "context compacted",
        CompactionKind::Micro => "old tool results dropped from the context",
    };
    let mut details = Vec::new();
    match compaction.trigger {
        Some(Trigger::Auto) => details.push("automatically".to_owned()),
        Some(Trigger::Manual) => details.push("by command".to_owned()),
        None => {}
    }
    details
        .extend(compaction.pre_tokens.map(|tokens| format!("{} tokens before", compact(tokens))));
    details.extend(compaction.post_tokens.map(|tokens| format!("{} after", compact(tokens))));
    if details.is_empty() { what.to_owned() } else { format!("{what} ({})", details.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_around_a_prompt_are_not_typed() {
        let text = "<system-reminder>a</system-reminder>\nFix <system-reminder> it\n\n<system-reminder>\nb\n</system-reminder>\n";
        let typed = typed(TurnKind::Human, text);
        assert_eq!((typed.text.trim(), typed.added), ("Fix <system-reminder> it", vec!["a", "b"]));
        let open = "<system-reminder> is never closed";
        assert_eq!(super::typed(TurnKind::Human, open).text, open);
    }

    #[test]
    fn notifications_say_what_happened_first() {
        let text = "<task-notification>\n<task-id>b7</task-id>\n<status>failed</status>\n<summary>It broke</summary>\n</task-notification>";
        assert_eq!(of_event("task-notification", text), "It broke\nstatus: failed\ntask-id: b7");
        assert_eq!(of_event("task-notification", "{\"task_id\":1}"), "{\"task_id\":1}");
        let message = "<teammate-message teammate_id=\"kim\" color=\"red\">Done</teammate-message>";
        assert_eq!(of_event("teammate", message), "kim: Done");
    }
}
