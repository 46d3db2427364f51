//! The sessions of the test data.

use crate::{agent, agent_forms, sessions, testdata};
use backstory_agents as agents;
use backstory_model::Session;

/// Claude Code's: the sample, and every bundled session and tree.
pub fn claude_sessions() -> Vec<Session> {
    let mut all = sessions(&testdata("sample"));
    for folder in ["sessions", "trees"] {
        for entry in std::fs::read_dir(testdata(folder)).unwrap() {
            all.extend(sessions(&entry.unwrap().path()));
        }
    }
    assert!(all.len() > 100, "{}", all.len());
    all
}

/// A session of every other agent in every form.
pub fn agent_sessions() -> Vec<Session> {
    let forms = agent_forms();
    let all: Vec<Session> = forms.iter().flat_map(|form| sessions(&form.folder)).collect();
    for agent in agents::all().filter(|other| *other != agent("claude-code")) {
        assert!(all.iter().any(|session| session.agent == agent), "{agent:?}");
    }
    all
}

/// Every bundled session of every agent.
pub fn all_sessions() -> Vec<Session> {
    let mut all = claude_sessions();
    all.extend(agent_sessions());
    all
}
