//! Rules of `check` for Claude Code's files.
//!
//! [`inspect`] looks at shapes while the bytes pass; [`request`] holds the conversation a resume
//! would send against what the API takes; [`history`] asks whether that is the whole conversation;
//! [`place`] looks at the file itself.

mod history;
pub(crate) mod inspect;
mod place;
pub(crate) mod request;
mod sink;

use super::{CheckId, Effect, FileReport, Report, Resume, Verdict};
use crate::build::report_problems;
use crate::calls::Results;
use crate::conversation::Conversation;
use crate::kind_by_place;
use crate::recovery::{Groups, Link};
use crate::rows::Rows;
use crate::tree::{LeafRule, Tree};
use backstory_format::{ProblemId, Severity};
use backstory_model::SessionKind;
use backstory_model::{AgentFile, SessionFiles};
use backstory_store::{ReadContext, StoreError, read_file};
use history::History;
use inspect::Inspector;
use request::Request;
use sink::Sink;
use std::path::Path;

/// See [`super::session`].
pub(crate) fn check_session(
    files: &SessionFiles,
    context: &mut ReadContext,
) -> Result<(Report, Vec<StoreError>), StoreError> {
    let own = check_file(&files.path, &files.id, SessionKind::Session, context)?;
    let mut report = Report {
        id: files.id.clone(),
        kind: SessionKind::Session,
        resume: judge(&own),
        files: vec![own],
    };
    let mut failures = Vec::new();
    for agent in &files.agents {
        match check_file(&agent.path, &agent.id, kind_by_place(agent), context) {
            Ok(file) => report.files.push(file),
            Err(error) => failures.push(error),
        }
    }
    Ok((report, failures))
}

/// See [`super::stray_agent`].
pub(crate) fn check_stray(
    agent: &AgentFile,
    context: &mut ReadContext,
) -> Result<Report, StoreError> {
    let kind = kind_by_place(agent);
    let file = check_file(&agent.path, &agent.id, kind, context)?;
    let resume = Resume { verdict: Verdict::NotApplicable, because: None };
    Ok(Report { id: agent.id.clone(), kind, resume, files: vec![file] })
}

/// The judgement that a session's own findings lead to.
fn judge(file: &FileReport) -> Resume {
    let because = file.findings.worst().cloned();
    let verdict = match because.as_ref().map(|finding| finding.effect) {
        None | Some(Effect::None) => Verdict::Yes,
        Some(Effect::Loss) => Verdict::WithLoss,
        // An empty conversation is no fault, unless one made it empty.
        Some(Effect::Stops) if file.findings.at_least(Severity::Error) == 0 => Verdict::Nothing,
        Some(Effect::Stops) => Verdict::No,
    };
    Resume { verdict, because }
}

fn check_file(
    path: &Path,
    id: &str,
    kind: SessionKind,
    context: &mut ReadContext,
) -> Result<FileReport, StoreError> {
    let place = Place { lies: path, named: path };
    check_as(place, id, kind, context, |_, _| ()).map(|(report, ())| report)
}

/// A file, and the name under which it is judged: a new one gets its name last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) lies: &'a Path,
    pub(crate) named: &'a Path,
}

/// Checks a session's own file before it has its name; gives the verdict, and what `look` makes of
/// its rows and active chain.
pub(crate) fn check_unnamed<T>(
    place: Place<'_>,
    id: &str,
    context: &mut ReadContext,
    look: impl FnOnce(&Rows, &[Link]) -> T,
) -> Result<(Resume, T), StoreError> {
    let (report, seen) = check_as(place, id, SessionKind::Session, context, look)?;
    Ok((judge(&report), seen))
}

fn check_as<T>(
    place: Place<'_>,
    id: &str,
    kind: SessionKind,
    context: &mut ReadContext,
    look: impl FnOnce(&Rows, &[Link]) -> T,
) -> Result<(FileReport, T), StoreError> {
    let path = place.named;
    let read = read_file(place.lies, context, Inspector::default)?;
    let mut inspector = read.visitor;
    inspector.rows.totals = read.totals;
    if read.growing {
        inspector.rows.problems.remove(ProblemId::TornTail);
        inspector.rows.problems.remove(ProblemId::NoFinalNewline);
    }
    let inspector = inspector;
    let rows = &inspector.rows;
    let (groups, results) = (Groups::new(rows), Results::new(rows));
    let rule = match kind {
        SessionKind::Session => LeafRule::Session,
        _ => LeafRule::Agent,
    };
    let tree = Tree::new(rows, rule);
    let conversation = Conversation::new(&tree, &groups, rule);
    let chain = conversation.chain.as_slice();
    let mut problems = rows.problems.clone();
    report_problems(rows, &tree, &groups, &results, &conversation, id, &mut problems);
    problems.sort();

    let mut sink = Sink::new(rows);
    if read.growing {
        sink.file(CheckId::BeingWritten, "");
    }
    let request = Request::new(&inspector, chain);
    // What another file holds is no fault of this one.
    let mut spared = vec![ProblemId::DuplicateUuid];
    match kind {
        SessionKind::Session => {
            let history = History::new(&inspector, &tree, chain);
            place::check_file(path, rows, &mut sink);
            history.check_references(&mut sink);
            if history.is_conversation() {
                history.check(&mut sink);
                request.check(&results, &mut sink);
            } else {
                sink.file(CheckId::NothingToResume, "");
            }
            spared.push(ProblemId::TornTail);
        }
        _ => {
            if continues_session(rows, kind) {
                spared.extend([ProblemId::MissingParent, ProblemId::OrphanResult]);
            } else {
                request.check_pairs(&results, &mut sink);
            }
        }
    }
    for copy in &inspector.copies {
        let id = if copy.differs { CheckId::UuidReused } else { CheckId::RecordRepeated };
        sink.reference(id, &copy.reference, "");
    }
    place::check_usage(rows, &mut sink);
    sink.take(&problems, &spared);
    sink.findings.sort();
    let report = FileReport {
        path: path.to_path_buf(),
        bytes: rows.totals.bytes,
        records: rows.totals.records,
        findings: sink.findings,
    };
    Ok((report, look(rows, chain)))
}

/// Whether an agent's file continues the conversation of its session's file.
fn continues_session(rows: &Rows, kind: SessionKind) -> bool {
    kind.is_housekeeping() || rows.forked_from.is_some() || rows.fork_context.is_some()
}
