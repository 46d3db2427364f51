//! The command line: all commands, and what `--version` prints.

use super::{
    annotate, blame, capture, check, clone, completions, config, export, link, log, ls, man, open,
    overview, pairs, redact, replay, resume, search, show, spec, stats, trust,
};
use crate::args::GlobalArguments;
use backstory_agents as agents;
use clap::{Parser, Subcommand};
use std::sync::LazyLock;

/// Show what coding agents did, from the traces they leave on disk
///
/// Without a command: an overview of the sessions on this machine.
#[derive(Debug, Parser)]
#[command(
    name = "backstory",
    version,
    long_version = LONG_VERSION.as_str(),
    max_term_width = 100,
    after_help = "Examples:\n  backstory                    overview of this machine\n  backstory ls --limit 20      the newest sessions\n  backstory show latest        one session\n  backstory check              faults, and whether sessions would resume"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) overview: overview::OverviewArguments,
    #[command(flatten)]
    pub(crate) global: GlobalArguments,
}

/// Versions of what is read and written.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let checked = agents::readers().filter_map(|reader| {
        let releases = reader.releases()?;
        Some(format!("{} {releases} (checked against the client itself)", reader.agent().title()))
    });
    let others = agents::readers().filter(|reader| reader.releases().is_none());
    let others: Vec<&str> = others.map(|reader| reader.agent().title()).collect();
    format!(
        "{}\nreads: {},\n  {}{WRITES}",
        env!("CARGO_PKG_VERSION"),
        checked.collect::<Vec<_>>().join(",\n  "),
        others.join(", "),
    )
});

const WRITES: &str = concat!(
    "\nwrites: backstory.session/1, backstory.check/1, backstory.ls/1, backstory.overview/1,",
    "\n  backstory.analysis/1, backstory.profile/1, backstory.differences/1, backstory.history/1,",
    "\n  backstory.blame/1, backstory.log/1, backstory.annotate/1, backstory.redact/1,",
    "\n  backstory.search/1, backstory.stats/1, backstory.link/1, backstory.link-note/1,",
    "\n  backstory.clone/1, backstory.clone-proof/1, backstory.config/1,",
    "\n  replay journals 1, backstory.pairs/1,",
    "\n  backstory.export/1, OpenTraces 0.9.0 and 0.3.0, ATIF 1.7 and 1.8, Agent Trace 0.1.0"
);

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Ls(ls::LsArguments),
    Search(Box<search::SearchArguments>),
    Show(show::ShowArguments),
    Open(open::OpenArguments),
    Resume(resume::ResumeArguments),
    Spec(spec::SpecArguments),
    Check(check::CheckArguments),
    Stats(stats::StatsArguments),
    Clone(Box<clone::CloneArguments>),
    Link(link::LinkArguments),
    Capture(capture::CaptureArguments),
    Blame(blame::BlameArguments),
    Log(log::LogArguments),
    Annotate(annotate::AnnotateArguments),
    Export(export::ExportArguments),
    Replay(Box<replay::ReplayArguments>),
    Pairs(pairs::PairsArguments),
    Redact(redact::RedactArguments),
    Config(config::ConfigArguments),
    Trust(trust::TrustArguments),
    Completions(completions::CompletionsArguments),
    Man(man::ManArguments),
}
