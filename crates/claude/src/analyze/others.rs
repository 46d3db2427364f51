//! Sessions of other agents, counted.
//!
//! Their formats are not described field by field as Claude Code's is; this reports what their
//! sessions hold, and what their files do not record.

use super::clean_name;
use backstory_model::{Effect, Session};
use backstory_text::document::{Column, Document, Line, Table};
use backstory_text::figures::counted;
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts by agent.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Others(BTreeMap<&'static str, AgentCounts>);

/// What the sessions of one agent hold.
#[derive(Debug, Default, Serialize)]
struct AgentCounts {
    sessions: u64,
    bytes: u64,
    prompts: u64,
    /// Of the model.
    messages: u64,
    calls: u64,
    results: u64,
    failed: u64,
    edits: u64,
    tokens: Tokens,
    versions: BTreeMap<String, u64>,
    models: BTreeMap<String, u64>,
    tools: BTreeMap<String, u64>,
    problems: BTreeMap<&'static str, u64>,
    cannot_tell: &'static [&'static str],
}

impl AgentCounts {
    fn of(session: &Session, cannot_tell: &'static [&'static str]) -> AgentCounts {
        let prompts = session.turns.iter().filter(|turn| !turn.prompt.blocks.is_empty());
        let usage = &session.usage;
        let mut counts = AgentCounts {
            sessions: 1,
            bytes: session.file.bytes,
            prompts: prompts.count() as u64,
            messages: session.counts.steps,
            calls: session.counts.calls,
            results: session.counts.results,
            failed: session.counts.errors,
            tokens: Tokens {
                input: usage.input,
                output: usage.output,
                cache_read: usage.cache_read,
                cache_write: usage.cache_write,
                messages: usage.messages,
            },
            cannot_tell,
            ..AgentCounts::default()
        };
        for call in session.turns.iter().flat_map(|turn| turn.calls()) {
            let edits = call.effects.iter().filter(|effect| matches!(effect, Effect::Edit(_)));
            counts.edits += edits.count() as u64;
            let name = call.name.as_deref().unwrap_or("(no name)");
            *counts.tools.entry(clean_name(name)).or_default() += 1;
        }
        for version in &session.versions {
            *counts.versions.entry(clean_name(version)).or_default() += 1;
        }
        for model in &session.models {
            *counts.models.entry(clean_name(model)).or_default() += 1;
        }
        for (id, count) in session.problems.counts() {
            *counts.problems.entry(id.name()).or_default() += count;
        }
        counts
    }

    fn add(&mut self, more: AgentCounts) {
        self.sessions += more.sessions;
        self.bytes += more.bytes;
        self.prompts += more.prompts;
        self.messages += more.messages;
        self.calls += more.calls;
        self.results += more.results;
        self.failed += more.failed;
        self.edits += more.edits;
        self.tokens.input = self.tokens.input.saturating_add(more.tokens.input);
        self.tokens.output = self.tokens.output.saturating_add(more.tokens.output);
        self.tokens.cache_read = self.tokens.cache_read.saturating_add(more.tokens.cache_read);
        self.tokens.cache_write = self.tokens.cache_write.saturating_add(more.tokens.cache_write);
        self.tokens.messages += more.tokens.messages;
        join(&mut self.versions, more.versions);
        join(&mut self.models, more.models);
        join(&mut self.tools, more.tools);
        join(&mut self.problems, more.problems);
        self.cannot_tell = more.cannot_tell;
    }
}

#[derive(Debug, Default, Serialize)]
struct Tokens {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    /// Messages whose tokens the files record.
    messages: u64,
}

impl Others {
    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts a session.
    pub fn add(&mut self, session: &Session, cannot_tell: &'static [&'static str]) {
        self.0.entry(session.agent.name()).or_default().add(AgentCounts::of(session, cannot_tell));
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, other: Others) {
        for (agent, more) in other.0 {
            self.0.entry(agent).or_default().add(more);
        }
    }

    /// Writes the counts as a section of a document.
    pub fn write(&self, document: &mut Document) {
        const COLUMNS: [Column; 11] = [
            Column::text("agent"),
            Column::number("sessions"),
            Column::number("prompts"),
            Column::number("messages"),
            Column::number("calls"),
            Column::number("results"),
            Column::number("failed"),
            Column::number("edits"),
            Column::number("input"),
            Column::number("from cache"),
            Column::number("output"),
        ];
        document.heading(2, "Sessions of other agents");
        let mut table = Table { columns: COLUMNS.to_vec(), rows: Vec::new() };
        for (agent, counts) in &self.0 {
            let numbers = [
                counts.sessions,
                counts.prompts,
                counts.messages,
                counts.calls,
                counts.results,
                counts.failed,
                counts.edits,
                counts.tokens.input,
                counts.tokens.cache_read,
                counts.tokens.output,
            ];
            let mut row = vec![Line::code(*agent)];
            row.extend(numbers.iter().map(|number| Line::marked(&number.to_string())));
            table.rows.push(row);
        }
        document.table(table, "None.");
        for (agent, counts) in &self.0 {
            document.heading(3, *agent);
            let lists = [
                ("Versions", listed(&counts.versions)),
                ("Models", listed(&counts.models)),
                ("Tools", listed(&counts.tools)),
                ("Problems", listed(&counts.problems)),
            ];
            let mut lines: Vec<Line> = Vec::new();
            for (name, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
                let mut line = Line::marked(&format!("{name}: "));
                line.0.extend(Line::code(list.as_str()).0);
                lines.push(line);
            }
            let told = counted(counts.tokens.messages, "message", "messages");
            lines.push(Line::marked(&format!("Token counts: {told}")));
            lines.push(Line::marked(&format!("Not known: {}", counts.cannot_tell.join("; "))));
            document.bullets(lines);
        }
    }
}

fn join<K: Ord>(counts: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
    for (name, count) in more {
        *counts.entry(name).or_default() += count;
    }
}

/// Names with their counts, the most frequent first.
fn listed<K: AsRef<str>>(counts: &BTreeMap<K, u64>) -> String {
    let mut all: Vec<(&str, u64)> = counts.iter().map(|(name, n)| (name.as_ref(), *n)).collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let names = all.iter().map(|(name, count)| format!("{name} {count}"));
    names.collect::<Vec<_>>().join(", ")
}
