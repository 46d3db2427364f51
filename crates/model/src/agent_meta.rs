//! What a client writes down about a subagent in a file of its own.

/// The metadata of a subagent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentMeta {
    /// The file as it is.
    pub text: Box<str>,
    /// The sort of agent.
    pub agent_type: Option<String>,
    /// What it is to do, in a few words.
    pub description: Option<String>,
    /// The call that started it.
    pub call: Option<String>,
    /// The agent whose call that is.
    pub parent: Option<String>,
    /// It began with the conversation of its parent.
    pub is_fork: bool,
}
