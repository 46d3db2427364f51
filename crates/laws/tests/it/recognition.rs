//! Each file is claimed by one reader at most.

use backstory_agents::{Recognised, claims, readers};
use backstory_laws::AGENT_FILES;
use backstory_testkit::{files_below, seeds, testdata};
use std::collections::BTreeSet;
use std::path::Path;

/// Who says that a file is its agent's: those who are sure, else those who think so.
fn claimed(path: &Path, bytes: &[u8]) -> Vec<&'static str> {
    let head = &bytes[..bytes.len().min(64 << 10)];
    let said = claims(path, head);
    let of = |wanted: fn(&Recognised) -> bool| -> Vec<&'static str> {
        let claims = said.iter().filter(|(_, claim)| wanted(claim));
        claims.map(|(reader, _)| reader.agent().name()).collect()
    };
    let sure = of(|claim| matches!(claim, Recognised::Yes(_)));
    if sure.is_empty() { of(|claim| matches!(claim, Recognised::Likely(_))) } else { sure }
}

#[test]
fn no_two_readers_claim_the_same_file() {
    let mut claimants = BTreeSet::new();
    let mut compared = 0;
    for folder in ["agents", "sessions", "trees", "sample"] {
        for path in files_below(&testdata(folder)) {
            let claimed = claimed(&path, &std::fs::read(&path).unwrap());
            assert!(claimed.len() <= 1, "{}: {claimed:?}", path.display());
            if folder != "agents" {
                assert!(claimed.iter().all(|name| *name == "claude-code"), "{}", path.display());
            }
            claimants.extend(claimed);
            compared += 1;
        }
    }
    for seed in seeds("agents") {
        let (kind, content) = seed.split_first().unwrap();
        let name = AGENT_FILES[usize::from(*kind)];
        let claimed = claimed(Path::new(name), content);
        assert!(claimed.len() <= 1, "{name}: {claimed:?}");
        compared += 1;
    }
    assert!(compared > 200, "{compared}");
    let agents: BTreeSet<&str> = readers().map(|reader| reader.agent().name()).collect();
    assert_eq!(claimants, agents, "every agent has a file in the test data");
}
