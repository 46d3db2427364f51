//! `backstory show`

use crate::args::GlobalArguments;
use crate::commands::show_all;
use crate::commands::show_view::{ViewArguments, write_session};
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::pager;
use crate::select::{Chosen, Selection};
use crate::ui;
use backstory_format::Limits;
use backstory_session::agents::{self, claude_code};
use backstory_session::model::{Agent, Session};
use backstory_session::redact::{ClearedCopy, Redactor};
use backstory_session::store::{Access, Notice, Root, StoreError, discover, resolve, write_file};
use clap::Args;
use std::path::{Path, PathBuf};

/// Show a session: terminal, text, Markdown, HTML or JSON
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory show latest\n  backstory show 3f2a --out session.html\n  backstory show latest --format md --select prompts,text,edits\n  backstory show --all . --out pages/       every session of this project, with an index\n  backstory show latest --share --out page.html\n  backstory show latest --format json | jq '.turns[].prompt.text'"
)]
pub(crate) struct ShowArguments {
    /// An id or the start of one, a path, `latest`, or `latest~2` for the one two before it;
    /// with --all a project's folder
    #[arg(required_unless_present = "all")]
    session: Option<String>,

    /// Every session of a project (or of the machine) into the folder named with --out
    #[arg(long, requires = "out")]
    all: bool,

    /// Write to this file, or into this folder
    #[arg(long, short, value_name = "FILE|DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    view: ViewArguments,

    /// Print without a pager
    #[arg(long)]
    no_pager: bool,
}

pub(crate) fn run(
    arguments: &ShowArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let view = arguments.view.view()?;
    let out = named(arguments.out.as_deref());
    let wanted = match (&arguments.session, out) {
        (_, None) if arguments.all => {
            return Err(CliError::new("--all writes a folder").hint("name it with --out DIR"));
        }
        (project, Some(out)) if arguments.all => {
            let project = project.as_deref().map(Path::new);
            let redactor = arguments.view.redactor()?;
            return show_all::run(project, out, &arguments.view, &view, redactor.as_ref(), global);
        }
        (Some(session), _) => session,
        (None, _) => return Err(CliError::new("no session was named").hint("backstory ls")),
    };
    let format = arguments.view.format_for(out);
    arguments.view.check(format)?;
    let redactor = arguments.view.redactor()?;
    let Shown { session, selection, notices, copy: _copy } =
        find_cleared(wanted, global, redactor.as_ref())?;
    arguments.view.check_turns(&session, &view)?;
    let Some(out) = out else {
        let paged = !arguments.no_pager && format == super::show_view::Format::Terminal;
        pager::page(paged, |out| write_session(&session, &view, format, out))?;
        return Ok(Outcome::Fine.given(&notices));
    };
    refuse_agents_folder(out, &selection.roots)?;
    if out.is_dir() || out.as_os_str().to_string_lossy().ends_with(['/', '\\']) {
        return Ok(show_all::one_into(&session, out, &arguments.view, &view)?.given(&notices));
    }
    let own = session.source.shown_path();
    if [session.source.path(), Path::new(&*own)].iter().any(|path| resolve(path) == resolve(out)) {
        return Err(CliError::new(format!("`{}`: that is the session itself", out.display()))
            .hint("name another file"));
    }
    write_file(out, Access::Usual, |file| write_session(&session, &view, format, file))?;
    Ok(Outcome::Fine.given(&notices))
}

/// The file or folder to write to; none for `-`, which is standard output.
pub(super) fn named(out: Option<&Path>) -> Option<&Path> {
    out.filter(|out| out.as_os_str() != "-")
}

/// Output never goes where an agent keeps its sessions.
pub(super) fn refuse_agents_folder(out: &Path, roots: &[Root]) -> Result<(), CliError> {
    let place = resolve(out);
    let own = environment::agents_folders();
    let roots = roots.iter().map(|root| root.path.as_path());
    for folder in roots.chain(own.iter().map(PathBuf::as_path)).filter(|folder| folder.is_dir()) {
        if place.starts_with(resolve(folder)) {
            return Err(CliError::new(format!(
                "`{}`: lies in `{}`, where sessions are kept",
                out.display(),
                folder.display()
            ))
            .hint("name a place outside it"));
        }
    }
    Ok(())
}

/// Counts go to another file than what they count.
pub(super) fn refuse_same(out: Option<&Path>, stats: Option<&Path>) -> Result<(), CliError> {
    match out.zip(stats).filter(|(out, stats)| resolve(out) == resolve(stats)) {
        Some((out, _)) => {
            Err(CliError::new(format!("`{}`: named for rows and for counts", out.display()))
                .hint("name another file with --stats"))
        }
        None => Ok(()),
    }
}

/// A session, and the cleared copy it is read from, which must stay as long.
pub(crate) struct Shown {
    pub(crate) session: Session,
    pub(crate) selection: Selection,
    /// Parts of it that could not be read.
    pub(crate) notices: Vec<Notice>,
    pub(crate) copy: Option<ClearedCopy>,
}

/// Reads the session that the user means, without secrets if there is something that takes them out.
pub(crate) fn find_cleared(
    wanted: &str,
    global: &GlobalArguments,
    redactor: Option<&Redactor>,
) -> Result<Shown, CliError> {
    let (selection, path) = Selection::for_one(wanted, global)?;
    let chosen = selection.one(wanted, path.as_ref())?;
    let mut buffer = Vec::new();
    let copy = redactor.map(|redactor| cleared(chosen, redactor)).transpose()?;
    let (mut session, failures) = match (chosen, &copy) {
        (_, Some(copy)) => read_copy(copy, selection.limits, &mut buffer)?,
        (Chosen::Session(files), None) => agents::read(files, selection.limits, &mut buffer)?,
        (Chosen::Agent(file), None) => {
            (claude_code::read_stray(file, selection.limits, &mut buffer)?, Vec::new())
        }
    };
    if let Chosen::Session(files) = chosen
        && files.agent == Agent::ClaudeCode
    {
        let folder = files.path.parent().map(|path| Root { path: path.to_path_buf() });
        let siblings = match &path {
            // Only the file was named, so its neighbours are still unknown.
            Some(_) => discover(folder.as_slice()).sessions,
            None => selection.found.sessions.clone(),
        };
        // The original of a copy is no relative of it.
        let others: Vec<_> =
            siblings.into_iter().filter(|one| copy.is_none() || one.path != files.path).collect();
        claude_code::relate(&mut session, &others);
    }
    let notices: Vec<Notice> = failures.iter().map(Notice::from).collect();
    if !global.quiet {
        ui::notices(&notices);
    }
    Ok(Shown { session, selection, notices, copy })
}

/// A copy of what was chosen, without secrets.
fn cleared(chosen: Chosen<'_>, redactor: &Redactor) -> Result<ClearedCopy, CliError> {
    Ok(match chosen {
        Chosen::Session(files) => {
            ClearedCopy::of(files, redactor, &agents::structural_paths(files.agent))?
        }
        Chosen::Agent(file) => {
            ClearedCopy::of_agent(file, redactor, &claude_code::structural_paths())?
        }
    })
}

/// The session of a cleared copy.
pub(super) fn read_copy(
    copy: &ClearedCopy,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<(Session, Vec<StoreError>), CliError> {
    let (mut session, failures) = match (copy.session(), copy.agents().get()) {
        (Some(files), _) => agents::read(files.get(), limits, buffer)?,
        (None, [agent, ..]) => (claude_code::read_stray(agent, limits, buffer)?, Vec::new()),
        (None, []) => return Err(CliError::new("nothing to show")),
    };
    copy.name_origins(&mut session);
    Ok((session, failures))
}
