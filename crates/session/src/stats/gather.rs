//! Messages of many files, each once.
//!
//! A message that several files hold belongs to the file that had it first: a session before what
//! the client ran for itself (compactions copy the whole conversation), then the earliest record,
//! then the file that was begun first, the original before its forks. Its counts are the largest any
//! file states.

use crate::parallel;
use crate::select::SessionRef;
use backstory_agents as agents;
use backstory_model::{
    Agent, AgentFile, AgentMeta, Detail, Expense, FileSpending, SessionFiles, Spent,
};
use backstory_store::{ReadContext, Store, StoreError};
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use jiff::Timestamp;
use std::path::PathBuf;
use std::sync::Arc;

/// What a file is to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A session's own file.
    Session,
    /// A subagent's file.
    Subagent,
    /// Run by the client for itself: compactions, guesses of the next prompt.
    Housekeeping,
}

/// A file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// What it is to its session.
    pub origin: Origin,
    /// The session it belongs to.
    pub session: Option<String>,
    /// Of a subagent.
    pub agent: Option<String>,
    /// The folder its session worked in first, else the name of the folder it is in.
    pub project: Option<Arc<str>>,
    /// Its metadata file, and who reads that.
    meta: Option<(Agent, PathBuf)>,
    started: Option<Timestamp>,
    /// Whether it says that it is a copy of another.
    forked: bool,
}

impl Source {
    /// The metadata of a subagent, from the file next to its own.
    pub(super) fn agent_meta(&self) -> Option<AgentMeta> {
        let (agent, path) = self.meta.as_ref()?;
        agents::reader(*agent).agent_meta(path)
    }
}

/// One message of a model.
#[derive(Debug)]
#[non_exhaustive]
pub struct Message {
    /// Index of its file in [`Ledger::sources`].
    pub source: usize,
    /// Whether it was written by a subagent inside a session's own file (1.0).
    pub sidechain: bool,
    /// The model.
    pub model: Option<Arc<str>>,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// Its tokens, if a record has them.
    pub spent: Option<Spent>,
    /// Whether it has its final count.
    pub finished: bool,
    /// Tools it called, in order.
    pub calls: Vec<Arc<str>>,
}

/// All messages of some files.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Ledger {
    /// The files.
    pub sources: Vec<Source>,
    /// The messages, each once.
    pub messages: Vec<Message>,
    /// Messages found again in another file.
    pub repeated: u64,
    /// Messages of subagents that only progress records hold, because the subagent's file is gone.
    /// They are not among the messages.
    pub lost: u64,
    /// Files that could not be read.
    pub failures: Vec<StoreError>,
}

/// Reads the messages of sessions, their subagents and subagents without session, on all threads.
/// `done` gets the number of bytes that are done.
pub fn gather(
    sessions: &[SessionFiles],
    strays: &[AgentFile],
    by: super::Dimension,
    store: &Store,
    done: impl Fn(u64) + Sync,
) -> Ledger {
    let detail = if by == super::Dimension::Tool { Detail::Calls } else { Detail::Usage };
    let (sources, files, owners) = list(sessions, strays);
    let read = parallel::map(
        &files,
        own_bytes,
        || ReadContext::new(store),
        |context, file| {
            let read = match file {
                SessionRef::Session(files) => agents::spending(files, detail, context),
                SessionRef::Agent(file) => agents::subagent_spending(file, detail, context),
            };
            done(own_bytes(file));
            read
        },
    );
    unite(sources, &owners, read)
}

/// How much there is to read, without subagents.
fn own_bytes(file: &SessionRef<'_>) -> u64 {
    match file {
        SessionRef::Session(files) => files.bytes,
        SessionRef::Agent(file) => file.bytes,
    }
}

/// Every file once, what it is read as, and for each the place of its session's own file.
fn list<'f>(
    sessions: &'f [SessionFiles],
    strays: &'f [AgentFile],
) -> (Vec<Source>, Vec<SessionRef<'f>>, Vec<usize>) {
    let mut sources: Vec<Source> = Vec::new();
    let mut read = Vec::new();
    let mut owners = Vec::new();
    for files in sessions {
        let owner = sources.len();
        sources.push(Source {
            path: files.path.clone(),
            origin: Origin::Session,
            session: Some(files.id.clone()),
            agent: None,
            project: files.project_key.as_deref().map(Into::into),
            meta: None,
            started: None,
            forked: false,
        });
        read.push(SessionRef::Session(files));
        owners.push(owner);
        for agent in &files.agents {
            owners.push(owner);
            let project = files.project_key.as_deref().map(Into::into);
            sources.push(agent_source(agent, Some(files.id.clone()), project));
            read.push(SessionRef::Agent(agent));
        }
    }
    for agent in strays {
        owners.push(sources.len());
        sources.push(agent_source(agent, agent.owner.clone(), None));
        read.push(SessionRef::Agent(agent));
    }
    (sources, read, owners)
}

fn agent_source(agent: &AgentFile, session: Option<String>, project: Option<Arc<str>>) -> Source {
    let housekeeping = agents::reader(agent.agent).subagent_kind(agent).is_housekeeping();
    Source {
        path: agent.path.clone(),
        origin: if housekeeping { Origin::Housekeeping } else { Origin::Subagent },
        session,
        agent: Some(agent.id.clone()),
        project,
        meta: agent.meta.clone().map(|path| (agent.agent, path)),
        started: None,
        forked: false,
    }
}

fn unite(
    mut sources: Vec<Source>,
    owners: &[usize],
    read: Vec<Result<FileSpending, StoreError>>,
) -> Ledger {
    let mut failures = Vec::new();
    let mut parts = Vec::new();
    let mut copies: HashSet<Box<str>, FixedState> = HashSet::default();
    let mut folders: Vec<Option<Arc<str>>> = vec![None; sources.len()];
    for (at, read) in read.into_iter().enumerate() {
        match read {
            Ok(read) => {
                if let (Some(source), Some(folder)) = (sources.get_mut(at), folders.get_mut(at)) {
                    source.started = read.started;
                    source.forked = read.forked;
                    source.session = read.session.or(source.session.take());
                    folder.clone_from(&read.cwd);
                }
                parts.push((at, read.messages));
                copies.extend(read.copies);
            }
            Err(error) => failures.push(error),
        }
    }
    for (at, source) in sources.iter_mut().enumerate() {
        let owner = owners.get(at).and_then(|owner| folders.get(*owner)).cloned().flatten();
        let own = || folders.get(at).cloned().flatten();
        source.project = owner.or_else(own).or_else(|| source.project.take());
    }
    let rank = |at: usize| {
        let source = sources.get(at)?;
        let begun = (source.started.is_none(), source.started);
        Some((source.origin, begun, source.forked, &source.path))
    };
    parts.sort_by(|a, b| rank(a.0).cmp(&rank(b.0)));
    let mut ledger = Ledger::default();
    let mut known: HashMap<Box<str>, usize, FixedState> = HashMap::default();
    let mut hashes: Vec<Vec<u64>> = Vec::new();
    for (source, messages) in parts {
        for expense in messages {
            match known.get(&expense.id) {
                Some(at) => {
                    ledger.repeated += 1;
                    let origin = |at: usize| sources.get(at).map(|source| source.origin);
                    let message = ledger.messages.get_mut(*at);
                    if let (Some(message), Some(hashes)) = (message, hashes.get_mut(*at)) {
                        let earlier = origin(source) == origin(message.source)
                            && expense
                                .time
                                .is_some_and(|time| message.time.is_none_or(|known| time < known));
                        merge(message, hashes, expense, earlier.then_some(source));
                    }
                }
                None => {
                    known.insert(expense.id.clone(), ledger.messages.len());
                    hashes.push(expense.calls.iter().map(|call| call.0).collect());
                    ledger.messages.push(Message {
                        source,
                        sidechain: expense.sidechain,
                        model: expense.model,
                        time: expense.time,
                        spent: expense.spent,
                        finished: expense.finished,
                        calls: expense.calls.into_iter().map(|call| call.1).collect(),
                    });
                }
            }
        }
    }
    let lost = copies.iter().filter(|id| !known.contains_key(*id)).count() as u64;
    Ledger { sources, failures, lost, ..ledger }
}

/// Adds what another file says; `home` is that file if the message belongs to it.
fn merge(message: &mut Message, hashes: &mut Vec<u64>, other: Expense, home: Option<usize>) {
    let output = |spent: &Option<Spent>| spent.map(|spent| spent.tokens.output);
    let (known, said) = (output(&message.spent), output(&other.spent));
    if said > known || (home.is_some() && said == known) {
        message.spent = other.spent;
    }
    message.finished |= other.finished;
    if let Some(home) = home {
        message.source = home;
        message.time = other.time;
        message.sidechain = other.sidechain;
    }
    message.model = message.model.take().or(other.model);
    for (hash, tool) in other.calls {
        if !hashes.contains(&hash) {
            hashes.push(hash);
            message.calls.push(tool);
        }
    }
}
