//! Sessions in the formats that others read: OpenTraces, ATIF, Agent Trace.
//!
//! One session becomes one [`Document`], whose text has passed redaction unless the user said raw.
//! The same session with the same options always gives the same bytes: ids are derived, no clock is
//! read, and lines are attributed by the session alone. Not here: choosing sessions and writing files.

mod agent_trace;
mod atif;
mod atif_metrics;
mod canonical;
mod chat;
#[cfg(feature = "table")]
mod columns;
mod commits;
mod context;
mod definition;
mod digest;
mod escape;
mod fetch;
mod fields;
pub mod gate;
mod input;
mod json;
mod language;
mod learn;
mod lines;
mod murmur;
pub mod normalise;
mod number;
mod opentraces;
mod ordered;
mod rows;
mod sft;
mod shapes;
mod states;
mod timeline;
mod tree;

pub use canonical::{ActionBlock, action_text, canonical_json, plain_json};
#[cfg(feature = "table")]
pub use columns::columns;
pub use commits::{KnownRepositories, Repositories};
pub use input::Input;
pub use ordered::{Export, Put, Stopped, Totals};
pub use sft::{Arguments, BETWEEN_RESULTS, Per, SftFormat, SftOptions};
pub use states::{
    Census, Chain, CountTokens, Granularity, Layout, MessageStyle, OnUnknown, Records, Skipped,
    StateFigures, StateOptions, StateView, Subagents, Synthetic, SystemPrompt, Thinking, Tokenizer,
    ToolErrors, VersionRange,
};

use backstory_model::Session;
use backstory_model::{Notice, SessionFiles};
use backstory_redact::{Raw, Redactor, Report, Scrubber};
use backstory_session::history::Notes;
use backstory_session::stats::Prices;
use backstory_store::{Spool, StoreError};
use context::Context;
use json::{CanonicalWriter, Clearing};
use rows::Rows;
use std::io::{self, Write};

/// What to make of sessions.
#[derive(Debug, Clone, Copy)]
pub enum Format<'o> {
    OpenTraces(OpenTracesSchema),
    Atif(AtifSchema),
    AgentTrace,
    TraceState(StateOptions<'o>),
    Sft(SftOptions<'o>),
}

impl<'o> Format<'o> {
    /// What is to stand in front of histories.
    fn system_prompt(self) -> Option<SystemPrompt<'o>> {
        match self {
            Format::TraceState(states) => Some(states.system),
            Format::Sft(sft) => Some(sft.states.system),
            _ => None,
        }
    }

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
    pub repositories: Repositories<'o>,
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
    body: Body,
    /// What was taken out.
    pub redacted: Report,
    /// The session holds nothing that the format could tell.
    pub is_empty: bool,
    pub figures: Figures,
    /// Why the repository could not be asked, if it was to be.
    pub refused: Option<Notice>,
}

/// What a document is made of.
#[derive(Debug)]
enum Body {
    Written(Spool),
    /// Put together as it leaves.
    Rows(Rows),
}

/// What the code of a format has to tell besides what it wrote.
#[derive(Debug, Default)]
struct WriteOutput {
    states: StateFigures,
    /// Of each item of the flow.
    fates: Vec<states::Disposition>,
    rows: Option<Rows>,
}

/// What a document holds and what it leaves out.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// Of the records they were made from, where that was wanted.
    pub census: Option<Census>,
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
        if let Some(census) = &other.census {
            self.census.get_or_insert_default().add(census);
        }
    }
}

impl Document {
    /// Writes it, with a line end.
    pub fn copy_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match &mut self.body {
            Body::Written(spool) => spool.copy_to(out),
            Body::Rows(rows) => rows.copy_to(out),
        }
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        match &self.body {
            Body::Written(spool) => spool.len(),
            Body::Rows(rows) => rows.len(),
        }
    }

    /// How many bytes of memory it takes.
    pub fn memory(&self) -> u64 {
        match &self.body {
            Body::Written(spool) => spool.memory(),
            Body::Rows(rows) => rows.memory(),
        }
    }
}

/// SHA-256 of several pieces.
pub fn digest(parts: &[&[u8]]) -> Vec<u8> {
    use sha2::Digest as _;
    let mut hasher = sha2::Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().to_vec()
}

/// Makes a document of a session of records that was read already; others come as [`Input`].
/// Nothing comes out when redaction or reading fails.
pub fn export(
    session: &Session,
    options: &Options<'_>,
    secrets: Secrets<'_>,
) -> Result<Document, StoreError> {
    make(session, None, None, &mut [], options, secrets)
}

fn make(
    session: &Session,
    files: Option<&SessionFiles>,
    learnt: Option<Scrubber>,
    notes: &mut [Notes<'_>],
    options: &Options<'_>,
    secrets: Secrets<'_>,
) -> Result<Document, StoreError> {
    let prepared = Context::new(session, notes, options)?;
    let canon = match options.format {
        Format::OpenTraces(_) => CanonicalWriter::hashing,
        _ => CanonicalWriter::new,
    };
    let (spool, redacted, made) = match secrets {
        Secrets::Kept(raw) => {
            let mut canon = canon(Clearing::Raw(raw));
            let made = write(&prepared, options, None, &mut canon)?;
            (canon.finish(), Report::default(), made)
        }
        Secrets::TakenOut(redactor) => {
            let mut scrubber = match learnt {
                Some(mut scrubber) => {
                    learn::learn_names(session, &mut scrubber);
                    scrubber
                }
                None => {
                    let mut scrubber = redactor.session();
                    learn::learn(session, files, &mut scrubber)?;
                    scrubber
                }
            };
            if let Some(SystemPrompt::Text(text)) = options.format.system_prompt() {
                scrubber.learn(text);
            }
            let report = scrubber.report().clone();
            let mut canon = canon(Clearing::Scrub(&scrubber));
            let made = write(&prepared, options, Some(&report), &mut canon)?;
            (canon.finish(), report, made)
        }
    };
    let WriteOutput { states, fates, rows } = made;
    let records = match &options.format {
        Format::TraceState(states) => states.records,
        Format::Sft(sft) => sft.states.records,
        _ => Records::Leave,
    };
    let census = match records {
        Records::Count(limits) => states::count_records(&prepared, &fates, limits)?,
        Records::Leave => None,
    };
    let figures = Figures { states, census, ..prepared.figures() };
    let is_empty = match options.format {
        Format::OpenTraces(_) | Format::Atif(_) => figures.steps == 0,
        Format::AgentTrace => figures.attributed_lines == 0,
        Format::TraceState(_) | Format::Sft(_) => figures.states.states == 0,
    };
    let body = match rows {
        Some(rows) => Body::Rows(rows),
        None => Body::Written(spool),
    };
    let refused = prepared.commits.refused.clone();
    Ok(Document { body, redacted, is_empty, figures, refused })
}

fn write(
    prepared: &Context<'_>,
    options: &Options<'_>,
    report: Option<&Report>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<WriteOutput, StoreError> {
    match options.format {
        Format::OpenTraces(schema) => {
            opentraces::write(prepared, schema, options, report, canon)?;
        }
        Format::Atif(schema) => atif::write(prepared, schema, options, canon)?,
        Format::AgentTrace => agent_trace::write(prepared, options, canon),
        Format::TraceState(states) => return states::write(prepared, &states, options, canon),
        Format::Sft(sft) => return sft::write(prepared, &sft, options, canon),
    }
    canon.end_line();
    Ok(WriteOutput::default())
}
