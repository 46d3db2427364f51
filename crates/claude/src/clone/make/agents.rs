//! The files of subagents that go with a clone: those that one of its calls started.
//!
//! They are copied whole, under new ids, into the clone's own folder; trimming is for what a resume
//! sends, and that is not in them. The folder gets its name just before the clone does, so that no
//! clone is ever seen without its agents.

use super::naming::Naming;
use super::{Prepared, StoreErrorAt};
use crate::clone::{CloneError, Order, Subagents};
use crate::rows::{RowIndex, Rows};
use backstory_format::json::{Kind, Splice, Tape, Value, scan, splice};
use backstory_format::{Problem, Record, Visitor};
use backstory_model::AgentFile;
use backstory_model::Session;
use backstory_store::{LARGEST_META, ReadContext, read_small};
use backstory_store::{StagedFolder, read_file};
use hashbrown::HashMap;

/// Which agents go along. The choice is counted in the plan.
pub(super) fn choose(
    order: &Order<'_>,
    prepared: &mut Prepared,
    context: &mut ReadContext,
) -> Result<Vec<AgentFile>, CloneError> {
    if order.options.subagents == Subagents::Leave || order.files.agents.is_empty() {
        return Ok(Vec::new());
    }
    let (session, _) = crate::read(order.files, context, &mut ())?;
    let rows = &prepared.gathered.inspector.rows;
    let calls: Vec<Box<str>> =
        prepared.plan.calls.iter().filter_map(|call| rows.names.text(*call)).collect();
    let mut wanted = Vec::new();
    for agent in &session.subagents {
        let call = agent.parent.as_ref().and_then(|parent| parent.call.as_ref());
        if call.is_some_and(|call| calls.contains(call)) {
            add(agent, &mut wanted);
        }
    }
    let files = order.files.agents.iter().filter(|file| wanted.contains(&file.id.as_str()));
    let files: Vec<AgentFile> = files.cloned().collect();
    prepared.plan.counts.subagents = files.len() as u64;
    prepared.plan.counts.subagents_left = (order.files.agents.len() - files.len()) as u64;
    Ok(files)
}

fn add<'a>(agent: &'a Session, wanted: &mut Vec<&'a str>) {
    wanted.push(&agent.id);
    for child in &agent.subagents {
        add(child, wanted);
    }
}

/// Copies the agents to a folder that has no name yet.
pub(super) fn stage(
    order: &Order<'_>,
    prepared: &Prepared,
    agents: &[AgentFile],
) -> Result<StagedFolder, CloneError> {
    let mut folder = StagedFolder::new(order.target.with_extension(""));
    for agent in agents {
        let copy = copy(order, prepared, agent)?;
        let name = format!("subagents/agent-{}.jsonl", agent.id);
        folder.add(&name, &copy)?;
        let meta = agent.meta.as_ref().and_then(|path| read_small(path, LARGEST_META).ok());
        if let Some(meta) = meta {
            folder.add(&format!("subagents/agent-{}.meta.json", agent.id), &meta)?;
        }
    }
    Ok(folder)
}

/// Rows for the ids, and where each record is.
#[derive(Debug, Default)]
struct Records {
    rows: Rows,
    all: Vec<Vec<u8>>,
}

impl Visitor for Records {
    fn record(&mut self, record: &Record<'_>) {
        self.rows.record(record);
        self.all.push(record.raw().to_vec());
    }

    fn problem(&mut self, _: Problem) {}
}

fn copy(order: &Order<'_>, prepared: &Prepared, agent: &AgentFile) -> Result<Vec<u8>, CloneError> {
    let read = read_file(&agent.path, &mut ReadContext::new(order.store), Records::default)?;
    let Records { rows, all } = read.visitor;
    let mut naming = Naming::new(&format!("{}{}", order.id, agent.id));
    let mut ids: HashMap<Vec<u8>, String> = HashMap::new();
    for (at, row) in rows.rows.iter().enumerate() {
        naming.add(at as RowIndex);
        if let Some(uuid) = naming.row(at as RowIndex) {
            ids.entry(rows.names.bytes(row.uuid).to_vec()).or_insert_with(|| uuid.to_owned());
        }
    }
    let main = &prepared.gathered.inspector.rows;
    let find = |uuid: &[u8]| {
        let outside = || {
            let name = main.names.get(uuid)?;
            prepared.plan.naming.uuid(main, name).map(str::to_owned)
        };
        ids.get(uuid).cloned().or_else(outside)
    };
    let mut out = Vec::new();
    let mut tape = Tape::new();
    for record in &all {
        let changed = |_| StoreErrorAt.at(&agent.path);
        scan(record, 0, 1 << 20, &mut tape).map_err(|_| StoreErrorAt.at(&agent.path))?;
        let root = tape.root(record).ok_or_else(|| StoreErrorAt.at(&agent.path))?;
        out.extend(splice(record, &renamed(root, order.id, find)).map_err(changed)?);
        out.push(b'\n');
    }
    Ok(out)
}

/// New ids in the fields that hold ids.
fn renamed(
    record: Value<'_>,
    session: &str,
    find: impl Fn(&[u8]) -> Option<String>,
) -> Vec<Splice> {
    let mut splices = Vec::new();
    for (key, value) in record.fields().filter(|(_, value)| value.kind() == Kind::String) {
        let with = match key.name().as_ref() {
            b"sessionId" | b"session_id" => Some(session.to_owned()),
            b"uuid"
            | b"parentUuid"
            | b"logicalParentUuid"
            | b"sourceToolAssistantUUID"
            | b"leafUuid"
            | b"messageId" => value.raw_text().and_then(&find),
            _ => None,
        };
        if let Some(with) = with {
            splices.push(Splice { range: value.span(), with: super::content::quoted(&with) });
        }
    }
    splices
}
