//! Hits for people.

use crate::args::GlobalArguments;
use crate::error::CliError;
use crate::quote::quoted;
use crate::select::Selection;
use crate::times;
use crate::ui::{self, ACCENT, BOLD, DIM, MATCH};
use anstyle::Style;
use backstory_search::{Field, Group, Hit, SnippetLine, Who};
use backstory_session::select::short_ids;
use backstory_text::escape::terminal_line;
use backstory_text::figures::counted;
use jiff::Timestamp;
use std::collections::HashMap;
use std::io::Write;
use unicode_width::UnicodeWidthStr as _;

const INDENT: &str = "    ";

pub(super) struct Printer<'a> {
    /// The short form of each id.
    ids: HashMap<&'a str, &'a str>,
    /// Options that the command to open a session needs.
    roots: String,
    now: Timestamp,
    width: usize,
}

impl<'a> Printer<'a> {
    pub(super) fn new(
        global: &GlobalArguments,
        selection: &'a Selection,
        now: Timestamp,
    ) -> Printer<'a> {
        let ids = selection.found.sessions.iter().map(|files| files.id.as_str());
        let root = |root: &std::path::PathBuf| format!(" --root {}", quoted(root.as_os_str()));
        Printer {
            ids: short_ids(ids),
            roots: global.root.iter().map(root).collect(),
            now,
            width: ui::width().unwrap_or(160).max(40),
        }
    }

    fn short<'s>(&'s self, id: &'s str) -> &'s str {
        self.ids.get(id).copied().unwrap_or(id)
    }

    /// What shows a hit.
    pub(super) fn command(&self, hit: &Hit) -> String {
        let id = quoted(self.short(&hit.session.id).as_ref());
        let turn = hit.turn.filter(|_| !hit.abandoned);
        let turns = turn.map(|turn| format!(" --turns {turn}")).unwrap_or_default();
        let at = hit.at().map(|at| format!(" --at {}", quoted(at.as_ref()))).unwrap_or_default();
        format!("backstory show {id}{turns}{at}{}", self.roots)
    }

    /// Hits of one session.
    pub(super) fn group(&self, group: &Group, out: &mut impl Write) -> Result<(), CliError> {
        let Some(first) = group.hits.first() else { return Ok(()) };
        let session = &first.session;
        let id = terminal_line(self.short(&session.id)).into_owned();
        let project = session.project.as_deref().unwrap_or_default();
        let name = project.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default();
        let age = session.last.map(|last| times::ago(last, self.now)).unwrap_or_default();
        let facts = [ui::fit(&terminal_line(name), 24), age];
        let facts: Vec<&str> =
            facts.iter().map(String::as_str).filter(|fact| !fact.is_empty()).collect();
        let facts = facts.join(", ");
        let room = self.width.saturating_sub(id.width() + facts.width() + 4).max(16);
        let title = session.title.as_deref().unwrap_or("(no title)");
        let title = ui::fit(&terminal_line(title), room);
        writeln!(out, "{ACCENT}{id}{ACCENT:#}  {BOLD}{title}{BOLD:#}  {DIM}{facts}{DIM:#}")?;
        for hit in &group.hits {
            self.hit(hit, out)?;
        }
        if group.more > 0 {
            let more = counted(group.more as u64, "more hit", "more hits");
            writeln!(out, "  {DIM}{more} in this session{DIM:#}")?;
        }
        writeln!(out)?;
        Ok(())
    }

    fn hit(&self, hit: &Hit, out: &mut impl Write) -> Result<(), CliError> {
        let mut words = Vec::new();
        words.extend(hit.turn.map(|turn| format!("turn {turn}")));
        if hit.abandoned {
            words.push("abandoned branch".to_owned());
        }
        if let Some(subagent) = &hit.subagent {
            words.push(format!("subagent {}", ui::fit(&terminal_line(subagent), 16)));
        }
        words.push(who(hit));
        if !hit.also_in.is_empty() {
            let others: Vec<&str> = hit.also_in.iter().map(|id| self.short(id)).take(3).collect();
            let more = if hit.also_in.len() > 3 { ", …" } else { "" };
            words.push(format!("also in {}{more}", terminal_line(&others.join(", "))));
        }
        writeln!(out, "  {DIM}{}{DIM:#}", ui::fit(&words.join(" · "), self.width - 2))?;
        for line in &hit.snippet.lines {
            let line = marked(line, self.width - INDENT.len());
            writeln!(out, "{INDENT}{line}")?;
        }
        // In one piece, so that it can be copied.
        let command = self.command(hit);
        writeln!(out, "{INDENT}{DIM}{}{DIM:#}", terminal_line(&command))?;
        Ok(())
    }
}

fn who(hit: &Hit) -> String {
    let tool = || terminal_line(hit.tool.as_deref().unwrap_or("call")).into_owned();
    match (hit.who, hit.field) {
        (Who::Call, Field::Call) => tool(),
        (Who::Call, field) => format!("{} {}", tool(), field.name()),
        (Who::Answer, Field::Thinking) => "thinking".to_owned(),
        (who, _) => who.name().to_owned(),
    }
}

/// A line cut to a number of columns, with its matches highlighted.
fn marked(line: &SnippetLine, room: usize) -> String {
    let mut pieces: Vec<(String, bool)> = Vec::new();
    let mut from = 0;
    let safe = |text: &str| terminal_line(&text.replace('\t', " ")).into_owned();
    let part = |range: std::ops::Range<usize>| safe(line.text.get(range).unwrap_or_default());
    for mark in &line.marks {
        pieces.push((part(from..mark.start), false));
        pieces.push((part(mark.clone()), true));
        from = mark.end;
    }
    pieces.push((part(from..line.text.len()), false));
    if let Some((before, _)) = pieces.first_mut() {
        let total: usize = line.text.width();
        let cut = if line.cut.0 { "…" } else { "" };
        *before =
            format!("{cut}{}", if line.cut.0 { before.as_str() } else { before.trim_start() });
        if !line.marks.is_empty() && total > room && before.width() > room / 3 {
            *before = ui::fit_end(before, room / 3);
        }
    }
    let mut left = room;
    let mut shown = String::new();
    for (text, is_match) in pieces {
        let style = if is_match { MATCH } else { Style::new() };
        let fitted = ui::fit(&text, left);
        left = left.saturating_sub(fitted.width());
        shown.push_str(&format!("{style}{fitted}{style:#}"));
        if fitted != text || left == 0 {
            return shown;
        }
    }
    if line.cut.1 { format!("{shown}…") } else { shown }
}
