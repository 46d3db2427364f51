//! `backstory search`

mod document;
mod text;

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::redaction;
use crate::select::{Scope, Selection};
use crate::times;
use crate::ui::{self, JsonLines};
use backstory_model::Notice;
use backstory_redact::Redactor;
use backstory_search::{
    Field, Fields, Found, Group, Hit, Matcher, QueryError, Search, Seen, compile, grouped, parse,
    ranked, search, search_in_order,
};
use backstory_session::select::SessionRef;
use backstory_text::figures::counted;
use clap::{Args, ValueEnum};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::Write;
use text::Printer;

/// Search what was said in sessions
#[derive(Debug, Args)]
#[command(
    after_help = "A query: words, \"a phrase\", /a regex/, -not, OR, parentheses, and\n  in:prompt,answer,thinking,call,result,title,path   [default: prompt, answer, call, title, path]\n  project: agent: model: tool: file: branch: after: before: session: commit:\n  is:error is:subagent is:edit is:compaction\n\nExamples:\n  backstory search redis cache\n  backstory search '\"connection refused\" in:result'\n  backstory search 'tool:Bash is:error npm after:30d'\n  backstory search 'file:src/main.rs is:edit' --project ."
)]
pub(crate) struct SearchArguments {
    /// What to search for; in a shell, best in single quotes
    #[arg(required = true)]
    query: Vec<String>,

    /// The best first, or the newest sessions first, as they are found
    #[arg(long, value_name = "ORDER", default_value = "rank")]
    sort: Order,

    /// All hits of each session, not only the best three
    #[arg(long)]
    all: bool,

    /// At most this many hits [default: 20 on a terminal]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Lines on both sides of a match
    #[arg(long, short = 'C', value_name = "N")]
    context: Option<usize>,

    /// Print only the number of messages
    #[arg(long, conflicts_with_all = ["json", "files_with_matches", "paths"])]
    count: bool,

    /// Print only the ids of sessions
    #[arg(long, short = 'l', conflicts_with_all = ["json", "paths"])]
    files_with_matches: bool,

    /// Print only the paths of session files
    #[arg(long, conflicts_with = "json")]
    paths: bool,

    /// One JSON object per line
    #[arg(long)]
    json: bool,

    /// Redact secrets, and what else is named: paths, people
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', num_args = 0..=1, default_missing_value = "secrets", require_equals = true)]
    redact: Option<Vec<String>>,

    #[command(flatten)]
    filters: FilterArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    Rank,
    Time,
}

/// Hits of one session that are shown without `--all`.
const EACH: usize = 3;
/// Hits that are shown to people without `--limit`.
const SHOWN: usize = 20;

pub(crate) fn run(
    arguments: &SearchArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let now = environment::now();
    let query = arguments.query.join(" ");
    let time = |text: &str| times::parse(text, now);
    let matcher = parse(&query)
        .and_then(|parsed| compile(&parsed, &time))
        .map_err(|error| wrong(&query, &error))?;
    let redactor = match &arguments.redact {
        Some(classes) => Some(redaction::redactor(redaction::classes(classes)?)?),
        None => None,
    };
    let choice = arguments.filters.choice(global)?;
    let mut selection = Selection::find(global, &[], Scope::All)?;
    choice.tell(global);
    let all = selection.found.sessions.len() + selection.found.stray_agents.len();
    selection.retain(&choice.of_unnamed());
    let sessions = sessions(&selection);
    if sessions.is_empty() {
        let error = if all == 0 { selection.nothing() } else { choice.none_of(all) };
        return Err(error.given(&selection.found.notices));
    }
    let printer = Printer::new(global, &selection, now);
    let run = Run { arguments, matcher: &matcher, redactor: redactor.as_ref(), printer };
    let (shown, mut notices) = match arguments.sort {
        Order::Rank => run.ranked(&sessions, &selection)?,
        Order::Time => run.in_order(&sessions, &selection)?,
    };
    notices.splice(0..0, selection.found.notices.iter().cloned());
    if !global.quiet {
        ui::notices(&notices);
    }
    if shown > 0 {
        return Ok(Outcome::Fine.given(&notices));
    }
    if arguments.json || arguments.count {
        return Ok(Outcome::Nothing.given(&notices));
    }
    Err(nothing_found(&query, &matcher, sessions.len()).given(&notices))
}

/// The sessions to search, and subagents without one.
fn sessions(selection: &Selection) -> Vec<SessionRef<'_>> {
    let found = &selection.found;
    let sessions = found.sessions.iter().map(SessionRef::Session);
    sessions.chain(found.stray_agents.iter().map(SessionRef::Agent)).collect()
}

struct Run<'a> {
    arguments: &'a SearchArguments,
    matcher: &'a Matcher,
    redactor: Option<&'a Redactor>,
    printer: Printer<'a>,
}

/// How many hits there were, and what could not be read.
type Shown = Result<(usize, Vec<Notice>), CliError>;

impl Run<'_> {
    fn search<'s>(&'s self, selection: &'s Selection) -> Search<'s> {
        Search {
            matcher: self.matcher,
            store: &selection.found.store,
            context: self.arguments.context,
            redactor: self.redactor,
        }
    }

    fn limit(&self) -> usize {
        let for_people = !self.arguments.json
            && !self.arguments.count
            && !self.arguments.files_with_matches
            && !self.arguments.paths;
        self.arguments.limit.unwrap_or(if for_people { SHOWN } else { usize::MAX })
    }

    fn ranked(&self, sessions: &[SessionRef<'_>], selection: &Selection) -> Shown {
        let bar = ui::Bar::new("searching");
        let Found { hits, notices } = search(sessions, &self.search(selection), &bar);
        let count = hits.len();
        let each = if self.arguments.all || !self.is_for_people() { usize::MAX } else { EACH };
        let all = grouped(ranked(hits), each);
        let of = all.len();
        let mut groups = Vec::new();
        let mut left = self.limit();
        for mut group in all {
            if left == 0 {
                break;
            }
            group.more += group.hits.len().saturating_sub(left);
            group.hits.truncate(left);
            left -= group.hits.len();
            groups.push(group);
        }
        let shown: usize = groups.iter().map(|group| group.hits.len()).sum();
        self.print(&groups, count)?;
        if self.is_for_people() && shown < count {
            ui::say(&format!(
                "{shown} of {} in {}: --limit N or --all shows more",
                counted(count as u64, "hit", "hits"),
                counted(of as u64, "session", "sessions"),
            ));
        }
        Ok((count, notices))
    }

    fn is_for_people(&self) -> bool {
        let arguments = self.arguments;
        !(arguments.json || arguments.count || arguments.files_with_matches || arguments.paths)
    }

    /// The newest sessions first, each printed as soon as it is searched.
    fn in_order(&self, sessions: &[SessionRef<'_>], selection: &Selection) -> Shown {
        let mut sessions = sessions.to_vec();
        sessions.sort_by_key(|session| {
            let modified = match session {
                SessionRef::Session(files) => files.modified,
                SessionRef::Agent(file) => file.modified,
            };
            Reverse(modified)
        });
        let mut seen = Seen::default();
        let (mut count, mut notices, mut failed) = (0, Vec::new(), None);
        let limit = self.limit();
        search_in_order(&sessions, &self.search(selection), |found| {
            notices.extend(found.notices);
            let mut hits: Vec<Hit> =
                found.hits.into_iter().filter(|hit| seen.is_new(hit)).collect();
            hits.truncate(limit - count);
            count += hits.len();
            if !hits.is_empty() && !self.arguments.count {
                let group = Group { hits, more: 0 };
                failed = self.print(&[group], count).err();
            }
            count < limit && failed.is_none()
        });
        if self.arguments.count {
            self.print(&[], count)?;
        }
        if self.is_for_people() && seen.copies > 0 {
            let copies = counted(seen.copies as u64, "copy", "copies");
            ui::say(&format!("skipped: {copies} of these messages in other sessions"));
        }
        match failed {
            Some(error) => Err(error),
            None => Ok((count, notices)),
        }
    }

    fn print(&self, groups: &[Group], count: usize) -> Result<(), CliError> {
        let hits = || groups.iter().flat_map(|group| &group.hits);
        if self.arguments.json {
            let mut out = JsonLines::new();
            for hit in hits() {
                out.write(&document::of(hit, self.printer.command(hit)))?;
            }
            return out.finish();
        }
        let mut out = ui::stdout();
        if self.arguments.count {
            writeln!(out, "{count}")?;
        } else if self.arguments.files_with_matches {
            let ids: BTreeSet<&str> = hits().map(|hit| &*hit.session.id).collect();
            let in_order = groups.iter().filter_map(|group| group.hits.first());
            let mut left = ids;
            for hit in in_order.filter(|hit| left.remove(&*hit.session.id)) {
                writeln!(out, "{}", backstory_text::escape::terminal_line(&hit.session.id))?;
            }
        } else if self.arguments.paths {
            for hit in groups.iter().filter_map(|group| group.hits.first()) {
                let path = hit.session.path.to_string_lossy();
                writeln!(out, "{}", backstory_text::escape::terminal_line(&path))?;
            }
        } else {
            for group in groups {
                self.printer.group(group, &mut out)?;
            }
        }
        Ok(out.flush()?)
    }
}

/// The error for a query that is wrong, with the place below it.
pub(super) fn wrong(query: &str, error: &QueryError) -> CliError {
    let mut shown = CliError::new(format!("query: {}", error.message));
    shown.place = place(query, error);
    match &error.hint {
        Some(hint) => shown.hint(hint.clone()),
        None => shown.hint("backstory search --help explains queries"),
    }
}

/// The line of the query around the place, and a line that points to it.
fn place(query: &str, error: &QueryError) -> Vec<String> {
    const AROUND: usize = 60;
    let letters = |range: std::ops::Range<usize>| query.get(range).unwrap_or_default();
    let before: Vec<char> = letters(0..error.at.start).chars().collect();
    let after: String = letters(error.at.start..query.len()).chars().take(AROUND).collect();
    if error.at.is_empty() {
        return Vec::new();
    }
    let kept = before.len().saturating_sub(AROUND);
    let before: String = before.iter().skip(kept).collect();
    let shown = |text: &str| backstory_text::escape::terminal_line(text).into_owned();
    let columns = |text: &str| unicode_width::UnicodeWidthStr::width(&*shown(text));
    let wide = columns(letters(error.at.clone())).clamp(1, AROUND);
    vec![
        format!("{}{}", shown(&before), shown(&after)),
        format!("{}{}", " ".repeat(columns(&before)), "^".repeat(wide)),
    ]
}

/// The error for a query that nothing meets: what was searched, and what was not.
fn nothing_found(query: &str, matcher: &Matcher, sessions: usize) -> CliError {
    let fields = matcher.fields();
    let names = |fields: &mut dyn Iterator<Item = Field>| {
        fields.map(Field::name).collect::<Vec<_>>().join(", ")
    };
    let searched = names(&mut fields.iter());
    let sessions = counted(sessions as u64, "session", "sessions");
    let error = CliError::not_found(format!("`{query}`: not found in {sessions} ({searched})"))
        .hint(
            "use fewer words or parts of words; `OR` between words finds messages with one of them",
        );
    if fields == Fields::all() {
        return error;
    }
    let all = Fields::all();
    let missing = names(&mut all.iter().filter(|field| !fields.has(*field)));
    error.hint(format!("not searched: {missing}; add in:{all}"))
}
