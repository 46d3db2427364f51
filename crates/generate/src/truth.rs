//! What was written, counted while writing: the ground truth of a tree.
//!
//! Counting happens at the place that decides to write a turn or a call, never by reading back, so it
//! cannot share a mistake with a reader. Compaction copies have no counts (`story` is null): what they
//! repeat belongs to the session, and totals leave them out.

use serde_json::{Map, Value, json};

/// Token counts, each message once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// `input_tokens`
    pub input: u64,
    /// `output_tokens`, the largest of the message's records
    pub output: u64,
    /// `cache_read_input_tokens`
    pub cache_read: u64,
    /// `cache_creation_input_tokens`
    pub cache_write: u64,
    /// How many messages were added.
    pub messages: u64,
    /// How many of them never got a stop reason: their output is a lower bound.
    pub incomplete_messages: u64,
}

impl Usage {
    /// Adds another sum.
    pub fn add(&mut self, other: &Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.messages += other.messages;
        self.incomplete_messages += other.incomplete_messages;
    }

    fn json(&self) -> Value {
        json!({
            "input": self.input, "output": self.output, "cache_read": self.cache_read, "cache_write": self.cache_write,
            "messages": self.messages, "incomplete_messages": self.incomplete_messages, "incomplete": self.incomplete_messages > 0,
        })
    }
}

/// What happened on one lane (the story, abandoned branches, or sidechains inside the file).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Turns, by the rules of the format.
    pub turns: u64,
    /// Distinct model messages, client-made ones included.
    pub steps: u64,
    /// Tool calls.
    pub calls: u64,
    /// Tool calls that have a result.
    pub results: u64,
    /// Prompts typed while the model worked.
    pub interjections: u64,
    /// Token counts.
    pub usage: Usage,
}

impl Counts {
    /// Adds another sum.
    pub fn add(&mut self, other: &Self) {
        self.turns += other.turns;
        self.steps += other.steps;
        self.calls += other.calls;
        self.results += other.results;
        self.interjections += other.interjections;
        self.usage.add(&other.usage);
    }

    fn json(&self) -> Value {
        json!({
            "turns": self.turns, "steps": self.steps, "calls": self.calls, "results": self.results,
            "orphan_calls": self.calls - self.results, "interjections": self.interjections, "usage": self.usage.json(),
        })
    }
}

/// A subagent of a session.
#[derive(Debug, Clone)]
pub struct Link {
    /// Agent id; none for a sidechain inside the main file.
    pub agent: Option<String>,
    /// `task`, `fork`, `workflow`, `compaction`, `prompt-suggestion` or `warmup`.
    pub kind: &'static str,
    /// The call that started it.
    pub call: Option<String>,
    /// The strongest evidence in the files for that call.
    pub evidence: Option<&'static str>,
}

/// One file.
#[derive(Debug, Clone, Default)]
pub struct FileTruth {
    /// Path below the output folder.
    pub path: String,
    /// Session id, or agent id.
    pub id: String,
    /// `session`, or the kind of subagent.
    pub kind: &'static str,
    /// The owning session, for subagents.
    pub parent: Option<String>,
    /// The session whose first records were copied here.
    pub copied_from: Option<String>,
    /// Project key and path.
    pub project: (String, String),
    /// Client version.
    pub version: &'static str,
    /// Size.
    pub bytes: u64,
    /// Lines of each record type.
    pub lines_by_type: Vec<(&'static str, u64)>,
    /// The newest branch, context before compactions included.
    pub story: Counts,
    /// Branches that were left.
    pub abandoned: Counts,
    /// Subagents inside the file.
    pub sidechains: Counts,
    /// Boundaries, full and micro; in 1.0 the summaries.
    pub compactions: u64,
    /// Records of the active chain that the walk by parents leaves out.
    pub recovered: u64,
    /// Real models in order of appearance.
    pub models: Vec<&'static str>,
    /// Title, when it is not simply a prompt.
    pub title: Option<String>,
    /// Where the title comes from.
    pub title_source: Option<&'static str>,
    /// Started from here.
    pub links: Vec<Link>,
    /// Whether the last line lacks its newline.
    pub open_end: bool,
}

impl FileTruth {
    /// Counts a line.
    pub fn line(&mut self, kind: &'static str) {
        match self.lines_by_type.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => self.lines_by_type.push((kind, 1)),
        }
    }

    /// True for a compaction copy, whose lines belong to another file.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.kind == "compaction"
    }

    fn json(&self) -> Value {
        let links: Vec<Value> = self
            .links
            .iter()
            .map(|link| json!({"id": link.agent, "kind": link.kind, "call": link.call, "evidence": link.evidence}))
            .collect();
        json!({
            "path": self.path, "id": self.id, "kind": self.kind, "parent": self.parent, "copied_from": self.copied_from,
            "project": {"key": self.project.0, "path": self.project.1}, "version": self.version, "bytes": self.bytes,
            "lines": self.lines_by_type.iter().map(|(_, count)| count).sum::<u64>(), "lines_by_type": by_type(&self.lines_by_type),
            "story": (!self.is_copy()).then(|| self.story.json()), "abandoned": self.abandoned.json(), "sidechains": self.sidechains.json(),
            "compactions": self.compactions, "recovered": self.recovered, "models": self.models,
            "title": self.title, "title_source": self.title_source, "no_final_newline": self.open_end, "subagents": links,
        })
    }
}

/// The whole tree.
#[derive(Debug, Default)]
pub struct Truth {
    /// One entry per file, in the order they were finished.
    pub files: Vec<FileTruth>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Lengths of all lines, newline included.
    pub line_lengths: Vec<u32>,
    /// Messages counted once although forks and compaction copies repeat them.
    pub unique: Usage,
}

impl Truth {
    /// Lines of each type over all files, sorted by name.
    #[must_use]
    pub fn lines_by_type(&self) -> Vec<(&'static str, u64)> {
        let mut all = FileTruth::default();
        for (kind, count) in self.files.iter().flat_map(|file| &file.lines_by_type) {
            match all.lines_by_type.iter_mut().find(|(known, _)| known == kind) {
                Some((_, sum)) => *sum += count,
                None => all.lines_by_type.push((kind, *count)),
            }
        }
        all.lines_by_type.sort_unstable();
        all.lines_by_type
    }

    /// The document written as `truth.json`.
    #[must_use]
    pub fn json(&self, arguments: &Value) -> Value {
        let (mut story, mut abandoned, mut sidechains) =
            (Counts::default(), Counts::default(), Counts::default());
        let mut models: Vec<&str> = Vec::new();
        for file in self.files.iter().filter(|file| !file.is_copy()) {
            story.add(&file.story);
            abandoned.add(&file.abandoned);
            sidechains.add(&file.sidechains);
            models.extend(&file.models);
        }
        models.sort_unstable();
        models.dedup();
        json!({
            "schema": "backstory.generate/1", "arguments": arguments,
            "totals": {
                "files": self.files.len(), "bytes": self.bytes, "lines": self.line_lengths.len(),
                "lines_by_type": by_type(&self.lines_by_type()),
                "story": story.json(), "abandoned": abandoned.json(), "sidechains": sidechains.json(),
                "unique_usage": self.unique.json(), "models": models,
            },
            "files": self.files.iter().map(FileTruth::json).collect::<Vec<_>>(),
        })
    }
}

fn by_type(counts: &[(&'static str, u64)]) -> Value {
    Value::Object(
        counts
            .iter()
            .map(|(kind, count)| ((*kind).to_owned(), json!(count)))
            .collect::<Map<_, _>>(),
    )
}
