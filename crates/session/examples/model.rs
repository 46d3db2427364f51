//! Builds the full model of every session below the given roots and prints totals.
//!
//! Used by the benchmark: all the work of a command, none of its output.
#![allow(clippy::print_stdout)]

use backstory_agents as agents;
use backstory_session::discover::{Root, discover};
use backstory_store::{ReadContext, Store};
use rayon::prelude::*;

fn main() {
    let roots: Vec<Root> =
        std::env::args_os().skip(1).map(|path| Root { path: path.into() }).collect();
    let found = discover(&roots, &Store::default());
    let totals = found
        .sessions
        .par_iter()
        .with_max_len(1)
        .map_init(ReadContext::default, |context, files| match agents::read(files, context) {
            Ok((session, _)) => {
                let parts = session.walk();
                let bytes: u64 = parts.iter().map(|part| part.file.bytes).sum();
                let steps: u64 = parts.iter().map(|part| part.counts.steps).sum();
                let calls: u64 = parts.iter().map(|part| part.counts.calls).sum();
                [1, parts.len() as u64, bytes, session.counts.turns, steps, calls]
            }
            Err(_) => [0; 6],
        })
        .reduce(
            || [0; 6],
            |a, b| std::array::from_fn(|at| a.get(at).unwrap_or(&0) + b.get(at).unwrap_or(&0)),
        );
    let [sessions, files, bytes, turns, steps, calls] = totals;
    println!(
        "sessions {sessions}, files {files}, bytes {bytes}, turns {turns}, steps {steps}, calls {calls}"
    );
}
