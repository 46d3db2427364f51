//! Sessions in the formats that others read: OpenTraces, ATIF, Agent Trace.
//!
//! One session becomes one [`Document`], whose text has passed redaction unless the user said raw.
//! The same session with the same options always gives the same bytes: ids are derived, no clock is
//! read, and lines are attributed by the session alone. Not here: choosing sessions and writing files.

mod agent_trace;
mod atif;
mod atif_metrics;
mod commits;
mod escape;
mod fetch;
mod flow;
mod json;
mod language;
mod learn;
mod lines;
mod material;
mod murmur;
mod number;
mod opentraces;
mod prepared;
mod shapes;
mod states;
mod tree;

pub use commits::Repositories;
pub use material::Material;
pub use states::{
    Granularity, Layout, MessageStyle, StateFigures, StateOptions, StateView, Subagents, Synthetic,
    SystemPrompt, Thinking,
};

use crate::history::Notes;
use crate::model::Session;
use crate::redact::{Raw, Redactor, Report};
use crate::stats::Prices;
use crate::store::{SessionFiles, Spool, StoreError};
use json::{Canon, Clearing};
use prepared::Prepared;
use std::io::{self, Write};

/// What to make of sessions.
#[derive(Debug, Clone, Copy)]
pub enum Format<'o> {
    OpenTraces(OpenTracesSchema),
    Atif(AtifSchema),
    AgentTrace,
    TraceState(StateOptions<'o>),
}

impl Format<'_> {
    /// Whether it says whose lines are whose.
    fn tells_lines(self) -> bool {
        matches!(self, Format::OpenTraces(_) | Format::AgentTrace)
    }
}

/// Versions of OpenTraces' `TraceRecord`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenTracesSchema {
    V0_9,
    V0_3,
}

/// Versions of ATIF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtifSchema {
    V1_7,
    V1_8,
}

/// What the output depends on besides the session.
#[derive(Debug, Clone, Copy)]
pub struct Options<'o> {
    pub format: Format<'o>,
    /// Which snapshot of a session this is, for those who export it again and again.
    pub generation: u64,
    /// Characters of each tool result to keep; all without it.
    pub max_observation: Option<usize>,
    pub repositories: Repositories,
    pub prices: &'o Prices,
}

/// What is done about secrets.
#[derive(Debug, Clone, Copy)]
pub enum Secrets<'r> {
    TakenOut(&'r Redactor),
    Kept(Raw),
}

/// A session in another format, ready to leave.
#[derive(Debug)]
pub struct Document {
    spool: Spool,
    /// What was taken out.
    pub redacted: Report,
    /// The session holds nothing that the format could tell.
    pub is_empty: bool,
    pub figures: Figures,
}

/// What a document holds and what it leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    pub steps: u64,
    pub calls: u64,
    pub observations: u64,
    pub edits: u64,
    pub attributed_lines: u64,
    pub subagents: u64,
    pub abandoned_turns: u64,
    pub housekeeping: u64,
    /// Of training states.
    pub states: StateFigures,
}

impl Figures {
    /// Adds those of another document.
    pub fn add(&mut self, other: &Figures) {
        self.steps += other.steps;
        self.calls += other.calls;
        self.observations += other.observations;
        self.edits += other.edits;
        self.attributed_lines += other.attributed_lines;
        self.subagents += other.subagents;
        self.abandoned_turns += other.abandoned_turns;
        self.housekeeping += other.housekeeping;
        self.states.add(&other.states);
    }
}

impl Document {
    /// Writes it, with a line end.
    pub fn copy_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.spool.copy_to(out)
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        self.spool.len()
    }

    /// How many bytes of memory it takes.
    pub fn memory(&self) -> u64 {
        self.spool.memory()
    }
}

/// SHA-256 of several pieces.
pub fn digest(parts: &[&[u8]]) -> Vec<u8> {
    use sha2::Digest as _;
    let mut hasher = sha2::Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().to_vec()
}

/// Makes a document of a session of Claude Code that was read already; others come as
/// [`Material`]. Nothing comes out when redaction or reading fails.
pub fn export(
    session: &Session,
    options: &Options<'_>,
    secrets: Secrets<'_>,
) -> Result<Document, StoreError> {
    make(session, None, &mut [], options, secrets)
}

fn make(
    session: &Session,
    files: Option<&SessionFiles>,
    notes: &mut [Notes<'_>],
    options: &Options<'_>,
    secrets: Secrets<'_>,
) -> Result<Document, StoreError> {
    let prepared = Prepared::new(session, notes, options)?;
    let (spool, redacted, states) = match secrets {
        Secrets::Kept(raw) => {
            let mut canon = Canon::new(Clearing::Raw(raw));
            let states = write(&prepared, options, None, &mut canon)?;
            (canon.finish(), Report::default(), states)
        }
        Secrets::TakenOut(redactor) => {
            let mut scrubber = redactor.session();
            learn::learn(session, files, &mut scrubber)?;
            let report = scrubber.report().clone();
            let mut canon = Canon::new(Clearing::Scrub(&scrubber));
            let states = write(&prepared, options, Some(&report), &mut canon)?;
            (canon.finish(), report, states)
        }
    };
    let figures = Figures { states, ..prepared.figures() };
    let is_empty = match options.format {
        Format::OpenTraces(_) | Format::Atif(_) => figures.steps == 0,
        Format::AgentTrace => figures.attributed_lines == 0,
        Format::TraceState(_) => figures.states.states == 0,
    };
    Ok(Document { spool, redacted, is_empty, figures })
}

fn write(
    prepared: &Prepared<'_>,
    options: &Options<'_>,
    report: Option<&Report>,
    canon: &mut Canon<'_>,
) -> Result<StateFigures, StoreError> {
    match options.format {
        Format::OpenTraces(schema) => {
            opentraces::write(prepared, schema, options, report, canon)?;
        }
        Format::Atif(schema) => atif::write(prepared, schema, options, canon)?,
        Format::AgentTrace => agent_trace::write(prepared, options, canon),
        Format::TraceState(states) => return states::write(prepared, &states, options, canon),
    }
    canon.end_line();
    Ok(StateFigures::default())
}
