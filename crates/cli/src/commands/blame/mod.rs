//! `backstory blame`

mod porcelain;
mod table;

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::pager;
use crate::project::LARGEST_FILE;
use crate::trail::{FileTrail, TrailArguments};
use crate::ui::{self, JsonLines};
use backstory_session::history::{LineOrigin, Mark, Traced, Why, line_diff, split_lines};
use backstory_session::wire::{
    BLAME_SCHEMA, BlameLine, edit_json, line_json, outside_json, summary_json,
};
use backstory_store::{Git, GitError, GitLine, read_small};
use backstory_text::figures::counted;
use clap::Args;
use jiff::{Timestamp, ToSpan};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Show which model, session and prompt wrote each line of a file
#[derive(Debug, Args)]
#[command(
    after_help = "Marks before the line number: > moved, ~ only white space changed since, ? inferred.\nLines without a model were not written by an agent's edit, or nothing proves that they were.\n\nExamples:\n  backstory blame src/main.rs -L 10,40\n  backstory blame src/main.rs --blocks --prompt\n  backstory blame README.md --rev HEAD~3 --git --summary"
)]
pub(crate) struct BlameArguments {
    /// The file
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

    #[command(flatten)]
    pub(crate) trail: TrailArguments,
}

/// A range of lines as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    first: u64,
    last: u64,
}

impl Wanted {
    pub(crate) fn range(self) -> RangeInclusive<u64> {
        self.first..=self.last
    }
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
pub(crate) struct Answer<'a> {
    pub(crate) trail: &'a FileTrail,
    pub(crate) traced: &'a Traced<'a>,
    pub(crate) lines: Vec<BlameLine<'a>>,
    pub(crate) path: String,
    pub(crate) commit: Option<String>,
}

pub(crate) fn run(
    arguments: &BlameArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let git = Git::holding(&arguments.file);
    let (text, commit, until) = target(arguments, git.as_ref())?;
    let mut trail = FileTrail::find(&arguments.file, &arguments.trail, global)?;
    if let Some(git) = &git {
        let traced = trail.trace(&text, until);
        let lost = traced.edits.iter().filter(|edit| !edit.placed);
        let times: Vec<Timestamp> = lost.filter_map(|edit| edit.event.time).collect();
        if !times.is_empty() {
            let commit = commit.as_deref().unwrap_or("HEAD");
            let unasked = trail.add_commits(git, &arguments.file, commit, &times);
            if !global.quiet {
                ui::notices(&unasked);
            }
        }
    }
    let mut traced = trail.trace(&text, until);
    if traced.marks.iter().all(|mark| mark.edit().is_none()) && traced.edits.is_empty() {
        for mark in &mut traced.marks {
            *mark = Mark { why: Why::NoHistory, ..*mark };
        }
    }
    let committed = if arguments.git || arguments.porcelain {
        committed(arguments, git.as_ref(), commit.as_deref(), &text)?
    } else {
        Vec::new()
    };
    contradict(&mut traced, &committed);
    if !text.is_empty() && traced.edits.is_empty() && committed.iter().all(Option::is_none) {
        return Err(nothing(arguments, &trail).given(&trail.notices));
    }
    let texts: Vec<&str> = split_lines(&text).collect();
    let wanted = arguments.lines.map_or(1..=u64::MAX, Wanted::range);
    if arguments.lines.is_some() && *wanted.start() > texts.len() as u64 {
        let lines = counted(texts.len() as u64, "line", "lines");
        return Err(CliError::new(format!("-L: the file has only {lines}"))
            .hint("name lines it has, such as -L 1,20"));
    }
    let lines: Vec<BlameLine<'_>> = texts
        .iter()
        .zip(&traced.marks)
        .enumerate()
        .map(|(at, (text, mark))| BlameLine {
            number: at as u64 + 1,
            text,
            mark: *mark,
            git: committed.get(at).and_then(Option::as_ref),
        })
        .filter(|line| wanted.contains(&line.number))
        .collect();
    let path = arguments.file.to_string_lossy().into_owned();
    let answer = Answer { trail: &trail, traced: &traced, lines, path, commit };
    if arguments.json {
        write_json(&answer)?;
    } else if arguments.porcelain {
        porcelain::write(&answer)?;
    } else if text.is_empty() {
        if !global.quiet {
            ui::say(&format!("`{}`: the file is empty", answer.path));
        }
    } else {
        pager::show(&table::render(&answer, arguments))?;
    }
    Ok(Outcome::Fine.given(&trail.notices))
}

/// The file's text, the commit it is from, and when that was made.
fn target(
    arguments: &BlameArguments,
    git: Option<&Git>,
) -> Result<(String, Option<String>, Option<Timestamp>), CliError> {
    let file = &arguments.file;
    let shown = file.display();
    let (bytes, commit, until) = match &arguments.rev {
        None => {
            let bytes = read_small(file, LARGEST_FILE).map_err(|error| {
                CliError::from(error)
                    .hint("for a file that is gone, name a commit that has it with --rev")
            })?;
            (bytes, None, None)
        }
        Some(rev) => {
            let git = git.ok_or_else(|| {
                CliError::new(format!("--rev: `{shown}` is not in a git repository"))
            })?;
            let failed = |error: GitError| CliError::from(error).about(&format!("--rev `{rev}`"));
            let (commit, time) = git.commit(rev).map_err(failed)?;
            let inside = git.relative(file).unwrap_or_default();
            let bytes = git.file(&commit, &inside).map_err(failed)?;
            // Commit times have whole seconds.
            let until = time.and_then(|time| time.checked_add(1.second()).ok());
            (bytes, Some(commit), until)
        }
    };
    if bytes.iter().take(8_000).any(|byte| *byte == 0) {
        return Err(CliError::new(format!("`{shown}`: not a text file")));
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), commit, until))
}

/// What git says of each line; none for lines that are not committed.
fn committed(
    arguments: &BlameArguments,
    git: Option<&Git>,
    commit: Option<&str>,
    text: &str,
) -> Result<Vec<Option<GitLine>>, CliError> {
    let Some(git) = git else {
        if arguments.porcelain {
            return Ok(Vec::new());
        }
        let message = format!("--git: `{}` is not in a git repository", arguments.file.display());
        return Err(CliError::new(message).hint("leave out --git"));
    };
    let inside = git.relative(&arguments.file).unwrap_or_default();
    let commit = commit.unwrap_or("HEAD");
    let asked = |error: &GitError| error.is_refusal();
    let (bytes, lines) = match (git.file(commit, &inside), git.blame(commit, &inside)) {
        (Ok(bytes), Ok(lines)) => (bytes, lines),
        (Err(error), _) | (_, Err(error)) if asked(&error) => return Err(error.into()),
        _ => return Ok(Vec::new()),
    };
    let there = String::from_utf8_lossy(&bytes);
    let diff = line_diff(&there, text, 0);
    // Walk the patch: lines between hunks are the same on both sides.
    let count = split_lines(text).count();
    let mut out: Vec<Option<GitLine>> = Vec::with_capacity(count);
    let mut old = 0;
    let mut lines: Vec<Option<GitLine>> = lines.into_iter().map(Some).collect();
    let mut take = |at: usize| lines.get_mut(at).and_then(Option::take);
    for row in &diff.lines {
        if let Some(place) = row.strip_prefix("@@ -").and_then(|rest| rest.split_once(',')) {
            let start: usize = place.0.parse().unwrap_or(0);
            let length: usize =
                place.1.split(' ').next().and_then(|length| length.parse().ok()).unwrap_or(0);
            let start = if length > 0 { start - 1 } else { start };
            while old < start {
                out.push(take(old));
                old += 1;
            }
        } else if row.starts_with('-') {
            old += 1;
        } else {
            out.push(None);
        }
    }
    while out.len() < count {
        out.push(take(old));
        old += 1;
    }
    Ok(out)
}

/// A line that git had before the edit was made is not the edit's.
fn contradict(traced: &mut Traced<'_>, committed: &[Option<GitLine>]) {
    for (mark, line) in traced.marks.iter_mut().zip(committed) {
        let edit = mark.edit().and_then(|edit| traced.edits.get(edit as usize));
        let (Some(edit), Some(line)) = (edit, line) else { continue };
        let latest = line.committer_time.and_then(|time| time.checked_add(2.seconds()).ok());
        if latest.zip(edit.event.time).is_some_and(|(latest, time)| time > latest) {
            let why = Why::CommittedBefore;
            *mark = Mark { origin: LineOrigin::Before, why, written: 0, ..*mark };
        }
    }
    traced.count_surviving();
}

fn nothing(arguments: &BlameArguments, trail: &FileTrail) -> CliError {
    let file = arguments.file.display();
    let sessions = counted(trail.sessions_searched as u64, "session", "sessions");
    if let (Some(rev), later @ 1..) = (&arguments.rev, trail.edits()) {
        let edits = match later {
            1 => "the only edit of it is".to_owned(),
            _ => format!("all {later} edits of it are"),
        };
        return CliError::not_found(format!("`{file}`: {edits} later than --rev `{rev}`"))
            .hint("name a later commit, or leave out --rev; who committed the lines: --git");
    }
    let error = CliError::not_found(format!("`{file}`: no edit of it in {sessions}"));
    if arguments.trail.recorded_as.is_empty() {
        error.hint(
            "if the project lay elsewhere when it was worked on, say where: --recorded-as DIR\n\
             other sessions: --root DIR; who committed the lines: --git",
        )
    } else {
        error.hint("backstory log --all lists the files that were edited")
    }
}

fn write_json(answer: &Answer<'_>) -> Result<(), CliError> {
    let traced = answer.traced;
    let outside: Vec<serde_json::Value> = traced
        .outside
        .iter()
        .map(|span| outside_json(span, &answer.trail.commands(span.after, span.before)))
        .collect();
    let edits: Vec<serde_json::Value> =
        traced.edits.iter().enumerate().map(|(at, edit)| edit_json(at, edit)).collect();
    let marks: Vec<Mark> = answer.lines.iter().map(|line| line.mark).collect();
    let value = serde_json::json!({
        "schema": BLAME_SCHEMA,
        "path": answer.path,
        "commit": answer.commit,
        "names": answer.trail.names,
        "summary": summary_json(traced, &marks),
        "edits": edits,
        "outside": outside,
        "lines": answer.lines.iter().map(line_json).collect::<Vec<_>>(),
    });
    let mut out = JsonLines::new();
    out.write(&value)?;
    out.finish()
}
