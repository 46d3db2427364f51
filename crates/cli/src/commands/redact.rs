//! `backstory redact`

use super::redact_report;
use crate::args::GlobalArguments;
use crate::commands::show::refuse_agents_folder;
use crate::error::{CliError, Outcome};
use crate::figures::counted;
use crate::redaction;
use crate::select::{Chosen, distinct_names, refuse_sources};
use crate::ui;
use crate::work::Work;
use backstory_session::agents::{self, claude_code};
use backstory_session::model::Agent;
use backstory_session::redact::{Classes, ClearedCopy, Report};
use backstory_session::store::{
    Access, Entry, OutputFolder, StoreError, create_folder, plain_name, write_file,
};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Take secrets out of sessions, or look for them
///
/// Writes a copy; the session itself is never changed. What is taken out is replaced where it
/// stands, every other byte stays. Ids that link records are left alone.
#[derive(Debug, Args)]
#[command(
    after_help = "Own rules and exceptions stand in .backstory.toml:\n  [redact]\n  allow = ['test-[a-z]+']     # values that are left alone\n  [[redact.rule]]\n  id = \"acme-key\"\n  keywords = [\"ACME-\"]\n  regex = 'ACME-[0-9A-F]{24}'\n\nExamples:\n  backstory redact latest > clean.jsonl\n  backstory redact . --out clean/ --redact paths,people\n  backstory redact --scan             what is in the sessions of this machine"
)]
pub(crate) struct RedactArguments {
    /// Ids or starts of ids, session files, folders that hold them, project folders, `latest`
    sessions: Vec<String>,

    /// Write to this file, or into this folder
    #[arg(long, short, value_name = "FILE|DIR")]
    out: Option<PathBuf>,

    /// Only count what is there, by rule; exit 1 if there is something
    #[arg(long, conflicts_with = "out")]
    scan: bool,

    /// With --scan: one JSON object per session
    #[arg(long, requires = "scan")]
    json: bool,

    /// What to take out beside secrets: paths, people
    #[arg(long, value_name = "CLASSES", value_delimiter = ',')]
    redact: Vec<String>,

    /// Print where values stand in a text field of each line of FILE, counted in characters
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sessions", "out", "scan"])]
    spans: Option<PathBuf>,

    /// The field that --spans looks into
    #[arg(long, value_name = "NAME", default_value = "text", requires = "spans")]
    field: String,
}

pub(crate) fn run(
    arguments: &RedactArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let classes = redaction::classes(&arguments.redact)?;
    if let Some(path) = &arguments.spans {
        return redact_report::spans(path, &arguments.field, classes);
    }
    if arguments.sessions.is_empty() && !arguments.scan {
        return Err(CliError::new("no session was named")
            .hint("backstory redact latest > clean.jsonl")
            .hint("backstory redact --scan"));
    }
    let work = Work::named(&arguments.sessions, global)?;
    if work.is_empty() {
        return Err(work.nothing());
    }
    if arguments.scan {
        return redact_report::scan(&work, classes, arguments.json, global);
    }
    copy(&work, arguments, classes, global)
}

fn copy(
    work: &Work,
    arguments: &RedactArguments,
    classes: Classes,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let chosen = work.chosen();
    let redactor = redaction::redactor(classes)?;
    let clear = |chosen: &Chosen<'_>| match chosen {
        Chosen::Session(files) => {
            ClearedCopy::of(files, &redactor, &agents::structural_paths(files.agent))
        }
        Chosen::Agent(file) => {
            ClearedCopy::of_agent(file, &redactor, &claude_code::structural_paths())
        }
    };
    let mut total = Report::default();
    let Some(out) = &arguments.out else {
        let [one] = chosen.as_slice() else {
            let count = chosen.len();
            return Err(CliError::new(format!("{count} sessions need a folder"))
                .hint("name it with --out DIR"));
        };
        if one.path().is_dir() {
            return Err(CliError::new(format!("`{}`: a folder of files", one.path().display()))
                .hint("name a folder with --out DIR"));
        }
        let copy = clear(one)?;
        let parts = parts(&copy, &plain_name(one.id()));
        if let Some(first) = parts.first() {
            send(&first.copy, &mut std::io::stdout().lock())?;
        }
        if parts.len() > 1 && !global.quiet {
            let others = counted(parts.len() as u64 - 1, "more file", "more files");
            ui::say(&format!("{others} of the session not printed; --out DIR writes all"));
        }
        total.add(copy.report());
        return Ok(finish(&total, work, global));
    };
    refuse_agents_folder(out, &work.roots)?;
    refuse_sources(out, &chosen)?;
    let is_folder = out.is_dir() || out.as_os_str().to_string_lossy().ends_with(['/', '\\']);
    // Everything is cleared before anything is written.
    let ready: Vec<ClearedCopy> = chosen.iter().map(clear).collect::<Result<_, _>>()?;
    let parts: Vec<Part> = ready
        .iter()
        .zip(distinct_names(&chosen))
        .flat_map(|(copy, name)| parts(copy, &name))
        .collect();
    match parts.as_slice() {
        [one] if !is_folder => {
            if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                create_folder(folder)?;
            }
            write_file(out, Access::Usual, |file| send(&one.copy, file))?;
        }
        _ => write_folder(out, &parts)?,
    }
    ready.iter().for_each(|copy| total.add(copy.report()));
    if !global.quiet {
        let sessions = counted(ready.len() as u64, "session", "sessions");
        ui::say(&format!("{sessions} written to {}", out.display()));
    }
    Ok(finish(&total, work, global))
}

/// A cleared file, and its name in the folder it goes to.
struct Part {
    copy: PathBuf,
    name: String,
}

/// Letters of an id.
const UUID: usize = 36;

/// What aider calls its histories, behind a dot.
const HISTORY: &str = "aider.chat.history.md";

/// What Cline's extension calls the conversation of every task.
const TASK: &str = "api_conversation_history.json";

/// The files of a copy: a session of Claude Code as `NAME.jsonl` with its subagents below `NAME`,
/// that of another agent as `NAME` with its own ending, or below `NAME` if it is several files.
fn parts(copy: &ClearedCopy, name: &str) -> Vec<Part> {
    let part = |copy: &Path, name: String| Part { copy: copy.to_path_buf(), name };
    // Colons, which times in ids have, are no part of a name.
    let files = copy.session().map(|files| files.into_inner());
    let agent = files.map(|files| files.agent);
    let id = files.map(|files| files.id.as_str());
    let spelt = id.filter(|id| id.contains(':') && plain_name(id) == name);
    let spelt = spelt.map(|id| plain_name(&id.replace(':', "-")));
    let name = spelt.as_deref().unwrap_or(name);
    let below = |own: &Path| {
        let parts = own.iter().map(|part| plain_name(&part.to_string_lossy()));
        std::iter::once(name.to_owned()).chain(parts).collect::<Vec<_>>().join("/")
    };
    match copy.files().into_inner().as_slice() {
        [] => {}
        // A file that is known by its own name, or by its folder's.
        [(path, own)] if own.iter().count() > 1 || own.as_os_str() == TASK => {
            return vec![part(path, below(own))];
        }
        [(path, own)] => {
            // A file that is named after its session keeps its name: agents are known by names, too.
            let own = own.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            let end = match agent {
                Some(Agent::Aider) => HISTORY,
                _ => own.split_once('.').map_or("", |(_, end)| end),
            };
            let rest = own.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
            // Names of rollouts end with the id.
            let inside = name.len() >= UUID && own.contains(name);
            return vec![match rest || inside {
                true => part(path, plain_name(&own)),
                false => part(path, format!("{name}.{}", plain_name(end))),
            }];
        }
        several => {
            return several.iter().map(|(path, own)| part(path, below(own))).collect();
        }
    }
    let main = copy.session().map(|files| part(&files.get().path, format!("{name}.jsonl")));
    let alone = main.is_none();
    let mut parts: Vec<Part> = main.into_iter().collect();
    for agent in copy.agents().into_inner() {
        if alone {
            parts.push(part(&agent.path, format!("{name}.jsonl")));
            continue;
        }
        let id = plain_name(agent.id.trim_start_matches("agent-"));
        parts.push(part(&agent.path, format!("{name}/subagents/agent-{id}.jsonl")));
        let meta = agent.meta.as_ref();
        parts.extend(meta.map(|meta| part(meta, format!("{name}/subagents/agent-{id}.meta.json"))));
    }
    parts
}

/// Writes all of it, or nothing where a name is somebody else's.
fn write_folder(out: &Path, parts: &[Part]) -> Result<(), CliError> {
    let mut folder: OutputFolder<()> = OutputFolder::open(out, Access::Usual)?;
    let new: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let new: Vec<&str> =
        new.into_iter().filter(|name| !folder.files().contains_key(*name)).collect();
    if let Some(refused) = folder.claim(parts.iter().map(|part| part.name.as_str()))?.pop() {
        for name in new {
            folder.remove(name)?;
        }
        folder.save()?;
        return Err(refused.into());
    }
    for part in parts {
        let bytes = folder.write::<CliError>(&part.name, |file| send(&part.copy, file))?;
        folder.record(&part.name, Entry { key: String::new(), bytes, about: None });
    }
    Ok(folder.save()?)
}

fn send(from: &Path, out: &mut dyn Write) -> Result<(), CliError> {
    let failed = |cause| StoreError::Io { path: from.to_path_buf(), cause };
    let mut file = std::fs::File::open(from).map_err(failed)?;
    std::io::copy(&mut file, out)?;
    out.flush()?;
    Ok(())
}

fn finish(report: &Report, work: &Work, global: &GlobalArguments) -> Outcome {
    if !global.quiet {
        ui::notices(&work.notices);
        match redaction::summary(report) {
            Some(found) => ui::say(&format!("taken out: {found}")),
            None => ui::say("nothing had to be taken out"),
        }
    }
    Outcome::Fine.given(&work.notices)
}
