//! `backstory capture`

mod child;
mod hook;
mod install;
mod settings;
mod writer;

use crate::args::GlobalArguments;
use crate::commands::show;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::redaction;
use crate::times;
use crate::ui;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use std::ffi::OsString;
use std::path::PathBuf;
use writer::{CaptureWriter, Window};

/// Write traces of sessions as Markdown, by itself
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  backstory capture --out traces -- claude          run it, then write what happened\n  backstory capture --out traces --session latest\n  backstory capture install --out ~/traces          after every session, by a hook"
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
    #[arg(long, value_name = "TIME", conflicts_with_all = ["hook", "command"])]
    since: Option<String>,

    /// Capture the session that an agent's SessionEnd hook names on standard input
    #[arg(long, conflicts_with = "command")]
    hook: bool,

    /// Remove captured traces after this long (30d, 12w), or `forever`
    #[arg(long, value_name = "AGE", default_value = "30d")]
    keep: String,

    /// Take secrets out of the traces, and what else is named: paths, people
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', num_args = 0..=1, default_missing_value = "secrets", require_equals = true)]
    redact: Vec<String>,

    /// Tell every step of the search
    #[arg(long)]
    debug: bool,

    /// Run this with the terminal handed through, and capture the sessions of that time
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Capture every session from now on, by a hook in the agent's settings
    Install(install::InstallArguments),
    /// Take the hook out again
    Uninstall(install::SettingsArguments),
    /// Tell whether the hook is there
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
    let keep = keep_until(&arguments.keep, began)?;
    // What cannot be redacted is not captured: this fails before anything is run.
    let redactor = if arguments.redact.is_empty() {
        None
    } else {
        Some(redaction::redactor(redaction::classes(&arguments.redact)?)?)
    };
    let (debug, quiet) = (arguments.debug, global.quiet);
    let writer = CaptureWriter { out, keep, redactor, debug, quiet, global };
    if !arguments.command.is_empty() {
        return Ok(Outcome::Code(around_command(&writer, &arguments.command, began)));
    }
    if arguments.hook {
        // A hook is never in the agent's way.
        if let Err(error) = hook::capture(&writer, began) {
            ui::warn(&format!("trace not captured: {}", error.message));
        }
        return Ok(Outcome::Code(0));
    }
    let since = arguments.since.as_ref().map(|text| {
        times::parse(text, began).map_err(|cause| times::wrong("--since", text, cause))
    });
    let since = since.transpose()?;
    let (to, written) = match (&arguments.session, since) {
        (Some(wanted), since) => {
            let mut shown = show::find_cleared(wanted, global, writer.redactor.as_ref())?;
            let out = shown.guard.folder(out)?;
            let written = writer.write(&out, &[shown.into()], since, &[], began)?;
            (out, written)
        }
        (None, Some(since)) => {
            let window = Window { from: since, until: began };
            let (out, sessions) = writer.find(&window)?;
            let written = writer.write(&out, &sessions, Some(since), &[], began)?;
            (out, written)
        }
        (None, None) => {
            return Err(CliError::new("nothing to capture was named")
                .hint("give a command after --, or --session latest, or --since 2h"));
        }
    };
    writer.prune(&to, began)?;
    for name in &written {
        ui::say(&format!("wrote {}", out.join(name).display()));
    }
    Ok(if written.is_empty() { Outcome::Nothing } else { Outcome::Fine })
}

/// Runs a command, then captures. Only the command decides the exit code.
fn around_command(writer: &CaptureWriter<'_>, command: &[OsString], began: Timestamp) -> u8 {
    let ended = child::run(command);
    let captured = || -> Result<Vec<String>, CliError> {
        let now = environment::now();
        let (out, sessions) = writer.find(&Window::around(began, now))?;
        let words: Vec<String> = command.iter().map(|word| crate::quote::quoted(word)).collect();
        let facts = [("Command".to_owned(), words.join(" ")), ("Ended".to_owned(), ended.words())];
        let window = Window::around(began, now);
        let written = writer.write(&out, &sessions, Some(window.from), &facts, began)?;
        writer.prune(&out, now)?;
        Ok(written)
    };
    match captured() {
        Ok(written) if written.is_empty() => {
            if !writer.quiet {
                ui::warn("trace not captured: no session was at work in this worktree");
            }
        }
        Ok(written) => writer.log(&format!("wrote {}", written.join(", "))),
        Err(error) => {
            ui::warn(&format!("trace not captured: {}", error.message));
            for hint in &error.hints {
                writer.log(hint);
            }
        }
    }
    ended.pass_on()
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
