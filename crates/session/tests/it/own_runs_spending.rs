//! Tokens of what clients run for themselves.

use backstory_session::stats::{Dimension, Origin, gather};
use backstory_store::Store;
use backstory_testkit::discover_at;
use backstory_testkit::own_runs::{Runs, run_samples};

#[test]
fn stats_count_what_the_client_ran_for_itself() {
    let files: Vec<_> = run_samples().into_iter().map(|(name, text, _)| (name, text)).collect();
    let runs = Runs::new(&files);
    let found = discover_at(runs.path());
    let ledger = gather(&[], &found.stray_agents, Dimension::Model, &Store::default(), |_| {});
    let own = ledger.sources.iter().filter(|one| one.origin == Origin::Housekeeping).count();
    assert_eq!(own, 4);
    assert!(ledger.messages.iter().all(|message| message.spent.is_some()));
    assert!(!ledger.messages.is_empty());
}
