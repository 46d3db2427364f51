//! No damage makes a reader fail.

use backstory_testkit::{Sample, agent_forms, sessions, texts};

/// Bytes are changed, cut out and doubled.
#[test]
fn damaged_samples_are_read() {
    let samples: Vec<Sample> = agent_forms().iter().map(|form| form.sample()).collect();
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
            Sample { agent: sample.agent, files }.write(folder.path());
            for session in sessions(folder.path()) {
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
