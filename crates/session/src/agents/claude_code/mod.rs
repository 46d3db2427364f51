//! Claude Code: one JSON Lines file per session, more for its subagents.
//!
//! [`read`] gives the whole model of a session. The steps: [`collect`] makes a row per record in
//! one pass over the bytes; [`tree`], [`recovery`] and [`story`] find what belongs together and in
//! which order; [`turns`] and [`calls`] make the neutral model; [`linkage`] hangs subagents under
//! the calls that started them.

mod build;
mod calls;
mod check;
mod checkpoint;
mod clone;
mod collect;
mod expenses;
mod facts;
mod family;
mod gaps;
mod glance;
mod ids;
mod inline;
mod kept;
mod linkage;
mod lost;
mod names;
mod own_runs;
mod parts;
mod presence;
mod project_key;
pub(crate) mod prompts;
mod queue;
mod recovery;
mod relatives;
mod resume;
mod rewritten;
mod rows;
mod story;
mod survey;
mod time;
mod titles;
mod told;
mod tree;
mod turns;

use crate::analyze::Examined;
use crate::clear::{Lesson, Lessons};
use crate::history::{Notes, Wanted};
use backstory_format::{Limits, Problem, ProblemId, Record, Visitor};
use backstory_model::{AgentFile, AgentPlace, SessionFiles};
use backstory_model::{Session, SessionKind};
use backstory_store::{LARGEST_META, read_small_text};
use backstory_store::{Source, StoreError, read_file};
use build::{Origin, build};
pub(crate) use check::{check_session, check_stray};
pub(crate) use clone::{make_clone, verify_clone};
pub(crate) use expenses::{Expenses, expenses};
pub(crate) use glance::{LONGEST_TITLE_MARKER, find_title, glance};
pub use ids::structural_paths;
use linkage::Linkage;
pub(crate) use own_runs::by_name as own_run_by_name;
pub use presence::{Presence, presence};
pub use project_key::project_key;
pub use relatives::relate;
use rows::Rows;
use std::path::Path;

/// What a Claude Code file cannot tell, for people who would look for it.
pub const UNREAD: [&str; 2] = ["cost", "edits made outside the agent's tools"];

/// Reads a session with all its subagents.
///
/// An agent file that cannot be read is left out and returned beside the session: one bad file
/// never hides the others.
pub fn read(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<(Session, Vec<StoreError>), StoreError> {
    let (session, _, failures) = read_family(files, limits, buffer, &|| ())?;
    Ok((session, failures))
}

/// Reads a session with all its subagents and what the analysis wants to know of each file; the
/// session's own file comes first.
pub fn examine(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<(Session, Vec<Examined>, Vec<StoreError>), StoreError> {
    read_family(files, limits, buffer, &Examined::default)
}

/// Reads a session with all its subagents, and notes of each file what its calls say about files.
pub(crate) fn read_noted<'w>(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
    wanted: Wanted<'w>,
) -> Result<(Session, Vec<Notes<'w>>, Vec<StoreError>), StoreError> {
    read_family(files, limits, buffer, &|| Notes::new(wanted))
}

/// [`read_noted`] for a subagent's file by itself.
pub(crate) fn read_stray_noted<'w>(
    file: &AgentFile,
    limits: Limits,
    buffer: &mut Vec<u8>,
    wanted: Wanted<'w>,
) -> Result<(Session, Notes<'w>), StoreError> {
    let (agent, notes) = read_agent(file, None, limits, buffer, &|| Notes::new(wanted))?;
    Ok((agent.session, notes))
}

/// What an export wants to know of a session besides its model.
#[derive(Clone, Copy)]
pub(crate) struct Heed<'h> {
    /// What its calls say about these files.
    pub(crate) wanted: Option<Wanted<'static>>,
    /// What is to be taken out.
    pub(crate) lessons: Option<&'h Lessons>,
}

impl<'h> Heed<'h> {
    fn listener(self) -> Listener<'h> {
        Listener { notes: self.wanted.map(Notes::new), lesson: self.lessons.map(Lessons::begin) }
    }
}

/// Reads a session with all its subagents, and what an export wants to know of each file.
pub(crate) fn read_heeding(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
    heed: Heed<'_>,
) -> Result<(Session, Vec<Notes<'static>>, Vec<StoreError>), StoreError> {
    let (session, listeners, failures) = read_family(files, limits, buffer, &|| heed.listener())?;
    let notes = listeners.into_iter().filter_map(|listener| listener.notes).collect();
    Ok((session, notes, failures))
}

/// [`read_heeding`] for a subagent's file by itself.
pub(crate) fn read_stray_heeding(
    file: &AgentFile,
    limits: Limits,
    buffer: &mut Vec<u8>,
    heed: Heed<'_>,
) -> Result<(Session, Vec<Notes<'static>>), StoreError> {
    let (agent, listener) = read_agent(file, None, limits, buffer, &|| heed.listener())?;
    Ok((agent.session, listener.notes.into_iter().collect()))
}

/// Reads a session's own file, without its subagents.
pub fn read_alone(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<Session, StoreError> {
    read_main(files, limits, buffer, &|| ()).map(|(session, _, ())| session)
}

/// Reads a subagent's file by itself.
pub fn read_stray(
    file: &AgentFile,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<Session, StoreError> {
    read_agent(file, None, limits, buffer, &|| ()).map(|(agent, ())| agent.session)
}

/// [`examine`] for a subagent's file by itself.
pub fn examine_stray(
    file: &AgentFile,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<(Session, Examined), StoreError> {
    let (agent, examined) = read_agent(file, None, limits, buffer, &Examined::default)?;
    Ok((agent.session, examined))
}

/// Something that looks at records while they are read.
trait Companion {
    fn record(&mut self, record: &Record<'_>);
    fn problem(&mut self, _: &Problem) {}
    fn finish(&mut self, path: &Path, rows: &Rows, session: &Session);
}

impl Companion for () {
    fn record(&mut self, _: &Record<'_>) {}
    fn finish(&mut self, _: &Path, _: &Rows, _: &Session) {}
}

impl Companion for Examined {
    fn record(&mut self, record: &Record<'_>) {
        self.collector.record(record);
    }

    fn finish(&mut self, path: &Path, rows: &Rows, session: &Session) {
        self.path = path.to_path_buf();
        self.figures = survey::survey(rows, session);
    }
}

impl Companion for Notes<'_> {
    fn record(&mut self, record: &Record<'_>) {
        self.record(record);
    }

    fn finish(&mut self, path: &Path, _: &Rows, _: &Session) {
        self.finish(path);
    }
}

/// Hears what an export wants to know of a file.
struct Listener<'l> {
    notes: Option<Notes<'static>>,
    lesson: Option<Lesson<'l>>,
}

impl Companion for Listener<'_> {
    fn record(&mut self, record: &Record<'_>) {
        if let Some(notes) = &mut self.notes {
            notes.record(record);
        }
        if let Some(lesson) = &mut self.lesson {
            lesson.record(record);
        }
    }

    fn problem(&mut self, problem: &Problem) {
        if let Some(lesson) = &mut self.lesson {
            lesson.problem(problem);
        }
    }

    fn finish(&mut self, path: &Path, _: &Rows, _: &Session) {
        if let Some(notes) = &mut self.notes {
            notes.finish(path);
        }
        if let Some(lesson) = &mut self.lesson {
            lesson.finish();
        }
    }
}

/// Rows and a companion, fed together.
struct Both<C> {
    rows: Rows,
    companion: C,
}

impl<C: Companion> Visitor for Both<C> {
    fn record(&mut self, record: &Record<'_>) {
        self.rows.record(record);
        self.companion.record(record);
    }

    fn problem(&mut self, problem: Problem) {
        self.companion.problem(&problem);
        self.rows.problem(problem);
    }
}

fn read_family<C: Companion>(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
    new: &dyn Fn() -> C,
) -> Result<(Session, Vec<C>, Vec<StoreError>), StoreError> {
    let (mut session, linkage, companion) = read_main(files, limits, buffer, new)?;
    let mut companions = vec![companion];
    let mut failures = Vec::new();
    let mut agents = Vec::new();
    for file in &files.agents {
        match read_agent(file, files.project_key.clone(), limits, buffer, new) {
            Ok((agent, companion)) => {
                agents.push(agent);
                companions.push(companion);
            }
            Err(error) => failures.push(error),
        }
    }
    family::unite(&mut session, linkage, agents);
    Ok((session, companions, failures))
}

fn read_main<C: Companion>(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
    new: &dyn Fn() -> C,
) -> Result<(Session, Linkage, C), StoreError> {
    read_one(&files.path, buffer, limits, new, |source, modified| Origin {
        id: files.id.clone(),
        kind: SessionKind::Session,
        project_key: files.project_key.clone(),
        source,
        modified,
    })
}

fn read_agent<C: Companion>(
    file: &AgentFile,
    project_key: Option<String>,
    limits: Limits,
    buffer: &mut Vec<u8>,
    new: &dyn Fn() -> C,
) -> Result<(family::Member, C), StoreError> {
    let (mut session, linkage, companion) =
        read_one(&file.path, buffer, limits, new, |source, modified| Origin {
            id: file.id.clone(),
            kind: kind_by_place(file),
            project_key,
            source,
            modified,
        })?;
    let meta = file.meta.as_ref().and_then(|path| read_small_text(path, LARGEST_META).ok());
    session.meta = meta.map(Into::into);
    family::refine_kind(&mut session);
    Ok((family::Member { session, linkage }, companion))
}

fn kind_by_place(file: &AgentFile) -> SessionKind {
    match own_runs::by_name(&file.id) {
        Some(kind) => kind,
        None if file.place == AgentPlace::Workflow => SessionKind::Workflow,
        None => SessionKind::Task,
    }
}

fn read_one<C: Companion>(
    path: &Path,
    buffer: &mut Vec<u8>,
    limits: Limits,
    new: &dyn Fn() -> C,
    origin: impl FnOnce(Source, Option<jiff::Timestamp>) -> Origin,
) -> Result<(Session, Linkage, C), StoreError> {
    let read =
        read_file(path, limits, buffer, || Both { rows: Rows::default(), companion: new() })?;
    let Both { mut rows, mut companion } = read.visitor;
    rows.totals = read.totals;
    if read.growing {
        rows.problems.remove(ProblemId::TornTail);
        rows.problems.remove(ProblemId::NoFinalNewline);
    }
    let source = Source::new(path, Some(read.state));
    let (session, linkage) = build(&mut rows, origin(source, read.state.modified));
    companion.finish(path, &rows, &session);
    Ok((session, linkage, companion))
}
