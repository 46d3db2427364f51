//! Secrets in every disguise at every place, and what of them is in the outputs.

use crate::disguises::{DISGUISES, NOT_COVERED, Numbers, Written, secret, written};
use crate::planted::{PLACES, write_records, write_session};
use crate::{outputs, redactor};
use serde_json::json;
use std::collections::HashMap;
use std::io::Write as _;

const SEED: u64 = 0x5eed_0f5e_c2e7;
/// So that each disguise is at several places.
const ROUNDS: usize = 5;

/// What stands at each place: a secret of its own, so that none helps to find another.
type Planted = HashMap<&'static str, (&'static str, &'static str, Written)>;

fn planted(
    disguise: impl Fn(usize) -> &'static str,
    round: usize,
    numbers: &mut Numbers,
) -> Planted {
    let at = |(number, place): (usize, &&'static str)| {
        let secret = secret(round + number, numbers);
        let disguise = disguise(number);
        (*place, (disguise, secret.kind, written(&secret, disguise)))
    };
    PLACES.iter().enumerate().map(at).collect()
}

fn shown(written: &Written) -> String {
    format!("output:\n{}\ndone", written.text)
}

/// A trace as outputs write it.
fn writings(trace: &str) -> [String; 3] {
    let quoted = serde_json::to_string(trace).unwrap();
    let quoted = quoted[1..quoted.len() - 1].to_owned();
    let page = trace.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    [trace.to_owned(), quoted, page]
}

/// Where an output changes a text before it is cleared, so that a disguise is another one then:
/// see LIMITS.md.
fn is_written_anew(place: &str, output: &str) -> bool {
    match place {
        "tool name" => output.starts_with("Sft"),
        "title" => output.starts_with("OpenTraces"),
        _ => output.contains("messages: Text"),
    }
}

#[test]
fn disguised_secrets_are_in_no_output() {
    let mut numbers = Numbers(SEED);
    let mut leaks = Vec::new();
    for round in 0..ROUNDS {
        let disguise = |number: usize| DISGUISES[(round * PLACES.len() + number) % DISGUISES.len()];
        let planted = planted(disguise, 7 * round, &mut numbers);
        let folder = tempfile::tempdir().unwrap();
        let files =
            write_session(folder.path(), &|place| planted.get(place).map(|(_, _, one)| shown(one)));
        for (name, text) in outputs(&files, redactor()) {
            for (place, (disguise, kind, written)) in &planted {
                let holds = |trace: &&String| writings(trace).iter().any(|one| text.contains(one));
                if is_written_anew(place, &name) {
                    continue;
                }
                if let Some(trace) = written.traces.iter().find(holds) {
                    leaks.push(format!("{disguise}: {kind} at {place} in {name}: {trace}"));
                }
            }
        }
    }
    leaks.sort();
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

/// For `scripts/redaction --matrix`: a tree of sessions, and a line for each secret in it.
#[test]
#[ignore = "writes the tree that scripts/redaction --matrix measures"]
fn write_the_matrix() {
    let folder = std::path::PathBuf::from(std::env::var("BACKSTORY_MATRIX").unwrap());
    let rounds: usize = std::env::var("BACKSTORY_MATRIX_ROUNDS").unwrap().parse().unwrap();
    let mut numbers = Numbers(SEED);
    let mut list =
        std::io::BufWriter::new(std::fs::File::create(folder.join("planted.jsonl")).unwrap());
    for (number, disguise) in DISGUISES.iter().chain(&NOT_COVERED).enumerate() {
        for round in 0..rounds {
            let planted = planted(|_| disguise, round, &mut numbers);
            let id = format!("{number:08}-{round:04}-4111-8111-111111111111");
            write_records(&folder, &id, &|place| planted.get(place).map(|(_, _, one)| shown(one)));
            for (place, (_, kind, written)) in planted {
                let traces = written.traces;
                let line = json!({ "session": id, "place": place, "disguise": disguise, "kind": kind, "traces": traces });
                writeln!(list, "{line}").unwrap();
            }
        }
    }
}
