//! `backstory show --all`: a folder of documents, kept up to date.

use super::read_copy;
use super::view::{Format, ViewArguments, write_session};
use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::guard::guard;
use crate::redaction;
use crate::select::{Scope, Selection, holds_sessions};
use crate::ui;
use backstory_agents as agents;
use backstory_model::Session;
use backstory_model::{Notice, SessionFiles};
use backstory_redact::{Redactor, Report};
use backstory_session::clear::ClearedCopy;
use backstory_session::discover::{ProjectScope, Root};
use backstory_session::parallel::Progress;
use backstory_session::render::{self, IndexRow, View};
use backstory_session::select::{SessionRef, distinct_names};
use backstory_store::{Access, Destination, Entry, OutputFolder, ReadContext, Store, plain_name};
use backstory_text::figures;
use rayon::prelude::*;
use std::path::Path;

/// A session that may have to be written.
struct Job<'a> {
    files: &'a SessionFiles,
    name: String,
    key: String,
}

/// What came of it.
enum Done {
    Written { name: String, entry: Box<Entry<IndexRow>>, notices: Vec<Notice>, report: Report },
    Failed(Notice),
}

pub(super) fn run(
    project: Option<&Path>,
    out: &Path,
    arguments: &ViewArguments,
    view: &View,
    redactor: Option<&Redactor>,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let format = arguments.format.unwrap_or(Format::Html);
    arguments.check(format)?;
    let holder = project.filter(|path| holds_sessions(path));
    let scope = project.filter(|_| holder.is_none()).map(ProjectScope::new);
    let extra: Vec<Root> = holder.into_iter().map(|path| Root { path: path.into() }).collect();
    let selection = Selection::find(global, &extra, Scope::All)?;
    let sessions: Vec<&SessionFiles> = match &scope {
        Some(scope) => selection.found.worked_in(std::slice::from_ref(scope)),
        None => selection.found.sessions.iter().collect(),
    };
    if sessions.is_empty() {
        return Err(match (project, selection.found.sessions.is_empty()) {
            (Some(project), false) => {
                CliError::not_found(format!("no session worked in `{}`", project.display()))
                    .hint("`backstory ls --sort project` shows where they did")
            }
            _ => selection.nothing(),
        });
    }
    let chosen: Vec<SessionRef<'_>> = sessions.iter().copied().map(SessionRef::Session).collect();
    let to = guard(global, &selection.roots, &chosen).folder(out)?;
    let mut folder: OutputFolder<IndexRow> = OutputFolder::open(&to, Access::Private)?;
    let jobs = jobs(&sessions, format, &arguments.fingerprint(format), &global.store);
    let total = jobs.len();
    let mut stale: Vec<Job<'_>> =
        jobs.into_iter().filter(|job| !folder.is_current(&job.name, &job.key)).collect();
    let unchanged = total - stale.len();
    let refused = folder.claim(stale.iter().map(|job| job.name.as_str()))?;
    let mut notices: Vec<Notice> =
        refused.iter().map(|error| Notice::failed(out, error.to_string())).collect();
    stale.retain(|job| folder.files().contains_key(&job.name));
    let (mut written, mut taken_out) = (0, Report::default());
    for result in write_jobs(&stale, &global.store, &folder, (view, redactor), format) {
        match result {
            Done::Written { name, entry, notices: more, report } => {
                written += 1;
                taken_out.add(&report);
                folder.record(&name, *entry);
                notices.extend(more);
            }
            Done::Failed(notice) => notices.push(notice),
        }
    }
    write_index(&mut folder, view, format, written > 0)?;
    folder.save()?;
    notices.splice(0..0, selection.found.notices.iter().cloned());
    if !global.quiet {
        ui::notices(&notices);
        let sessions = figures::counted(written, "session", "sessions");
        ui::say(&format!("{sessions} written to {}, {unchanged} unchanged", out.display()));
        if redactor.is_some() {
            ui::say(&format!("taken out: {}", redaction::by_class(&taken_out)));
        }
    }
    Ok(Outcome::Fine.given(&notices))
}

/// One session into a folder.
pub(super) fn one_into(
    session: &Session,
    out: &Destination,
    arguments: &ViewArguments,
    view: &View,
) -> Result<Outcome, CliError> {
    let format = arguments.format.unwrap_or(Format::Html);
    let mut folder: OutputFolder<IndexRow> = OutputFolder::open(out, Access::Private)?;
    let name = format!("{}.{}", plain_name(&session.id), format.extension());
    if let Some(refused) = folder.claim([name.as_str()])?.pop() {
        return Err(refused.into());
    }
    let bytes = folder.write(&name, |file| write_session(session, view, format, file))?;
    let about = Some(IndexRow::of(session, &name));
    folder.record(&name, Entry { key: String::new(), bytes, about });
    folder.save()?;
    Ok(Outcome::Fine)
}

fn jobs<'a>(
    sessions: &[&'a SessionFiles],
    format: Format,
    options: &str,
    store: &Store,
) -> Vec<Job<'a>> {
    let chosen: Vec<SessionRef<'_>> = sessions.iter().copied().map(SessionRef::Session).collect();
    let mut jobs: Vec<Job<'a>> = sessions
        .iter()
        .copied()
        .zip(distinct_names(&chosen))
        .map(|(files, name)| {
            let name = format!("{name}.{}", format.extension());
            Job { files, name, key: format!("{options} {}", state(files, store)) }
        })
        .collect();
    // Large ones first, so that no thread is left alone with one at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(job.files.total_bytes()));
    jobs
}

/// Size and time of every file that a session consists of.
fn state(files: &SessionFiles, store: &Store) -> String {
    let subagents = files
        .agents
        .iter()
        .flat_map(|agent| std::iter::once(agent.path.as_path()).chain(agent.meta.as_deref()));
    let mut newest = None;
    let (mut count, mut bytes) = (0, 0);
    let own = agents::files_of(files, store);
    for path in own.iter().map(|file| file.path.as_path()).chain(subagents) {
        if let Ok(facts) = std::fs::metadata(path) {
            count += 1;
            bytes += facts.len();
            newest = newest.max(facts.modified().ok());
        }
    }
    let newest = newest.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    format!("{count} files {bytes} bytes {} ns", newest.unwrap_or_default().as_nanos())
}

fn write_jobs(
    jobs: &[Job<'_>],
    store: &Store,
    folder: &OutputFolder<IndexRow>,
    view: (&View, Option<&Redactor>),
    format: Format,
) -> Vec<Done> {
    let bar = ui::Bar::new("writing");
    bar.begin(jobs.iter().map(|job| job.files.total_bytes()).sum());
    let done = jobs
        .par_iter()
        .with_max_len(1)
        .map_init(
            || ReadContext::new(store),
            |context, job| {
                let done = write_one(job, folder, view, format, context);
                bar.add(job.files.total_bytes());
                done.unwrap_or_else(|error| {
                    Done::Failed(Notice::failed(&job.files.path, error.message))
                })
            },
        )
        .collect();
    bar.end();
    done
}

fn write_one(
    job: &Job<'_>,
    folder: &OutputFolder<IndexRow>,
    (view, redactor): (&View, Option<&Redactor>),
    format: Format,
    context: &mut ReadContext,
) -> Result<Done, CliError> {
    let (mut session, mut failures) = agents::read(job.files, context)?;
    let copy = redactor
        .map(|redactor| ClearedCopy::of(job.files, redactor, &context.store))
        .transpose()?;
    if let Some(copy) = &copy {
        (session, failures) = read_copy(copy, context)?;
    }
    let report = copy.as_ref().map(|copy| copy.report().clone()).unwrap_or_default();
    let with_report = copy.as_ref().map(|_| redaction::with_report(view, &report));
    let view = with_report.as_ref().unwrap_or(view);
    let name = job.name.clone();
    let bytes = folder.write(&name, |file| write_session(&session, view, format, file))?;
    let about = Some(IndexRow::of(&session, &name));
    let notices = failures.iter().map(Notice::from).collect();
    Ok(Done::Written {
        name,
        entry: Box::new(Entry { key: job.key.clone(), bytes, about }),
        notices,
        report,
    })
}

/// The index of everything in the folder, sessions that are gone from the machine included.
fn write_index(
    folder: &mut OutputFolder<IndexRow>,
    view: &View,
    format: Format,
    changed: bool,
) -> Result<(), CliError> {
    if !matches!(format, Format::Html | Format::Md) {
        return Ok(());
    }
    let name = format!("index.{}", format.extension());
    let end = format!(".{}", format.extension());
    let rows: Vec<IndexRow> = folder
        .files()
        .iter()
        .filter(|(name, _)| name.ends_with(&end))
        .filter_map(|(_, entry)| entry.about.clone())
        .collect();
    if !changed && folder.files().contains_key(&name) && folder.path().join(&name).is_file() {
        return Ok(());
    }
    if let Some(refused) = folder.claim([name.as_str()])?.pop() {
        return Err(refused.into());
    }
    let bytes = folder.write::<CliError>(&name, |file| {
        match format {
            Format::Html => render::write_html_index(&rows, view, file)?,
            _ => render::write_markdown_index(&rows, view, file)?,
        }
        Ok(())
    })?;
    folder.record(&name, Entry { key: String::new(), bytes, about: None });
    Ok(())
}
