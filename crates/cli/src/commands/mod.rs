//! One file or folder per command: its arguments and its function.

pub(crate) mod annotate;
pub(crate) mod blame;
pub(crate) mod capture;
pub(crate) mod check;
pub(crate) mod clone;
mod command_line;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod export;
pub(crate) mod link;
pub(crate) mod log;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod open;
pub(crate) mod overview;
pub(crate) mod pairs;
pub(crate) mod redact;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod spec;
pub(crate) mod stats;
pub(crate) mod trust;

use crate::error::{CliError, Outcome};
use crate::sample::Sample;
use crate::ui;
use clap::ArgMatches;
pub(crate) use command_line::Arguments;
use command_line::Command;

/// Runs a command; `given` tells which of its arguments the user named.
pub(crate) fn run(mut arguments: Arguments, given: &ArgMatches) -> Result<Outcome, CliError> {
    // What shows, trusts or describes must work while a file of settings is wrong.
    let needs_settings = !matches!(
        arguments.command,
        Some(Command::Config(_) | Command::Trust(_) | Command::Completions(_) | Command::Man(_))
    );
    if needs_settings {
        let config = crate::config::read()?;
        arguments.global.quiet |= config.quiet.as_ref().is_some_and(|quiet| quiet.value);
    }
    // The sample stays as long as the command runs.
    let sample = arguments.global.sample.then(Sample::unpack).transpose()?;
    arguments.global.root.extend(sample.iter().map(|sample| sample.path().to_path_buf()));
    ui::set_color(arguments.global.color);
    ui::set_verbose(arguments.global.verbose);
    match &mut arguments.command {
        None => overview::run(&arguments.overview, &arguments.global),
        Some(Command::Ls(ls)) => ls::run(ls, &arguments.global),
        Some(Command::Blame(blame)) => blame::run(blame, &arguments.global),
        Some(Command::Log(log)) => log::run(log, &arguments.global),
        Some(Command::Annotate(annotate)) => annotate::run(annotate, &arguments.global),
        Some(Command::Search(search)) => search::run(search, &arguments.global),
        Some(Command::Show(show)) => show::run(show, &arguments.global),
        Some(Command::Spec(spec)) => spec::run(spec, &arguments.global),
        Some(Command::Link(link)) => link::run(link, &arguments.global),
        Some(Command::Stats(stats)) => stats::run(stats, &arguments.global),
        Some(Command::Check(check)) => check::run(check, &arguments.global),
        Some(Command::Export(export)) => export::run(export, given, &arguments.global),
        Some(Command::Clone(clone)) => clone::run(clone, &arguments.global),
        Some(Command::Resume(resume)) => resume::run(resume, &arguments.global),
        Some(Command::Open(open)) => open::run(open, &arguments.global),
        Some(Command::Capture(capture)) => capture::run(capture, &arguments.global),
        Some(Command::Replay(replay)) => replay::run(replay, &arguments.global),
        Some(Command::Pairs(pairs)) => pairs::run(pairs, &arguments.global),
        Some(Command::Redact(redact)) => redact::run(redact, &arguments.global),
        Some(Command::Config(config)) => config::run(config),
        Some(Command::Trust(trust)) => trust::run(trust),
        Some(Command::Completions(completions)) => completions::run(completions),
        Some(Command::Man(man)) => man::run(man),
    }
}
