//! Readers of other agents' traces, on files written here.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::disallowed_methods)]

mod aider;
mod chat;
mod cline;
mod codex;
mod codex_faults;
#[path = "../common/mod.rs"]
mod common;
mod found;
mod kept;
#[path = "../../../../fuzz/laws/agents.rs"]
mod laws;
mod openhands;
mod support;

use backstory_format::Limits;
use backstory_model::Agent;
use backstory_session::discover::{Root, discover};
use backstory_session::history::{self, LineOrigin, Target};
use std::path::Path;
use support::{Sample, forms, read_all, texts, write};

/// No damage makes a reader fail: bytes are changed, cut out and doubled.
#[test]
fn damaged_samples_are_read() {
    let samples: Vec<Sample> = forms().iter().map(|form| form.sample()).collect();
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    for sample in &samples {
        for _ in 0..40 {
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

/// The lines of a file that was made and then changed are given to the right edits, whoever made them.
#[test]
fn lines_are_followed_in_every_form_that_records_edits() {
    let mut agents = std::collections::BTreeSet::new();
    for form in forms() {
        let found = discover(&[Root { path: form.folder.clone() }]);
        let all = |_: &str| true;
        let collected = history::collect(&found, Limits::default(), &all, None, &());
        let chains = collected.gathered.chains.iter().filter(|(_, c)| c.edits().next().is_some());
        let paths: Vec<String> = chains.map(|(path, _)| path.to_string()).collect();
        let name = form.folder.display();
        if form.row["edits"] == "-" {
            assert!(paths.is_empty(), "{name}: {paths:?}");
            continue;
        }
        let [path] = paths.as_slice() else { panic!("{name}: {paths:?}") };
        let text = "name = \"Mühle 🌾 file-mark\"\nspeed = 120  # gezähmt\n";
        let target = Target { path, text, until: None };
        let traced = history::trace(&collected.gathered, &paths, Some(target));
        let origins: Vec<LineOrigin> = traced.marks.iter().map(|mark| mark.origin).collect();
        // Where nothing tells that a file that was written is a new one, its lines are nobody's.
        let unknown = form.row["edits"].starts_with("write:");
        let first = if unknown { LineOrigin::Before } else { LineOrigin::Edit(0) };
        assert_eq!(origins, [first, LineOrigin::Edit(1)], "{name}");
        for edit in &traced.edits {
            assert_eq!(edit.edit.by.agent, form.agent, "{name}");
            assert_eq!(edit.edit.by.session.as_ref(), form.row["session"], "{name}");
            assert!(edit.surviving <= edit.added, "{name}");
        }
        agents.insert(form.agent);
    }
    let without = [Agent::ClaudeCode, Agent::MiniSweAgent];
    let expected = Agent::ALL.into_iter().filter(|agent| !without.contains(agent));
    assert!(agents.into_iter().eq(expected));
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
