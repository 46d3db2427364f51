//! Clones of Claude Code's sessions.
//!
//! [`gather`] reads the source once; [`take`] says which records belong to the clone, [`decide`]
//! (with [`zones`], [`texts`] and [`clear`]) what happens to their blocks, [`plan`] in which order and from
//! where they hang; [`rewrite`], [`content`] and [`usage`] make the bytes. The conversation that a resume
//! continues becomes one straight line, whatever branches parallel calls had made of it: then every
//! client, old or new, reads it alike.

mod agents;
mod clear;
mod content;
mod decide;
mod edits;
mod emit;
mod estimate;
mod gather;
mod naming;
mod plan;
mod rewrite;
mod take;
mod texts;
mod usage;
mod verify;
mod zones;

pub(crate) use verify::verify_clone;

use super::{
    CloneError, Engine, Estimate, Options, Order, Report, Run, Size, Source as ClonedFrom,
};
use crate::calls::Results;
use crate::check::rules::{Place, check_unnamed};
use crate::check::{Resume, Verdict};
use crate::conversation::Conversation;
use crate::project_key;
use crate::queue::Queue;
use crate::recovery::{Groups, Link};
use crate::rows::{Rows, is_message};
use crate::titles;
use crate::tree::{LeafRule, Tree};
use crate::turns::{Material, Speaker};
use backstory_model::SessionKind;
use backstory_store::{ReadContext, Source, StoreError, create_file, read_file, try_file};
use decide::Decider;
use emit::Emission;
use estimate::estimate;
use gather::Gathered;
use naming::Naming;
use plan::{Item, Plan};
use std::path::Path;
use take::Choice;

/// Everything about a clone but its bytes.
#[derive(Debug)]
struct Prepared {
    gathered: Gathered,
    plan: Plan,
    before: Size,
    title: String,
    folder: Option<String>,
    moved: Option<(String, String)>,
    failures: Vec<String>,
    source: Source,
}

/// See [`super::clone`].
pub(crate) fn make_clone(
    order: &Order<'_>,
    engine: &dyn Engine,
    run: Run,
) -> Result<Report, CloneError> {
    let mut context = ReadContext::new(order.store);
    let mut prepared = prepare(order, engine, &mut context)?;
    let agents = agents::choose(order, &mut prepared, &mut context)?;
    let emission = Emission::new(order, &prepared, engine_name(engine));
    let write = |out: &mut std::io::BufWriter<std::fs::File>| emission.write(out);
    let (bytes, seen, path) = match run {
        Run::Dry => {
            let (bytes, seen) =
                try_file(write, |lies| prove(order, &prepared, lies, &mut context))?;
            (bytes, seen, None)
        }
        Run::Write => {
            let copies = agents::stage(order, &prepared, &agents)?;
            let (bytes, seen) = create_file(&order.target, write, |lies| {
                let seen = prove(order, &prepared, lies, &mut context)?;
                copies.publish()?;
                Ok::<_, CloneError>(seen)
            })
            .inspect_err(|_| copies.remove_published())?;
            (bytes, seen, Some(order.target.clone()))
        }
    };
    Ok(report(order, prepared, bytes, seen, path))
}

fn engine_name(engine: &dyn Engine) -> &'static str {
    if engine.is_repeatable() { "offline" } else { "program" }
}

/// Reads the source and plans the clone.
fn prepare(
    order: &Order<'_>,
    engine: &dyn Engine,
    context: &mut ReadContext,
) -> Result<Prepared, CloneError> {
    let files = order.files;
    let read = read_file(&files.path, context, Gathered::default)?;
    let mut gathered = read.visitor;
    gathered.inspector.rows.totals = read.totals;
    let source = Source::new(&files.path, Some(read.state), order.store);
    let rows = &gathered.inspector.rows;
    let tree = Tree::new(rows, LeafRule::Session);
    let (groups, results) = (Groups::new(rows), Results::new(rows));
    let (queue, conversation) =
        (Queue::new(rows), Conversation::new(&tree, &groups, LeafRule::Session));
    let material = Material {
        rows,
        groups: &groups,
        results: &results,
        queue: &queue,
        speaker: Speaker::Person,
    };
    let (messages, known) = estimate(rows, &conversation.chain);
    let before =
        Size { bytes: read.totals.bytes, records: read.totals.records, messages, estimate: known };
    let choice = Choice {
        gathered: &gathered,
        tree: &tree,
        groups: &groups,
        conversation: &conversation,
        material: &material,
    };
    let taken = choice.take(order.options)?;
    let mut decider = Decider::new(&gathered, &taken, order.options);
    decider.decide();
    let failures = if order.options.bands.is_empty() {
        Vec::new()
    } else {
        decider.compress(engine, &mut source.open()?)?
    };
    decider.clear_up();
    let plan = plan::plan(decider, &tree, Naming::new(order.id));
    if plan.messages.is_empty() || !plan.items.iter().any(|item| matches!(item, Item::Row { .. })) {
        return Err(CloneError::Nothing);
    }
    let title = title(rows, order.options);
    let (folder, moved) = folder(rows, order);
    Ok(Prepared { plan, before, title, folder, moved, failures, source, gathered })
}

/// The title of the clone.
fn title(rows: &Rows, options: &Options) -> String {
    const LONGEST: usize = 200;
    const MARK: &str = " (clone)";
    if let Some(title) = options.title.as_deref().map(str::trim).filter(|title| !title.is_empty()) {
        return title.to_owned();
    }
    let known = titles::title(rows, SessionKind::Session).map(|title| title.text);
    let known: String =
        known.unwrap_or_else(|| "Session".to_owned()).chars().take(LONGEST).collect();
    if known.ends_with(MARK) { known } else { format!("{}{MARK}", known.trim_end()) }
}

/// The folder the clone works in, and what takes the place of what.
fn folder(rows: &Rows, order: &Order<'_>) -> (Option<String>, Option<(String, String)>) {
    let cwds = rows
        .cwds
        .names()
        .iter()
        .map(|cwd| String::from_utf8_lossy(rows.names.bytes(*cwd)).into_owned());
    let cwds: Vec<String> = cwds.collect();
    let own = |cwd: &&String| Some(project_key(cwd)) == order.files.project_key;
    let home = cwds.iter().find(own).or(cwds.first()).cloned();
    match &order.options.project {
        None => (home, None),
        Some(project) => (Some(project.clone()), home.map(|home| (home, project.clone()))),
    }
}

/// What a stranger finds in a file that was written.
#[derive(Debug)]
struct Seen {
    messages: u64,
    records: u64,
    estimate: Estimate,
}

/// Reads the clone as any reader would: it must resume, and hold what was planned.
fn prove(
    order: &Order<'_>,
    prepared: &Prepared,
    lies: &Path,
    context: &mut ReadContext,
) -> Result<Seen, CloneError> {
    let place = Place { lies, named: &order.target };
    let look = |rows: &Rows, chain: &[Link]| {
        let (messages, estimate) = estimate(rows, chain);
        let visible = chain.iter().filter_map(|(at, _)| rows.row(*at));
        let visible =
            visible.filter(|row| is_message(row) && !row.flags.meta && !row.flags.sidechain);
        let visible: Vec<Option<Box<str>>> = visible.map(|row| rows.names.text(row.uuid)).collect();
        (Seen { messages, records: rows.totals.records, estimate }, visible)
    };
    let (resume, (seen, visible)) = check_unnamed(place, order.id, context, look)?;
    let Resume { verdict, because } = resume;
    if verdict != Verdict::Yes {
        return Err(
            because.map_or(CloneError::Nothing, |why| CloneError::WouldNotResume(Box::new(why)))
        );
    }
    let planned = prepared.plan.messages.iter().map(|row| prepared.plan.naming.row(*row));
    let found = visible.iter().map(Option::as_deref);
    if !planned.clone().eq(found.clone()) {
        let what = format!("{} messages planned, {} found", planned.count(), found.count());
        return Err(CloneError::NotAsPlanned(what));
    }
    Ok(seen)
}

fn report(
    order: &Order<'_>,
    prepared: Prepared,
    bytes: u64,
    seen: Seen,
    path: Option<std::path::PathBuf>,
) -> Report {
    let plan = &prepared.plan;
    let rows = &prepared.gathered.inspector.rows;
    let messages = plan.messages.iter().filter_map(|at| {
        let old = rows.row(*at).and_then(|row| rows.names.text(row.uuid))?;
        Some((plan.naming.row(*at)?.to_owned(), old.into_string()))
    });
    let (messages, counts) = (messages.collect(), plan.counts.clone());
    Report {
        id: order.id.to_owned(),
        title: prepared.title,
        source: ClonedFrom {
            id: order.files.id.clone(),
            path: order.files.path.clone(),
            bytes: prepared.before.bytes,
            records: prepared.before.records,
        },
        path,
        target: order.target.clone(),
        folder: prepared.folder,
        after: Size {
            bytes,
            records: seen.records,
            messages: seen.messages,
            estimate: seen.estimate,
        },
        before: prepared.before,
        counts,
        options: order.options.clone(),
        messages,
        failures: prepared.failures,
    }
}

impl From<rewrite::Changed> for StoreErrorAt {
    fn from(_: rewrite::Changed) -> StoreErrorAt {
        StoreErrorAt
    }
}

/// A record that could not be read again as it was; the path is added where it is known.
#[derive(Debug, Clone, Copy)]
struct StoreErrorAt;

impl StoreErrorAt {
    fn at(self, path: &Path) -> CloneError {
        StoreError::Changed { path: path.to_path_buf() }.into()
    }
}
