//! A session as a whole.

use crate::{CallOutcome, Content, Problems, Requests, Span, Step, Turn, UsageTotal};
use backstory_store::Source;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The program that wrote the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agent {
    ClaudeCode,
    Codex,
    OpenHands,
    SweAgent,
    MiniSweAgent,
    SweSmith,
    Aider,
    Cline,
}

impl Agent {
    /// Every agent whose files can be read.
    pub const ALL: [Agent; 8] = [
        Agent::ClaudeCode,
        Agent::Codex,
        Agent::OpenHands,
        Agent::SweAgent,
        Agent::MiniSweAgent,
        Agent::SweSmith,
        Agent::Aider,
        Agent::Cline,
    ];

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "Claude Code",
            Agent::Codex => "Codex",
            Agent::OpenHands => "OpenHands",
            Agent::SweAgent => "SWE-agent",
            Agent::MiniSweAgent => "mini-swe-agent",
            Agent::SweSmith => "SWE-smith",
            Agent::Aider => "Aider",
            Agent::Cline => "Cline",
        }
    }

    /// The word used in output and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
            Agent::OpenHands => "openhands",
            Agent::SweAgent => "swe-agent",
            Agent::MiniSweAgent => "mini-swe-agent",
            Agent::SweSmith => "swe-smith",
            Agent::Aider => "aider",
            Agent::Cline => "cline",
        }
    }
}

/// What a benchmark's run says of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Benchmark {
    /// The task, as the benchmark names it.
    pub instance: Option<Box<str>>,
    /// Whether the task was judged solved.
    pub resolved: Option<bool>,
    /// How the run ended, in the agent's words.
    pub exit_status: Option<Box<str>>,
    /// The change that was handed in.
    pub patch: Option<Content>,
}

/// What sort of conversation a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionKind {
    /// A person's session.
    Session,
    /// A subagent started by a tool call.
    Task,
    /// A member of a team.
    Teammate,
    /// An agent that started from a copy of its parent's context.
    Fork,
    /// An agent of a workflow run.
    Workflow,
    /// The client compacting the conversation.
    Compaction,
    /// The client guessing the next prompt.
    PromptSuggestion,
    /// A question typed on the side: the client asks it with a copy of the conversation.
    SideQuestion,
    /// Anything else that the client ran for itself with a copy of the conversation.
    ClientRun,
    /// The client warming a cache.
    Warmup,
}

impl SessionKind {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            SessionKind::Session => "session",
            SessionKind::Task => "task",
            SessionKind::Teammate => "teammate",
            SessionKind::Fork => "fork",
            SessionKind::Workflow => "workflow",
            SessionKind::Compaction => "compaction",
            SessionKind::PromptSuggestion => "prompt-suggestion",
            SessionKind::SideQuestion => "side-question",
            SessionKind::ClientRun => "client-run",
            SessionKind::Warmup => "warmup",
        }
    }

    /// Whether the client ran it for itself, so that it is no subagent anybody asked for.
    pub fn is_housekeeping(self) -> bool {
        matches!(
            self,
            SessionKind::Compaction
                | SessionKind::PromptSuggestion
                | SessionKind::SideQuestion
                | SessionKind::ClientRun
                | SessionKind::Warmup
        )
    }
}

/// Where a title comes from, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TitleSource {
    Custom,
    Ai,
    LastPrompt,
    Summary,
    FirstPrompt,
    Command,
}

impl TitleSource {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            TitleSource::Custom => "custom",
            TitleSource::Ai => "ai",
            TitleSource::LastPrompt => "last-prompt",
            TitleSource::Summary => "summary",
            TitleSource::FirstPrompt => "first-prompt",
            TitleSource::Command => "command",
        }
    }
}

/// What to call a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    pub text: String,
    pub source: TitleSource,
}

/// Facts about the file itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileFacts {
    pub bytes: u64,
    pub lines: u64,
    pub blank_lines: u64,
    pub bad_lines: u64,
    pub records: u64,
    pub modified: Option<Timestamp>,
}

/// Turns and branches at the front of a session that were read in another session's file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inherited {
    pub turns: usize,
    pub branches: usize,
}

/// The record another session was copied from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkedFrom {
    pub session: Box<str>,
    pub record: Option<Box<str>>,
}

/// What ties a subagent to the call that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// The agent's metadata file names the call.
    Meta,
    /// The call's result names the agent.
    Result,
    /// A progress record names both.
    Progress,
    /// The call's prompt is the agent's first prompt.
    Prompt,
    /// A fork record names the parent session.
    Fork,
}

impl Evidence {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Meta => "meta",
            Evidence::Result => "result",
            Evidence::Progress => "progress",
            Evidence::Prompt => "prompt",
            Evidence::Fork => "fork",
        }
    }
}

/// Who started a subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    pub session: Box<str>,
    pub call: Option<Box<str>>,
    pub evidence: Option<Evidence>,
}

/// A part of the conversation that was left behind.
#[derive(Debug, Clone)]
pub struct Branch {
    /// The record on the story that it leaves; none when it has a root of its own.
    pub from: Option<Box<str>>,
    pub root: Box<str>,
    pub leaf: Box<str>,
    pub records: u64,
    pub turns: Vec<Turn>,
}

/// What made a compaction happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trigger {
    Auto,
    Manual,
}

/// How much a compaction replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompactionKind {
    /// The conversation so far became a summary.
    Full,
    /// Only old tool results were dropped.
    Micro,
}

/// A place where context was shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    pub kind: CompactionKind,
    pub uuid: Option<Box<str>>,
    pub line: u64,
    pub timestamp: Option<Timestamp>,
    pub trigger: Option<Trigger>,
    pub pre_tokens: Option<u64>,
    pub post_tokens: Option<u64>,
    /// The record that holds the summary.
    pub summary: Option<Box<str>>,
}

/// Why a record stands on the chain although the walk from leaf to root passes it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Recovered {
    /// Another block of a message that is on the chain.
    Sibling,
    /// The result of a call that is on the chain.
    Result,
    /// A second writing of something that is on the chain; adds nothing.
    Copy,
    /// What a hook or the client wrote below a call that is on the chain, or below its result.
    Note,
}

/// A record of the active chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainLink {
    pub uuid: Box<str>,
    pub line: u64,
    pub type_name: &'static str,
    pub recovered: Option<Recovered>,
    /// A message of the conversation: not injected, a subagent's or a team's.
    pub visible: bool,
}

/// A tool result without its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrphanResult {
    pub call_id: Option<Box<str>>,
    pub uuid: Option<Box<str>>,
    pub line: u64,
}

/// Figures over the story (abandoned branches apart).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    pub turns: u64,
    pub steps: u64,
    pub calls: u64,
    pub results: u64,
    pub orphan_calls: u64,
    pub errors: u64,
    pub recovered: u64,
    pub records_by_type: BTreeMap<Box<str>, u64>,
}

impl Counts {
    /// Figures over turns.
    pub fn of(turns: &[Turn]) -> Counts {
        let mut counts = Counts { turns: turns.len() as u64, ..Counts::default() };
        for turn in turns {
            counts.steps += turn.steps.len() as u64;
            for call in turn.calls() {
                counts.calls += 1;
                match &call.result {
                    Some(result) => {
                        counts.results += 1;
                        counts.errors += u64::from(result.outcome != CallOutcome::Ok);
                    }
                    None => counts.orphan_calls += 1,
                }
            }
        }
        counts
    }
}

/// One session, or one subagent's part of it.
#[derive(Debug)]
pub struct Session {
    pub agent: Agent,
    pub kind: SessionKind,
    pub id: String,
    pub source: Source,
    pub file: FileFacts,
    /// Name of the folder it was found in.
    pub project_key: Option<String>,
    pub title: Option<Title>,
    /// First and last time in file order.
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    pub versions: Vec<Arc<str>>,
    pub models: Vec<Arc<str>>,
    pub git_branches: Vec<Arc<str>>,
    /// The branch named last.
    pub last_branch: Option<Arc<str>>,
    pub cwds: Vec<Arc<str>>,
    pub entrypoints: Vec<Arc<str>>,
    pub forked_from: Option<ForkedFrom>,
    /// Sessions whose records were copied to the start of this file.
    pub continues: Vec<Box<str>>,
    /// What stands in front but belongs to the files of sessions that this one continues.
    pub inherited: Inherited,
    /// Sessions that begin with the same record, where nothing tells which was first.
    pub shares_history: Vec<Box<str>>,
    /// The first record of the conversation in file order.
    pub first_record: Option<Box<str>>,
    /// The id of the first model message in file order.
    pub first_message: Option<Box<str>>,
    pub counts: Counts,
    /// Every message of the file once, abandoned branches included, subagents not.
    pub usage: UsageTotal,
    pub turns: Vec<Turn>,
    pub abandoned: Vec<Branch>,
    pub compactions: Vec<Compaction>,
    pub parent: Option<Parent>,
    /// The agent's metadata file, as it is.
    pub meta: Option<Box<str>>,
    pub subagents: Vec<Session>,
    pub orphan_results: Vec<OrphanResult>,
    pub chain: Vec<ChainLink>,
    pub problems: Problems,
    /// Records that are part of no turn but that other views need: backups of files.
    pub file_history: Vec<Span>,
    pub requests: Requests,
    /// US dollars, as the agent itself reckoned them.
    pub reported_cost: Option<f64>,
    pub benchmark: Option<Benchmark>,
}

impl Session {
    /// A session of which nothing is known yet.
    pub fn new(agent: Agent, kind: SessionKind, id: String, source: Source) -> Session {
        Session {
            agent,
            kind,
            id,
            source,
            file: FileFacts::default(),
            project_key: None,
            title: None,
            started: None,
            ended: None,
            versions: Vec::new(),
            models: Vec::new(),
            git_branches: Vec::new(),
            last_branch: None,
            cwds: Vec::new(),
            entrypoints: Vec::new(),
            forked_from: None,
            continues: Vec::new(),
            inherited: Inherited::default(),
            shares_history: Vec::new(),
            first_record: None,
            first_message: None,
            counts: Counts::default(),
            usage: UsageTotal::default(),
            turns: Vec::new(),
            abandoned: Vec::new(),
            compactions: Vec::new(),
            parent: None,
            meta: None,
            subagents: Vec::new(),
            orphan_results: Vec::new(),
            chain: Vec::new(),
            problems: Problems::default(),
            file_history: Vec::new(),
            requests: Requests::default(),
            reported_cost: None,
            benchmark: None,
        }
    }

    /// This session and all its subagents, parents first.
    pub fn walk(&self) -> Vec<&Session> {
        let mut all = vec![self];
        let mut at = 0;
        while let Some(session) = all.get(at).copied() {
            all.extend(session.subagents.iter());
            at += 1;
        }
        all
    }

    /// Milliseconds from the first to the last record.
    pub fn duration_ms(&self) -> Option<u64> {
        let (started, ended) = (self.started?, self.ended?);
        u64::try_from(ended.as_millisecond() - started.as_millisecond()).ok()
    }
}

impl Session {
    /// Every message of a model once, those of branches left behind included.
    pub fn messages(&self) -> impl Iterator<Item = &Step> {
        crate::steps::once_each(&self.turns, &self.abandoned)
    }

    /// The tokens of its messages; none where there are messages, but no count of any.
    pub fn tokens(&self) -> Option<UsageTotal> {
        let (mut messages, mut uncounted) = (0_u64, 0);
        for step in self.messages() {
            messages += 1;
            uncounted += u64::from(step.usage.is_none());
        }
        match uncounted {
            0 => Some(self.usage),
            _ if uncounted < messages => Some(UsageTotal { incomplete: true, ..self.usage }),
            // Some agents write down only the sum over all messages.
            _ => (self.usage.total() > 0).then_some(self.usage),
        }
    }

    /// Whether the title is exactly this text.
    pub fn title_is(&self, text: &str) -> bool {
        self.title.as_ref().is_some_and(|title| title.text == text)
    }
}
