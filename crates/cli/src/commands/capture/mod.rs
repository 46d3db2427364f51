//! `backstory capture`

mod files;
mod hook;
mod install;
mod settings;
mod writer;

use crate::args::GlobalArguments;
use crate::child;
use crate::commands::show;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::redaction;
use crate::times;
use crate::ui;
use backstory_redact::{Class, Classes, Raw};
use clap::{Args, Subcommand};
use files::Trace;
use jiff::Timestamp;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use writer::{CaptureWriter, Window};

/// Keep sessions as Markdown, automatically
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  backstory capture --out traces -- claude          run it, then write what happened\n  backstory capture --out traces --session latest\n  backstory capture install --out traces            after every session of this repository, by a hook\n\nEach session has one file, which is written again when the session has grown. Nothing is removed without --keep."
)]
pub(crate) struct CaptureArguments {
    #[command(subcommand)]
    action: Option<Action>,

    /// Folder for the traces
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Capture this session: an id, the start of one, a path, or `latest`
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["hook", "command"])]
    session: Option<String>,

    /// Capture what happened in this worktree since then (2026-01-31, 2h)
    #[arg(long, value_name = "TIME", conflicts_with_all = ["hook", "command", "session"])]
    since: Option<String>,

    /// Capture the session that an agent's SessionEnd hook names on standard input
    #[arg(long, conflicts_with = "command")]
    hook: bool,

    /// With --hook: only a session that began in the repository of this folder
    #[arg(long, value_name = "DIR", requires = "hook", conflicts_with = "everywhere")]
    project: Option<PathBuf>,

    #[command(flatten)]
    traces: TraceArguments,

    /// Report every step of the search
    #[arg(long)]
    debug: bool,

    /// Run this with the terminal handed through, and capture the sessions of that time
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// How long traces are kept, and what is in them.
#[derive(Debug, Args)]
struct TraceArguments {
    /// Remove traces captured longer ago than this (30d, 12w); `forever` removes nothing
    #[arg(long, value_name = "AGE", default_value = "forever")]
    keep: String,

    /// Redact these in addition to secrets: paths, people
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', num_args = 0..=1, default_missing_value = "secrets", require_equals = true, conflicts_with = "raw")]
    redact: Vec<String>,

    /// Redact nothing, not even secrets
    #[arg(long)]
    raw: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Capture every session of this repository from now on, by a hook in its local settings
    Install(install::InstallArguments),
    /// Remove the hook
    Uninstall(install::SettingsArguments),
    /// Show whether the hook is installed
    Status(install::SettingsArguments),
}

pub(crate) fn run(
    arguments: &CaptureArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    match &arguments.action {
        Some(Action::Install(install)) => return install::install(install, global),
        Some(Action::Uninstall(settings)) => return install::uninstall(settings, global),
        Some(Action::Status(settings)) => return install::status(settings, global),
        None => {}
    }
    let Some(out) = &arguments.out else {
        return Err(CliError::new("no folder for the traces was named")
            .hint("backstory capture --out DIR -- COMMAND"));
    };
    let began = environment::now();
    let keep = keep_until(&arguments.traces.keep, began)?;
    // What cannot be redacted is not captured: this fails before anything is run.
    let classes = arguments.traces.classes()?;
    let redactor = classes.map(redaction::redactor).transpose()?;
    let classes = classes.map_or_else(Vec::new, named);
    let (debug, quiet) = (arguments.debug, global.quiet);
    let writer = CaptureWriter { out, keep, redactor, classes, debug, quiet, global };
    if !arguments.command.is_empty() {
        return Ok(Outcome::Code(around_command(&writer, &arguments.command, began)));
    }
    if arguments.hook {
        // A hook is never in the agent's way.
        if let Err(error) = hook::capture(writer, arguments.project.as_deref(), began) {
            ui::warn(&format!("trace not captured: {}", error.message));
        }
        return Ok(Outcome::Code(0));
    }
    let since = arguments.since.as_ref().map(|text| {
        times::parse(text, began).map_err(|cause| times::wrong("--since", text, cause))
    });
    let since = since.transpose()?;
    let (to, traces) = match (&arguments.session, since) {
        (Some(wanted), None) => {
            let choice = FilterArguments::default().choice(global)?;
            let mut shown = show::find_cleared(wanted, &choice, global, writer.redactor.as_ref())?;
            let out = shown.guard.folder(out)?;
            let traces = writer.write(&out, &[shown.into()], &[], began)?;
            (out, traces)
        }
        (None, Some(since)) => {
            let window = Window { from: since, until: began };
            let (out, sessions) = writer.find(&window)?;
            let traces = writer.write(&out, &sessions, &[], began)?;
            (out, traces)
        }
        _ => {
            return Err(CliError::new("nothing to capture was named")
                .hint("give a command after --, or --session latest, or --since 2h"));
        }
    };
    writer.prune(&to, began)?;
    for trace in &traces {
        let path = out.join(trace.name());
        ui::say(&match trace {
            Trace::Written(_) => format!("wrote: {}", path.display()),
            Trace::Unchanged(_) => format!("unchanged: {}", path.display()),
        });
    }
    match (traces.is_empty(), since) {
        (true, Some(since)) => Err(CliError::not_found(format!(
            "nothing captured: no session of Claude Code worked in this worktree since {}",
            times::minute(since)
        ))
        .hint("backstory ls --sort project shows where sessions worked; --debug shows each step")),
        _ => Ok(Outcome::Fine),
    }
}

/// Runs a command, then captures. Only the command decides the exit code.
fn around_command(writer: &CaptureWriter<'_>, command: &[OsString], began: Timestamp) -> u8 {
    let ended = child::run(command, Path::new("."));
    let captured = || -> Result<Vec<Trace>, CliError> {
        let now = environment::now();
        let (out, sessions) = writer.find(&Window::around(began, now))?;
        let words: Vec<String> = command.iter().map(|word| crate::quote::quoted(word)).collect();
        let facts = [("Command".to_owned(), words.join(" ")), ("Ended".to_owned(), ended.words())];
        let traces = writer.write(&out, &sessions, &facts, began)?;
        writer.prune(&out, now)?;
        Ok(traces)
    };
    match captured() {
        Ok(traces) if traces.is_empty() => {
            if !writer.quiet {
                ui::warn("trace not captured: no session was at work in this worktree");
            }
        }
        Ok(_) => {}
        Err(error) => {
            ui::warn(&format!("trace not captured: {}", error.message));
            for hint in &error.hints {
                writer.log(hint);
            }
        }
    }
    ended.pass_on()
}

impl TraceArguments {
    /// What is redacted; none if nothing is.
    fn classes(&self) -> Result<Option<Classes>, CliError> {
        if self.raw {
            let _ = Raw::requested_by_user();
            return Ok(None);
        }
        redaction::classes_or(&self.redact, Classes::SECRETS).map(Some)
    }
}

fn named(classes: Classes) -> Vec<&'static str> {
    Class::ALL.iter().filter(|class| classes.holds(**class)).map(|class| class.name()).collect()
}

/// Traces captured before this time are removed.
fn keep_until(text: &str, now: Timestamp) -> Result<Option<Timestamp>, CliError> {
    if text == "forever" {
        return Ok(None);
    }
    times::parse(text, now).map(Some).map_err(|_| {
        CliError::new(format!("--keep `{text}`: not an age")).hint("use 30d, 12w or `forever`")
    })
}
