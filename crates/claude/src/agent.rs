//! The agent.

use backstory_model::{Agent, AgentInfo};

/// The agent whose files this crate reads.
pub const AGENT: Agent = Agent::new(&AgentInfo {
    name: "claude-code",
    title: "Claude Code",
    place: 0,
    unread: &["cost", "edits made outside the agent's tools"],
});
