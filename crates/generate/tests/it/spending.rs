//! Tokens of generated trees, counted by the product, are those that were written.

use backstory_generate::{Plan, generate};
use backstory_session::discover::{Root, discover};
use backstory_session::stats::{Dimension, Period, Prices, gather, report};
use backstory_store::Store;
use jiff::tz::TimeZone;

#[test]
fn the_truth_is_met_exactly() {
    for (seed, bytes, files) in [(7, 20_000_000, 120), (8, 9_000_000, 60), (9, 30_000_000, 200)] {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().to_owned();
        let truth =
            generate(&Plan { out: out.clone(), bytes, files, projects: 8, seed }).expect("a tree");
        let found = discover(&[Root { path: out }], &Store::default());
        let ledger =
            gather(&found.sessions, &found.stray_agents, Dimension::Day, &Store::default(), |_| {});
        let period = Period { since: None, until: None, zone: TimeZone::UTC };
        let prices = Prices::bundled().expect("prices");
        let types = Default::default();
        let total = report(&ledger, Dimension::Day, &prices, &period, &types).total;
        let unique = truth.unique;
        assert_eq!(
            (total.messages, total.incomplete, total.input, total.output),
            (unique.messages, unique.incomplete_messages, unique.input, unique.output),
            "seed {seed}"
        );
        assert_eq!(
            (total.cache_read, total.cache_write, total.without_usage),
            (unique.cache_read, unique.cache_write, 0),
            "seed {seed}"
        );
        assert!(ledger.repeated > 0, "the tree has copies");
    }
}
