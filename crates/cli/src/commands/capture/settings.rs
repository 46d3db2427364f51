//! The hook in an agent's settings file: put in and taken out by splices, so that everything else
//! in the file stays as it was written.

use backstory_format::json::{Kind, Splice, Tape, Value, scan, splice};
use backstory_format::slice::Part;
use serde_json::json;

/// Why settings cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SettingsError {
    NotJson,
    /// Something that should be an object or a list is not.
    Shape(&'static str),
}

const EVENT: &str = "SessionEnd";
const DEPTH: u32 = 256;

/// Settings with `command` run at the end of every session.
pub(super) fn with_hook(settings: &str, command: &str) -> Result<String, SettingsError> {
    if settings.trim().is_empty() {
        let hook = json!({ "hooks": { EVENT: [entry(command)] } });
        return Ok(format!("{hook:#}\n"));
    }
    let mut tape = Tape::new();
    let root = parse(settings, &mut tape)?;
    let entry = entry(command);
    let (holder, text) = match root.get("hooks") {
        None => (root, field("hooks", &json!({ EVENT: [entry] }))),
        Some(hooks) if hooks.kind() != Kind::Object => return Err(SettingsError::Shape("hooks")),
        Some(hooks) => match hooks.get(EVENT) {
            None => (hooks, field(EVENT, &json!([entry]))),
            Some(list) if list.kind() != Kind::Array => {
                return Err(SettingsError::Shape("hooks.SessionEnd"));
            }
            Some(list) => (list, format!("{entry:#}")),
        },
    };
    apply(settings, &[insert_last(settings, holder, &text)])
}

/// Settings without our hooks; what becomes empty by that goes too.
pub(super) fn without_hook(settings: &str) -> Result<String, SettingsError> {
    let mut tape = Tape::new();
    if settings.trim().is_empty() {
        return Ok(settings.to_owned());
    }
    let root = parse(settings, &mut tape)?;
    let Some(list) = root.get("hooks").and_then(|hooks| hooks.get(EVENT)) else {
        return Ok(settings.to_owned());
    };
    let ours: Vec<bool> = list.items().map(|item| is_ours(item)).collect();
    if !ours.contains(&true) {
        return Ok(settings.to_owned());
    }
    if !ours.contains(&false) {
        let hooks = root.get("hooks").ok_or(SettingsError::Shape("hooks"))?;
        let (holder, name) = match hooks.fields().count() {
            1 => (root, "hooks"),
            _ => (hooks, EVENT),
        };
        let spans: Vec<(usize, usize)> = field_spans(settings, holder);
        let at = holder.fields().position(|(key, _)| key.is(name));
        let at = at.ok_or(SettingsError::Shape("hooks"))?;
        return apply(settings, &[remove(holder, &spans, at)]);
    }
    let spans: Vec<(usize, usize)> =
        list.items().map(|item| (item.span().start, item.span().end)).collect();
    let splices: Vec<Splice> = (0..spans.len())
        .filter(|at| ours.get(*at) == Some(&true))
        .map(|at| remove(list, &spans, at))
        .collect();
    apply(settings, &splices)
}

/// Our command in the settings, if it is there.
pub(super) fn command_of(settings: &str) -> Option<String> {
    let mut tape = Tape::new();
    let root = parse(settings, &mut tape).ok()?;
    let list = root.get("hooks")?.get(EVENT)?;
    let entry = list.items().find(|item| is_ours(*item))?;
    entry.get("hooks")?.items().find_map(|hook| our_command(hook))
}

fn entry(command: &str) -> serde_json::Value {
    json!({ "hooks": [{ "type": "command", "command": command }] })
}

fn is_ours(item: Value<'_>) -> bool {
    let hooks = item.get("hooks");
    hooks.is_some_and(|hooks| hooks.items().any(|hook| our_command(hook).is_some()))
}

fn our_command(hook: Value<'_>) -> Option<String> {
    let command = hook.get_text("command")?;
    let ours = command.contains("backstory") && command.contains(" capture --hook ");
    ours.then(|| command.into_owned())
}

fn parse<'a>(settings: &'a str, tape: &'a mut Tape) -> Result<Value<'a>, SettingsError> {
    let bytes = settings.as_bytes();
    let end = scan(bytes, 0, DEPTH, tape).map_err(|_| SettingsError::NotJson)?;
    let rest = settings.part(end..);
    if !rest.trim().is_empty() {
        return Err(SettingsError::NotJson);
    }
    let root = tape.root(bytes).ok_or(SettingsError::NotJson)?;
    if root.kind() == Kind::Object { Ok(root) } else { Err(SettingsError::Shape("the file")) }
}

fn field(name: &str, value: &serde_json::Value) -> String {
    format!("{}: {value:#}", json!(name))
}

/// Puts an element behind the last one of `holder`, indented as its neighbours are.
fn insert_last(settings: &str, holder: Value<'_>, text: &str) -> Splice {
    let span = holder.span();
    let last = match holder.kind() {
        Kind::Array => holder.items().last().map(|item| item.span().end),
        _ => holder.fields().last().map(|(_, value)| value.span().end),
    };
    let outer = indent_at(settings, span.start);
    let inner = match last.and_then(|_| first_start(settings, holder)) {
        Some(first) if settings.get(span.start..first).is_some_and(|gap| gap.contains('\n')) => {
            indent_at(settings, first)
        }
        _ => format!("{outer}  "),
    };
    let text = text.replace('\n', &format!("\n{inner}"));
    let (at, with) = match last {
        Some(end) => (end, format!(",\n{inner}{text}")),
        None => (span.start + 1, format!("\n{inner}{text}\n{outer}")),
    };
    // An empty container may hold whitespace, which the new element replaces.
    let until = if last.is_some() { at } else { span.end - 1 };
    Splice { range: at..until, with: with.into_bytes() }
}

fn first_start(settings: &str, holder: Value<'_>) -> Option<usize> {
    let inside = settings.get(holder.span().start + 1..holder.span().end)?;
    Some(holder.span().start + 1 + (inside.len() - inside.trim_start().len()))
}

/// White space in front of the line on which `at` stands.
fn indent_at(settings: &str, at: usize) -> String {
    let before = settings.part(..at);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let rest = settings.part(at - line.len()..);
    rest.chars().take_while(|one| matches!(one, ' ' | '\t')).collect()
}

/// Where each field stands, name and value.
fn field_spans(settings: &str, holder: Value<'_>) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut from = holder.span().start + 1;
    for (_, value) in holder.fields() {
        let gap = settings.part(from..);
        let start = from + gap.find('"').unwrap_or(0);
        spans.push((start, value.span().end));
        from = value.span().end;
    }
    spans
}

/// Takes out one element with the comma that tied it to its neighbour.
fn remove(holder: Value<'_>, spans: &[(usize, usize)], at: usize) -> Splice {
    let (start, end) = spans.get(at).copied().unwrap_or((0, 0));
    let before = at.checked_sub(1).and_then(|before| spans.get(before));
    let range = match (before, spans.get(at + 1)) {
        (Some((_, before)), _) => *before..end,
        (None, Some((next, _))) => start..*next,
        (None, None) => holder.span().start + 1..holder.span().end - 1,
    };
    Splice { range, with: Vec::new() }
}

fn apply(settings: &str, splices: &[Splice]) -> Result<String, SettingsError> {
    let bytes = splice(settings.as_bytes(), splices).map_err(|_| SettingsError::NotJson)?;
    let text = String::from_utf8(bytes).map_err(|_| SettingsError::NotJson)?;
    // What we write must be readable by the strictest reader.
    match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(_) => Ok(text),
        Err(_) => Err(SettingsError::NotJson),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "/usr/bin/backstory capture --hook --out '/t'";

    #[test]
    fn put_in_and_taken_out_again() {
        for settings in [
            "{}",
            "{}\n",
            "{\n  \"model\": \"opus\"\n}\n",
            "{\"a\":1,\"hooks\":{\"Stop\":[]}}",
            "{\n\t\"hooks\": {\n\t\t\"Stop\": [ 1 ]\n\t},\n\t\"b\": [1,   2]\n}",
            "{\n  \"hooks\": {\n    \"SessionEnd\": [\n      {\"hooks\": []}\n    ]\n  }\n}\n",
        ] {
            let changed = with_hook(settings, COMMAND).unwrap();
            assert_eq!(command_of(&changed).as_deref(), Some(COMMAND), "{changed}");
            assert_eq!(without_hook(&changed).unwrap(), settings, "{changed}");
            assert_eq!(command_of(settings), None);
        }
        assert_eq!(command_of(&with_hook("", COMMAND).unwrap()).as_deref(), Some(COMMAND));
    }

    #[test]
    fn the_neighbours_decide_the_indent() {
        let settings = "{\n    \"model\": \"opus\"\n}\n";
        let changed = with_hook(settings, COMMAND).unwrap();
        assert!(
            changed.starts_with("{\n    \"model\": \"opus\",\n    \"hooks\": {\n"),
            "{changed}"
        );
        assert!(changed.ends_with("\n    }\n}\n"), "{changed}");
    }

    #[test]
    fn odd_settings_are_refused() {
        assert_eq!(with_hook("{ // no", COMMAND), Err(SettingsError::NotJson));
        assert_eq!(with_hook("{} x", COMMAND), Err(SettingsError::NotJson));
        assert_eq!(with_hook("[]", COMMAND), Err(SettingsError::Shape("the file")));
        assert_eq!(with_hook("{\"hooks\":1}", COMMAND), Err(SettingsError::Shape("hooks")));
        assert_eq!(
            with_hook("{\"hooks\":{\"SessionEnd\":{}}}", COMMAND),
            Err(SettingsError::Shape("hooks.SessionEnd"))
        );
    }
}
