//! Readers of other agents' traces, on files written here.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::disallowed_methods)]

mod aider;
mod chat;
mod cline;
mod codex;
mod codex_faults;
mod found;
mod kept;
#[path = "../../../../fuzz/laws/agents.rs"]
mod laws;
mod openhands;
mod support;

use std::path::Path;
use support::{Sample, read_all, texts, write};

/// No damage makes a reader fail: bytes are changed, cut out and doubled.
#[test]
fn damaged_samples_are_read() {
    let samples = [
        codex::codex(),
        openhands::openhands(),
        chat::swe_agent(),
        chat::mini_swe_agent(),
        chat::swe_smith(),
        aider::aider(),
        cline::cline(),
    ];
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    for sample in &samples {
        for _ in 0..60 {
            let mut files = sample.files.clone();
            for (_, content) in &mut files {
                for _ in 0..=next(4) {
                    let at = next(content.len());
                    match next(4) {
                        0 => content[at] = b"{}[]\",:\\\n\x00\xFF0n"[next(13)],
                        1 => content.truncate(at.max(1)),
                        2 => drop(content.drain(at..(at + next(40)).min(content.len()))),
                        _ => {
                            let part = content[at..(at + next(60)).min(content.len())].to_vec();
                            content.splice(at..at, part);
                        }
                    }
                    if content.is_empty() {
                        content.push(b'{');
                    }
                }
            }
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &Sample { agent: sample.agent, files });
            for session in read_all(folder.path().to_path_buf()) {
                texts(&session);
                assert_eq!(
                    session.counts.calls,
                    session.counts.results + session.counts.orphan_calls,
                    "{}",
                    session.id
                );
            }
        }
    }
}

/// Every seed of the fuzzer is recognised as a trace and keeps the laws, whole, cut and damaged.
#[test]
fn seeds_keep_the_laws() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/agents");
    let mut kinds = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let data = std::fs::read(&path).unwrap();
        assert_eq!(laws::agents(&data), 1, "{}", path.display());
        kinds.insert(data[0]);
        let step = data.len() / 16 + 1;
        for at in (1..data.len()).step_by(step) {
            laws::agents(&data[..at]);
            let mut damaged = data.clone();
            damaged[at] = b'"';
            laws::agents(&damaged);
        }
    }
    assert_eq!(kinds.len(), laws::NAMES.len(), "one seed for each sort of file");
}
