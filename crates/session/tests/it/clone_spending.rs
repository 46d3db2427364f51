//! Tokens of clones: what a clone copies was paid for once.

use backstory_claude::clone::{Options, Preset};
use backstory_session::stats::{self, Dimension};
use backstory_store::Store;
use backstory_testkit::clones::{Place, conversation, written};
use backstory_testkit::session_at;
use std::path::Path;

#[test]
fn clones_count_answers_as_the_source_counted_them() {
    let place = Place::new(&written(&conversation(14)));
    let report = place.clone(&place.source, &Preset::Extreme.options()).unwrap();
    let path = report.path.unwrap();
    // The clone alone: the answers it holds, as the source counted them. With the source: nothing more.
    let spent = |paths: &[&Path]| {
        let files: Vec<_> = paths.iter().map(|path| session_at(path)).collect();
        let ledger = stats::gather(&files, &[], Dimension::Day, &Store::default(), |_| {});
        let tokens = ledger.messages.iter().filter_map(|one| one.spent);
        tokens.map(|spent| spent.tokens.cache_read + spent.tokens.output).sum::<u64>()
    };
    let answers: u64 = (1..=14).map(|turn| 12_000 * turn + 60).sum();
    assert_eq!(spent(&[&path]), answers);
    assert_eq!(spent(&[&place.source, &path]), spent(&[&place.source]));
}

#[test]
fn stats_counts_a_copied_message_without_an_id_once() {
    let mut all = conversation(2);
    for record in &mut all {
        record["message"].as_object_mut().unwrap().remove("id");
    }
    let place = Place::new(&written(&all));
    let report = place.clone(&place.source, &Options::default()).unwrap();
    let files = [session_at(&place.source), session_at(report.path.as_ref().unwrap())];
    let ledger = stats::gather(&files, &[], Dimension::Day, &Store::default(), |_| {});
    assert_eq!((ledger.messages.len(), ledger.repeated), (4, 4));
}
