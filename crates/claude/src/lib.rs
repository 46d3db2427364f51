//! Claude Code: one JSON Lines file per session, more for its subagents.
//!
//! [`read`] gives the whole model of a session. The steps: [`collect`] makes a row per record in
//! one pass over the bytes; [`tree`], [`recovery`] and [`conversation`] find what belongs together and in
//! which order; [`turns`] and [`calls`] make the neutral model; [`subagent_evidence`] hangs subagents under
//! the calls that started them.
//!
//! [`actions`] says what calls do, when somebody asks.
//!
//! What only this agent's files allow is here too: [`check`] says whether a session would resume,
//! [`clone`](mod@clone) makes trimmed copies, [`analyze`] describes the format from the data.

pub mod actions;
mod activity;
mod agent;
pub mod analyze;
mod build;
mod calls;
pub mod check;
mod checkpoint;
pub mod clone;
mod collect;
mod conversation;
mod facts;
mod file_stats;
mod gaps;
mod hash;
mod ids;
mod inline;
mod kept;
mod lineage;
mod links;
mod lost;
mod meta;
mod names;
mod origin;
mod own_runs;
mod parts;
mod project_key;
pub mod prompts;
mod queue;
mod quick_summary;
mod recorded;
mod recovery;
mod resume;
mod rewritten;
mod rows;
mod subagent_evidence;
mod subagents;
mod summary;
mod time;
mod titles;
mod tree;
mod turn_builder;
mod turns;
mod usage_scan;

pub use crate::agent::AGENT;
use crate::analyze::Examined;
pub use activity::{Activity, activity};
use backstory_format::{Problem, ProblemId, Record, Visitor};
use backstory_model::{AgentFile, AgentPlace, RecordObserver, SessionFiles};
use backstory_model::{Session, SessionKind};
use backstory_store::{ReadContext, Source, StoreError, read_file};
use build::build;
pub use ids::structural_paths;
pub use lineage::relate;
pub use meta::agent_meta;
use origin::Origin;
pub use project_key::project_key;
pub use recorded::{is_known_type, recorded_session};
use rows::Rows;
use std::cell::RefCell;
use std::path::Path;
use subagent_evidence::SubagentEvidence;
pub use summary::summary;
pub use usage_scan::spending;

/// Reads a session with all its subagents.
///
/// An agent file that cannot be read is left out and returned beside the session: one bad file
/// never hides the others.
pub fn read(
    files: &SessionFiles,
    context: &mut ReadContext,
    observer: &mut dyn RecordObserver,
) -> Result<(Session, Vec<StoreError>), StoreError> {
    read_with_subagents(files, context, observer, &mut |_, _| ())
}

/// Reads a session's own file, without its subagents.
pub fn read_alone(files: &SessionFiles, context: &mut ReadContext) -> Result<Session, StoreError> {
    read_main(files, context, &mut ()).map(|one| one.session)
}

/// Reads a subagent's file by itself.
pub fn read_stray(
    file: &AgentFile,
    context: &mut ReadContext,
    observer: &mut dyn RecordObserver,
) -> Result<Session, StoreError> {
    read_agent(file, None, context, observer).map(|one| one.session)
}

/// Reads a session with all its subagents and what the analysis wants to know of each file; the
/// session's own file comes first.
pub fn examine(
    files: &SessionFiles,
    context: &mut ReadContext,
) -> Result<(Session, Vec<Examined>, Vec<StoreError>), StoreError> {
    let mut examiner = Examiner::default();
    let mut figures = Vec::new();
    let mut count =
        |rows: &Rows, session: &Session| figures.push(file_stats::file_figures(rows, session));
    let (session, failures) = read_with_subagents(files, context, &mut examiner, &mut count)?;
    let files = examiner.done.into_iter().zip(figures);
    let examined = files.map(|(file, figures)| Examined { figures, ..file }).collect();
    Ok((session, examined, failures))
}

/// [`examine`] for a subagent's file by itself.
pub fn examine_stray(
    file: &AgentFile,
    context: &mut ReadContext,
) -> Result<(Session, Examined), StoreError> {
    let mut examiner = Examiner::default();
    let one = read_agent(file, None, context, &mut examiner)?;
    let figures = file_stats::file_figures(&one.rows, &one.session);
    let examined = examiner.done.pop().unwrap_or_default();
    Ok((one.session, Examined { figures, ..examined }))
}

/// Collects what the analysis wants to know of each file.
#[derive(Default)]
struct Examiner {
    open: Examined,
    done: Vec<Examined>,
}

impl RecordObserver for Examiner {
    fn begin(&mut self, path: &Path) {
        self.open = Examined { path: path.to_path_buf(), ..Examined::default() };
    }

    fn record(&mut self, record: &Record<'_>) {
        self.open.collector.record(record);
    }

    fn end(&mut self, _: &Path) {
        self.done.push(std::mem::take(&mut self.open));
    }
}

/// Rows of a file, and an observer of its records.
struct Observed<'o, 'r> {
    rows: Rows,
    observer: &'o RefCell<&'r mut dyn RecordObserver>,
}

impl Visitor for Observed<'_, '_> {
    fn record(&mut self, record: &Record<'_>) {
        self.rows.record(record);
        self.observer.borrow_mut().record(record);
    }

    fn problem(&mut self, problem: Problem) {
        self.observer.borrow_mut().problem(&problem);
        self.rows.problem(problem);
    }
}

/// A file and what was read from it.
struct ReadFile {
    session: Session,
    evidence: SubagentEvidence,
    rows: Rows,
}

fn read_with_subagents(
    files: &SessionFiles,
    context: &mut ReadContext,
    observer: &mut dyn RecordObserver,
    each: &mut dyn FnMut(&Rows, &Session),
) -> Result<(Session, Vec<StoreError>), StoreError> {
    let ReadFile { mut session, evidence, rows } = read_main(files, context, observer)?;
    each(&rows, &session);
    drop(rows);
    let mut failures = Vec::new();
    let mut agents = Vec::new();
    for file in &files.agents {
        match read_agent(file, files.project_key.clone(), context, observer) {
            Ok(ReadFile { session, evidence, rows }) => {
                each(&rows, &session);
                agents.push(subagents::Member { session, evidence });
            }
            Err(error) => failures.push(error),
        }
    }
    subagents::unite(&mut session, evidence, agents);
    Ok((session, failures))
}

fn read_main(
    files: &SessionFiles,
    context: &mut ReadContext,
    observer: &mut dyn RecordObserver,
) -> Result<ReadFile, StoreError> {
    read_one(&files.path, context, observer, |source, modified| Origin {
        id: files.id.clone(),
        kind: SessionKind::Session,
        project_key: files.project_key.clone(),
        source,
        modified,
    })
}

fn read_agent(
    file: &AgentFile,
    project_key: Option<String>,
    context: &mut ReadContext,
    observer: &mut dyn RecordObserver,
) -> Result<ReadFile, StoreError> {
    let mut one = read_one(&file.path, context, observer, |source, modified| Origin {
        id: file.id.clone(),
        kind: kind_by_place(file),
        project_key,
        source,
        modified,
    })?;
    one.session.meta = file.meta.as_deref().and_then(agent_meta);
    subagents::refine_kind(&mut one.session);
    Ok(one)
}

/// What sort of conversation a subagent's file holds, by its name and place.
pub fn kind_by_place(file: &AgentFile) -> SessionKind {
    match own_runs::by_name(&file.id) {
        Some(kind) => kind,
        None if file.place == AgentPlace::Workflow => SessionKind::Workflow,
        None => SessionKind::Task,
    }
}

fn read_one(
    path: &Path,
    context: &mut ReadContext,
    observer: &mut dyn RecordObserver,
    origin: impl FnOnce(Source, Option<jiff::Timestamp>) -> Origin,
) -> Result<ReadFile, StoreError> {
    let observer = RefCell::new(observer);
    let read = read_file(path, context, || {
        observer.borrow_mut().begin(path);
        Observed { rows: Rows::default(), observer: &observer }
    })?;
    let mut rows = read.visitor.rows;
    rows.totals = read.totals;
    if read.growing {
        rows.problems.remove(ProblemId::TornTail);
        rows.problems.remove(ProblemId::NoFinalNewline);
    }
    let source = Source::new(path, Some(read.state), &context.store);
    let (session, evidence) = build(&mut rows, origin(source, read.state.modified));
    observer.into_inner().end(path);
    Ok(ReadFile { session, evidence, rows })
}
