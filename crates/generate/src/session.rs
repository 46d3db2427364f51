//! The order of things: turns of steps until a file has its size.

use anyhow::Result;

use crate::agents::AgentPlan;
use crate::messages::{Block, Stop};
use crate::random::Spread;
use crate::transcript::{Checkpoint, Lane, Transcript};

const STEPS: Spread = &[(0, 1), (500, 6), (900, 20), (1000, 60)];
/// Tokens at which the client makes a summary and goes on with it.
const FULL_CONTEXT: u64 = 155_000;
/// A copy of a session repeats at most this much of it.
const LONGEST_COPY: u64 = 200_000;

impl<'p> Transcript<'p> {
    /// Writes a whole session; the result is where a copy of it could continue.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(crate) fn session(
        &mut self,
        bytes: u64,
        agents: &mut Vec<AgentPlan>,
    ) -> Result<Option<Checkpoint>> {
        self.opening()?;
        if self.era.from(2, 0, 28) && self.random.permille(200) {
            // Headless runs queue even their first prompt.
            let text = self.pools.prose.take(&mut self.random, 60);
            self.queue("enqueue", Some(text))?;
            self.queue("dequeue", None)?;
        }
        let checkpoint = self.turns(bytes, agents)?;
        self.closing()?;
        self.truth.open_end = self.random.permille(40);
        Ok(checkpoint)
    }

    /// Turns until the file has its size and every planned subagent has run.
    pub(crate) fn turns(
        &mut self,
        bytes: u64,
        agents: &mut Vec<AgentPlan>,
    ) -> Result<Option<Checkpoint>> {
        let mut checkpoint = None;
        let budget = bytes.saturating_sub(2_000);
        let planned = agents.len().max(1) as u64;
        loop {
            self.turn(budget, planned, agents)?;
            if self.truth.bytes < LONGEST_COPY {
                checkpoint = Some(self.checkpoint());
            }
            if self.truth.bytes >= budget && agents.is_empty() {
                return Ok(checkpoint);
            }
            let pause = self.random.between(5_000, 400_000) as i64;
            self.clock.advance(pause);
            self.between_turns()?;
        }
    }

    /// Steps until the file has its size (for subagents, whose prompt stands already).
    pub(crate) fn work_until(&mut self, bytes: u64, agents: &mut Vec<AgentPlan>) -> Result<()> {
        while self.truth.bytes + 1_500 < bytes {
            self.step()?;
            if self.random.permille(100)
                && let Some(plan) = agents.pop()
            {
                self.delegate(plan, agents)?;
            }
            // Subagents are not compacted here: their context simply stays large.
            self.context = self.context.min(FULL_CONTEXT);
        }
        Ok(())
    }

    fn turn(&mut self, budget: u64, planned: u64, agents: &mut Vec<AgentPlan>) -> Result<()> {
        match self.random.below(100) {
            0..3 => self.command()?,
            3 => self.bash_mode().and_then(|()| self.prompt())?,
            _ => self.prompt()?,
        }
        let start = self.clock;
        self.attachments()?;
        for _ in 0..self.random.size(STEPS) {
            if self.truth.bytes >= budget {
                break;
            }
            self.step()?;
            if self.context > FULL_CONTEXT {
                self.full_context(agents)?;
            }
            if self.era.sidechains_inside() {
                if self.random.permille(30) {
                    self.sidechain()?;
                }
                continue;
            }
            // Spread the planned subagents over the length of the file.
            let due = self.truth.bytes * planned / budget.max(1);
            if planned - (agents.len() as u64).min(planned) < due
                && self.random.permille(400)
                && let Some(plan) = agents.pop()
            {
                self.delegate(plan, agents)?;
            }
        }
        if self.truth.bytes >= budget {
            while let Some(plan) = agents.pop() {
                if self.era.within(20, 39) && agents.is_empty() && self.random.permille(400) {
                    return self.lost_answer();
                }
                self.delegate(plan, agents)?;
            }
        }
        self.end_of_turn(start)
    }

    fn end_of_turn(&mut self, start: crate::clock::Clock) -> Result<()> {
        match self.random.below(100) {
            0..4 => return self.interrupt(),
            4 => return self.synthetic("API Error: 529 overloaded_error", Some("server_error")),
            5 => self.retry_notice()?,
            _ => {}
        }
        self.say(Stop::EndTurn)?;
        let millis = self.clock.since(start);
        self.after_turn(millis)
    }

    /// The context is full: sometimes only old results go, otherwise a summary replaces everything.
    fn full_context(&mut self, agents: &mut Vec<AgentPlan>) -> Result<()> {
        if self.era.within(12, 41) && self.random.permille(300) {
            self.context -= 40_000;
            return self.micro_compact();
        }
        if self.era.from(2, 1, 20) && self.random.permille(700) && agents.pop().is_some() {
            self.compaction_copy()?;
        }
        self.compact("auto")?;
        self.counts().turns += 1;
        self.say(Stop::EndTurn)
    }

    fn between_turns(&mut self) -> Result<()> {
        match self.random.below(100) {
            0..2 => self.local_command("model", "Set model to opus"),
            2 => {
                self.compact("manual")?;
                self.local_command("compact", "Compacted")
            }
            3..5 => self.rewound_turn(),
            _ => Ok(()),
        }
    }

    /// A turn that is taken back: the next one hangs from the same record.
    fn rewound_turn(&mut self) -> Result<()> {
        let (parent, context, recovered) = (self.parent, self.context, self.truth.recovered);
        self.lane = Lane::Abandoned;
        self.prompt()?;
        for _ in 0..self.random.between(1, 3) {
            self.step()?;
        }
        self.say(Stop::EndTurn)?;
        self.lane = Lane::Story;
        (self.parent, self.context, self.truth.recovered) = (parent, context, recovered);
        Ok(())
    }

    /// One message with calls, and their results.
    pub(crate) fn step(&mut self) -> Result<()> {
        if self.agent.is_none() && self.lane == Lane::Story {
            self.request_records()?;
        }
        let mut blocks = Vec::new();
        if self.random.permille(420) {
            blocks.push(self.thinking());
        }
        if self.random.permille(400) {
            blocks.push(self.text());
        }
        let calls = if self.random.permille(850) { 1 } else { self.random.between(2, 4) };
        for _ in 0..calls {
            let call = self.call();
            blocks.push(Block::Call(call));
        }
        let output = self.random.between(60, 900);
        let message = self.begin_message(Stop::ToolUse, output);
        let interleaved = calls > 1 && self.era.from(2, 1, 20) && self.random.permille(120);

        let (mut parent, mut records, mut results) = (self.parent, Vec::new(), Vec::new());
        let last = blocks.len() - 1;
        for (number, block) in blocks.iter().enumerate() {
            let uuid = self.block_record(&message, block, number == last, parent)?;
            parent = Some(uuid);
            if let Block::Call(call) = block {
                self.counts().calls += 1;
                if interleaved && number < last {
                    results.push(self.result(call, uuid, uuid)?);
                }
                records.push((call, uuid));
            }
        }
        self.parent = parent;
        for (call, record) in records.iter().skip(results.len()) {
            if call.name == "Bash" && self.random.permille(600) {
                self.running(&call.id, *record)?;
            }
            // From 2.1 on a result hangs from its own call, before from whatever was written last.
            let fan_out = self.era.results_fan_out();
            let above = if fan_out { *record } else { self.parent.unwrap_or(*record) };
            let result = self.result(call, *record, above)?;
            results.push(result);
            if !fan_out {
                self.parent = Some(result);
            }
            if matches!(call.name, "Edit" | "MultiEdit" | "Write") && self.agent.is_none() {
                self.delta(*record)?;
                if self.era.from(2, 0, 29) && self.random.permille(300) {
                    self.snapshot(*record, Some(*record))?;
                }
            }
        }
        if self.era.results_fan_out() {
            let next = if self.random.permille(800) {
                results.len() - 1
            } else {
                self.random.below(results.len())
            };
            self.parent = Some(results[next]);
            if self.lane == Lane::Story {
                let calls_left_out = results.len() - 1 - next;
                self.truth.recovered += (calls_left_out + results.len() - 1) as u64;
            }
        }
        if let Some((call, _)) = records.last()
            && self.random.permille(400)
        {
            self.tool_hook(&call.id)?;
        }
        if self.agent.is_none()
            && self.lane == Lane::Story
            && self.era.from(2, 0, 28)
            && self.random.permille(15)
        {
            self.interjection()?;
        }
        if self.random.permille(500) {
            self.attachments()?;
        }
        Ok(())
    }
}
