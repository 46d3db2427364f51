//! Secrets in every encoding at every place, and what of them is in the outputs.

use super::encodings::{ENCODINGS, NOT_COVERED, Numbers, Written, secret, written};
use super::{outputs, redactor};
use backstory_testkit::number;
use backstory_testkit::planted::{PLACES, write_records, write_session};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const SEED: u64 = 0x5eed_0f5e_c2e7;
/// So that each encoding is at several places.
const ROUNDS: usize = 5;

/// What stands at each place: a secret of its own, so that none helps to find another.
type Planted = HashMap<&'static str, (&'static str, &'static str, Written)>;

fn planted(
    encoding: impl Fn(usize) -> &'static str,
    round: usize,
    numbers: &mut Numbers,
) -> Planted {
    let at = |(number, place): (usize, &&'static str)| {
        let secret = secret(round + number, numbers);
        let encoding = encoding(number);
        (*place, (encoding, secret.kind, written(&secret, encoding)))
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

/// Where an output changes a text before it is cleared, so that an encoding is another one then:
/// see LIMITS.md.
fn is_rewritten(place: &str, output: &str) -> bool {
    match place {
        "tool name" => output.starts_with("Sft"),
        "title" => output.starts_with("OpenTraces"),
        _ => output.contains("messages: Text"),
    }
}

#[test]
fn encoded_secrets_are_in_no_output() {
    let mut numbers = Numbers(SEED);
    let mut leaks = Vec::new();
    for round in 0..ROUNDS {
        let encoding = |number: usize| ENCODINGS[(round * PLACES.len() + number) % ENCODINGS.len()];
        let planted = planted(encoding, 7 * round, &mut numbers);
        let folder = tempfile::tempdir().unwrap();
        let files =
            write_session(folder.path(), &|place| planted.get(place).map(|(_, _, one)| shown(one)));
        for (name, text) in outputs(&files, redactor()) {
            for (place, (encoding, kind, written)) in &planted {
                let holds = |trace: &&String| writings(trace).iter().any(|one| text.contains(one));
                if is_rewritten(place, &name) {
                    continue;
                }
                if let Some(trace) = written.traces.iter().find(holds) {
                    leaks.push(format!("{encoding}: {kind} at {place} in {name}: {trace}"));
                }
            }
        }
    }
    leaks.sort();
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

/// A tree of sessions with every encoding at every place, and a line for each secret in it, for
/// `scripts/redaction --matrix`.
fn write_matrix(folder: &Path, rounds: usize) {
    let mut numbers = Numbers(SEED);
    let mut list =
        std::io::BufWriter::new(std::fs::File::create(folder.join("planted.jsonl")).unwrap());
    for (number, encoding) in ENCODINGS.iter().chain(&NOT_COVERED).enumerate() {
        for round in 0..rounds {
            let planted = planted(|_| encoding, round, &mut numbers);
            let id = format!("{number:08}-{round:04}-4111-8111-111111111111");
            write_records(folder, &id, &|place| planted.get(place).map(|(_, _, one)| shown(one)));
            for (place, (_, kind, written)) in planted {
                let traces = written.traces;
                let line = json!({ "session": id, "place": place, "encoding": encoding, "kind": kind, "traces": traces });
                writeln!(list, "{line}").unwrap();
            }
        }
    }
    list.flush().unwrap();
}

fn texts_below(folder: &Path, texts: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts_below(&path, texts);
        } else if path.file_name() != Some("planted.jsonl".as_ref()) {
            texts.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// Where `BACKSTORY_MATRIX` names a folder, the tree stays there, with as many rounds as
/// `BACKSTORY_MATRIX_ROUNDS` says.
#[test]
fn the_matrix_plants_every_encoding_at_every_place() {
    let scratch = tempfile::tempdir().unwrap();
    let kept = std::env::var_os("BACKSTORY_MATRIX").map(PathBuf::from);
    let rounds = number("BACKSTORY_MATRIX_ROUNDS").unwrap_or(1) as usize;
    let folder = kept.as_deref().unwrap_or(scratch.path());

    write_matrix(folder, rounds);

    let list = std::fs::read_to_string(folder.join("planted.jsonl")).unwrap();
    assert_eq!(list.lines().count(), (ENCODINGS.len() + NOT_COVERED.len()) * PLACES.len() * rounds);
    let mut texts = String::new();
    texts_below(folder, &mut texts);
    for line in list.lines().take(PLACES.len() * ENCODINGS.len()) {
        let planted: Value = serde_json::from_str(line).unwrap();
        let traces = planted["traces"].as_array().unwrap();
        let is_written = |trace: &Value| {
            writings(trace.as_str().unwrap()).iter().any(|writing| texts.contains(writing))
        };
        assert!(traces.iter().any(is_written), "not in the tree: {line}");
    }
}
