//! Tool calls: what the model asks for.
//!
//! Edits are true: a file is a list of code lines, an edit changes it, and the recorded original,
//! strings and patch agree with each other. The project's files live as long as the session.

use crate::identifier::{hex, prefixed};
use crate::json::Line;
use crate::pools::Pools;
use crate::random::{Random, Spread};
use crate::source_file::SourceFile;
use crate::transcript::Transcript;

const OUTPUT: Spread =
    &[(0, 10), (500, 850), (900, 7_000), (970, 31_000), (995, 88_000), (1000, 260_000)];
const MATCHES: Spread = &[(0, 40), (500, 1_100), (900, 7_000), (990, 28_000), (1000, 45_000)];
const PAGE: Spread = &[(0, 300), (500, 3_000), (900, 15_000), (990, 50_000), (1000, 70_000)];
const ROWS: Spread = &[(0, 60), (500, 1_600), (900, 10_000), (990, 50_000), (1000, 90_000)];
const IMAGE: Spread =
    &[(0, 20_000), (500, 160_000), (900, 600_000), (970, 1_300_000), (1000, 2_600_000)];
const FILE_LINES: Spread = &[(0, 8), (500, 150), (900, 650), (965, 1_750), (1000, 2_600)];

/// What a call does.
#[derive(Debug)]
pub(crate) enum Work<'p> {
    Bash { command: &'static str, output: &'p [u8], failed: bool },
    Read { source: usize, from: usize, count: usize },
    Image { data: &'p [u8] },
    Edit { source: usize, before: Vec<u32>, from: usize, removed: usize, added: Vec<u32> },
    Write { source: usize, before: Option<Vec<u32>>, lines: Vec<u32> },
    Grep { pattern: &'static str, output: &'p [u8] },
    Glob,
    Todos { texts: Vec<&'p [u8]> },
    Fetch { output: &'p [u8] },
    Query { output: &'p [u8] },
    Agent { prompt: &'p [u8], description: &'p [u8], background: bool },
}

/// One call.
#[derive(Debug)]
pub(crate) struct Call<'p> {
    pub(crate) id: String,
    pub(crate) name: &'static str,
    pub(crate) work: Work<'p>,
}

impl<'p> Transcript<'p> {
    fn call_id(&mut self) -> String {
        if self.gateway() {
            prefixed(&mut self.random, "call_", 24)
        } else {
            prefixed(&mut self.random, "toolu_01", 22)
        }
    }

    /// A call that starts a subagent.
    pub(crate) fn agent_call(&mut self, prompt: &'p [u8], background: bool) -> Call<'p> {
        let description = self.pools.prose.take(&mut self.random, 20);
        Call {
            id: self.call_id(),
            name: self.era.agent_tool(),
            work: Work::Agent { prompt, description, background },
        }
    }

    fn new_source(&mut self) -> usize {
        let (folder, name, suffix) = (
            self.pools.name(&mut self.random),
            hex(&mut self.random, 4),
            self.random.pick(&["py", "rs", "ts", "go", "md"]),
        );
        let path = format!("{}/src/{folder}/{name}.{suffix}", self.project.path);
        let count = self.random.size(FILE_LINES);
        let lines = self.code_lines(count);
        self.sources.push(SourceFile { path, lines });
        self.sources.len() - 1
    }

    fn code_lines(&mut self, count: usize) -> Vec<u32> {
        let start = self.random.below(self.pools.code.count());
        (start..start + count).map(|number| (number % self.pools.code.count()) as u32).collect()
    }

    fn some_source(&mut self) -> usize {
        if self.sources.len() < 4 || self.random.permille(30) {
            self.new_source()
        } else {
            self.random.below(self.sources.len())
        }
    }

    /// A call like those sessions are full of.
    pub(crate) fn call(&mut self) -> Call<'p> {
        let pools = self.pools;
        let old = !self.era.from(1, 0, 101);
        let pick = self.random.weighted(&[
            ("Bash", 330),
            ("Read", 255),
            ("Edit", 170),
            ("Grep", 90),
            ("Write", 35),
            ("TodoWrite", 45),
            ("Glob", 30),
            ("WebFetch", 20),
            ("mcp__db__query", 20),
            ("Image", 5),
        ]);
        let random = &mut self.random;
        let (name, work) = match pick {
            "Bash" => {
                let length = random.size(OUTPUT);
                let command = random.pick(&[
                    "cargo test 2>&1 | tail -40",
                    "pytest -q tests/",
                    "git diff --stat",
                    "rg -n parse_line src | head -50",
                    "npm run build",
                ]);
                (
                    "Bash",
                    Work::Bash {
                        command,
                        output: pools.terminal.take(random, length),
                        failed: random.permille(60),
                    },
                )
            }
            "Grep" => {
                let length = random.size(MATCHES);
                (
                    "Grep",
                    Work::Grep {
                        pattern: pools.name(random),
                        output: pools.terminal.take(random, length),
                    },
                )
            }
            "WebFetch" => {
                let length = random.size(PAGE);
                ("WebFetch", Work::Fetch { output: pools.prose.take(random, length) })
            }
            "mcp__db__query" => {
                let length = random.size(ROWS);
                ("mcp__db__query", Work::Query { output: pools.prose.take(random, length) })
            }
            "Image" if self.largest_image > 0 => {
                let length = random.size(IMAGE).min(self.largest_image);
                ("Read", Work::Image { data: pools.base64(random, length) })
            }
            "TodoWrite" => {
                let count = random.between(2, 6);
                (
                    "TodoWrite",
                    Work::Todos {
                        texts: (0..count).map(|_| pools.prose.take(random, 30)).collect(),
                    },
                )
            }
            "Glob" => ("Glob", Work::Glob),
            "Edit" => {
                let work = self.edit();
                (if old && self.random.permille(300) { "MultiEdit" } else { "Edit" }, work)
            }
            "Write" => {
                let source =
                    if self.random.permille(300) { self.some_source() } else { self.new_source() };
                let before = self.random.permille(300).then(|| self.sources[source].lines.clone());
                if before.is_some() {
                    let count = self.sources[source].lines.len();
                    self.sources[source].lines = self.code_lines(count);
                }
                ("Write", Work::Write { source, before, lines: self.sources[source].lines.clone() })
            }
            _ => {
                let source = self.some_source();
                let total = self.sources[source].lines.len();
                let count = (self.random.pick(&[40, 80, 160, 400, 2000])).min(total);
                ("Read", Work::Read { source, from: self.random.below(total - count + 1), count })
            }
        };
        Call { id: self.call_id(), name, work }
    }

    fn edit(&mut self) -> Work<'p> {
        let source = self.some_source();
        let before = self.sources[source].lines.clone();
        let removed = (self.random.between(1, 8) as usize).min(before.len());
        let from = self.random.below(before.len() - removed + 1);
        let count = self.random.between(1, 14) as usize;
        let added = self.code_lines(count);
        self.sources[source].lines.splice(from..from + removed, added.iter().copied());
        Work::Edit { source, before, from, removed, added }
    }
}

pub(crate) fn code(out: &mut Vec<u8>, pools: &Pools, lines: &[u32]) {
    for &line in lines {
        out.extend_from_slice(pools.code.piece(line as usize));
    }
}

impl Call<'_> {
    /// The members of `input`.
    pub(crate) fn write_input(&self, line: &mut Line, sources: &[SourceFile], pools: &Pools) {
        match &self.work {
            Work::Bash { command, .. } => {
                line.text("command", command);
                line.text("description", "Run a command");
            }
            Work::Read { source, from, count } => {
                line.text("file_path", &sources[*source].path);
                if *from > 0 {
                    line.number("offset", *from as u64 + 1);
                    line.number("limit", *count as u64);
                }
            }
            Work::Image { .. } => line.text("file_path", "/home/dev/shots/screen.png"),
            Work::Edit { source, before, from, removed, added } => {
                line.text("file_path", &sources[*source].path);
                if self.name == "MultiEdit" {
                    line.list("edits", |line| {
                        line.element(|line| {
                            edit_strings(line, pools, &before[*from..from + removed], added);
                        });
                    });
                } else {
                    edit_strings(line, pools, &before[*from..from + removed], added);
                }
            }
            Work::Write { source, lines, .. } => {
                line.text("file_path", &sources[*source].path);
                line.filled("content", |out| code(out, pools, lines));
            }
            Work::Grep { pattern, .. } => {
                line.text("pattern", pattern);
                line.text("output_mode", "content");
                line.flag("-n", true);
            }
            Work::Glob => line.text("pattern", "src/**/*"),
            Work::Todos { texts } => todos(line, "todos", texts),
            Work::Fetch { .. } => {
                line.text("url", "https://example.com/page");
                line.text("prompt", "Summarise the page");
            }
            Work::Query { .. } => line.text("sql", "select * from readings"),
            Work::Agent { prompt, description, background } => {
                line.text("description", description);
                line.text("prompt", prompt);
                line.text("subagent_type", "general-purpose");
                if *background {
                    line.flag("run_in_background", true);
                }
            }
        }
    }
}

pub(crate) fn edit_strings(line: &mut Line, pools: &Pools, old: &[u32], new: &[u32]) {
    line.filled("old_string", |out| code(out, pools, old));
    line.filled("new_string", |out| code(out, pools, new));
    line.flag("replace_all", false);
}

pub(crate) fn todos(line: &mut Line, key: &str, texts: &[&[u8]]) {
    line.list(key, |line| {
        for text in texts {
            line.element(|line| {
                line.text("content", text);
                line.text("status", "pending");
                line.text("activeForm", text);
            });
        }
    });
}

/// A random share of files, for snapshots.
pub(crate) fn some<'s>(random: &mut Random, sources: &'s [SourceFile]) -> &'s [SourceFile] {
    &sources[..random.below(sources.len() + 1).min(6)]
}
