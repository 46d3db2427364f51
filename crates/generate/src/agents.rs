//! Subagents: their files in both layouts, and the records in the session that lead to them.

use anyhow::Result;

use crate::calls::{Call, Work};
use crate::disk;
use crate::era::UsageRegime;
use crate::identifier::{Uuid, hex};
use crate::messages::{Block, Stop};
use crate::transcript::{Lane, Opening, Transcript};
use crate::truth::Link;

const HELPER: &str = "claude-haiku-4-5-20251001";

/// A subagent file to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentPlan {
    /// How large it should become.
    pub(crate) bytes: u64,
}

impl<'p> Transcript<'p> {
    fn agent_id(&mut self) -> String {
        let random = &mut self.random;
        if !self.era.from(2, 0, 30) {
            hex(random, 8)
        } else if !self.era.from(2, 1, 40) {
            format!("a{}", hex(random, 6))
        } else {
            format!("a{}", hex(random, 16))
        }
    }

    fn agent_file(
        &mut self,
        id: &str,
        kind: &'static str,
        model: &'static str,
    ) -> Result<Transcript<'p>> {
        let folder = format!("projects/{}", self.project.key);
        let path = match (self.era.agents_in_folder(), kind) {
            (false, _) => format!("{folder}/agent-{id}.jsonl"),
            (true, "workflow") => format!(
                "{folder}/{}/subagents/workflows/wf_{}/agent-{id}.jsonl",
                self.session.text(),
                hex(&mut self.random, 8)
            ),
            (true, _) => format!("{folder}/{}/subagents/agent-{id}.jsonl", self.session.text()),
        };
        let opening = Opening {
            project: self.project,
            era: self.era,
            session: self.session,
            agent: Some(id.to_owned()),
            kind,
            clock: self.clock,
            path,
        };
        Transcript::create(self.root, self.pools, self.random.fork(), opening, model)
    }

    fn finish_agent(&mut self, agent: Transcript<'p>) -> Result<()> {
        self.clock = self.clock.max(agent.clock);
        let closed = agent.close()?;
        self.finished.push(closed);
        Ok(())
    }

    /// Runs one planned subagent from here; `rest` are plans it may use for its own.
    pub(crate) fn delegate(&mut self, plan: AgentPlan, rest: &mut Vec<AgentPlan>) -> Result<()> {
        let choice = self.random.below(100);
        if self.agent.is_none() && choice < 15 && !self.era.from(2, 1, 1) {
            return self.warm_up();
        }
        let kind = match choice {
            0..12 if self.era.from(2, 1, 200) => "workflow",
            12..30 if self.era.from(2, 1, 220) => "fork",
            _ => "task",
        };
        self.task(plan, rest, kind)
    }

    fn warm_up(&mut self) -> Result<()> {
        let id = self.agent_id();
        let mut agent = self.agent_file(&id, "warmup", HELPER)?;
        agent.task_prompt(b"Warmup")?;
        agent.say(Stop::EndTurn)?;
        self.truth.links.push(Link { agent: Some(id), kind: "warmup", call: None, evidence: None });
        self.finish_agent(agent)
    }

    fn task(
        &mut self,
        plan: AgentPlan,
        rest: &mut Vec<AgentPlan>,
        kind: &'static str,
    ) -> Result<()> {
        let prompt = self.pools.prose.take(&mut self.random, 500);
        let background = self.era.from(2, 1, 100) && self.random.permille(200);
        let killed = self.random.permille(30);
        let call = self.agent_call(prompt, background);
        let call_id = call.id.clone();
        let message = self.begin_message(Stop::ToolUse, 200);
        self.counts().calls += 1;
        let block = Block::Call(call);
        let call_record = self.block_record(&message, &block, true, self.parent)?;
        self.parent = Some(call_record);

        let id = if kind == "fork" {
            format!("areview-{}", hex(&mut self.random, 16))
        } else {
            self.agent_id()
        };
        let mut agent = self.agent_file(&id, kind, HELPER)?;
        if kind == "fork" {
            let (name, session) = (id.clone(), self.session);
            agent.metadata("fork-context-ref", |line, _| {
                line.text("agentId", &name);
                line.text("parentSessionId", session);
                line.text("parentLastUuid", call_record);
                line.number("contextLength", 12);
            })?;
            agent.task_prompt(b"<fork-boilerplate>\\nYou are a fork of the conversation.\\n</fork-boilerplate>\\nReview it.")?;
        } else {
            agent.task_prompt(prompt)?;
        }
        let mut nested = Vec::new();
        if self.era.from(2, 1, 70) && self.random.permille(150) {
            nested.extend(rest.pop());
        }
        agent.work_until(plan.bytes, &mut nested)?;
        while let Some(plan) = nested.pop() {
            agent.delegate(plan, &mut nested)?;
        }
        agent.say(Stop::EndTurn)?;
        let evidence = self.link_agent(&id, kind, &call_id, call_record, prompt, killed)?;
        self.write_sidecar(&agent, kind, &call_id)?;
        self.finish_agent(agent)?;
        self.truth.links.push(Link {
            agent: Some(id.clone()),
            kind,
            call: Some(call_id),
            evidence: Some(evidence),
        });
        if let Block::Call(call) = &block
            && !killed
        {
            self.agent_result(call, call_record, &id, background)?;
        }
        if background && !killed && self.agent.is_none() {
            self.say(Stop::EndTurn)?;
            self.notification(&id)?;
        }
        Ok(())
    }

    /// Progress records that name the agent, and the strongest evidence a reader will have.
    fn link_agent(
        &mut self,
        id: &str,
        kind: &'static str,
        call: &str,
        call_record: Uuid,
        prompt: &[u8],
        killed: bool,
    ) -> Result<&'static str> {
        let progress = self.era.within(12, 83);
        if progress {
            for _ in 0..self.random.between(1, 3) {
                let text = self.pools.prose.take(&mut self.random, 300);
                self.progress("agent_progress", Some(call_record), "agent_msg", call, |line| {
                    line.object("message", |line| {
                        line.text("type", "assistant");
                        line.object("message", |line| {
                            line.text("id", "msg_copy");
                            line.text("content", text);
                            // A copy of a subagent's usage: a trap for readers that sum all of them.
                            line.raw("usage", "{\"input_tokens\":5,\"output_tokens\":900}");
                        });
                    });
                    line.text("prompt", prompt);
                    line.text("agentId", id);
                })?;
            }
        }
        Ok(if self.era.from(2, 1, 200) && kind != "workflow" {
            "meta"
        } else if !killed {
            "result"
        } else if progress {
            "progress"
        } else {
            "prompt"
        })
    }

    fn write_sidecar(&self, agent: &Transcript<'p>, kind: &str, call: &str) -> Result<()> {
        if !self.era.from(2, 1, 70) || kind == "workflow" {
            return Ok(());
        }
        let mut meta = serde_json::json!({"agentType": if kind == "fork" { "fork" } else { "general-purpose" }, "description": "A task"});
        if self.era.from(2, 1, 200) {
            meta["toolUseId"] = call.into();
            meta["spawnDepth"] = if self.agent.is_some() { 2 } else { 1 }.into();
            meta["isFork"] = (kind == "fork").into();
        }
        let path = self.root.join(agent.truth.path.replace(".jsonl", ".meta.json"));
        disk::write(&path, meta.to_string())
    }

    fn agent_result(
        &mut self,
        call: &Call<'p>,
        call_record: Uuid,
        agent: &str,
        background: bool,
    ) -> Result<()> {
        let Work::Agent { prompt, .. } = call.work else { return Ok(()) };
        let length = self.random.between(100, 3_000) as usize;
        let text = self.pools.prose.take(&mut self.random, length);
        let parent = if self.era.results_fan_out() { Some(call_record) } else { self.parent };
        let source = self.era.from(2, 1, 1);
        let uuid = Uuid::new(&mut self.random);
        self.record_under("user", parent, uuid, |line, _| {
            line.object("message", |line| {
                line.text("role", "user");
                line.list("content", |line| {
                    line.element(|line| {
                        line.text("tool_use_id", &call.id);
                        line.text("type", "tool_result");
                        line.list("content", |line| {
                            line.element(|line| {
                                line.text("type", "text");
                                line.text("text", text);
                            });
                        });
                    });
                });
            });
            line.object("toolUseResult", |line| {
                line.text("status", if background { "async_launched" } else { "completed" });
                line.text("prompt", prompt);
                if !agent.is_empty() {
                    line.text("agentId", agent);
                }
                line.number("totalDurationMs", 60_000);
                line.number("totalTokens", 45_000);
                line.number("totalToolUseCount", 12);
                line.raw("usage", "{\"input_tokens\":5,\"output_tokens\":900}");
            });
            if source {
                line.text("sourceToolAssistantUUID", call_record);
            }
        })?;
        self.parent = Some(uuid);
        self.counts().results += 1;
        Ok(())
    }

    /// A subagent of 1.0: a sidechain inside the file.
    pub(crate) fn sidechain(&mut self) -> Result<()> {
        let prompt = self.pools.prose.take(&mut self.random, 400);
        let call = self.agent_call(prompt, false);
        let call_id = call.id.clone();
        let message = self.begin_message(Stop::ToolUse, 200);
        self.counts().calls += 1;
        let block = Block::Call(call);
        let call_record = self.block_record(&message, &block, true, self.parent)?;
        let context = self.context;
        (self.parent, self.lane) = (None, Lane::Sidechain);
        self.task_prompt(prompt)?;
        for _ in 0..self.random.between(1, 4) {
            self.step()?;
        }
        self.say(Stop::EndTurn)?;
        (self.parent, self.lane, self.context) = (Some(call_record), Lane::Story, context);
        self.truth.links.push(Link {
            agent: None,
            kind: "task",
            call: Some(call_id),
            evidence: Some("prompt"),
        });
        if let Block::Call(call) = &block {
            self.agent_result(call, call_record, "", false)?;
        }
        Ok(())
    }

    /// The run that summarises before a compaction: a copy of the conversation and one message of its own.
    pub(crate) fn compaction_copy(&mut self) -> Result<()> {
        let id = format!("acompact-{}", hex(&mut self.random, 12));
        let mut agent = self.agent_file(&id, "compaction", self.model)?;
        agent.truth.copied_from = Some(self.session.text().to_owned());
        let mark = format!("\"isSidechain\":true,\"agentId\":\"{id}\"");
        for kept in std::mem::take(&mut self.kept) {
            agent.copy(
                kept.kind,
                &replace_first(&kept.bytes, b"\"isSidechain\":false", mark.as_bytes()),
            )?;
            agent.parent = Some(kept.uuid);
        }
        agent.task_prompt(
            b"Your task is to create a detailed summary of the conversation so far.",
        )?;
        agent.say(Stop::EndTurn)?;
        self.truth.links.push(Link {
            agent: Some(id),
            kind: "compaction",
            call: None,
            evidence: None,
        });
        self.finish_agent(agent)
    }

    /// The last answer of a session whose text only the prompt-suggestion run kept (2.1.2x and 2.1.3x).
    pub(crate) fn lost_answer(&mut self) -> Result<()> {
        let message = self.begin_message(Stop::EndTurn, 60);
        let thinking = self.thinking();
        let uuid = self.block_record(&message, &thinking, false, self.parent)?;
        self.parent = Some(uuid);
        let id = format!("aprompt_suggestion-{}", hex(&mut self.random, 6));
        let mut agent = self.agent_file(&id, "prompt-suggestion", self.model)?;
        agent.parent = Some(uuid);
        let text = agent.text();
        let copy = agent.block_record(&message, &text, true, Some(uuid))?;
        agent.parent = Some(copy);
        let counts = agent.counts();
        counts.turns += 1;
        counts.steps += 1;
        counts.usage.add(message.usage());
        agent.truth.models.push(self.model);
        agent
            .task_prompt(b"[SUGGESTION MODE: Suggest what the user might naturally type next.]")?;
        agent.say(Stop::EndTurn)?;
        debug_assert_eq!(self.regime(), UsageRegime::Placeholder);
        self.truth.links.push(Link {
            agent: Some(id),
            kind: "prompt-suggestion",
            call: None,
            evidence: None,
        });
        self.finish_agent(agent)
    }
}

fn replace_first(line: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    match line.windows(from.len()).position(|window| window == from) {
        Some(at) => [&line[..at], to, &line[at + from.len()..]].concat(),
        None => line.to_vec(),
    }
}
