//! Rows to a session: everything put together.

use crate::agent::AGENT;
use crate::calls;
use crate::calls::Results;
use crate::conversation::Conversation;
use crate::facts;
use crate::inline;
use crate::origin::Origin;
use crate::queue::Queue;
use crate::recovery::{Groups, Link};
use crate::rewritten::Transcript;
use crate::rows::{RowIndex, Rows};
use crate::subagent_evidence::{SubagentEvidence, mark_call};
use crate::titles;
use crate::tree::{LeafRule, Tree};
use crate::turn_builder::event;
use crate::turns::{Material, Speaker};
use backstory_format::ProblemId;
use backstory_format::claude::BlockKind;
use backstory_model::{
    Branch, Counts, FileFacts, OrphanResult, Problems, Recovered, Session, SessionKind, Turn,
    models, usage,
};

/// The session that `rows` tell, and what links it to its subagents. Subagents that 1.0 clients
/// wrote into the same file are already in place.
pub(super) fn build(rows: &mut Rows, origin: Origin) -> (Session, SubagentEvidence) {
    let mut problems = std::mem::take(&mut rows.problems);
    let rows = &*rows;
    let groups = Groups::new(rows);
    let results = Results::new(rows);
    let queue = Queue::new(rows);
    let (rule, speaker) = match origin.kind {
        SessionKind::Session => (LeafRule::Session, Speaker::Person),
        _ => (LeafRule::Agent, Speaker::ParentAgent),
    };
    let tree = Tree::new(rows, rule);
    let conversation = Conversation::new(&tree, &groups, rule);
    let material = Material { rows, groups: &groups, results: &results, queue: &queue, speaker };
    let (turns, abandoned) = turns_and_branches(&material, &conversation);

    let orphan_results =
        report_problems(rows, &tree, &groups, &results, &conversation, &origin.id, &mut problems);
    problems.sort();

    let mut evidence = SubagentEvidence::new(rows);
    let subagents = match rule {
        LeafRule::Session => inline::subagents(&material, &tree, &origin, &mut evidence),
        LeafRule::Agent => Vec::new(),
    };
    let mut session = Session {
        file: FileFacts {
            bytes: rows.totals.bytes,
            lines: rows.totals.lines,
            blank_lines: rows.totals.blank_lines,
            bad_lines: rows.totals.bad_lines,
            records: rows.totals.records,
            modified: origin.modified,
        },
        title: titles::title(rows, origin.kind),
        started: rows.started,
        ended: rows.ended,
        versions: facts::shared(rows, rows.versions.names()),
        models: models(&turns, &abandoned),
        git_branches: facts::shared(rows, rows.git_branches.names()),
        last_branch: rows.last_branch.and_then(|name| rows.names.shared(name)),
        cwds: facts::shared(rows, rows.cwds.names()),
        entrypoints: facts::shared(rows, rows.entrypoints.names()),
        forked_from: facts::forked_from(rows),
        continues: facts::continues(rows, &origin),
        first_record: rows.rows.first().and_then(|row| rows.names.text(row.uuid)),
        first_message: facts::first_message(rows),
        counts: Counts {
            records_by_type: facts::records_by_type(rows),
            recovered: conversation.chain.iter().filter(|(_, why)| is_recovered(*why)).count()
                as u64,
            ..Counts::of(&turns)
        },
        usage: usage(&turns, &abandoned),
        turns,
        abandoned,
        compactions: facts::compactions(rows),
        subagents,
        orphan_results,
        chain: facts::chain(rows, &conversation.chain),
        problems,
        file_history: rows.file_history.clone(),
        requests: facts::requests(rows),
        project_key: origin.project_key,
        ..Session::new(AGENT, origin.kind, origin.id, origin.source)
    };
    let calls: Vec<(Box<str>, String)> = session
        .subagents
        .iter()
        .filter_map(|agent| Some((agent.parent.as_ref()?.call.clone()?, agent.id.clone())))
        .collect();
    for (call, agent) in calls {
        mark_call(&mut session, &call, &agent);
    }
    if let (SessionKind::Task, Some(kind)) = (session.kind, rows.own_run) {
        session.kind = kind;
    }
    (session, evidence)
}

/// Whether a record would be missing from the conversation without the repair; notes would not.
fn is_recovered(why: Option<Recovered>) -> bool {
    why.is_some_and(|why| why != Recovered::Note)
}

/// Turns of the conversation and of what was left behind. A branch in which the model had no part (a
/// local command and its output) is no branch of the conversation; it happened during a turn. So
/// did the writing of the conversation itself where the file has it more than once.
fn turns_and_branches(
    material: &Material<'_>,
    conversation: &Conversation,
) -> (Vec<Turn>, Vec<Branch>) {
    let rows = material.rows;
    let mut builder = material.turns(&conversation.links);
    for (row, in_conversation) in rows.rows.iter().zip(&conversation.in_conversation) {
        if *in_conversation || row.repeated || !material.speaks(row) {
            continue;
        }
        if let Some(notice) = rows.notice(row) {
            builder.add_late_notice(rows, row, notice);
        } else if let Some(kind) = material.interruption(row) {
            // A client that resumes beside the mark of an interruption leaves it as a dead end.
            builder.add_late_event(event(row, kind, None));
        }
    }
    let uuid = |at: RowIndex| rows.row(at).and_then(|row| rows.names.text(row.uuid));
    let (mut abandoned, mut copies) = (Vec::new(), Vec::new());
    let transcript = Transcript::new(rows, &conversation.links);
    for branch in &conversation.abandoned {
        let root = branch.links.first().and_then(|(at, _)| rows.row(*at));
        if let Some(row) = root.filter(|_| transcript.is_written_in(rows, branch)) {
            copies.extend_from_slice(&branch.links);
            builder.add_late_event(event(row, "history-written-again", None));
            continue;
        }
        let left = material.turns(&branch.links);
        if left.turns.is_empty() {
            builder.add_late_events(left);
            continue;
        }
        let ends = branch.links.first().zip(branch.links.last());
        let ends = ends.and_then(|(root, leaf)| uuid(root.0).zip(uuid(leaf.0)));
        abandoned.extend(ends.map(|(root, leaf)| Branch {
            from: branch.from.and_then(uuid),
            root,
            leaf,
            records: branch.links.len() as u64,
            turns: left.turns,
        }));
    }
    builder.add_copies(rows, &copies);
    for interjection in &material.queue.interjections {
        builder.add_interjection(interjection);
    }
    builder.finish_turns();
    (builder.turns, abandoned)
}

/// Adds what is wrong with the tree, with pairs of calls and results, and with session ids; gives
/// the results without call.
pub(super) fn report_problems(
    rows: &Rows,
    tree: &Tree<'_>,
    groups: &Groups<'_>,
    results: &Results,
    conversation: &Conversation,
    id: &str,
    problems: &mut Problems,
) -> Vec<OrphanResult> {
    for problem in &tree.problems {
        problems.push(problem.clone());
    }
    results.report(rows, groups, problems);
    let orphan_results = results.orphans(rows, groups, problems);
    report_orphan_calls(rows, results, &conversation.links, problems);
    facts::report_foreign_sessions(rows, id, problems);
    orphan_results
}

/// Calls on the conversation that nothing answers.
fn report_orphan_calls(rows: &Rows, results: &Results, links: &[Link], problems: &mut Problems) {
    let builder = links.iter().filter(|(_, why)| *why != Some(Recovered::Copy));
    for row in builder.filter_map(|(at, _)| rows.row(*at)) {
        for block in rows.blocks_of(row).iter().filter(|block| block.kind == BlockKind::ToolUse) {
            if results.find(rows, block.id).is_none() {
                problems.push(calls::problem(ProblemId::OrphanCall, row));
            }
        }
    }
}
