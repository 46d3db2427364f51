//! `backstory blame`

mod porcelain;
mod table;

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::pager;
use crate::select::{Scope, Selection, other_clones, recorded_places};
use crate::ui::{self, JsonLines};
use backstory_format::slice::Part;
use backstory_session::blame::{
    Blame, BlameLine, FileHistory, FileText, FileTextError, Follow, NameSources, blame,
};
use backstory_session::wire::blame_json;
use backstory_store::Git;
use backstory_text::figures::counted;
use clap::Args;
use std::path::{Path, PathBuf};

/// Show which model, session and prompt wrote each line of a file
#[derive(Debug, Args)]
#[command(
    after_help = "Marks before the line number: > moved, ~ only whitespace changed since, ? inferred.\nLines without a model were not written by an agent's edit, or nothing proves that they were.\n\nExamples:\n  backstory blame src/main.rs -L 10,40\n  backstory blame src/main.rs --blocks --prompt\n  backstory blame README.md --rev HEAD~3 --git --summary"
)]
pub(crate) struct BlameArguments {
    /// The file; FILE:38 or FILE:38-40 for lines of it
    pub(crate) file: PathBuf,

    /// Only lines N to M (also N,+COUNT and N, to the end)
    #[arg(short = 'L', value_name = "N,M", value_parser = parse_range)]
    pub(crate) lines: Option<Wanted>,

    /// The file as it is in this commit instead of on disk
    #[arg(long, value_name = "REV")]
    pub(crate) rev: Option<String>,

    /// One row for each run of lines with the same origin
    #[arg(long)]
    pub(crate) blocks: bool,

    /// The prompt that led to each block
    #[arg(long)]
    pub(crate) prompt: bool,

    /// Only the figures
    #[arg(long)]
    pub(crate) summary: bool,

    /// Also ask git: the commit of each line, the author where no agent wrote it
    #[arg(long)]
    pub(crate) git: bool,

    /// One JSON object (backstory.blame/1)
    #[arg(long, conflicts_with_all = ["porcelain", "blocks"])]
    pub(crate) json: bool,

    /// The fields of git blame --line-porcelain, and ours
    #[arg(long)]
    pub(crate) porcelain: bool,

    /// The project was in DIR when its sessions were recorded; repeatable
    #[arg(long, value_name = "DIR")]
    recorded_as: Vec<String>,

    /// Do not ask git for names the file had before
    #[arg(long)]
    no_follow: bool,
}

/// A range of lines as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    first: u64,
    last: u64,
}

fn parse_range(text: &str) -> Result<Wanted, String> {
    let number =
        |text: &str| text.trim().parse::<u64>().map_err(|_| "use N,M or N,+COUNT".to_owned());
    let (first, last) = match text.split_once(',') {
        None => (number(text)?, number(text)?),
        Some((first, "")) => (number(first)?, u64::MAX),
        Some((first, last)) => match last.strip_prefix('+') {
            Some(count) => {
                let first = number(first)?;
                (first, first.saturating_add(number(count)?).saturating_sub(1))
            }
            None => (if first.is_empty() { 1 } else { number(first)? }, number(last)?),
        },
    };
    if first == 0 || last < first {
        return Err("lines count from 1, and the first comes first".to_owned());
    }
    Ok(Wanted { first, last })
}

/// The answer before it is written in one form or another.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) blame: &'a Blame<'a>,
    /// The wanted lines.
    pub(super) lines: &'a [BlameLine<'a>],
    pub(super) path: String,
    pub(super) commit: Option<&'a str>,
}

/// The file and the lines of `FILE:38` or `FILE:38-40`, unless there is a file of that name.
fn with_lines(file: &Path) -> Option<(PathBuf, Wanted)> {
    let text = file.to_str().filter(|_| !file.exists())?;
    let (file, lines) = text.rsplit_once(':')?;
    let wanted = parse_range(&lines.replacen('-', ",", 1)).ok()?;
    (!file.is_empty()).then(|| (PathBuf::from(file), wanted))
}

pub(crate) fn run(
    arguments: &mut BlameArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    if arguments.lines.is_none()
        && let Some((file, lines)) = with_lines(&arguments.file)
    {
        arguments.file = file;
        arguments.lines = Some(lines);
    }
    let arguments = &*arguments;
    let git = Git::holding(&arguments.file, &global.store);
    let text = text(arguments, git.as_ref())?;
    let history = history(arguments, git.as_ref(), &text, global)?;
    let blame = blame(&history, &text, asked(arguments, git.as_ref())?)?;
    if !text.text.is_empty() && blame.is_unknown() {
        return Err(nothing(arguments, &history).given(&history.notices));
    }
    let lines = wanted_lines(arguments, &blame.lines)?;
    let path = arguments.file.to_string_lossy().into_owned();
    let answer = Answer { blame: &blame, lines, path, commit: text.commit.as_deref() };
    if arguments.json {
        write_json(&answer)?;
    } else if arguments.porcelain {
        porcelain::write(&answer)?;
    } else if text.text.is_empty() {
        if !global.quiet {
            ui::say(&format!("`{}`: the file is empty", answer.path));
        }
    } else {
        pager::show(&table::render(&answer, arguments))?;
    }
    Ok(Outcome::Fine.given(&history.notices))
}

/// The text whose lines are asked about.
fn text(arguments: &BlameArguments, git: Option<&Git>) -> Result<FileText, CliError> {
    let file = &arguments.file;
    let Some(rev) = &arguments.rev else {
        return FileText::on_disk(file).map_err(|error| match error {
            FileTextError::Read(error) => CliError::from(error)
                .hint("for a file that is gone, name a commit that has it with --rev"),
            error => CliError::new(error.to_string()),
        });
    };
    let shown = file.display();
    let git =
        git.ok_or_else(|| CliError::new(format!("--rev: `{shown}` is not in a git repository")))?;
    FileText::in_commit(file, git, rev).map_err(|error| match error {
        FileTextError::Git(error) => CliError::from(error).about(&format!("--rev `{rev}`")),
        error => CliError::new(error.to_string()),
    })
}

/// Everything known of the file, what is missing told.
fn history(
    arguments: &BlameArguments,
    git: Option<&Git>,
    text: &FileText,
    global: &GlobalArguments,
) -> Result<FileHistory, CliError> {
    let selection = Selection::find(global, &[], Scope::All)?;
    let recorded_as =
        recorded_places(&arguments.recorded_as, &other_clones(&selection, git, global));
    let sources = NameSources {
        recorded_as: &recorded_as,
        follow: if arguments.no_follow { Follow::NoRenames } else { Follow::Renames },
    };
    let found = &selection.found;
    let bar = ui::Bar::new("reading");
    let mut history = FileHistory::read(&arguments.file, found, sources, &bar);
    let read = history.notices.len();
    if !global.quiet {
        ui::notices(&history.notices);
    }
    if let Some(git) = git {
        history.look_into_commits(git, text);
        if !global.quiet {
            ui::notices(history.notices.part(read..));
        }
    }
    Ok(history)
}

/// The repository that is asked for the commits of lines, if the user wants them.
fn asked<'g>(
    arguments: &BlameArguments,
    git: Option<&'g Git>,
) -> Result<Option<&'g Git>, CliError> {
    if git.is_none() && arguments.git && !arguments.porcelain {
        let message = format!("--git: `{}` is not in a git repository", arguments.file.display());
        return Err(CliError::new(message).hint("leave out --git"));
    }
    Ok(git.filter(|_| arguments.git || arguments.porcelain))
}

fn wanted_lines<'l, 't>(
    arguments: &BlameArguments,
    lines: &'l [BlameLine<'t>],
) -> Result<&'l [BlameLine<'t>], CliError> {
    let Some(Wanted { first, last }) = arguments.lines else { return Ok(lines) };
    let count = lines.len() as u64;
    lines.get(first as usize - 1..last.min(count) as usize).filter(|_| first <= count).ok_or_else(
        || {
            let lines = counted(count, "line", "lines");
            CliError::new(format!("-L: the file has only {lines}"))
                .hint("name lines it has, such as -L 1,20")
        },
    )
}

fn nothing(arguments: &BlameArguments, history: &FileHistory) -> CliError {
    let file = arguments.file.display();
    let sessions = counted(history.sessions_searched as u64, "session", "sessions");
    if let (Some(rev), later @ 1..) = (&arguments.rev, history.edits()) {
        let edits = match later {
            1 => "the only edit of it is".to_owned(),
            _ => format!("all {later} edits of it are"),
        };
        return CliError::not_found(format!("`{file}`: {edits} later than --rev `{rev}`"))
            .hint("name a later commit, or leave out --rev; who committed the lines: --git");
    }
    let error = CliError::not_found(format!("`{file}`: no edit of it in {sessions}"));
    if arguments.recorded_as.is_empty() {
        error.hint(
            "if the project was in another folder when it was worked on, name it: --recorded-as DIR\n\
             other sessions: --root DIR; who committed the lines: --git",
        )
    } else {
        error.hint("backstory log --everywhere lists the files that were edited")
    }
}

fn write_json(answer: &Answer<'_>) -> Result<(), CliError> {
    let mut out = JsonLines::new();
    out.write(&blame_json(answer.blame, answer.lines, &answer.path, answer.commit))?;
    out.finish()
}
