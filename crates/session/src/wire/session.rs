//! A session, its turns and steps as JSON.

use super::SESSION_SCHEMA;
use super::blocks::BlockJson;
use super::content::{Json, Reader, Text};
use backstory_claude::prompts;
use backstory_format::Problem;
use backstory_model::{
    Benchmark, Block, Branch, ChainLink, Compaction, CompactionKind, Content, Event, Interjection,
    Recovered, RequestShape, Session, Step, Trigger, Turn, TurnKind, UsageTotal,
};
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::json;
use serde_json::value::RawValue;
use std::cell::RefCell;

/// A session to be written as `backstory.session/1`. Content is read from its file as it is
/// written, so that memory does not grow with the session.
#[derive(Debug)]
pub struct SessionJson<'a>(pub &'a Session);

impl Serialize for SessionJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let session = self.0;
        let reader = RefCell::new(session.source.open().map_err(S::Error::custom)?);
        let reader = &reader;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", SESSION_SCHEMA)?;
        map.serialize_entry("agent", session.agent.name())?;
        map.serialize_entry("id", &session.id)?;
        map.serialize_entry("kind", session.kind.name())?;
        map.serialize_entry("path", &session.source.shown_path())?;
        let file = &session.file;
        map.serialize_entry(
            "file",
            &json!({
                "bytes": file.bytes, "lines": file.lines, "blank_lines": file.blank_lines,
                "bad_lines": file.bad_lines, "records": file.records, "modified": file.modified,
            }),
        )?;
        map.serialize_entry(
            "project",
            &json!({
                "key": session.project_key, "path": session.cwds.first(),
            }),
        )?;
        let title = session.title.as_ref();
        map.serialize_entry(
            "title",
            &title.map(|title| json!({ "text": title.text, "source": title.source.name() })),
        )?;
        map.serialize_entry("started", &session.started)?;
        map.serialize_entry("ended", &session.ended)?;
        map.serialize_entry("versions", &session.versions)?;
        map.serialize_entry("models", &session.models)?;
        map.serialize_entry("git_branches", &session.git_branches)?;
        map.serialize_entry("cwds", &session.cwds)?;
        map.serialize_entry("entrypoints", &session.entrypoints)?;
        let fork = session.forked_from.as_ref();
        map.serialize_entry(
            "forked_from",
            &fork.map(|fork| json!({ "session": fork.session, "record": fork.record })),
        )?;
        map.serialize_entry("continues", &session.continues)?;
        map.serialize_entry("shares_history", &session.shares_history)?;
        map.serialize_entry("counts", &counts(session))?;
        map.serialize_entry("usage", &UsageJson(&session.usage, None))?;
        if let Some(parent) = &session.parent {
            map.serialize_entry(
                "parent",
                &json!({
                    "session": parent.session, "call": parent.call,
                    "evidence": parent.evidence.map(|evidence| evidence.name()),
                }),
            )?;
            let meta = session
                .meta
                .as_ref()
                .and_then(|meta| serde_json::from_str::<&RawValue>(&meta.text).ok());
            map.serialize_entry("meta", &meta)?;
        }
        map.serialize_entry("reported_cost_usd", &session.reported_cost)?;
        if let Some(benchmark) = &session.benchmark {
            map.serialize_entry("benchmark", &BenchmarkJson(reader, benchmark))?;
        }
        if !session.requests.shapes.is_empty() {
            let shapes = session.requests.shapes.iter();
            let requests: Vec<_> = shapes.map(|shape| RequestJson(reader, shape)).collect();
            map.serialize_entry("requests", &requests)?;
        }
        map.serialize_entry("turns", &Turns(reader, &session.turns))?;
        let abandoned: Vec<_> =
            session.abandoned.iter().map(|branch| BranchJson(reader, branch)).collect();
        map.serialize_entry("abandoned", &abandoned)?;
        map.serialize_entry(
            "compactions",
            &session.compactions.iter().map(compaction).collect::<Vec<_>>(),
        )?;
        map.serialize_entry(
            "subagents",
            &session.subagents.iter().map(SessionJson).collect::<Vec<_>>(),
        )?;
        let orphans = session.orphan_results.iter();
        let orphans = orphans.map(
            |orphan| json!({ "call_id": orphan.call_id, "uuid": orphan.uuid, "line": orphan.line }),
        );
        map.serialize_entry("orphan_results", &orphans.collect::<Vec<_>>())?;
        map.serialize_entry("unread", session.agent.unread())?;
        map.serialize_entry("chain", &session.chain.iter().map(chain_link).collect::<Vec<_>>())?;
        map.serialize_entry(
            "problems",
            &session.problems.listed().iter().map(problem).collect::<Vec<_>>(),
        )?;
        let totals: serde_json::Map<_, _> = session
            .problems
            .counts()
            .iter()
            .map(|(id, count)| (id.name().to_owned(), json!(count)))
            .collect();
        map.serialize_entry("problem_counts", &totals)?;
        map.end()
    }
}

fn counts(session: &Session) -> serde_json::Value {
    let counts = &session.counts;
    json!({
        "turns": counts.turns, "steps": counts.steps, "calls": counts.calls, "results": counts.results,
        "orphan_calls": counts.orphan_calls, "orphan_results": session.orphan_results.len(),
        "errors": counts.errors, "recovered": counts.recovered,
        "abandoned_turns": session.abandoned.iter().map(|branch| branch.turns.len()).sum::<usize>(),
        "subagents": session.subagents.iter().filter(|agent| !agent.kind.is_housekeeping()).count(),
        "records_by_type": counts.records_by_type,
    })
}

fn compaction(compaction: &Compaction) -> serde_json::Value {
    json!({
        "kind": match compaction.kind { CompactionKind::Full => "full", CompactionKind::Micro => "micro" },
        "uuid": compaction.uuid, "line": compaction.line, "timestamp": compaction.timestamp,
        "trigger": compaction.trigger.map(|trigger| match trigger { Trigger::Auto => "auto", Trigger::Manual => "manual" }),
        "pre_tokens": compaction.pre_tokens, "post_tokens": compaction.post_tokens,
        "summary": compaction.summary,
    })
}

fn chain_link(link: &ChainLink) -> serde_json::Value {
    let recovered = link.recovered.map(|why| match why {
        Recovered::Sibling => "sibling",
        Recovered::Result => "result",
        Recovered::Copy => "copy",
        Recovered::Note => "note",
    });
    json!({
        "uuid": link.uuid, "line": link.line, "type": link.type_name,
        "recovered": recovered, "visible": link.visible,
    })
}

fn problem(problem: &Problem) -> serde_json::Value {
    json!({
        "id": problem.id.name(), "severity": problem.id.severity().name(), "line": problem.line,
        "offset": problem.offset, "length": problem.length, "detail": problem.detail,
    })
}

struct BranchJson<'a>(Reader<'a>, &'a Branch);

impl Serialize for BranchJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let BranchJson(reader, branch) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("from", &branch.from)?;
        map.serialize_entry("root", &branch.root)?;
        map.serialize_entry("leaf", &branch.leaf)?;
        map.serialize_entry("records", &branch.records)?;
        map.serialize_entry("turns", &Turns(reader, &branch.turns))?;
        map.end()
    }
}

struct Turns<'a>(Reader<'a>, &'a [Turn]);

impl Serialize for Turns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_seq(self.1.iter().enumerate().map(|(at, turn)| TurnJson(self.0, at + 1, turn)))
    }
}

struct TurnJson<'a>(Reader<'a>, usize, &'a Turn);

impl Serialize for TurnJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let TurnJson(reader, index, turn) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", index)?;
        map.serialize_entry("kind", turn.kind.name())?;
        map.serialize_entry("uuid", &turn.uuid)?;
        map.serialize_entry("line", &turn.line)?;
        map.serialize_entry("timestamp", &turn.timestamp)?;
        map.serialize_entry("prompt", &PromptJson(reader, turn))?;
        map.serialize_entry("prompt_id", &turn.prompt_id)?;
        map.serialize_entry("permission_mode", &turn.permission_mode)?;
        map.serialize_entry("origin", &turn.origin)?;
        let steps: Vec<_> = turn.steps.iter().map(|step| StepJson(reader, step)).collect();
        map.serialize_entry("steps", &steps)?;
        let interjections: Vec<_> =
            turn.interjections.iter().map(|one| InterjectionJson(reader, one)).collect();
        map.serialize_entry("interjections", &interjections)?;
        let events: Vec<_> = turn.events.iter().map(|event| EventJson(reader, event)).collect();
        map.serialize_entry("events", &events)?;
        map.serialize_entry("outcome", turn.outcome.name())?;
        map.serialize_entry("usage", &UsageJson(&turn.usage(), None))?;
        map.serialize_entry("duration_ms", &turn.duration_ms)?;
        map.end()
    }
}

struct PromptJson<'a>(Reader<'a>, &'a Turn);

impl Serialize for PromptJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PromptJson(reader, turn) = self;
        let blocks = &turn.prompt.blocks;
        let typed: Vec<&Content> = blocks
            .iter()
            .filter(|part| !part.context)
            .filter_map(|part| match &part.block {
                Block::Text(text) => Some(text),
                _ => None,
            })
            .collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("text", &Text(reader, &typed))?;
        let blocks: Vec<_> = blocks.iter().map(|part| BlockJson(reader, &part.block)).collect();
        map.serialize_entry("blocks", &blocks)?;
        if turn.kind == TurnKind::Command
            && let Some(first) = typed.first()
        {
            let text = reader.borrow_mut().text(first).map_err(S::Error::custom)?.into_owned();
            let command = json!({ "name": prompts::command_name(&text), "args": prompts::command_arguments(&text) });
            map.serialize_entry("command", &command)?;
        }
        map.end()
    }
}

struct BenchmarkJson<'a>(Reader<'a>, &'a Benchmark);

impl Serialize for BenchmarkJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let BenchmarkJson(reader, benchmark) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("instance", &benchmark.instance)?;
        map.serialize_entry("resolved", &benchmark.resolved)?;
        map.serialize_entry("exit_status", &benchmark.exit_status)?;
        let patch: Vec<&Content> = benchmark.patch.iter().collect();
        map.serialize_entry("patch", &(!patch.is_empty()).then_some(Text(reader, &patch)))?;
        map.end()
    }
}

struct RequestJson<'a>(Reader<'a>, &'a RequestShape);

impl Serialize for RequestJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RequestJson(reader, shape) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("line", &shape.line)?;
        match &shape.system {
            Some(system @ Content::Json(_)) => {
                map.serialize_entry("system_prompt", &Json(reader, system))?;
            }
            Some(system) => map.serialize_entry("system_prompt", &Text(reader, &[system]))?,
            None => map.serialize_entry("system_prompt", &())?,
        }
        map.serialize_entry("tools", &shape.tools.as_ref().map(|tools| Json(reader, tools)))?;
        map.end()
    }
}

struct StepJson<'a>(Reader<'a>, &'a Step);

impl Serialize for StepJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let StepJson(reader, step) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("message_id", &step.message_id)?;
        map.serialize_entry("uuids", &step.uuids)?;
        map.serialize_entry("lines", &step.lines)?;
        map.serialize_entry("model", &step.model)?;
        map.serialize_entry("timestamp", &step.timestamp)?;
        map.serialize_entry("request_id", &step.request_id)?;
        map.serialize_entry("stop_reason", &step.stop_reason)?;
        map.serialize_entry("synthetic", &step.synthetic)?;
        map.serialize_entry("error", &step.error)?;
        map.serialize_entry("on_chain", &step.on_chain)?;
        map.serialize_entry(
            "usage",
            &step.usage.as_ref().map(|usage| UsageJson(usage, Some(step))),
        )?;
        let blocks: Vec<_> = step.blocks.iter().map(|block| BlockJson(reader, block)).collect();
        map.serialize_entry("blocks", &blocks)?;
        map.end()
    }
}

struct InterjectionJson<'a>(Reader<'a>, &'a Interjection);

impl Serialize for InterjectionJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let InterjectionJson(reader, interjection) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("text", &Text(reader, &[&interjection.text]))?;
        map.serialize_entry("timestamp", &interjection.timestamp)?;
        map.serialize_entry("line", &interjection.line)?;
        map.serialize_entry("source", interjection.source.name())?;
        map.end()
    }
}

struct EventJson<'a>(Reader<'a>, &'a Event);

impl Serialize for EventJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let EventJson(reader, event) = self;
        let text: Vec<&Content> = event.text.iter().collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", &event.kind)?;
        map.serialize_entry("line", &event.line)?;
        map.serialize_entry("timestamp", &event.timestamp)?;
        map.serialize_entry("text", &(!text.is_empty()).then_some(Text(reader, &text)))?;
        map.end()
    }
}

struct UsageJson<'a>(&'a UsageTotal, Option<&'a Step>);

impl Serialize for UsageJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let UsageJson(usage, step) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("input", &usage.input)?;
        map.serialize_entry("output", &usage.output)?;
        map.serialize_entry("cache_read", &usage.cache_read)?;
        map.serialize_entry("cache_write", &usage.cache_write)?;
        map.serialize_entry("cache_write_5m", &usage.cache_write_5m)?;
        map.serialize_entry("cache_write_1h", &usage.cache_write_1h)?;
        map.serialize_entry("messages", &usage.messages)?;
        map.serialize_entry("incomplete", &usage.incomplete)?;
        if let Some(step) = step {
            map.serialize_entry("service_tier", &step.service_tier)?;
            map.serialize_entry("speed", &step.speed)?;
        }
        map.end()
    }
}
