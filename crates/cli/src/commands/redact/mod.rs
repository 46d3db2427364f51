//! `backstory redact`

mod report;

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::guard::guard;
use crate::input_sessions::InputSessions;
use crate::output::named;
use crate::redaction;
use crate::ui;
use backstory_redact::{Classes, Report};
use backstory_session::clear::{ClearedCopy, CopyPart};
use backstory_session::select::{SessionRef, distinct_names};
use backstory_store::{
    Access, Destination, Entry, OutputFolder, StoreError, create_folder_of, plain_name, write_file,
};
use backstory_text::figures::counted;
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Redact secrets in sessions, or find them
///
/// Writes a copy; the session itself is never changed. A placeholder replaces each secret; every
/// other byte stays the same. Ids that link records are kept.
#[derive(Debug, Args)]
#[command(
    after_help = "Put your own rules and exceptions into .backstory.toml:\n  [redact]\n  allow = ['test-[a-z]+']     # values that are kept\n  [[redact.rule]]\n  id = \"acme-key\"\n  keywords = [\"ACME-\"]\n  regex = 'ACME-[0-9A-F]{24}'\n\nExamples:\n  backstory redact latest > clean.jsonl\n  backstory redact . --out clean/ --redact paths,people\n  backstory redact --scan -a          count the secrets in the sessions of this machine"
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

    /// What to redact in addition to secrets: paths, people
    #[arg(long, value_name = "CLASSES", value_delimiter = ',')]
    redact: Vec<String>,

    /// Print the places of values in a text field of each line of FILE, counted in characters
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sessions", "out", "scan"])]
    spans: Option<PathBuf>,

    /// The field that --spans searches
    #[arg(long, value_name = "NAME", default_value = "text", requires = "spans")]
    field: String,

    #[command(flatten)]
    filters: FilterArguments,
}

pub(crate) fn run(
    arguments: &RedactArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let classes = redaction::classes_or(&arguments.redact, Classes::SECRETS)?;
    if let Some(path) = &arguments.spans {
        return report::spans(path, &arguments.field, classes);
    }
    if arguments.sessions.is_empty() && !arguments.scan {
        return Err(CliError::new("no session was named")
            .hint("backstory redact latest > clean.jsonl")
            .hint("backstory redact --scan"));
    }
    let choice = arguments.filters.choice(global)?;
    let inputs = InputSessions::named(&arguments.sessions, &choice, global)?;
    if inputs.is_empty() {
        return Err(inputs.nothing());
    }
    if arguments.scan {
        return report::scan(&inputs, classes, arguments.json, global);
    }
    copy(&inputs, arguments, classes, global)
}

fn copy(
    inputs: &InputSessions,
    arguments: &RedactArguments,
    classes: Classes,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let chosen = inputs.chosen();
    let redactor = redaction::redactor(classes)?;
    let clear = |chosen: &SessionRef<'_>| match chosen {
        SessionRef::Session(files) => ClearedCopy::of(files, &redactor, &global.store),
        SessionRef::Agent(file) => ClearedCopy::of_agent(file, &redactor),
    };
    let mut total = Report::default();
    let Some(out) = named(arguments.out.as_deref()) else {
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
        let parts = copy.parts(&plain_name(one.id()));
        if let Some(first) = parts.first() {
            send(&first.copy, &mut std::io::stdout().lock())?;
        }
        if parts.len() > 1 && !global.quiet {
            let others = counted(parts.len() as u64 - 1, "more file", "more files");
            ui::say(&format!("{others} of the session not printed; --out DIR writes all"));
        }
        total.add(copy.report());
        return Ok(finish(&total, inputs, global));
    };
    let out = &guard(global, &inputs.roots, &chosen).file_or_folder(out)?;
    // Everything is cleared before anything is written.
    let ready: Vec<ClearedCopy> = chosen.iter().map(clear).collect::<Result<_, _>>()?;
    let parts: Vec<CopyPart> = ready
        .iter()
        .zip(distinct_names(&chosen))
        .flat_map(|(copy, name)| copy.parts(&name))
        .collect();
    match parts.as_slice() {
        [one] if !out.is_folder() => {
            create_folder_of(out, Access::Private)?;
            write_file(out, Access::Private, |file| send(&one.copy, file))?;
        }
        _ => write_folder(out, &parts)?,
    }
    ready.iter().for_each(|copy| total.add(copy.report()));
    if !global.quiet {
        let sessions = counted(ready.len() as u64, "session", "sessions");
        ui::say(&format!("{sessions} written to {}", out.shown().display()));
    }
    Ok(finish(&total, inputs, global))
}

/// Writes all of it, or nothing where a name is somebody else's.
fn write_folder(out: &Destination, parts: &[CopyPart]) -> Result<(), CliError> {
    let mut folder: OutputFolder<()> = OutputFolder::open(out, Access::Private)?;
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

fn finish(report: &Report, inputs: &InputSessions, global: &GlobalArguments) -> Outcome {
    if !global.quiet {
        ui::notices(&inputs.notices);
        match redaction::summary(report) {
            Some(found) => ui::say(&format!("taken out: {found}")),
            None => ui::say("nothing had to be taken out"),
        }
    }
    Outcome::Fine.given(&inputs.notices)
}
