//! `backstory link`

mod hook;
mod text;

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::input_sessions::InputSessions;
use crate::pager;
use crate::select::{Scope, Selection, other_clones, recorded_places};
use crate::ui::{self, JsonLines};
use backstory_agents as agents;
use backstory_model::Notice;
use backstory_model::Session;
use backstory_session::discover::ProjectScope;
use backstory_session::history::{mentions_any, search_needle};
use backstory_session::link::{Belonging, Judged, Link, SessionFacts, links_of_facts, links_to};
use backstory_session::select::{SessionRef, fold_sessions};
use backstory_session::wire::{link_json, note_json};
use backstory_store::{Commit, CommitLog, Git, GitError, Store};
use backstory_text::figures::counted;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// Link sessions with the commits that hold their work
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  backstory link latest                     commits that hold the newest session's work\n  backstory link --commit HEAD              sessions that made the last commit\n  backstory link --range main..topic --json\n  backstory link install                    record it as a note after every commit\n\nExit: 0 there are links, 1 there are none, 2 something could not be read or found."
)]
pub(crate) struct LinkArguments {
    #[command(subcommand)]
    action: Option<Action>,

    /// Sessions: ids, starts of ids, paths, or `latest`; those of the repository if none is named
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,

    /// Sessions that made this commit
    #[arg(long, value_name = "REV", conflicts_with_all = ["sessions", "range"])]
    commit: Option<String>,

    /// Sessions that made these commits (main..topic)
    #[arg(long, value_name = "RANGE", conflicts_with = "sessions")]
    range: Option<String>,

    /// The repository (default: that of the current folder)
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,

    /// The repository was in DIR when its sessions were recorded; repeatable
    #[arg(long, value_name = "DIR")]
    recorded_as: Vec<String>,

    /// Record the links in the commit's note (refs/notes/backstory)
    #[arg(long, requires = "commit")]
    note: bool,

    /// One JSON object for each link (backstory.link/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    filters: FilterArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Record the sessions of every commit from now on, by a post-commit hook
    Install(hook::HookArguments),
    /// Take the hook out again
    Uninstall(hook::HookArguments),
    /// Tell whether the hook is there
    Status(hook::HookArguments),
}

pub(crate) fn run(
    arguments: &LinkArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    match &arguments.action {
        Some(Action::Install(install)) => return hook::install(install, global),
        Some(Action::Uninstall(uninstall)) => return hook::uninstall(uninstall, global),
        Some(Action::Status(status)) => return hook::status(status, global),
        None => {}
    }
    let git = repository(&arguments.repo, &global.store)?;
    let (links, notices) = match (&arguments.commit, &arguments.range) {
        (None, None) => of_sessions(arguments, &git, global)?,
        _ => of_commits(arguments, &git, global)?,
    };
    if !global.quiet {
        ui::notices(&notices);
    }
    if arguments.note {
        write_note(arguments, &git, &links)?;
    }
    if arguments.json {
        let mut out = JsonLines::new();
        for link in &links {
            out.write(&link_json(link, git.top()))?;
        }
        out.finish()?;
    } else if !links.is_empty() {
        let by_commit = arguments.commit.is_some() || arguments.range.is_some();
        let heading = if by_commit { text::By::Commit } else { text::By::Session };
        pager::show_written(|out| text::write(out, &links, heading))?;
    } else {
        let only =
            "only evidence counts: commits printed, bytes or lines committed, files at the time";
        return Err(CliError::not_found("no link").hint(only).given(&notices));
    }
    let outcome = if links.is_empty() { Outcome::Nothing } else { Outcome::Fine };
    Ok(outcome.given(&notices))
}

pub(super) fn repository(path: &Path, store: &Store) -> Result<Git, CliError> {
    // `holding` looks for the repository of something inside a folder.
    let git = |name| Git::holding(&path.join(name), store);
    git(".").or_else(|| git("x")).ok_or_else(|| {
        CliError::new(format!("`{}`: no git repository", path.display()))
            .hint("name one with --repo DIR")
    })
}

/// Links of the sessions found by the threads, and what could not be done.
type Found = (Vec<Link>, Vec<Notice>);

fn of_sessions(
    arguments: &LinkArguments,
    git: &Git,
    global: &GlobalArguments,
) -> Result<Found, CliError> {
    let clones = clones(git, global)?;
    let mut choice = arguments.filters.choice_in(git.top(), global)?;
    choice.clones.clone_from(&clones);
    let inputs = InputSessions::named(&arguments.sessions, &choice, global)?;
    let log = CommitLog::new(git.clone());
    let find = |facts: &SessionFacts| links_of_facts(facts, &log);
    each(&inputs, (arguments, &clones), &log, &|_| true, &find)
}

/// Other clones of the repository: their sessions recorded its files under other paths.
fn clones(git: &Git, global: &GlobalArguments) -> Result<Vec<ProjectScope>, CliError> {
    let selection = Selection::find(global, &[], Scope::Sessions)?;
    Ok(other_clones(&selection, Some(git), global))
}

fn of_commits(
    arguments: &LinkArguments,
    git: &Git,
    global: &GlobalArguments,
) -> Result<Found, CliError> {
    let commits = commits(arguments, git)?;
    // Whoever made a commit may have worked anywhere; the evidence decides.
    let inputs = InputSessions::named(&[], &arguments.filters.anywhere()?, global)?;
    let mut words: Vec<String> =
        commits.iter().filter_map(|commit| commit.id.get(..7)).map(str::to_owned).collect();
    let mut searchable = true;
    for file in commits.iter().flat_map(|commit| &commit.files) {
        match search_needle(&file.path) {
            Some(word) => words.push(word.to_owned()),
            None => searchable = false,
        }
    }
    words.sort();
    words.dedup();
    let speaks = |chosen: SessionRef<'_>| match chosen {
        SessionRef::Session(files) if searchable => mentions_any(files, &words),
        _ => true,
    };
    let log = CommitLog::new(git.clone());
    let find = |facts: &SessionFacts| links_to(facts, &commits, &log);
    each(&inputs, (arguments, &clones(git, global)?), &log, &speaks, &find)
}

fn commits(arguments: &LinkArguments, git: &Git) -> Result<Vec<Commit>, CliError> {
    let unknown = |what: &str, error: GitError| match error {
        GitError::NoCommit | GitError::Failed { .. } => {
            let top = git.top().display();
            CliError::new(format!("`{what}`: no such commit in `{top}`")).hint(
                "give a revision that git knows, such as HEAD~2, or a range such as main..topic",
            )
        }
        error => CliError::from(error).about(&format!("`{what}`")),
    };
    let ids = match (&arguments.commit, &arguments.range) {
        (Some(revision), _) => {
            vec![git.commit(revision).map_err(|error| unknown(revision, error))?.0]
        }
        (None, Some(range)) => git.range(range).map_err(|error| unknown(range, error))?,
        (None, None) => Vec::new(),
    };
    Ok(git.commits_named(&ids)?)
}

/// Reads sessions on all threads and asks each for its links.
fn each(
    inputs: &InputSessions,
    (arguments, clones): (&LinkArguments, &[ProjectScope]),
    log: &CommitLog,
    wanted: &(dyn Fn(SessionRef<'_>) -> bool + Sync),
    find: &(dyn Fn(&SessionFacts) -> Result<Judged, GitError> + Sync),
) -> Result<Found, CliError> {
    let chosen = inputs.chosen();
    let link = |session: &Session| {
        let parts = session.walk();
        let mut folders = parts.iter().flat_map(|part| &part.cwds);
        let in_clone = folders.any(|folder| clones.iter().any(|clone| clone.holds(folder)));
        let clones = if in_clone { clones } else { &[] };
        let recorded_as = recorded_places(&arguments.recorded_as, clones);
        let belonging = Belonging::of(session, log.git(), &recorded_as);
        let facts = SessionFacts::of(session, &belonging, log)?;
        if facts.is_empty() { Ok(Judged::default()) } else { find(&facts) }
    };
    let (parts, mut notices) = fold_sessions(
        &chosen,
        &inputs.store,
        &ui::Bar::new("linking"),
        Vec::new,
        |parts, at, chosen, context| {
            if !wanted(chosen) {
                return Ok(Vec::new());
            }
            let (session, failures) = match chosen {
                SessionRef::Session(files) => agents::read(files, context)?,
                SessionRef::Agent(file) => (agents::read_stray(file, context)?, Vec::new()),
            };
            parts.push((at, link(&session)));
            Ok(failures)
        },
        |all, more| all.extend(more),
    );
    notices.splice(0..0, inputs.notices.iter().cloned());
    let mut parts = parts;
    parts.sort_by_key(|(at, _)| *at);
    let mut all = Judged::default();
    for (_, part) in parts {
        let Judged { links, missing } = part?;
        all.links.extend(links);
        all.missing.extend(missing);
    }
    notices.extend(all.lacking(log.git()));
    Ok((all.links, notices))
}

fn write_note(arguments: &LinkArguments, git: &Git, links: &[Link]) -> Result<(), CliError> {
    let Some(note) = note_json(links) else { return Ok(()) };
    let commit = arguments.commit.as_deref().unwrap_or("HEAD");
    let (id, _) = git.commit(commit)?;
    let note = serde_json::to_string(&note).map_err(|error| CliError::new(error.to_string()))?;
    git.write_note(&id, &format!("{note}\n"))?;
    let sessions = links.iter().filter(|link| link.is_committed()).count() as u64;
    ui::say(&format!("note written: {}", counted(sessions, "session", "sessions")));
    Ok(())
}
