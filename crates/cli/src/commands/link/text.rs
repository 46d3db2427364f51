//! Links for people.

use crate::error::CliError;
use crate::times;
use crate::ui::{ACCENT, BOLD, DIM, WARN};
use backstory_session::link::{Evidence, Link, Tier};
use backstory_text::escape::terminal_line;
use backstory_text::figures::counted;
use std::io::Write;

/// What links are listed under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Session,
    Commit,
}

const SHOWN: usize = 8;

pub(super) fn write(out: &mut impl Write, links: &[Link], by: By) -> Result<(), CliError> {
    let mut order: Vec<&Link> = links.iter().collect();
    if by == By::Commit {
        order.sort_by_key(|link| (link.commit.committed, link.commit.id.clone(), link.tier));
    }
    let mut heading: Option<&str> = None;
    for link in order {
        let commit = link.commit.id.get(..10).unwrap_or(&link.commit.id);
        let time = link.commit.committed.map(times::minute).unwrap_or_default();
        let subject = terminal_line(&link.commit.subject);
        let session = terminal_line(&link.session);
        let (key, line) = match by {
            By::Session => (link.session.as_str(), format!("{commit}  {time}  {subject}")),
            By::Commit => (link.commit.id.as_str(), session.to_string()),
        };
        if heading != Some(key) {
            match by {
                By::Session => writeln!(out, "{BOLD}session {session}{BOLD:#}")?,
                By::Commit => writeln!(out, "{BOLD}commit {commit}{BOLD:#}  {time}  {subject}")?,
            }
            heading = Some(key);
        }
        let style = if link.is_committed() { ACCENT } else { WARN };
        let name = match link.tier {
            Tier::Overlap => "weak",
            tier => tier.name(),
        };
        writeln!(out, "  {style}{name:<8}{style:#} {line}")?;
        for evidence in link.evidence.iter().take(SHOWN) {
            writeln!(out, "           {DIM}{}{DIM:#}", terminal_line(&evidence_text(evidence)))?;
        }
        if link.evidence.len() > SHOWN {
            writeln!(out, "           {DIM}and {} more{DIM:#}", link.evidence.len() - SHOWN)?;
        }
    }
    Ok(())
}

fn evidence_text(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Printed { id, line, .. } => {
            format!("made by the call whose result is at line {line}, printed as {id}")
        }
        Evidence::Blob { path, line, copy, .. } => {
            let copy = if *copy { "; the commit is a copy of an earlier one" } else { "" };
            format!("{path} is byte for byte what the edit at line {line} left{copy}")
        }
        Evidence::Lines { path, added, exact, reformatted, .. } => {
            let changed = match reformatted {
                0 => String::new(),
                count => format!(", {count} more but for white space"),
            };
            let added = counted(*added, "line", "lines");
            format!("{path}: the session wrote {exact} of {added} added{changed}")
        }
        Evidence::Overlap { path, .. } => {
            format!("{path} was edited before, but nothing shows that this was committed")
        }
    }
}
