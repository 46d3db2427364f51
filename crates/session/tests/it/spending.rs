//! Counting by searching for the records of models gives what the full model gives.

use backstory_agents as agents;
use backstory_model::{Money, Session, UsageTotal};
use backstory_session::discover::Found;
use backstory_session::stats::{Dimension, Ledger, Period, Prices, gather, report};
use backstory_store::{ReadContext, Store};
use backstory_testkit::{discover_at, testdata};
use jiff::tz::TimeZone;
use std::collections::BTreeMap;

fn ledger(found: &Found, by: Dimension) -> Ledger {
    gather(&found.sessions, &found.stray_agents, by, &Store::default(), |_| {})
}

fn total(found: &Found) -> (UsageTotal, u64) {
    let everything = Period { since: None, until: None, zone: TimeZone::UTC };
    let ledger = ledger(found, Dimension::Model);
    assert!(ledger.failures.is_empty(), "{:?}", ledger.failures);
    let prices = Prices::bundled().unwrap();
    let report =
        report(&ledger, Dimension::Model, &prices, &everything, &hashbrown::HashMap::new());
    let sum = report.total;
    let total = UsageTotal {
        input: sum.input,
        output: sum.output,
        cache_read: sum.cache_read,
        cache_write: sum.cache_write,
        cache_write_5m: Some(sum.cache_write_5m),
        cache_write_1h: Some(sum.cache_write_1h),
        messages: sum.messages - sum.without_usage,
        incomplete: sum.incomplete > 0,
    };
    (total, sum.incomplete)
}

/// The same from the model: every message of every session once, the largest output counts.
fn by_model(found: &Found) -> (UsageTotal, u64) {
    let mut context = ReadContext::default();
    let mut sessions: Vec<Session> =
        found.sessions.iter().map(|files| agents::read(files, &mut context).unwrap().0).collect();
    for agent in &found.stray_agents {
        sessions.push(agents::read_stray(agent, &mut context).unwrap());
    }
    let mut messages: BTreeMap<Box<str>, UsageTotal> = BTreeMap::new();
    for part in sessions.iter().flat_map(Session::walk) {
        let left = part.abandoned.iter().flat_map(|branch| &branch.turns);
        let steps = part.turns.iter().chain(left).flat_map(|turn| &turn.steps);
        for step in steps.filter(|step| !step.synthetic) {
            let Some(usage) = step.usage else { continue };
            let id = step.message_id.clone().or_else(|| step.uuids.first().cloned()).unwrap();
            let known = messages.entry(id).or_insert(usage);
            let incomplete = known.incomplete && usage.incomplete;
            if usage.output > known.output {
                *known = usage;
            }
            known.incomplete = incomplete;
        }
    }
    let mut total =
        UsageTotal { cache_write_5m: Some(0), cache_write_1h: Some(0), ..UsageTotal::default() };
    for usage in messages.values() {
        total.add(usage);
    }
    (total, messages.values().filter(|usage| usage.incomplete).count() as u64)
}

#[test]
fn the_sample_costs_what_the_model_says() {
    let sample = discover_at(testdata("sample"));
    assert_eq!(total(&sample), by_model(&sample));
    assert_eq!(total(&sample).0.messages, 37);
}

#[test]
fn every_synthetic_session_costs_what_its_model_says() {
    let mut compared = 0;
    for folder in ["sessions", "trees"] {
        for entry in std::fs::read_dir(testdata(folder)).unwrap() {
            let path = entry.unwrap().path();
            let found = discover_at(&path);
            if found.sessions.is_empty() && found.stray_agents.is_empty() {
                continue;
            }
            assert_eq!(total(&found), by_model(&found), "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn every_way_to_group_adds_up() {
    let sample = discover_at(testdata("sample"));
    let prices = Prices::bundled().unwrap();
    let everything = Period { since: None, until: None, zone: TimeZone::UTC };
    for by in Dimension::ALL {
        let report =
            report(&ledger(&sample, by), by, &prices, &everything, &hashbrown::HashMap::new());
        let rows = report.rows.iter().map(|row| row.figures);
        let sum = |of: fn(&backstory_session::stats::Figures) -> u128| {
            (rows.clone().map(|row| of(&row)).sum::<u128>(), of(&report.total))
        };
        for (parts, whole) in [
            sum(|row| row.cost.money.picos()),
            sum(|row| u128::from(row.tokens())),
            sum(|row| u128::from(row.output)),
            sum(|row| u128::from(row.calls)),
        ] {
            assert_eq!(parts, whole, "{}", by.name());
        }
        assert!(report.total.cost.money > Money::ZERO);
    }
}
