//! Random histories of a file against an oracle that tags every line.
//!
//! The oracle keeps the file as a list of lines, each with its author, and changes that list; it
//! knows nothing of differences between texts. Every history is written down as session files of
//! some generation of the client, read back, and traced. A claim must name the right edit. A line
//! may stay unattributed only where the oracle says that the sessions cannot tell.
//!
//! `BACKSTORY_HISTORIES` says how many are played, `BACKSTORY_FIRST` which is the first;
//! `scripts/histories` plays the full number.

mod oracle;
mod sessions;
mod simulation;

use self::oracle::Author;
use self::simulation::Simulation;
use backstory_session::history::{Extracted, Gathered, LineOrigin, Target, read, trace};
use backstory_store::ReadContext;
use backstory_testkit::{discover_at, number, or_slow};
use rayon::prelude::*;
use std::path::Path;

/// What a run over many histories found.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    lines: u64,
    claimed: u64,
    unknown: u64,
    allowed: u64,
}

/// The histories that are played.
fn seeds() -> std::ops::Range<u64> {
    let first = number("BACKSTORY_FIRST").unwrap_or(1);
    first..first + number("BACKSTORY_HISTORIES").unwrap_or(or_slow(100, 400))
}

#[test]
fn no_claim_is_wrong_and_nothing_knowable_is_unknown() {
    let total = sum(seeds().into_par_iter().map(check).collect());
    assert!(total.claimed * 3 > total.lines, "the histories are worth something: {total:?}");
    assert!(total.allowed * 20 < total.lines, "little is unknowable: {total:?}");
}

/// A session is written down in order: what its clock says meanwhile changes no claim.
#[test]
fn blame_does_not_depend_on_a_clock_that_goes_back() {
    let total = sum((1..=or_slow(40, 120)).into_par_iter().map(check_by_clock).collect());
    assert!(total.claimed * 3 > total.lines, "the histories are worth something: {total:?}");
}

/// A long line that stands in the file many times is claimed for no edit more often than the edit
/// wrote it, whoever else wrote it as well.
#[test]
fn blame_claims_a_common_line_as_often_as_it_was_written() {
    let total = sum(seeds().into_par_iter().map(check_sharing).collect());
    assert!(total.claimed * 4 > total.lines, "the histories are worth something: {total:?}");
}

/// The sum of all results, of which none is wrong.
fn sum(results: Vec<Result<Tally, String>>) -> Tally {
    let count = results.len();
    let mut total = Tally::default();
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(tally) => {
                total.lines += tally.lines;
                total.claimed += tally.claimed;
                total.unknown += tally.unknown;
                total.allowed += tally.allowed;
            }
            Err(text) => failures.push(text),
        }
    }
    println!("{count} histories: {total:?}, {} wrong", failures.len());
    assert!(
        failures.is_empty(),
        "{} histories are wrong:\n{}",
        failures.len(),
        failures.iter().take(3).cloned().collect::<Vec<_>>().join("\n")
    );
    total
}

fn check(seed: u64) -> Result<Tally, String> {
    let simulation = Simulation::play(seed);
    let folder = tempfile::tempdir().unwrap();
    sessions::write(&simulation, folder.path());
    judge(seed, &simulation, folder.path())
}

fn check_sharing(seed: u64) -> Result<Tally, String> {
    let simulation = Simulation::play_sharing(seed);
    let folder = tempfile::tempdir().unwrap();
    sessions::write(&simulation, folder.path());
    judge(seed, &simulation, folder.path())
}

fn check_by_clock(seed: u64) -> Result<Tally, String> {
    let mut simulation = Simulation::play(seed);
    for edit in &mut simulation.edits {
        edit.session = simulation::session_id(0);
    }
    let last = 10 * simulation.records.last().map_or(0, |record| record.time);
    // Two jumps: back by anything, and ahead by as much or less.
    let (back, ahead) = (last * (1 + seed % 5) / 6, last * (3 + seed % 4) / 7);
    let clock = |time: u64| {
        let mut shown = time + last;
        if time >= last * (1 + seed % 3) / 5 {
            shown -= back;
        }
        if time >= last * 4 / 5 {
            shown = shown + ahead.min(back) - back.min(last) / 3;
        }
        shown
    };
    let folder = tempfile::tempdir().unwrap();
    sessions::write_by_clock(&simulation, folder.path(), clock);
    judge(seed, &simulation, folder.path())
}

fn judge(seed: u64, simulation: &Simulation, folder: &Path) -> Result<Tally, String> {
    let found = discover_at(folder);
    let names: Vec<String> = simulation.names.clone();
    let wanted = |path: &str| names.iter().any(|name| name == path);
    let mut context = ReadContext::default();
    let parts: Vec<Extracted> =
        found.sessions.iter().map(|files| read(files, &mut context, &wanted).unwrap().0).collect();
    let gathered = Gathered::new(parts);
    let text = simulation.text();
    let path = names.last().unwrap();
    let traced = trace(&gathered, &names, Some(Target { path, text: &text, until: None }));
    let mut tally = Tally::default();
    let show = |why: &str, at: usize| {
        format!("seed {seed}: line {}: {why}\n{}", at + 1, simulation.describe(&traced))
    };
    if traced.edits.len() != simulation.edits.len() {
        return Err(show(&format!("{} edits found", traced.edits.len()), 0));
    }
    if traced.marks.len() != simulation.lines.len() {
        return Err(show("the number of lines differs", 0));
    }
    for edit in &traced.edits {
        let call = edit.edit.by.call.as_deref().unwrap();
        let truth = simulation.edits.iter().find(|edit| edit.call == call);
        let truth = truth.ok_or_else(|| show("an edit that never was", 0))?;
        let by = &edit.edit.by;
        if by.model.as_deref() != Some(truth.model) || *by.session != truth.session {
            return Err(show(&format!("{call}: {:?} in {}", by.model, by.session), 0));
        }
        if edit.surviving > edit.added {
            let (added, left) = (edit.added, edit.surviving);
            return Err(show(&format!("{call}: {added} lines written, {left} left"), 0));
        }
        let shared = traced.marks.iter().zip(&simulation.lines).filter(|(mark, line)| {
            let of = mark.edit().and_then(|at| traced.edits.get(at as usize));
            line.shared() && of.is_some_and(|of| of.edit.by.call.as_deref() == Some(call))
        });
        let shared = shared.count();
        if shared > truth.shared {
            let why =
                format!("{call}: {} of the shared lines written, {shared} claimed", truth.shared);
            return Err(show(&why, 0));
        }
    }
    for (at, (mark, line)) in traced.marks.iter().zip(&simulation.lines).enumerate() {
        tally.lines += 1;
        let claimed = match mark.origin {
            LineOrigin::Edit(edit) => {
                traced.edits[edit as usize].edit.by.call.as_deref().map(str::to_owned)
            }
            _ => None,
        };
        match (&claimed, &line.author) {
            (Some(call), Author::Agent(edit)) if simulation.edits[*edit].call == *call => {
                tally.claimed += 1;
            }
            // A line that many write alike: the claim must be one of those who wrote it.
            (Some(call), _) if line.common() => {
                let edit = simulation.edits.iter().find(|edit| edit.call == *call).unwrap();
                if !edit.wrote.iter().any(|wrote| wrote.contains(&line.shape())) {
                    return Err(show(&format!("{call} never wrote such a line"), at));
                }
            }
            (Some(call), author) => {
                return Err(show(&format!("claimed for {call}, but it is {author:?}"), at));
            }
            (None, Author::Person) => tally.unknown += 1,
            (None, Author::Agent(_)) if line.common() || line.unknowable => tally.allowed += 1,
            (None, Author::Agent(edit)) => {
                return Err(show(
                    &format!("unknown, but it is {}", simulation.edits[*edit].call),
                    at,
                ));
            }
        }
    }
    Ok(tally)
}
