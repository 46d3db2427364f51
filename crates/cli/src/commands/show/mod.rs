//! `backstory show`

mod all;
mod highlight;
mod jump;
mod view;

use crate::args::GlobalArguments;
use crate::browser;
use crate::error::{CliError, Outcome};
use crate::filter::{Choice, FilterArguments};
use crate::guard::guard;
use crate::output::named;
use crate::pager;
use crate::redaction;
use crate::select::Selection;
use crate::ui;
use backstory_agents as agents;
use backstory_model::Notice;
use backstory_model::Session;
use backstory_redact::Redactor;
use backstory_session::clear::ClearedCopy;
use backstory_session::discover::{Root, discover};
use backstory_session::render::View;
use backstory_session::select::SessionRef;
use backstory_store::{Access, Guard, ReadContext, Store, StoreError, plain_name, write_file};
use clap::Args;
use std::path::{Path, PathBuf};
pub(crate) use view::ViewArguments;
use view::write_session;

/// Show a session: terminal, text, Markdown, HTML or JSON
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory show                            the newest session of this repository\n  backstory show 3f2a --out session.html\n  backstory show latest --format md --select prompts,text,edits\n  backstory show --all . --out pages/       every session of this project, with an index\n  backstory show latest --share --out page.html\n  backstory show latest --format json | jq '.turns[].prompt.text'"
)]
pub(crate) struct ShowArguments {
    /// An id or its start, a path, `latest` or `latest~2`; with --all a project's folder
    session: Option<String>,

    /// Every session of a project, or of the machine, into the folder --out
    #[arg(long, requires = "out")]
    all: bool,

    /// Write to this file, or into this folder
    #[arg(long, short, value_name = "FILE|DIR")]
    out: Option<PathBuf>,

    /// Open it as a page in the browser
    #[arg(long, conflicts_with_all = ["all", "out", "format", "json"])]
    open: bool,

    #[command(flatten)]
    view: ViewArguments,

    /// Begin at this turn, record or call, as `search` prints it
    #[arg(long, value_name = "ID|N", conflicts_with = "all")]
    at: Option<String>,

    /// Begin at the first message that meets this query of `search`
    #[arg(long, value_name = "QUERY", conflicts_with = "all")]
    find: Option<String>,

    /// Print without a pager
    #[arg(long, hide_short_help = true)]
    no_pager: bool,

    #[command(flatten)]
    filters: FilterArguments,
}

pub(crate) fn run(
    arguments: &ShowArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let view = arguments.view.view()?;
    let choice = arguments.filters.choice(global)?;
    let out = named(arguments.out.as_deref());
    let wanted = match (&arguments.session, out) {
        (_, None) if arguments.all => {
            return Err(CliError::new("--all writes a folder").hint("name it with --out DIR"));
        }
        (project, Some(out)) if arguments.all => {
            let project = project.as_deref().map(Path::new);
            let redactor = arguments.view.redactor()?;
            let how =
                all::How { arguments: &arguments.view, view: &view, redactor: redactor.as_ref() };
            return all::run(project, out, &how, choice, global);
        }
        (Some(session), _) => session.as_str(),
        (None, _) => "latest",
    };
    if arguments.open {
        return open(wanted, &arguments.view, &choice, global);
    }
    let format = arguments.view.format_for(out);
    arguments.view.check(format)?;
    for (option, given) in [("--at", &arguments.at), ("--find", &arguments.find)] {
        if given.is_some() && format == view::Format::Json {
            return Err(CliError::new(format!("{option}: JSON holds the whole session"))
                .hint("use another --format"));
        }
    }
    let matcher = arguments.find.as_deref().map(jump::matcher).transpose()?;
    let redactor = arguments.view.redactor()?;
    let found = find_cleared(wanted, &choice, global, redactor.as_ref())?;
    let mut view = view_of(&found, view, &arguments.view, global)?;
    let Shown { mut session, notices, mut guard, .. } = found;
    let found = match &matcher {
        Some(matcher) if arguments.at.is_none() => jump::first(wanted, &choice, global, matcher)?,
        _ => None,
    };
    if let Some(at) = arguments.at.as_ref().or(found.as_ref()) {
        jump::begin_at(&mut session, at, &mut view)?;
    }
    let Some(out) = out else {
        let paged = !arguments.no_pager && format == view::Format::Terminal;
        pager::page(paged, |out| match &matcher {
            Some(matcher) if format == view::Format::Terminal && ui::has_colour() => {
                let mut out = highlight::Highlight::new(out, matcher);
                write_session(&session, &view, format, &mut out)
            }
            _ => write_session(&session, &view, format, out),
        })?;
        return Ok(Outcome::Fine.given(&notices));
    };
    let out = guard.file_or_folder(out)?;
    if out.is_folder() {
        return Ok(all::one_into(&session, &out, &arguments.view, &view)?.given(&notices));
    }
    write_file(&out, Access::Private, |file| write_session(&session, &view, format, file))?;
    Ok(Outcome::Fine.given(&notices))
}

/// Opens a session as a page in the browser.
pub(crate) fn open(
    wanted: &str,
    arguments: &ViewArguments,
    choice: &Choice,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let format = arguments.format().unwrap_or(view::Format::Html);
    if format != view::Format::Html {
        return Err(CliError::new("a browser opens pages only").hint("leave out --format"));
    }
    arguments.check(format)?;
    let found = find_cleared(wanted, choice, global, arguments.redactor()?.as_ref())?;
    let view = view_of(&found, arguments.view()?, arguments, global)?;
    let name = format!("{}.html", plain_name(&found.session.id));
    browser::open(&name, |out| write_session(&found.session, &view, format, out))?;
    Ok(Outcome::Fine.given(&found.notices))
}

/// The view of what was found, which says what was redacted.
fn view_of(
    found: &Shown,
    view: View,
    arguments: &ViewArguments,
    global: &GlobalArguments,
) -> Result<View, CliError> {
    let view = match &found.copy {
        Some(copy) => {
            if !global.quiet {
                ui::say(&format!("taken out: {}", redaction::by_class(copy.report())));
            }
            redaction::with_report(&view, copy.report())
        }
        None => view,
    };
    arguments.check_turns(&found.session, &view)?;
    Ok(view)
}

/// A session, and the cleared copy it is read from, which must stay as long.
pub(crate) struct Shown {
    pub(crate) session: Session,
    /// What must not be written over.
    pub(crate) guard: Guard,
    /// The size of its files.
    pub(crate) bytes: u64,
    /// Parts of it that could not be read.
    pub(crate) notices: Vec<Notice>,
    pub(crate) copy: Option<ClearedCopy>,
}

/// Reads the session that the user means, without secrets if there is something that takes them out.
pub(crate) fn find_cleared(
    wanted: &str,
    choice: &Choice,
    global: &GlobalArguments,
    redactor: Option<&Redactor>,
) -> Result<Shown, CliError> {
    let (selection, path) = Selection::for_one(wanted, global)?;
    let chosen = selection.one(wanted, path.as_ref(), choice, global)?;
    let mut context = ReadContext::new(&global.store);
    let copy = redactor.map(|redactor| cleared(chosen, redactor, &global.store)).transpose()?;
    let (mut session, failures) = match (chosen, &copy) {
        (_, Some(copy)) => read_copy(copy, &mut context)?,
        (SessionRef::Session(files), None) => agents::read(files, &mut context)?,
        (SessionRef::Agent(file), None) => (agents::read_stray(file, &mut context)?, Vec::new()),
    };
    if let SessionRef::Session(files) = chosen {
        let mut others = || {
            let folder = files.path.parent().map(|path| Root { path: path.to_path_buf() });
            let siblings = match &path {
                // Only the file was named, so its neighbours are still unknown.
                Some(_) => discover(folder.as_slice(), &global.store).sessions,
                None => selection.found.sessions.clone(),
            };
            // The original of a copy is not a relative of it.
            let others = siblings.into_iter();
            others.filter(|one| copy.is_none() || one.path != files.path).collect()
        };
        agents::reader(files.agent).relate(&mut session, &mut others);
    }
    let notices: Vec<Notice> = failures.iter().map(Notice::from).collect();
    if !global.quiet {
        ui::notices(&notices);
    }
    let guard = guard(global, &selection.roots, &[chosen]);
    Ok(Shown { session, bytes: chosen.total_bytes(), guard, notices, copy })
}

/// A copy of what was chosen, without secrets.
fn cleared(
    chosen: SessionRef<'_>,
    redactor: &Redactor,
    store: &Store,
) -> Result<ClearedCopy, CliError> {
    Ok(match chosen {
        SessionRef::Session(files) => ClearedCopy::of(files, redactor, store)?,
        SessionRef::Agent(file) => ClearedCopy::of_agent(file, redactor)?,
    })
}

/// The session of a cleared copy.
pub(super) fn read_copy(
    copy: &ClearedCopy,
    context: &mut ReadContext,
) -> Result<(Session, Vec<StoreError>), CliError> {
    let (mut session, failures) = match (copy.session(), copy.agents().get()) {
        (Some(files), _) => agents::read(files.get(), context)?,
        (None, [agent, ..]) => (agents::read_stray(agent, context)?, Vec::new()),
        (None, []) => return Err(CliError::new("nothing to show")),
    };
    copy.name_origins(&mut session);
    Ok((session, failures))
}
