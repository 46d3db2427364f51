//! `backstory` without a command: what is on this machine.

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::select::{Scope, Selection};
use crate::times;
use crate::ui::{self, ACCENT, BOLD, DIM, JsonLines, WARN};
use backstory_agents::{MISSING_USAGE, reader};
use backstory_format::{ProblemId, Severity};
use backstory_model::Summary;
use backstory_model::{Agent, Session, UsageTotal};
use backstory_session::select::short_ids;
use backstory_text::escape::terminal_line;
use backstory_text::figures::{bytes, compact, counted, grouped};
use clap::Args;
use jiff::Timestamp;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

#[derive(Debug, Args)]
pub(crate) struct OverviewArguments {
    /// The overview as one JSON object
    #[arg(long)]
    json: bool,
}

/// Figures of one or more sessions.
#[derive(Debug, Default)]
struct Tally {
    sessions: u64,
    subagents: u64,
    bytes: u64,
    turns: u64,
    calls: u64,
    records: u64,
    usage: UsageTotal,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    projects: BTreeMap<String, u64>,
    models: BTreeMap<String, u64>,
    /// Sessions of each agent.
    agents: BTreeMap<Agent, u64>,
    versions: BTreeMap<Agent, BTreeSet<String>>,
    problems: BTreeMap<ProblemId, u64>,
}

impl Tally {
    fn of(session: &Session) -> (Tally, Summary) {
        let mut tally = Tally { sessions: 1, ..Tally::default() };
        let project =
            session.cwds.first().map(|cwd| cwd.to_string()).or_else(|| session.project_key.clone());
        tally.projects.extend(project.map(|project| (project, 1)));
        tally.agents.insert(session.agent, 1);
        for part in session.walk() {
            tally.bytes += part.file.bytes;
            tally.records += if part.file.bytes > 0 { part.file.records } else { 0 };
            tally.calls += part.counts.calls;
            tally.usage.add(&part.usage);
            for model in &part.models {
                *tally.models.entry(model.to_string()).or_default() += 1;
            }
            let versions = part.versions.iter().map(|version| version.to_string());
            tally.versions.entry(session.agent).or_default().extend(versions);
            for (id, count) in part.problems.counts() {
                *tally.problems.entry(*id).or_default() += count;
            }
            let agent = part.parent.is_some() && !part.kind.is_housekeeping();
            tally.subagents += u64::from(agent);
        }
        tally.turns = session.counts.turns;
        tally.first = session.started;
        tally.last = session.ended;
        (tally, Summary::of(session))
    }

    fn add(&mut self, other: Tally) {
        self.sessions += other.sessions;
        self.subagents += other.subagents;
        self.bytes += other.bytes;
        self.turns += other.turns;
        self.calls += other.calls;
        self.records += other.records;
        self.usage.add(&other.usage);
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = [self.last, other.last].into_iter().flatten().max();
        for (project, count) in other.projects {
            *self.projects.entry(project).or_default() += count;
        }
        for (model, count) in other.models {
            *self.models.entry(model).or_default() += count;
        }
        for (agent, count) in other.agents {
            *self.agents.entry(agent).or_default() += count;
        }
        for (agent, versions) in other.versions {
            self.versions.entry(agent).or_default().extend(versions);
        }
        for (id, count) in other.problems {
            *self.problems.entry(id).or_default() += count;
        }
    }
}

pub(crate) fn run(
    arguments: &OverviewArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let now = environment::now();
    let selection = Selection::find(global, &[], Scope::AllOrSample)?;
    let (parts, mut notices) = selection.map_sessions(Tally::of);
    notices.splice(0..0, selection.found.notices.iter().cloned());
    if !global.quiet {
        ui::notices(&notices);
    }
    let mut tally = Tally::default();
    let mut rows = Vec::new();
    for (part, row) in parts {
        tally.add(part);
        rows.push(row);
    }
    rows.sort_by(|a, b| a.newest_first().cmp(&b.newest_first()));
    if arguments.json {
        let mut out = JsonLines::new();
        out.write(&as_json(&tally, &selection, &notices))?;
        out.finish()?;
    } else {
        let mut out = ui::stdout();
        write_overview(&mut out, &tally, &rows, &selection, now)?;
        out.flush()?;
    }
    let outcome = if tally.sessions == 0 { Outcome::Nothing } else { Outcome::Fine };
    Ok(outcome.given(&notices))
}

fn as_json(
    tally: &Tally,
    selection: &Selection,
    notices: &[backstory_model::Notice],
) -> serde_json::Value {
    let problems: BTreeMap<&str, u64> =
        tally.problems.iter().map(|(id, count)| (id.name(), *count)).collect();
    json!({
        "schema": "backstory.overview/1",
        "sample": selection.sample.is_some(),
        "roots": selection.roots.iter().map(|root| root.path.to_string_lossy()).collect::<Vec<_>>(),
        "agents": by_name(&tally.agents),
        "sessions": tally.sessions, "subagents": tally.subagents, "empty_files": selection.found.empty.len(),
        "stray_agents": selection.found.stray_agents.len(),
        "projects": tally.projects, "bytes": tally.bytes, "records": tally.records,
        "turns": tally.turns, "calls": tally.calls,
        "tokens": {
            "input": tally.usage.input, "output": tally.usage.output, "cache_read": tally.usage.cache_read,
            "cache_write": tally.usage.cache_write, "incomplete": tally.usage.incomplete,
        },
        "started": tally.first, "ended": tally.last,
        "models": tally.models, "versions": by_name(&tally.versions), "problems": problems,
        "skipped": notices.len(),
    })
}

fn by_name<T>(agents: &BTreeMap<Agent, T>) -> BTreeMap<&'static str, &T> {
    agents.iter().map(|(agent, value)| (agent.name(), value)).collect()
}

fn write_overview(
    out: &mut impl Write,
    tally: &Tally,
    rows: &[Summary],
    selection: &Selection,
    now: Timestamp,
) -> Result<(), CliError> {
    let places: Vec<String> =
        selection.roots.iter().map(|root| ui::short_path(&root.path.to_string_lossy())).collect();
    if selection.sample.is_some() {
        let place = if places.is_empty() { "this machine".to_owned() } else { places.join(", ") };
        writeln!(
            out,
            "{WARN}No sessions in {place}.{WARN:#} This is the bundled sample, made up for the purpose.\n"
        )?;
    } else if tally.sessions == 0 {
        return Err(selection.nothing());
    }
    let place =
        if selection.sample.is_some() { "the sample".to_owned() } else { places.join(", ") };
    let agents: Vec<&str> = tally.agents.keys().map(|agent| agent.title()).collect();
    writeln!(out, "{BOLD}{}{BOLD:#} {DIM}in {place}{DIM:#}", agents.join(", "))?;
    let sessions = counted(tally.sessions, "session", "sessions");
    let projects = counted(tally.projects.len() as u64, "project", "projects");
    let agents = counted(tally.subagents, "subagent", "subagents");
    line(out, "sessions", &format!("{sessions} in {projects}, {agents}, {}", bytes(tally.bytes)))?;
    if let (Some(first), Some(last)) = (tally.first, tally.last) {
        line(out, "time", &format!("{} to {}", times::day(first), times::day(last)))?;
    }
    let turns = counted(tally.turns, "turn", "turns");
    let calls = counted(tally.calls, "tool call", "tool calls");
    line(
        out,
        "work",
        &format!("{turns}, {calls}, {}", counted(tally.records, "record", "records")),
    )?;
    line(out, "tokens", &tokens(&tally.usage, &tally.agents))?;
    line(out, "models", &most_used(&tally.models, 6))?;
    line(out, "versions", &versions(&tally.versions))?;
    line(out, "problems", &problems(&tally.problems))?;
    if !selection.found.empty.is_empty() {
        line(
            out,
            "empty",
            &counted(
                selection.found.empty.len() as u64,
                "file without content",
                "files without content",
            ),
        )?;
    }

    writeln!(out, "\n{BOLD}Newest sessions{BOLD:#}")?;
    let width = ui::width().unwrap_or(100).clamp(60, 140);
    let ids = short_ids(rows.iter().map(|row| row.id.as_str()));
    let short = |row: &Summary| ids.get(row.id.as_str()).copied().unwrap_or_default().to_owned();
    let widest = rows.iter().take(5).map(|row| short(row).chars().count()).max().unwrap_or(0);
    for row in rows.iter().take(5) {
        let id = format!("{:<widest$}", short(row));
        let title = row.title.as_ref().map_or("(no title)", |title| title.text.as_str());
        let when = row.last_activity().map(|time| times::ago(time, now)).unwrap_or_default();
        let title = ui::fit(&terminal_line(title), width.saturating_sub(widest + 18));
        writeln!(out, "  {ACCENT}{}{ACCENT:#}  {when:>12}  {title}", terminal_line(&id))?;
    }

    writeln!(out, "\n{BOLD}Try{BOLD:#}")?;
    let newest = rows.first().map_or_else(|| "latest".to_owned(), short);
    let examples = if selection.sample.is_some() {
        [
            ("backstory --root DIR".to_owned(), "sessions that lie somewhere else"),
            ("backstory ls --help".to_owned(), "filters and columns of the listing"),
            ("backstory show --help".to_owned(), "one session: text, page or data"),
        ]
    } else {
        [
            ("backstory ls --limit 20".to_owned(), "the newest sessions"),
            ("backstory ls . --since 7d".to_owned(), "this project, last week"),
            (
                format!("backstory show {} --format json", terminal_line(&newest)),
                "one session as data",
            ),
        ]
    };
    for (command, why) in examples {
        writeln!(out, "  {command:<38} {DIM}{why}{DIM:#}")?;
    }
    Ok(())
}

fn line(out: &mut impl Write, name: &str, text: &str) -> Result<(), CliError> {
    const INDENT: usize = 12;
    if text.is_empty() {
        return Ok(());
    }
    let width = ui::width().map_or(usize::MAX, |width| width.saturating_sub(INDENT).max(30));
    for (at, part) in ui::wrap(text, width).iter().enumerate() {
        let name = if at == 0 { name } else { "" };
        writeln!(out, "  {DIM}{name:<9}{DIM:#} {part}")?;
    }
    Ok(())
}

fn tokens(usage: &UsageTotal, agents: &BTreeMap<Agent, u64>) -> String {
    let read = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    if usage.messages == 0 {
        return String::new();
    }
    let cached = if read > 0 { usage.cache_read as f64 * 100.0 / read as f64 } else { 0.0 };
    let least = if usage.incomplete { "at least " } else { "" };
    let note = if usage.incomplete { missing_usage(agents) } else { String::new() };
    format!(
        "{} read ({cached:.0} % from cache), {least}{} written{note}",
        compact(read),
        compact(usage.output)
    )
}

/// Why counts are too small: in the words of the agent, if there is only one.
fn missing_usage(agents: &BTreeMap<Agent, u64>) -> String {
    let mut reasons = agents.keys().map(|agent| reader(*agent).missing_usage());
    let first = reasons.next().unwrap_or(MISSING_USAGE);
    let reason = if reasons.all(|other| other == first) { first } else { MISSING_USAGE };
    format!(" ({reason})")
}

fn most_used(models: &BTreeMap<String, u64>, shown: usize) -> String {
    let mut list: Vec<(&String, &u64)> = models.iter().collect();
    list.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
    let mut parts: Vec<String> = list
        .iter()
        .take(shown)
        .map(|(name, count)| format!("{} ({})", terminal_line(name), grouped(**count)))
        .collect();
    if list.len() > shown {
        parts.push(format!("{} more", list.len() - shown));
    }
    parts.join(", ")
}

fn versions(versions: &BTreeMap<Agent, BTreeSet<String>>) -> String {
    let known: Vec<(Agent, String)> = versions
        .iter()
        .map(|(agent, versions)| (*agent, range(versions)))
        .filter(|(_, range)| !range.is_empty())
        .collect();
    match known.as_slice() {
        [(_, range)] if versions.len() == 1 => range.clone(),
        several => {
            let known = several.iter().map(|(agent, range)| format!("{} {range}", agent.title()));
            known.collect::<Vec<_>>().join(", ")
        }
    }
}

fn range(versions: &BTreeSet<String>) -> String {
    let mut list: Vec<&String> = versions.iter().collect();
    list.sort_by_key(|version| {
        version.split('.').map(|part| part.parse::<u64>().unwrap_or(0)).collect::<Vec<_>>()
    });
    match list.as_slice() {
        [] => String::new(),
        [one] => terminal_line(one).into_owned(),
        [first, .., last] => {
            let (first, last) = (terminal_line(first), terminal_line(last));
            format!("{first} to {last} ({} different)", list.len())
        }
    }
}

fn problems(problems: &BTreeMap<ProblemId, u64>) -> String {
    let mut list: Vec<(&ProblemId, &u64)> =
        problems.iter().filter(|(id, _)| id.severity() >= Severity::Warning).collect();
    if list.is_empty() {
        return "none".to_owned();
    }
    list.sort_by_key(|(id, count)| (std::cmp::Reverse(id.severity()), std::cmp::Reverse(**count)));
    let parts: Vec<String> =
        list.iter().map(|(id, count)| format!("{} {}", grouped(**count), id.name())).collect();
    parts.join(", ")
}
