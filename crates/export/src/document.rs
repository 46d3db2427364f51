//! A session in another format: what it is made of, and what it holds.

use crate::context::Context;
use crate::json::{CanonicalWriter, Clearing};
use crate::options::{Format, Options, Records, Secrets, SystemPrompt};
use crate::rows::Rows;
use crate::states::{Census, StateFigures, WriteOutput};
use crate::timeline::Entry;
use crate::{agent_trace, atif, learn, opentraces, sft, states};
use backstory_model::{Notice, Session, SessionFiles};
use backstory_redact::{Report, Scrubber};
use backstory_session::history::CallCache;
use backstory_store::{Spool, StoreError};
use std::io::{self, Write};

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

/// Makes a document of a session of records that was read already; others come as [`Input`].
/// Nothing comes out when redaction or reading fails.
pub fn export(
    session: &Session,
    options: &Options<'_>,
    secrets: Secrets<'_>,
) -> Result<Document, StoreError> {
    make(session, None, None, &mut [], options, secrets)
}

pub(crate) fn make(
    session: &Session,
    files: Option<&SessionFiles>,
    learnt: Option<Scrubber>,
    caches: &mut [CallCache<'_>],
    options: &Options<'_>,
    secrets: Secrets<'_>,
) -> Result<Document, StoreError> {
    let context = Context::new(session, caches, options)?;
    let canon = match options.format {
        Format::OpenTraces(_) => CanonicalWriter::hashing,
        _ => CanonicalWriter::new,
    };
    let (spool, redacted, made) = match secrets {
        Secrets::Kept(raw) => {
            let mut canon = canon(Clearing::Raw(raw));
            let made = write(&context, options, None, &mut canon)?;
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
            let made = write(&context, options, Some(&report), &mut canon)?;
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
        Records::Count => states::count_records(&context, &fates)?,
        Records::Leave => None,
    };
    let figures = Figures { states, census, ..figures_of(&context) };
    let is_empty = match options.format {
        Format::OpenTraces(_) | Format::Atif(_) => figures.steps == 0,
        Format::AgentTrace => figures.attributed_lines == 0,
        Format::TraceState(_) | Format::Sft(_) => figures.states.states == 0,
    };
    let body = match rows {
        Some(rows) => Body::Rows(rows),
        None => Body::Written(spool),
    };
    let refused = context.commits.refused.clone();
    Ok(Document { body, redacted, is_empty, figures, refused })
}

fn write(
    context: &Context<'_>,
    options: &Options<'_>,
    report: Option<&Report>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<WriteOutput, StoreError> {
    match options.format {
        Format::OpenTraces(schema) => {
            opentraces::write(context, schema, options, report, canon)?;
        }
        Format::Atif(schema) => atif::write(context, schema, options, canon)?,
        Format::AgentTrace => agent_trace::write(context, options, canon),
        Format::TraceState(states) => return states::write(context, &states, options, canon),
        Format::Sft(sft) => return sft::write(context, &sft, options, canon),
    }
    canon.end_line();
    Ok(WriteOutput::default())
}

/// What a document holds, apart from training states.
fn figures_of(context: &Context<'_>) -> Figures {
    let mut figures = Figures {
        steps: context.timeline.items.len() as u64,
        edits: context.written.edits.len() as u64,
        subagents: context.timeline.members.len() as u64 - 1,
        abandoned_turns: context.timeline.left_out.abandoned_turns,
        housekeeping: context.timeline.left_out.housekeeping,
        ..Figures::default()
    };
    for item in &context.timeline.items {
        let Entry::Step(step) = item.what else { continue };
        for call in step.calls() {
            figures.calls += 1;
            figures.observations += u64::from(call.result.is_some());
        }
    }
    let ranges = context.written.files.iter().flat_map(|file| &file.ranges);
    figures.attributed_lines = ranges.map(|range| u64::from(range.last - range.first) + 1).sum();
    figures
}
