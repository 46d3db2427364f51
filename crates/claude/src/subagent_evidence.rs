//! What ties calls to the agents they started.

use crate::rows::Rows;
use crate::rows::is_message;
use backstory_format::claude::BlockKind;
use backstory_model::{Evidence, Session};
use hashbrown::{HashMap, HashSet};

/// The traces one file leaves of the agents it started, and of its own start.
#[derive(Debug, Default)]
pub(super) struct SubagentEvidence {
    /// Calls that start agents, in file order.
    launches: Vec<Launch>,
    calls: HashSet<Box<str>>,
    /// Agent id to call id.
    result_agents: HashMap<Box<str>, Box<str>>,
    progress_agents: HashMap<Box<str>, Box<str>>,
    /// Hash of the first prompt of the file.
    pub(super) first_prompt: Option<u64>,
    /// Calls that are known to have started some agent.
    claimed: HashSet<Box<str>>,
}

/// A call that starts an agent.
#[derive(Debug)]
struct Launch {
    call: Box<str>,
    /// The record that makes it.
    record: Option<Box<str>>,
    /// Hash of the prompt it gives.
    prompt: u64,
}

impl SubagentEvidence {
    pub(super) fn new(rows: &Rows) -> SubagentEvidence {
        let mut evidence = SubagentEvidence::default();
        for row in rows.rows.iter().filter(|row| !row.repeated) {
            let Some(part) = rows.message(row) else { continue };
            if evidence.first_prompt.is_none() && part.text_hash != 0 && is_message(row) {
                evidence.first_prompt = Some(part.text_hash);
            }
            for block in rows.blocks(part) {
                let Some(id) = rows.names.text(block.id) else { continue };
                match block.kind {
                    BlockKind::ToolUse => {
                        if block.prompt_hash != 0 {
                            let (call, record) = (id.clone(), rows.names.text(row.uuid));
                            evidence.launches.push(Launch {
                                call,
                                record,
                                prompt: block.prompt_hash,
                            });
                        }
                        evidence.calls.insert(id);
                    }
                    BlockKind::ToolResult => {
                        if let Some(agent) = rows.names.text(part.result_agent) {
                            evidence.result_agents.insert(agent, id);
                        }
                    }
                    _ => {}
                }
            }
        }
        for progress in &rows.progress {
            if let (Some(agent), Some(call)) =
                (rows.names.text(progress.agent), rows.names.text(progress.call))
            {
                evidence.progress_agents.entry(agent).or_insert(call);
            }
        }
        evidence
    }

    /// Whether this file makes the call.
    pub(super) fn makes(&self, call: &str) -> bool {
        self.calls.contains(call)
    }

    /// The call whose result or progress names the agent.
    pub(super) fn named(&self, agent: &str) -> Option<(Box<str>, Evidence)> {
        let result = self.result_agents.get(agent).map(|call| (call.clone(), Evidence::Result));
        let progress =
            || self.progress_agents.get(agent).map(|call| (call.clone(), Evidence::Progress));
        result.or_else(progress).filter(|(call, _)| self.makes(call))
    }

    /// The first call with this prompt that no other agent was started by.
    pub(super) fn claim_prompt(&mut self, prompt: u64) -> Option<(Box<str>, Evidence)> {
        self.claim_launch(Evidence::Prompt, |launch| launch.prompt == prompt)
    }

    /// The first free call made by the record that a fork's context ends with.
    pub(super) fn claim_fork(&mut self, record: &str) -> Option<(Box<str>, Evidence)> {
        self.claim_launch(Evidence::Fork, |launch| launch.record.as_deref() == Some(record))
    }

    fn claim_launch(
        &mut self,
        evidence: Evidence,
        wanted: impl Fn(&Launch) -> bool,
    ) -> Option<(Box<str>, Evidence)> {
        let free = |launch: &&Launch| wanted(launch) && !self.claimed.contains(&launch.call);
        let call = self.launches.iter().find(free)?.call.clone();
        self.claimed.insert(call.clone());
        Some((call, evidence))
    }

    /// Marks a call as explained by better evidence than its prompt.
    pub(super) fn claim(&mut self, call: &str) {
        self.claimed.insert(call.into());
    }
}

/// Writes the agent's id at the call that started it.
pub(super) fn mark_call(session: &mut Session, call: &str, agent: &str) {
    let turns = session.turns.iter_mut();
    let left = session.abandoned.iter_mut().flat_map(|branch| branch.turns.iter_mut());
    for step in turns.chain(left).flat_map(|turn| turn.steps.iter_mut()) {
        for known in step.calls_mut() {
            if known.id.as_deref() == Some(call) {
                known.subagent = Some(agent.into());
            }
        }
    }
}
