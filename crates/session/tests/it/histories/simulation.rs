//! A file, the people and agents who change it, and what the sessions record of that.

mod outside;

use super::oracle::{Author, Chance, Line, SHARED};
use backstory_session::history::Traced;

pub(crate) const FOLDER: &str = "/w/app";
const MODELS: [&str; 3] = ["claude-opus-5", "claude-sonnet-4-6", "claude-haiku-4-5"];
const COMMON: [&str; 4] = ["}", "", "    return;", "else {"];

/// A generation of the client: what it writes down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// The file before a Write is not recorded.
    First,
    /// Everything is.
    Second,
    /// The file before is left out where it is long.
    Third,
}

/// One tool call as it will stand in a session.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) call: String,
    pub(crate) session: usize,
    pub(crate) subagent: bool,
    pub(crate) model: &'static str,
    pub(crate) time: u64,
    pub(crate) tool: &'static str,
    pub(crate) input: serde_json::Value,
    /// The structured result; none where the client leaves it out.
    pub(crate) structured: Option<serde_json::Value>,
    pub(crate) said: String,
    pub(crate) failed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct EditTruth {
    pub(crate) call: String,
    pub(crate) model: &'static str,
    pub(crate) session: String,
    /// Lines that its text holds, without white space.
    pub(crate) wrote: Vec<String>,
    /// How many of the lines that everybody writes are its own.
    pub(crate) shared: usize,
}

#[derive(Debug)]
pub(crate) struct Simulation {
    pub(crate) chance: Chance,
    pub(crate) lines: Vec<Line>,
    pub(crate) exists: bool,
    pub(crate) names: Vec<String>,
    pub(crate) edits: Vec<EditTruth>,
    pub(crate) records: Vec<Record>,
    pub(crate) sessions: Vec<Era>,
    /// The file as the sessions last recorded it is the file as it is.
    recorded: bool,
    past: Vec<Vec<Line>>,
    gone: Vec<Line>,
    time: u64,
    counter: u64,
    log: Vec<String>,
    /// Many lines are the same long one.
    shares: bool,
}

pub(crate) fn session_id(session: usize) -> String {
    format!("{session:08}-0000-4000-8000-000000000000")
}

impl Simulation {
    pub(crate) fn play(seed: u64) -> Simulation {
        Simulation::play_with(seed, false)
    }

    /// The same with a long line that people and agents write again and again.
    pub(crate) fn play_sharing(seed: u64) -> Simulation {
        Simulation::play_with(seed, true)
    }

    fn play_with(seed: u64, shares: bool) -> Simulation {
        let mut simulation = Simulation {
            chance: Chance::new(seed),
            lines: Vec::new(),
            exists: false,
            names: vec![format!("{FOLDER}/src/first.rs")],
            edits: Vec::new(),
            records: Vec::new(),
            sessions: Vec::new(),
            recorded: false,
            past: Vec::new(),
            gone: Vec::new(),
            time: 0,
            counter: 0,
            log: Vec::new(),
            shares,
        };
        simulation.new_session();
        if simulation.chance.one_in(2) {
            let count = 3 + simulation.chance.below(12);
            simulation.lines = (0..count).map(|_| simulation.line(Author::Person)).collect();
            simulation.exists = true;
        }
        for _ in 0..4 + simulation.chance.below(14) {
            simulation.step();
        }
        simulation
    }

    pub(crate) fn text(&self) -> String {
        text_of(&self.lines)
    }

    pub(crate) fn path(&self) -> String {
        self.names.last().unwrap().clone()
    }

    fn new_session(&mut self) {
        let era = *self.chance.pick(&[Era::First, Era::Second, Era::Third]);
        self.sessions.push(era);
    }

    fn line(&mut self, author: Author) -> Line {
        self.counter += 1;
        if self.shares && self.chance.one_in(3) {
            let indent = "    ".repeat(self.chance.below(2));
            return Line::new(format!("{indent}{SHARED}"), author);
        }
        if self.chance.one_in(6) {
            return Line::new((*self.chance.pick(&COMMON)).to_owned(), author);
        }
        let (number, word) = (self.counter, self.chance.next() % 100_000);
        let indent = "    ".repeat(self.chance.below(3));
        Line::new(
            format!("{indent}let value_{number}_of_{word} = compute({number}, shared_word);"),
            author,
        )
    }

    fn step(&mut self) {
        self.time += 1;
        if !self.exists {
            return self.agent_write();
        }
        match self.chance.below(26) {
            0..=7 => self.agent_edit(),
            8 => self.agent_partial(),
            9 => self.agent_replace_all(),
            10 => self.agent_two_edits(),
            11..=12 => self.agent_write(),
            13 => self.agent_move(),
            14 => self.agent_fails(),
            15..=17 => self.person_edits(),
            18 => self.person_moves(),
            19 => self.formatter(),
            20 => self.revert(),
            21 => self.person_restores(),
            22 => self.rename(),
            23 => self.new_session(),
            24 => self.breaks_line(),
            _ => self.read(),
        }
    }

    // What agents do.

    /// The client refuses to touch a file that changed since the agent read it.
    fn look_first(&mut self, whole: bool) {
        if !self.recorded {
            if whole || self.chance.one_in(2) {
                self.read();
            } else {
                self.read_part();
            }
            self.time += 1;
        }
    }

    fn agent_write(&mut self) {
        if self.exists {
            self.look_first(true);
        }
        let number = self.edits.len();
        let (old, created) = (self.lines.clone(), !self.exists);
        let mut new = Vec::new();
        for line in &old {
            match self.chance.below(8) {
                0 => {}
                1 => new.push(self.line(Author::Agent(number))),
                2 => {
                    new.push(line.clone());
                    new.push(self.line(Author::Agent(number)));
                }
                _ => new.push(line.clone()),
            }
        }
        if new.is_empty() || created {
            for _ in 0..1 + self.chance.below(8) {
                new.push(self.line(Author::Agent(number)));
            }
        }
        let content = text_of(&new);
        let patch = if created { serde_json::json!([]) } else { patch_of(&old, &new, number) };
        let path = self.path();
        let mut structured = serde_json::json!({
            "type": if created { "create" } else { "update" },
            "filePath": path, "content": content, "structuredPatch": patch,
        });
        if self.era() != Era::First {
            structured["originalFile"] =
                if created { serde_json::Value::Null } else { text_of(&old).into() };
        }
        let said = if created {
            "File created successfully at: x"
        } else {
            "The file x has been updated."
        };
        let input = serde_json::json!({"file_path": path, "content": content});
        self.commit(number, "Write", new, input, structured, said);
        self.exists = true;
    }

    fn agent_edit(&mut self) {
        self.look_first(false);
        let Some((at, until)) = self.unique_block() else { return };
        let number = self.edits.len();
        let mut block = Vec::new();
        let mut changed = false;
        for (offset, line) in self.lines[at..until].to_vec().iter().cloned().enumerate() {
            match self.chance.below(5) {
                0 if until - at > 1 => changed = true,
                1 => {
                    block.push(self.line(Author::Agent(number)));
                    changed = true;
                }
                2 => {
                    block.push(line);
                    block.push(self.line(Author::Agent(number)));
                    changed = true;
                }
                _ if offset + 1 == until - at && !changed => {
                    block.push(self.line(Author::Agent(number)));
                    block.push(line);
                    changed = true;
                }
                _ => block.push(line),
            }
        }
        let (old, new) = (joined(&self.lines[at..until]), joined(&block));
        // An empty new text takes a newline with it; the client's rule has tests of its own.
        if new.is_empty() || old == new {
            return;
        }
        let mut lines = self.lines.clone();
        lines.splice(at..until, block);
        self.commit_edit(number, vec![(old, new, false)], lines);
    }

    /// A word of one line.
    fn agent_partial(&mut self) {
        self.look_first(false);
        let long: Vec<usize> =
            (0..self.lines.len()).filter(|at| !self.lines[*at].common()).collect();
        if long.is_empty() {
            return;
        }
        let at = *self.chance.pick(&long);
        let text = self.lines[at].text.clone();
        let word =
            text.split(['(', ' ']).find(|word| word.starts_with("value_")).unwrap_or("").to_owned();
        if word.is_empty() || self.text().matches(&word).count() != 1 {
            return;
        }
        let number = self.edits.len();
        self.counter += 1;
        let new = format!("value_{}_changed_{}", self.counter, self.chance.next() % 1000);
        let mut lines = self.lines.clone();
        lines[at] = Line::new(text.replacen(&word, &new, 1), Author::Agent(number));
        self.commit_edit(number, vec![(word, new, false)], lines);
    }

    fn agent_replace_all(&mut self) {
        self.look_first(false);
        let word = self.chance.pick(&["shared_word", "compute("]).to_string();
        if !self.text().contains(&word) {
            return;
        }
        let number = self.edits.len();
        self.counter += 1;
        let new = word
            .replace("shared_word", &format!("renamed_{}", self.counter))
            .replace("compute(", &format!("calc_{}(", self.counter));
        let mut lines = self.lines.clone();
        for line in lines.iter_mut().filter(|line| line.text.contains(&word)) {
            *line = Line::new(line.text.replace(&word, &new), Author::Agent(number));
        }
        self.commit_edit(number, vec![(word, new, true)], lines);
    }

    fn agent_two_edits(&mut self) {
        self.look_first(false);
        let number = self.edits.len();
        let mut lines = self.lines.clone();
        let mut pairs = Vec::new();
        for _ in 0..2 {
            let text = text_of(&lines);
            let long: Vec<usize> = (0..lines.len())
                .filter(|at| !lines[*at].common() && text.matches(&lines[*at].text).count() == 1)
                .collect();
            if long.is_empty() {
                return;
            }
            let at = *self.chance.pick(&long);
            let added = self.line(Author::Agent(number));
            pairs.push((
                lines[at].text.clone(),
                format!("{}\n{}", lines[at].text, added.text),
                false,
            ));
            lines.insert(at + 1, added);
        }
        self.commit_edit(number, pairs, lines);
    }

    /// A long block goes elsewhere within one Write.
    fn agent_move(&mut self) {
        self.look_first(true);
        let Some(lines) = self.with_moved_line() else { return };
        let number = self.edits.len();
        let content = text_of(&lines);
        let path = self.path();
        let structured = serde_json::json!({
            "type": "update", "filePath": path, "content": content,
            "originalFile": self.text(), "structuredPatch": [],
        });
        let input = serde_json::json!({"file_path": path, "content": content});
        self.commit(number, "Write", lines, input, structured, "The file x has been updated.");
    }

    fn agent_fails(&mut self) {
        let line = self.line(Author::Person).text;
        let call = format!("toolu_failed_{}", self.time);
        let record = Record {
            call,
            session: self.sessions.len() - 1,
            subagent: false,
            model: MODELS[0],
            time: self.time,
            tool: "Write",
            input: serde_json::json!({"file_path": self.path(), "content": line}),
            structured: Some("Error: File has been modified since read".into()),
            said: "<tool_use_error>File has been modified since read</tool_use_error>".into(),
            failed: true,
        };
        self.records.push(record);
    }

    fn read(&mut self) {
        let (text, path) = (self.text(), self.path());
        let count = text.matches('\n').count() + 1;
        let structured = serde_json::json!({"type": "text", "file": {
            "filePath": path, "content": text, "numLines": count, "startLine": 1, "totalLines": count,
        }});
        self.records.push(Record {
            call: format!("toolu_read_{}", self.time),
            session: self.sessions.len() - 1,
            subagent: false,
            model: MODELS[0],
            time: self.time,
            tool: "Read",
            input: serde_json::json!({"file_path": path}),
            structured: Some(structured),
            said: text,
            failed: false,
        });
        self.log.push("read".into());
        self.know();
    }

    fn read_part(&mut self) {
        let path = self.path();
        let first = self.lines[0].text.clone();
        let structured = serde_json::json!({"type": "text", "file": {
            "filePath": path, "content": first, "numLines": 1, "startLine": 1,
            "totalLines": self.lines.len() + 5,
        }});
        self.records.push(Record {
            call: format!("toolu_part_{}", self.time),
            session: self.sessions.len() - 1,
            subagent: false,
            model: MODELS[0],
            time: self.time,
            tool: "Read",
            input: serde_json::json!({"file_path": path, "limit": 1}),
            structured: Some(structured),
            said: first,
            failed: false,
        });
        self.log.push("read part".into());
    }

    /// The sessions know the file as it is.
    fn know(&mut self) {
        self.recorded = true;
        for line in &mut self.lines {
            (line.restored, line.reshaped) = (false, false);
        }
    }

    fn era(&self) -> Era {
        *self.sessions.last().unwrap()
    }

    fn commit_edit(&mut self, number: usize, pairs: Vec<(String, String, bool)>, lines: Vec<Line>) {
        let (path, before) = (self.path(), self.text());
        let blank = self.era() == Era::Third && self.chance.one_in(2);
        let original = if blank { serde_json::Value::Null } else { before.into() };
        let patch = patch_of(&self.lines, &lines, number);
        let (tool, input, structured) = match pairs.as_slice() {
            [(old, new, all)] => (
                "Edit",
                serde_json::json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": all}),
                serde_json::json!({"filePath": path, "oldString": old, "newString": new,
                    "originalFile": original, "structuredPatch": patch, "userModified": false, "replaceAll": all}),
            ),
            pairs => {
                let edits: Vec<_> = pairs
                    .iter()
                    .map(|(old, new, all)| serde_json::json!({"old_string": old, "new_string": new, "replace_all": all}))
                    .collect();
                (
                    "MultiEdit",
                    serde_json::json!({"file_path": path, "edits": edits}),
                    serde_json::json!({"filePath": path, "edits": edits, "originalFileContents": original,
                        "structuredPatch": [], "userModified": false}),
                )
            }
        };
        self.commit(number, tool, lines, input, structured, "The file x has been updated.");
    }

    fn commit(
        &mut self,
        number: usize,
        tool: &'static str,
        mut lines: Vec<Line>,
        input: serde_json::Value,
        structured: serde_json::Value,
        said: &str,
    ) {
        let session = self.sessions.len() - 1;
        let subagent = self.chance.one_in(4);
        let silent = subagent && self.chance.one_in(2);
        let blind = silent
            || structured
                .get("originalFile")
                .or_else(|| structured.get("originalFileContents"))
                .is_none_or(|o| o.is_null());
        let whole = tool == "Write";
        if blind && !self.recorded && !whole {
            // Nothing tells what the file was, so the edit's place may not be found.
            for line in lines.iter_mut().filter(|line| line.author == Author::Agent(number)) {
                line.unknowable = true;
            }
        } else {
            self.recorded = true;
        }
        let call = format!("toolu_{number:04}_{}", self.time);
        let model = *self.chance.pick(&MODELS);
        self.edits.push(EditTruth {
            call: call.clone(),
            model,
            session: session_id(session),
            wrote: lines.iter().map(Line::shape).collect(),
            shared: lines
                .iter()
                .filter(|line| line.shared() && line.author == Author::Agent(number))
                .count(),
        });
        self.records.push(Record {
            call,
            session,
            subagent,
            model,
            time: self.time,
            tool,
            input,
            structured: (!silent).then_some(structured),
            said: said.to_owned(),
            failed: false,
        });
        self.log.push(format!("{tool} {number}{}", if blind { " blind" } else { "" }));
        let recorded = self.recorded;
        self.replace(lines);
        self.recorded = recorded;
        if recorded {
            self.know();
        }
    }

    // What people and their tools do.

    fn outside(&mut self, what: &str, lines: Vec<Line>) {
        self.log.push(what.to_owned());
        self.replace(lines);
        self.recorded = false;
    }

    fn replace(&mut self, lines: Vec<Line>) {
        let old = std::mem::replace(&mut self.lines, lines);
        self.gone.extend(old.iter().cloned());
        self.past.push(old);
    }

    /// A run of lines whose text stands in the file once.
    fn unique_block(&mut self) -> Option<(usize, usize)> {
        let at = self.chance.below(self.lines.len());
        let most = (self.lines.len() - at).min(5);
        let until = at + 1 + self.chance.below(most);
        let text = self.text();
        let block = joined(&self.lines[at..until]);
        (!block.is_empty() && text.matches(&block).count() == 1).then_some((at, until))
    }

    pub(crate) fn describe(&self, traced: &Traced<'_>) -> String {
        let mut out = format!("{}\n{:?}\n", self.log.join(", "), self.sessions);
        for (line, mark) in self.lines.iter().zip(&traced.marks) {
            out.push_str(&format!("{:?} | {mark:?} | {}\n", line.author, line.text));
        }
        out
    }
}

pub(crate) fn text_of(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{}\n", line.text)).collect()
}

fn joined(lines: &[Line]) -> String {
    lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// One hunk over the whole file, from the oracle's own knowledge.
fn patch_of(old: &[Line], new: &[Line], number: usize) -> serde_json::Value {
    let mut lines = Vec::new();
    let mut rest = old.iter().peekable();
    for line in new {
        if line.author == Author::Agent(number) {
            lines.push(format!("+{}", line.text));
            continue;
        }
        while rest.peek().is_some_and(|old| old.text != line.text || old.author != line.author) {
            lines.push(format!("-{}", rest.next().unwrap().text));
        }
        rest.next();
        lines.push(format!(" {}", line.text));
    }
    lines.extend(rest.map(|old| format!("-{}", old.text)));
    serde_json::json!([{"oldStart": 1, "oldLines": old.len(), "newStart": 1, "newLines": new.len(), "lines": lines}])
}
