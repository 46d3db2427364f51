//! The table of `backstory blame`.

use super::{Answer, BlameArguments};
use crate::pager;
use crate::times;
use crate::ui::{
    self, ACCENT, Align, BOLD, Column, DIM, Elastic, Table, WARN, fit, short_model, wrap,
};
use backstory_session::blame::BlameLine;
use backstory_session::history::{Confidence, LineOrigin, TracedEdit};
use backstory_session::wire::fetched;
use backstory_text::escape::terminal_line;
use backstory_text::figures;
use std::collections::BTreeMap;
use std::fmt::Write;

const PROMPT_LINES: usize = 4;

pub(crate) fn render(answer: &Answer<'_>, arguments: &BlameArguments) -> String {
    let mut out = String::new();
    if !arguments.summary {
        if arguments.blocks || arguments.prompt {
            blocks(&mut out, answer, arguments);
        } else {
            lines(&mut out, answer);
        }
        out.push('\n');
    }
    summary(&mut out, answer);
    out
}

/// What stands before a line: who wrote it, in which session, when, in which turn, and its commit.
struct Cells {
    texts: [String; COLUMNS],
    /// Whether an edit is known that wrote it.
    known: bool,
}

fn cells(answer: &Answer<'_>, line: &BlameLine<'_>) -> Cells {
    let git = line.git.as_ref();
    let commit = git.map_or_else(String::new, |git| git.commit.chars().take(8).collect());
    let Some(edit) = answer.blame.edit_of(line) else {
        let who = git.map_or_else(|| "-".to_owned(), |git| fit(&terminal_line(&git.author), 20));
        let when = git.and_then(|git| git.author_time).map(times::minute).unwrap_or_default();
        let texts = [who, String::new(), when, String::new(), commit];
        return Cells { texts, known: false };
    };
    let by = &edit.edit.by;
    let agent = if by.subagent.is_some() { "+" } else { "" };
    let model = by.model.as_deref().map_or("unknown model", short_model);
    let texts = [
        terminal_line(model).into_owned(),
        format!("{}{agent}", terminal_line(&first(&by.session))),
        edit.event.time.map(times::minute).unwrap_or_default(),
        by.turn.map_or_else(String::new, |turn| format!("#{turn}")),
        commit,
    ];
    Cells { texts, known: true }
}

fn first(id: &str) -> String {
    id.chars().take(8).collect()
}

fn sign(line: &BlameLine<'_>) -> char {
    match (line.mark.edit(), line.mark.confidence) {
        (None, _) | (_, Confidence::Exact) => ' ',
        (_, Confidence::Moved) => '>',
        (_, Confidence::Reformatted) => '~',
        (_, Confidence::Inferred) => '?',
    }
}

/// The columns before the text.
const COLUMNS: usize = 5;

/// Columns of the terminal that are kept for the text of the file.
const TEXT: usize = 24;

/// So wide that, on a terminal, `taken` columns and some of the text have room as well.
fn columns(rows: &[Cells], taken: usize) -> Table<COLUMNS> {
    let mut table = Table::new([Column::new(Align::Left); COLUMNS]);
    rows.iter().for_each(|row| table.measure(&row.texts));
    if let Some(width) = ui::width() {
        let who = Elastic { column: 0, readable: 8 };
        table.share(width.saturating_sub(taken + TEXT + 2), who, &[3, 2, 1, 4]);
    }
    table
}

/// Columns of the terminal that are left for the text.
fn rest(table: &Table<COLUMNS>, taken: usize) -> usize {
    let width = ui::width().filter(|_| !pager::scrolls());
    width.map_or(usize::MAX, |width| width.saturating_sub(table.width() + taken).max(TEXT))
}

fn styled(table: &Table<COLUMNS>, row: &Cells) -> String {
    let styles = if row.known { [ACCENT, DIM, DIM, DIM, DIM] } else { [DIM; COLUMNS] };
    table.row(&row.texts, &styles)
}

fn lines(out: &mut String, answer: &Answer<'_>) {
    let rows: Vec<Cells> = answer.lines.iter().map(|line| cells(answer, line)).collect();
    let digits = answer.lines.last().map_or(1, |line| line.number.to_string().len());
    let taken = digits + 3;
    let table = columns(&rows, taken);
    let rest = rest(&table, taken);
    for (row, line) in rows.iter().zip(answer.lines) {
        out.push_str(&styled(&table, row));
        let (mark, number) = (sign(line), line.number);
        let text = line.text.replace('\t', "    ");
        let _ = writeln!(
            out,
            "{WARN}{mark}{WARN:#}{DIM}{number:>digits$}│{DIM:#} {}",
            fit(&terminal_line(&text), rest)
        );
    }
}

/// Runs of lines with the same origin.
fn runs<'a, 'b>(lines: &'b [BlameLine<'a>]) -> Vec<&'b [BlameLine<'a>]> {
    let commit = |line: &BlameLine<'_>| line.git.as_ref().map(|git| git.commit.clone());
    lines
        .chunk_by(|a, b| {
            let unknown = a.mark.edit().is_none() && b.mark.edit().is_none();
            let same = a.mark.origin == b.mark.origin || unknown;
            same && (!unknown || commit(a) == commit(b))
        })
        .collect()
}

fn blocks(out: &mut String, answer: &Answer<'_>, arguments: &BlameArguments) {
    let runs = runs(answer.lines);
    let heads: Vec<&BlameLine<'_>> = runs.iter().filter_map(|run| run.first()).collect();
    let rows: Vec<Cells> = heads.iter().map(|line| cells(answer, line)).collect();
    let range = |run: &[BlameLine<'_>]| match (run.first(), run.last()) {
        (Some(first), Some(last)) if first.number != last.number => {
            format!("{}-{}", first.number, last.number)
        }
        (Some(first), _) => first.number.to_string(),
        _ => String::new(),
    };
    let wide = runs.iter().map(|run| range(run).len()).max().unwrap_or(0);
    let taken = wide + 4;
    let table = columns(&rows, taken);
    let rest = rest(&table, taken).min(60);
    for ((run, row), head) in runs.iter().zip(&rows).zip(&heads) {
        let _ = write!(out, "{BOLD}{:>wide$}{BOLD:#}  ", range(run));
        out.push_str(&styled(&table, row));
        let shown = run.iter().map(|line| line.text.trim()).find(|text| !text.is_empty());
        let _ = writeln!(out, "{DIM}│{DIM:#} {}", fit(&terminal_line(shown.unwrap_or("")), rest));
        if arguments.prompt {
            let edit = answer.blame.edit_of(head);
            match edit {
                Some(edit) => prompt(out, edit, wide + 2),
                None => {
                    let why = head.mark.why.text();
                    let _ = writeln!(out, "{:1$}{DIM}{why}{DIM:#}", "", wide + 2);
                    commands(out, answer, head, wide + 2);
                }
            }
        }
    }
}

fn prompt(out: &mut String, edit: &TracedEdit<'_>, indent: usize) {
    let by = &edit.edit.by;
    for (what, place) in [("prompt", &by.prompt), ("task", &by.task)] {
        let Some(text) = fetched(place.as_ref()) else { continue };
        let text = terminal_line(text.trim()).into_owned();
        let room = ui::width().map_or(90, |width| width.saturating_sub(indent + 9).clamp(TEXT, 90));
        let lines = wrap(&text, room);
        for (at, line) in lines.iter().take(PROMPT_LINES).enumerate() {
            let label = if at == 0 { what } else { "" };
            let more =
                if at + 1 == PROMPT_LINES && lines.len() > PROMPT_LINES { " …" } else { "" };
            let _ = writeln!(out, "{:indent$}{DIM}{label:<7}{DIM:#}{line}{more}", "");
        }
    }
}

/// Commands that may have made a change from outside.
fn commands(out: &mut String, answer: &Answer<'_>, line: &BlameLine<'_>, indent: usize) {
    let LineOrigin::Outside(span) = line.mark.origin else { return };
    let Some(span) = answer.blame.traced.outside.get(span as usize) else { return };
    for touch in answer.blame.history.commands(span.after, span.before).iter().take(2) {
        let room = ui::width().map_or(80, |width| width.saturating_sub(indent + 9).clamp(TEXT, 80));
        let command = fit(&terminal_line(&touch.command), room);
        let _ = writeln!(out, "{:indent$}{DIM}possibly{DIM:#} {command}", "");
    }
}

fn summary(out: &mut String, answer: &Answer<'_>) {
    let total = answer.lines.len() as u64;
    let mut models = BTreeMap::<&str, u64>::new();
    let mut authors = BTreeMap::<&str, u64>::new();
    let mut weak = BTreeMap::<&str, u64>::new();
    let mut attributed = 0;
    for line in answer.lines {
        let edit = answer.blame.edit_of(line);
        match (edit, &line.git) {
            (Some(edit), _) => {
                attributed += 1;
                *models
                    .entry(edit.edit.by.model.as_deref().unwrap_or("unknown model"))
                    .or_default() += 1;
                if line.mark.confidence != Confidence::Exact {
                    *weak.entry(line.mark.confidence.name()).or_default() += 1;
                }
            }
            (None, Some(git)) => *authors.entry(&git.author).or_default() += 1,
            (None, None) => {}
        }
    }
    let percent = |count: u64| {
        // Never all or nothing by rounding alone.
        match count {
            0 => 0.0,
            count if count == total => 100.0,
            count => (count as f64 * 100.0 / total as f64).clamp(0.1, 99.9),
        }
    };
    let line = |count: u64| {
        format!("{:>5.1}%  {}", percent(count), figures::counted(count, "line", "lines"))
    };
    let _ = writeln!(
        out,
        "{BOLD}{}{BOLD:#}  {}",
        terminal_line(&answer.path),
        figures::counted(total, "line", "lines")
    );
    let weak: Vec<String> = weak.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let weak = if weak.is_empty() { String::new() } else { format!(" ({})", weak.join(", ")) };
    let _ = writeln!(out, "  by agents   {}{weak}", line(attributed));
    for (model, count) in sorted(models) {
        let _ = writeln!(out, "    {}  {ACCENT}{}{ACCENT:#}", line(count), terminal_line(model));
    }
    let _ =
        writeln!(out, "  others      {}, by people, commands or unknown", line(total - attributed));
    for (author, count) in sorted(authors) {
        let _ = writeln!(out, "    {}  committed by {}", line(count), terminal_line(author));
    }
    let lost = answer.blame.traced.edits.iter().filter(|edit| !edit.placed).count() as u64;
    if lost > 0 {
        let _ = writeln!(
            out,
            "  {DIM}{} could not be placed: the file around them is not recorded{DIM:#}",
            figures::counted(lost, "edit", "edits")
        );
    }
}

fn sorted(counts: BTreeMap<&str, u64>) -> Vec<(&str, u64)> {
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}
