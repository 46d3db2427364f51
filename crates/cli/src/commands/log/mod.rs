//! `backstory log`

mod table;

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::pager;
use crate::select::edited_files;
use crate::ui::JsonLines;
use backstory_session::blame::{EditedFile, EditedFiles};
use backstory_session::discover::repository_top;
use backstory_session::history::Choice;
use backstory_session::select::Filter;
use backstory_session::wire::log_json;
use backstory_text::figures::counted;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// Show the edits agents made, over time
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory log                          every edit of this project, by file\n  backstory log src/main.rs --diff       one file, with what changed\n  backstory log --report --by model      lines that each model wrote, and those still there"
)]
pub(crate) struct LogArguments {
    /// Files or folders; the current folder if none is named
    pub(crate) paths: Vec<PathBuf>,

    /// How to group
    #[arg(long, value_name = "WHAT", default_value = "file")]
    pub(crate) by: By,

    /// Files × models × sessions: lines added, removed and still there
    #[arg(long)]
    pub(crate) report: bool,

    /// What each edit changed
    #[arg(long, conflicts_with = "report")]
    pub(crate) diff: bool,

    /// Only the first and the last edit of each file
    #[arg(long)]
    pub(crate) first_and_last: bool,

    /// Leave out edits of fewer lines, except a file's first and last
    #[arg(long, value_name = "LINES", default_value_t = 0)]
    pub(crate) min_change: u64,

    /// Only edits of sessions whose id has this prefix
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// The same as --everywhere
    #[arg(long, conflicts_with = "paths", hide = true)]
    all: bool,

    /// One JSON object for each file (backstory.log/1)
    #[arg(long)]
    json: bool,

    /// The project was in DIR when its sessions were recorded; repeatable
    #[arg(long, value_name = "DIR")]
    recorded_as: Vec<String>,

    #[command(flatten)]
    filters: FilterArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    File,
    Session,
    Model,
}

pub(crate) fn run(arguments: &LogArguments, global: &GlobalArguments) -> Result<Outcome, CliError> {
    let Filter { since, until, .. } = arguments.filters.anywhere()?.filter;
    // A session that went on may hold edits of the period.
    let filter = Filter { until: None, ..arguments.filters.anywhere()?.filter };
    let everywhere = global.everywhere || arguments.all;
    let paths = match (arguments.paths.is_empty(), repository_top(Path::new("."))) {
        (false, _) => arguments.paths.clone(),
        (true, _) if everywhere => Vec::new(),
        (true, Some(top)) => {
            arguments.filters.choice(global)?.tell(global);
            vec![top]
        }
        (true, None) => vec![PathBuf::from(".")],
    };
    // The program ends after this; to give all of it back piece by piece takes time for nothing.
    let project = ManuallyDrop::new(edited_files(&paths, &arguments.recorded_as, &filter, global)?);
    let log = ManuallyDrop::new(Log::new(&project, arguments, (since, until)));
    if log.files.is_empty() {
        return Err(nothing(paths.is_empty(), &project).given(&project.notices));
    }
    if arguments.json {
        write_json(&log)?;
    } else {
        pager::show(&table::render(&log, arguments))?;
    }
    Ok(Outcome::Fine.given(&project.notices))
}

/// The files and edits to show.
#[derive(Debug)]
pub(crate) struct Log<'p> {
    pub(crate) project: &'p EditedFiles,
    pub(crate) files: Vec<LogFile<'p>>,
}

#[derive(Debug)]
pub(crate) struct LogFile<'p> {
    pub(crate) file: &'p EditedFile,
    pub(crate) traced: backstory_session::history::Traced<'p>,
    /// Indices of the edits to show.
    pub(crate) shown: Vec<usize>,
}

impl<'p> Log<'p> {
    fn new(
        project: &'p EditedFiles,
        arguments: &LogArguments,
        (since, until): (Option<Timestamp>, Option<Timestamp>),
    ) -> Log<'p> {
        let choice =
            Choice { first_and_last: arguments.first_and_last, min_change: arguments.min_change };
        let mut files = Vec::new();
        for (file, traced) in project.trace_all() {
            let mut shown = choice.of(&traced.edits);
            shown.retain(|at| {
                traced.edits.get(*at).is_some_and(|edit| {
                    let time = edit.event.time;
                    let inside = since.is_none_or(|since| time.is_some_and(|time| time >= since))
                        && until.is_none_or(|until| time.is_some_and(|time| time < until));
                    let session = arguments.session.as_deref();
                    inside && session.is_none_or(|id| edit.edit.by.session.starts_with(id))
                })
            });
            if !shown.is_empty() {
                files.push(LogFile { file, traced, shown });
            }
        }
        Log { project, files }
    }
}

fn write_json(log: &Log<'_>) -> Result<(), CliError> {
    let mut out = JsonLines::new();
    for entry in &log.files {
        out.write(&log_json(log.project, entry.file, &entry.traced, &entry.shown))?;
    }
    out.finish()
}

fn nothing(everywhere: bool, project: &EditedFiles) -> CliError {
    let sessions = counted(project.sessions_searched as u64, "session", "sessions");
    let error = CliError::not_found(format!("no edits in {sessions}"));
    if everywhere {
        error.hint("other sessions: --root DIR")
    } else {
        error.hint(
            "backstory log --everywhere lists the files that were edited anywhere\n\
             if the project was in another folder when it was worked on, name it: --recorded-as DIR",
        )
    }
}
