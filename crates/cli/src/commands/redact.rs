//! `backstory redact`

use super::redact_report;
use crate::args::GlobalArguments;
use crate::commands::show::refuse_agents_folder;
use crate::error::{CliError, Outcome};
use crate::redaction;
use crate::select::Chosen;
use crate::ui;
use crate::work::Work;
use backstory_session::agents::{self, claude_code};
use backstory_session::redact::{Classes, ClearedCopy, Report};
use backstory_session::store::{
    Access, StoreError, create_folder, plain_name, resolve, write_file,
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
        return Err(CliError::not_found("no sessions here")
            .hint("name another place with --root DIR, or give the path of a session file"));
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
        if path_of(one).is_dir() {
            return Err(CliError::new(format!("`{}`: a folder of files", path_of(one).display()))
                .hint("name a folder with --out DIR"));
        }
        let copy = clear(one)?;
        let agents = copy.agents();
        let main = copy.session().map(|files| files.get().path.clone());
        let path = main.or_else(|| agents.get().first().map(|agent| agent.path.clone()));
        send(path.as_deref().unwrap_or(Path::new("")), &mut std::io::stdout().lock())?;
        if let (Chosen::Session(files), false) = (one, global.quiet)
            && !files.agents.is_empty()
        {
            let agents =
                crate::figures::counted(files.agents.len() as u64, "subagent", "subagents");
            ui::say(&format!("{agents} not printed; --out DIR writes them too"));
        }
        total.add(copy.report());
        return Ok(finish(&total, global));
    };
    refuse_agents_folder(out, &work.roots)?;
    let is_folder = out.is_dir() || out.as_os_str().to_string_lossy().ends_with(['/', '\\']);
    let single =
        matches!(chosen.as_slice(), [one] if agents_of(one) == 0 && !path_of(one).is_dir());
    let single = single && !is_folder;
    // Everything is cleared before anything is written.
    let mut ready = Vec::new();
    for one in &chosen {
        if resolve(out) == resolve(path_of(one)) {
            return Err(CliError::new(format!("`{}`: that is the session itself", out.display()))
                .hint("name another file"));
        }
        ready.push((one, clear(one)?));
    }
    for (one, copy) in &ready {
        match single {
            true => write_copy(copy, |_| out.clone())?,
            false => {
                let id = match one {
                    Chosen::Session(files) => &files.id,
                    Chosen::Agent(file) => &file.id,
                };
                let name = plain_name(id);
                create_folder(out)?;
                if write_foreign(copy, out, &name)? {
                    total.add(copy.report());
                    continue;
                }
                write_copy(copy, |agent| match agent {
                    None => out.join(format!("{name}.jsonl")),
                    Some(end) => out.join(&name).join("subagents").join(end),
                })?;
            }
        }
        total.add(copy.report());
    }
    if !global.quiet {
        let sessions = crate::figures::counted(ready.len() as u64, "session", "sessions");
        ui::say(&format!("{sessions} written to {}", out.display()));
    }
    Ok(finish(&total, global))
}

/// Writes the files of a copy to where `place` says: the main file for none, else by file name.
fn write_copy(copy: &ClearedCopy, place: impl Fn(Option<&str>) -> PathBuf) -> Result<(), CliError> {
    if let Some(files) = copy.session() {
        move_file(&files.get().path, &place(None))?;
    }
    let alone = copy.session().is_none();
    for agent in copy.agents().into_inner() {
        let name = format!("agent-{}", plain_name(agent.id.trim_start_matches("agent-")));
        let target = if alone { place(None) } else { place(Some(&format!("{name}.jsonl"))) };
        move_file(&agent.path, &target)?;
        if let Some(meta) = agent.meta.as_ref().filter(|_| !alone) {
            move_file(meta, &place(Some(&format!("{name}.meta.json"))))?;
        }
    }
    Ok(())
}

/// Writes the files of another agent's session: one as `NAME` with its ending, several into a folder
/// `NAME`. False for a session of Claude Code.
fn write_foreign(copy: &ClearedCopy, out: &Path, name: &str) -> Result<bool, CliError> {
    let files = copy.files().into_inner();
    if let [(path, own)] = files.as_slice() {
        // A file that is named after its session keeps its name: agents are known by names, too.
        let own = own.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let end = own.split_once('.').map_or("", |(_, end)| end);
        let file = match own.contains(name) {
            true => plain_name(&own),
            false => format!("{name}.{}", plain_name(end)),
        };
        move_file(path, &out.join(file))?;
        return Ok(true);
    }
    for (path, own) in &files {
        move_file(path, &out.join(name).join(own))?;
    }
    Ok(!files.is_empty())
}

fn move_file(from: &Path, to: &Path) -> Result<(), CliError> {
    if let Some(folder) = to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        create_folder(folder)?;
    }
    write_file(to, Access::Usual, |out| send(from, out)).map(drop)
}

fn send(from: &Path, out: &mut dyn Write) -> Result<(), CliError> {
    let failed = |cause| StoreError::Io { path: from.to_path_buf(), cause };
    let mut file = std::fs::File::open(from).map_err(failed)?;
    std::io::copy(&mut file, out)?;
    out.flush()?;
    Ok(())
}

fn agents_of(chosen: &Chosen<'_>) -> usize {
    match chosen {
        Chosen::Session(files) => files.agents.len(),
        Chosen::Agent(_) => 0,
    }
}

fn path_of<'a>(chosen: &'a Chosen<'_>) -> &'a Path {
    match chosen {
        Chosen::Session(files) => &files.path,
        Chosen::Agent(file) => &file.path,
    }
}

fn finish(report: &Report, global: &GlobalArguments) -> Outcome {
    if !global.quiet {
        match redaction::summary(report) {
            Some(found) => ui::say(&format!("taken out: {found}")),
            None => ui::say("nothing had to be taken out"),
        }
    }
    Outcome::Fine
}
