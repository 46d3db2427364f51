//! Aider: one Markdown file per project, a heading for each session.
//!
//! The format is made for people and loses much: who wrote a line is notice by its first characters
//! (`#### ` the user, `> ` the program, anything else the model), and only outside of fences can
//! they be trusted. What the program says goes on, without a mark, to a line that ends in two
//! spaces, be it an error, the output of a test or the message of a commit. Edits are recovered
//! from the blocks of an answer where the program says right after it that it applied an edit to
//! that file; what is not certain is left out.

mod agent;
mod sessions;
mod unclosed;

use crate::common::{Dialect, Draft, Fence, local, search_replace, typed};
pub(crate) use agent::Aider;
use agent::{AGENT, HEADING};
use backstory_format::slice::Part;
use backstory_model::SessionFiles;
use backstory_model::{
    Block, Call, CallOutcome, Change, Content, FileEdit, IdOrigin, Session, TurnKind, UsageTotal,
};
use backstory_store::{Store, StoreError, resolve};
use jiff::tz::TimeZone;
use std::sync::Arc;

fn read(files: &SessionFiles, store: &Store) -> Result<Session, StoreError> {
    let loaded = store.load(&files.path, files.part.clone())?;
    let mut draft = Draft::new(AGENT, files.id.clone(), loaded.source(&files.path));
    let text = String::from_utf8_lossy(&loaded.bytes);
    draft.session.file.bytes = loaded.bytes.len() as u64;
    draft.session.file.modified = loaded.state.modified;
    let folder = resolve(files.path.parent().unwrap_or(&files.path));
    draft.folder(folder.to_string_lossy());
    let mut history = History {
        draft,
        said: String::new(),
        asked: String::new(),
        answer: None,
        fence: None,
        fence_end: None,
        cost: 0.0,
    };
    let lines: Vec<&str> = text.lines().collect();
    let ends = ends(&lines);
    let mut next = 0;
    while let Some(line) = lines.get(next) {
        let end = ends.get(next).copied().flatten();
        let notice = end.map_or(&[][..], |end| lines.part(next..=end));
        history.leave_fence(next);
        let outside = history.fence.is_none();
        let taken = history.line(next as u64 + 1, line, notice);
        if let Some(fence) = history.fence.filter(|_| outside) {
            history.fence_end = unclosed::end(&lines, next, fence);
        }
        next += taken;
    }
    history.draft.session.file.lines += lines.len() as u64;
    history.flush();
    let cost = history.cost;
    let mut session = history.draft.finish();
    session.reported_cost = (cost > 0.0).then_some(cost);
    Ok(session)
}

#[derive(Debug)]
struct History {
    draft: Draft,
    /// What the model is saying.
    said: String,
    /// What the user is asking.
    asked: String,
    /// The last answer, for the edits that are reported after it.
    answer: Option<String>,
    /// The fence that is open in the answer.
    fence: Option<Fence>,
    /// The line before which it ends, if it is never closed.
    fence_end: Option<usize>,
    cost: f64,
}

impl History {
    /// Takes a line; `notice` is what the program says from here on, if it says something. Returns
    /// how many lines were taken.
    fn line(&mut self, number: u64, line: &str, notice: &[&str]) -> usize {
        let place = self.draft.place.timestamp;
        let inside = self.fence.is_some();
        if let Some(asked) = asked(line).filter(|_| !inside) {
            self.flush_answer();
            self.draft.move_to(number, place);
            self.asked.push_str(asked.strip_suffix("  ").unwrap_or(asked));
            self.asked.push('\n');
            return 1;
        }
        if !notice.is_empty() && !inside {
            self.flush();
            self.draft.move_to(number, place);
            self.program(notice.join("\n").trim_start_matches('>').trim());
            return notice.len();
        }
        if let Some(date) = line.strip_prefix(HEADING).filter(|_| !inside) {
            self.flush();
            self.draft.move_to(number, local(date, &TimeZone::UTC));
            return 1;
        }
        if self.said.is_empty() && line.trim().is_empty() {
            return 1;
        }
        self.flush_question();
        self.draft.move_to(number, place);
        self.watch_fence(line);
        self.said.push_str(line);
        self.said.push('\n');
        1
    }

    fn watch_fence(&mut self, line: &str) {
        let line = line.trim_start();
        self.fence = match self.fence {
            None => Fence::opened(line).map(|(fence, _)| fence),
            open => open.filter(|fence| !fence.is_closed_by(line)),
        };
    }

    /// A fence that is never closed ends where the program goes on.
    fn leave_fence(&mut self, at: usize) {
        if self.fence_end == Some(at) {
            self.fence = None;
        }
    }

    fn flush(&mut self) {
        self.flush_question();
        self.flush_answer();
    }

    fn flush_question(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let asked = std::mem::take(&mut self.asked);
        let asked = asked.trim_end();
        self.draft.count("user");
        let kind = if asked.starts_with('/') { TurnKind::Command } else { TurnKind::Human };
        if kind == TurnKind::Command {
            return self.draft.event("local-command", Some(Content::Owned(asked.into())));
        }
        self.draft.prompt(kind, vec![typed(Content::Owned(asked.into()))], Some(asked));
    }

    fn flush_answer(&mut self) {
        self.fence = None;
        let said = std::mem::take(&mut self.said);
        let text = said.trim_end();
        if text.is_empty() {
            return;
        }
        self.draft.count("assistant");
        self.draft.close();
        self.draft.text(Content::Owned(text.into()));
        self.draft.close();
        self.answer = Some(said);
    }

    /// What the program says.
    fn program(&mut self, notice: &str) {
        self.draft.count("program");
        if let Some(version) = notice.strip_prefix("Aider v") {
            let version = version.split_whitespace().next().unwrap_or_default();
            self.draft.set_version(version.into());
        } else if let Some(model) = model(notice) {
            self.draft.model = Some(Arc::from(model));
        } else if let Some((usage, cost)) = tokens(notice) {
            self.cost += cost;
            if let Some(step) = self.draft.last_step().filter(|step| step.usage.is_none()) {
                step.usage = Some(usage);
            }
        } else if let Some(path) = notice.strip_prefix("Applied edit to ") {
            self.applied(path.trim());
        } else if let Some(commit) = notice.strip_prefix("Commit ") {
            self.draft.event("commit", Some(Content::Owned(commit.into())));
        }
    }

    /// An edit that the program reports: a call of its own, with its effect where that is certain.
    fn applied(&mut self, path: &str) {
        let change = self.answer.as_deref().and_then(|answer| change(answer, path));
        let effects = change.map(|change| FileEdit::new(path, change).into());
        let line = self.draft.place.line;
        let id: Box<str> = format!("edit-{line}").into();
        let call = Call {
            id: Some(id),
            id_origin: IdOrigin::Reader,
            name: Some(Arc::from("edit")),
            input: Some(Content::Owned(serde_json::json!({ "path": path }).to_string().into())),
            result: Some(self.draft.plain_result(
                CallOutcome::Ok,
                vec![Content::Owned(format!("Applied edit to {path}").into())],
            )),
            subagent: None,
            effects: effects.into_iter().collect(),
        };
        match self.draft.last_step() {
            Some(step) => step.blocks.push(Block::Call(Box::new(call))),
            None => self.draft.call(call),
        }
    }
}

/// What a line of the user says.
fn asked(line: &str) -> Option<&str> {
    line.strip_prefix("#### ").or((line == "####").then_some(""))
}

/// Whether a line begins as the program's words do.
fn is_notice(line: &str) -> bool {
    line == ">" || line.starts_with("> ")
}

/// Whether the program's words end with a line.
fn is_end(line: &str) -> bool {
    line.ends_with("  ")
}

/// For each line that begins as the program's words do, the line they end with.
///
/// A mark without an end is the model's quotation, unless the file stops there. Where no words have
/// an end, an editor took the spaces away, and each line stands for itself.
fn ends(lines: &[&str]) -> Vec<Option<usize>> {
    let spaced = lines.iter().any(|line| is_notice(line) && is_end(line));
    let mut ends: Vec<Option<usize>> = Vec::with_capacity(lines.len());
    let mut end = None;
    for (at, line) in lines.iter().enumerate().rev() {
        let whole = is_end(line) || !spaced || at + 1 == lines.len();
        let here = if whole { Some(at) } else { end };
        ends.push(here.filter(|_| is_notice(line)));
        end = match line {
            line if asked(line).is_some() || line.starts_with(HEADING) => None,
            line if is_end(line) => (!is_notice(line)).then_some(at),
            _ => end,
        };
    }
    ends.reverse();
    ends
}

/// `Model: NAME with diff edit format`, `Models: NAME with …, weak model …`, `Main model: NAME …`.
fn model(notice: &str) -> Option<&str> {
    let heads = ["Model: ", "Models: ", "Main model: "];
    let rest = heads.iter().find_map(|head| notice.strip_prefix(head))?;
    rest.split(" with ").next().filter(|name| !name.contains(' '))
}

/// `Tokens: 5,244 sent, 1.2k cache hit, 604 received. Cost: $0.02 message, $0.02 session.`
fn tokens(notice: &str) -> Option<(UsageTotal, f64)> {
    let rest = notice.strip_prefix("Tokens: ")?;
    let (tokens, cost) = rest.split_once(". Cost: ").unwrap_or((rest, ""));
    let mut usage = UsageTotal { messages: 1, ..UsageTotal::default() };
    for part in tokens.trim_end_matches('.').split(", ") {
        let (number, what) = part.split_once(' ')?;
        let number = count(number)?;
        match what.trim_end_matches('.') {
            "sent" => usage.input = number,
            "received" => usage.output = number,
            "cache hit" => usage.cache_read = number,
            "cache write" => usage.cache_write = number,
            _ => {}
        }
    }
    let known = usage.cache_read.saturating_add(usage.cache_write);
    usage.input = usage.input.saturating_sub(known);
    let cost = cost.split(' ').next().and_then(|cost| cost.strip_prefix('$'));
    Some((usage, cost.and_then(|cost| cost.parse().ok()).unwrap_or(0.0)))
}

fn count(text: &str) -> Option<u64> {
    let plain = text.replace(',', "");
    match plain.strip_suffix('k') {
        Some(thousands) => Some((thousands.parse::<f64>().ok()? * 1e3).round() as u64),
        None => plain.parse().ok(),
    }
}

/// What an answer does to a file: its SEARCH/REPLACE blocks below the file's name, or the one whole
/// file in a fence below it. Nothing when both could be meant.
fn change(answer: &str, path: &str) -> Option<Change> {
    let mut replacements = Vec::new();
    let mut whole: Vec<String> = Vec::new();
    let mut named: Option<String> = None;
    let mut open: Option<(Fence, String, String)> = None;
    for line in answer.lines() {
        let start = line.trim_start();
        match &mut open {
            None => match Fence::opened(start) {
                Some((fence, _)) => {
                    open = Some((fence, named.take().unwrap_or_default(), String::new()));
                }
                None if !line.trim().is_empty() => named = Some(file_name(line)),
                None => {}
            },
            Some((fence, name, body)) if fence.is_closed_by(start) => {
                let (name, body) = (std::mem::take(name), std::mem::take(body));
                open = None;
                let inside = body.lines().next().map(file_name);
                let here = name == path || inside.as_deref() == Some(path);
                if !here {
                    continue;
                }
                match search_replace(&body, Dialect::Aider) {
                    Some(found) => replacements.extend(found),
                    None if body.contains("SEARCH") => return None,
                    None => whole.push(body),
                }
            }
            Some((_, _, body)) => {
                body.push_str(line);
                body.push('\n');
            }
        }
    }
    match (replacements.is_empty(), whole.as_slice()) {
        (false, []) => Some(Change::Replace(replacements)),
        (true, [one]) => {
            Some(Change::Write { content: Content::Owned(one.as_str().into()), created: false })
        }
        _ => None,
    }
}

/// A file's name as answers write it, with marks around it.
fn file_name(line: &str) -> String {
    line.trim().trim_matches(['*', '`', ':', '#', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_lines() {
        let (usage, cost) =
            tokens("Tokens: 5,244 sent, 604 received. Cost: $0.02 request, $0.12 session.")
                .unwrap();
        assert_eq!((usage.input, usage.output, cost), (5244, 604, 0.02));
        let (usage, _) = tokens("Tokens: 12k sent, 2.5k cache hit, 604 received.").unwrap();
        assert_eq!((usage.input, usage.cache_read, usage.output), (9500, 2500, 604));
        assert!(tokens("Tokens galore").is_none());
    }

    #[test]
    fn edits_below_a_name() {
        let answer =
            "Sure:\n\na.py\n```python\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n";
        assert!(matches!(change(answer, "a.py"), Some(Change::Replace(list)) if list.len() == 1));
        assert!(change(answer, "b.py").is_none());
        let whole = "b.py\n```\nprint()\n```\n";
        assert!(matches!(change(whole, "b.py"), Some(Change::Write { .. })));
        let twice = format!("{whole}{whole}");
        assert!(change(&twice, "b.py").is_none());
    }
}
