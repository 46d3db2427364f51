//! ATIF, the trajectory format of Harbor: a document per session, subagents inside it.
//!
//! Each conversation is a trajectory of its own, held by the one whose call started it; the call's
//! observation names it. The validator refuses fields of models on other steps, even empty ones, so
//! what is not known is left out here instead of being null.

use crate::atif_metrics::{Sums, metrics};
use crate::context::{Context, duration};
use crate::definition::input_schema;
use crate::fetch::Fetcher;
use crate::json::CanonicalWriter;
use crate::opentraces::{
    Placed, beginning, benchmark, model_name, result_text, trace_id, write_input,
};
use crate::options::{AtifSchema, Options};
use crate::shapes::Shapes;
use crate::timeline::{Entry, Item};
use crate::tree::Tree;
use backstory_format::slice::item;
use backstory_model::{Block, CallOutcome, Content, Session, Step, TurnKind, UsageTotal};
use backstory_store::StoreError;
use jiff::Timestamp;
use std::cell::RefMut;

pub(super) fn write(
    context: &Context<'_>,
    schema: AtifSchema,
    options: &Options<'_>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<(), StoreError> {
    let mut fetcher = context.fetcher();
    let shapes = Shapes::of(&context.timeline, &mut fetcher, canon)?;
    let tree = Tree::of(context);
    let mut writer = Writer { context, shapes, tree, schema, options, fetcher, canon };
    writer.trajectory(0)
}

struct Writer<'w, 's, 'c> {
    context: &'w Context<'s>,
    shapes: Shapes,
    tree: Tree,
    schema: AtifSchema,
    options: &'w Options<'w>,
    fetcher: RefMut<'w, Fetcher<'s>>,
    canon: &'w mut CanonicalWriter<'c>,
}

impl Writer<'_, '_, '_> {
    fn trajectory(&mut self, member: usize) -> Result<(), StoreError> {
        let Some(session) = self.context.timeline.members.get(member).copied() else {
            return Ok(());
        };
        self.canon.open();
        self.canon.key("schema_version");
        self.canon.plain(match self.schema {
            AtifSchema::V1_7 => "ATIF-v1.7",
            AtifSchema::V1_8 => "ATIF-v1.8",
        });
        self.canon.key("session_id");
        self.canon.id(&self.context.session.id);
        self.canon.key("trajectory_id");
        let id = self.trajectory_id(member);
        self.canon.id(&id);
        self.agent(session, member)?;
        self.canon.key("steps");
        let sums = self.steps(member)?;
        sums.write(self.context, member, self.canon);
        self.canon.key("extra");
        self.extra(session, member)?;
        let children = item(&self.tree.children, member);
        if !children.is_empty() {
            self.canon.key("subagent_trajectories");
            self.canon.open_list();
            for child in children {
                self.trajectory(child)?;
            }
            self.canon.close_list();
        }
        self.canon.close();
        Ok(())
    }

    fn trajectory_id(&self, member: usize) -> String {
        let root = trace_id(self.context.session, self.options.generation);
        match self.context.timeline.members.get(member).filter(|_| member > 0) {
            // Ids of agents may repeat between files; the place in the timeline does not.
            Some(agent) => format!("{root}/{}/{member}", agent.id),
            None => root,
        }
    }

    fn agent(&mut self, session: &Session, member: usize) -> Result<(), StoreError> {
        self.canon.key("agent");
        self.canon.open();
        self.canon.key("name");
        self.canon.plain(session.agent.name());
        self.canon.key("version");
        let version = session.versions.last().or(self.context.session.versions.last());
        self.canon.id(version.map_or("unknown", |version| version));
        if let Some(model) = session.models.first() {
            self.canon.key("model_name");
            self.canon.id(&model_name(model));
        }
        if member == 0 && !self.shapes.tools.is_empty() {
            self.canon.key("tool_definitions");
            self.shapes.write_tools(&mut self.fetcher, self.canon, |canon, tool| {
                canon.open();
                canon.key("type");
                canon.plain("function");
                canon.key("function");
                canon.open();
                canon.key("name");
                canon.id(&tool.get_text("name").unwrap_or_default());
                if let Some(description) = tool.get_text("description") {
                    canon.key("description");
                    canon.text(&description);
                }
                if let Some(schema) = input_schema(&tool) {
                    canon.key("parameters");
                    canon.json(schema);
                }
                canon.close();
                canon.close();
            })?;
        }
        self.canon.close();
        Ok(())
    }

    fn extra(&mut self, session: &Session, member: usize) -> Result<(), StoreError> {
        self.canon.open();
        self.canon.key("kind");
        self.canon.plain(session.kind.name());
        if let Some(role) = self.context.roles.get(member) {
            self.canon.key("agent_role");
            self.canon.text(role);
        }
        if member > 0 {
            self.canon.key("agent_id");
            self.canon.id(&session.id);
        } else {
            let left_out = self.context.timeline.left_out;
            self.canon.key("abandoned_turns_left_out");
            self.canon.number(left_out.abandoned_turns);
            self.canon.key("housekeeping_agents_left_out");
            self.canon.number(left_out.housekeeping);
        }
        if member == 0 && session.benchmark.is_some() {
            self.canon.key("benchmark");
            benchmark(session, &mut self.fetcher, self.canon)?;
        }
        self.canon.key("cwds");
        self.canon.text_list(session.cwds.iter().map(|cwd| &**cwd));
        self.canon.key("git_branches");
        self.canon.text_list(session.git_branches.iter().map(|branch| &**branch));
        self.canon.close();
        Ok(())
    }

    /// Writes the steps of a member; gives their sums.
    fn steps(&mut self, member: usize) -> Result<Sums, StoreError> {
        let context = self.context;
        let items = item(&self.tree.items, member);
        let mut sums = Sums::default();
        let mut count = 0;
        self.canon.open_list();
        if let Some(prompt) = self.system_prompt(member, &items) {
            count += 1;
            self.begin(count, "system", None);
            self.canon.key("message");
            // Cleared when it was named.
            self.canon.plain(&prompt);
            self.canon.close();
        }
        if items.is_empty() {
            // A trajectory needs a step, and the subagents need a trajectory.
            count += 1;
            self.said(
                count,
                "system",
                None,
                "Nothing else of this conversation is recorded.",
                "empty",
            );
        }
        for at in items {
            let Some(item) = context.timeline.items.get(at) else { continue };
            count += 1;
            match item.what {
                Entry::Prompt(turn) => {
                    let blocks = turn.prompt.blocks.iter().map(|block| &block.block);
                    let words = self.fetcher.words(member, blocks)?;
                    let source = match turn.kind {
                        TurnKind::Compact | TurnKind::TaskNotification => "system",
                        _ => "user",
                    };
                    self.said(count, source, turn.timestamp, &words, turn.kind.name());
                }
                Entry::Interjection(typed) => {
                    let words = self.fetcher.text(member, &typed.text)?.into_owned();
                    self.said(count, "user", typed.timestamp, &words, "interjection");
                }
                Entry::Step(step) => {
                    let counted = !step.synthetic && !context.repeated.contains(&at);
                    let spent = step.usage.as_ref().filter(|_| counted);
                    sums.add(step, spent, self.options.prices);
                    self.step(count, at, item, step, spent)?;
                }
            }
        }
        self.canon.close_list();
        sums.steps = count;
        Ok(sums)
    }

    fn system_prompt(&self, member: usize, items: &[usize]) -> Option<String> {
        let timeline = &self.context.timeline;
        let name = items.iter().find_map(|at| match timeline.items.get(*at)?.what {
            Entry::Step(step) => self.shapes.prompt(timeline, member, step),
            _ => None,
        })?;
        self.shapes.prompts.get(name).cloned()
    }

    fn begin(&mut self, number: u64, source: &str, timestamp: Option<Timestamp>) {
        self.canon.open();
        self.canon.key("step_id");
        self.canon.number(number);
        if let Some(time) = timestamp {
            self.canon.key("timestamp");
            self.canon.plain(&time.to_string());
        }
        self.canon.key("source");
        self.canon.plain(source);
    }

    fn said(
        &mut self,
        number: u64,
        source: &str,
        timestamp: Option<Timestamp>,
        words: &str,
        kind: &str,
    ) {
        self.begin(number, source, timestamp);
        self.canon.key("message");
        self.canon.text(words);
        self.canon.key("extra");
        self.canon.open();
        self.canon.key("kind");
        self.canon.plain(kind);
        self.canon.close();
        self.canon.close();
    }

    fn step(
        &mut self,
        number: u64,
        at: usize,
        item: &Item<'_>,
        step: &Step,
        spent: Option<&UsageTotal>,
    ) -> Result<(), StoreError> {
        let words = self.fetcher.words(item.member, &step.blocks)?;
        if step.synthetic {
            self.said(number, "system", step.timestamp, &words, "client");
            return Ok(());
        }
        self.begin(number, "agent", step.timestamp);
        if let Some(model) = &step.model {
            self.canon.key("model_name");
            self.canon.id(&model_name(model));
        }
        self.canon.key("message");
        self.canon.text(&words);
        let thought: Vec<&Content> = step.blocks.iter().filter_map(thought).collect();
        if !thought.is_empty() {
            let text = self.fetcher.joined(item.member, &thought, "\n\n")?;
            self.canon.key("reasoning_content");
            self.canon.text(&text);
        }
        if step.calls().next().is_some() {
            self.canon.key("tool_calls");
            self.canon.open_list();
            for (number, call) in step.calls().enumerate() {
                self.call(Placed { member: item.member, at, number, call })?;
            }
            self.canon.close_list();
            self.canon.key("observation");
            self.canon.open();
            self.canon.key("results");
            self.canon.open_list();
            for (number, call) in step.calls().enumerate() {
                self.result(Placed { member: item.member, at, number, call })?;
            }
            self.canon.close_list();
            self.canon.close();
        }
        if let Some(spent) = spent {
            let cost = self.options.prices.of_message(step);
            metrics(spent, cost, self.canon);
        }
        self.canon.key("llm_call_count");
        self.canon.number(1);
        self.canon.key("extra");
        self.canon.open();
        if let Some(id) = &step.message_id {
            self.canon.key("message_id");
            self.canon.id(id);
        }
        if let Some(reason) = &step.stop_reason {
            self.canon.key("stop_reason");
            self.canon.text(reason);
        }
        self.canon.key("on_active_chain");
        self.canon.bool(step.on_chain);
        self.canon.close();
        self.canon.close();
        Ok(())
    }

    fn call(&mut self, placed: Placed<'_>) -> Result<(), StoreError> {
        let Placed { member, call, .. } = placed;
        let taken = duration(call, member, &mut self.fetcher)?;
        self.canon.open();
        self.canon.key("tool_call_id");
        self.canon.id(&placed.id());
        self.canon.key("function_name");
        self.canon.text(call.name.as_deref().unwrap_or("unknown"));
        self.canon.key("arguments");
        write_input(member, call, &mut self.fetcher, self.canon)?;
        if let Some(taken) = taken {
            self.canon.key("extra");
            self.canon.open();
            self.canon.key("duration_ms");
            self.canon.number(taken);
            self.canon.close();
        }
        self.canon.close();
        Ok(())
    }

    fn result(&mut self, placed: Placed<'_>) -> Result<(), StoreError> {
        let Placed { member, call, .. } = placed;
        let begun = call.id.as_deref().and_then(|id| self.tree.started.get(id)).cloned();
        let ids: Vec<String> =
            begun.unwrap_or_default().iter().map(|child| self.trajectory_id(*child)).collect();
        self.canon.open();
        self.canon.key("source_call_id");
        self.canon.id(&placed.id());
        if let Some(result) = &call.result {
            let text = result_text(member, result, &mut self.fetcher)?;
            let cleared = self.canon.clear(&text);
            let most = self.options.max_observation.unwrap_or(usize::MAX);
            self.canon.key("content");
            self.canon.plain(beginning(&cleared, most));
        }
        if !ids.is_empty() {
            self.canon.key("subagent_trajectory_ref");
            self.canon.open_list();
            for id in &ids {
                self.canon.open();
                self.canon.key("trajectory_id");
                self.canon.id(id);
                self.canon.close();
            }
            self.canon.close_list();
        }
        self.canon.key("extra");
        self.canon.open();
        let outcome = call.result.as_ref().map(|result| result.outcome);
        self.canon.key("is_error");
        self.canon.bool(outcome != Some(CallOutcome::Ok));
        self.canon.key("status");
        self.canon.plain(outcome.map_or("no_result", CallOutcome::name));
        self.canon.close();
        self.canon.close();
        Ok(())
    }
}

fn thought(block: &Block) -> Option<&Content> {
    match block {
        Block::Thinking { text: Some(text), .. } if text.size() > 0 => Some(text),
        _ => None,
    }
}
