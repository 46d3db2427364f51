//! Every file of `testdata` against what its manifest says a reader must find.

use backstory_claude::{read, read_stray};
use backstory_model::{Block, Content, Session, TurnKind, UsageTotal};
use backstory_store::ReadContext;
use backstory_testkit::{agrees, discover_at, table, testdata, tree};
use std::collections::BTreeMap;
use std::path::Path;

fn read_alone(path: &Path) -> Session {
    let found = discover_at(path);
    let mut context = ReadContext::default();
    match found.sessions.first() {
        Some(files) => backstory_claude::read_alone(files, &mut context).unwrap(),
        None => read_stray(&found.stray_agents[0], &mut context, &mut ()).unwrap(),
    }
}

/// What was found, in the manifest's words.
fn describe(session: &Session) -> BTreeMap<&'static str, String> {
    let list = |items: Vec<String>| if items.is_empty() { "-".to_owned() } else { items.join(",") };
    let problems = session.problems.counts().iter();
    let problems =
        problems.map(|(id, n)| if *n == 1 { id.to_string() } else { format!("{id}*{n}") });
    let counts = &session.counts;
    let mut usage = UsageTotal::default();
    for turn in &session.turns {
        usage.add(&turn.usage());
    }
    let title = session.title.as_ref();
    BTreeMap::from([
        ("records", session.file.records.to_string()),
        ("blank", session.file.blank_lines.to_string()),
        ("bad_lines", session.file.bad_lines.to_string()),
        ("problems", list(problems.collect())),
        ("turns", counts.turns.to_string()),
        ("steps", counts.steps.to_string()),
        ("calls", counts.calls.to_string()),
        ("results", counts.results.to_string()),
        ("orphan_calls", counts.orphan_calls.to_string()),
        ("orphan_results", session.orphan_results.len().to_string()),
        ("recovered", counts.recovered.to_string()),
        ("title", title.map_or("-".into(), |title| title.text.clone())),
        ("title_source", title.map_or("-".into(), |title| title.source.name().into())),
        (
            "turn_kinds",
            list(session.turns.iter().map(|turn| turn.kind.name().to_owned()).collect()),
        ),
        (
            "usage",
            if usage.messages == 0 {
                "-".to_owned()
            } else {
                format!(
                    "{}/{}/{}/{}",
                    usage.input, usage.output, usage.cache_read, usage.cache_write
                )
            },
        ),
        (
            "incomplete",
            match (usage.messages, usage.incomplete) {
                (0, _) => "-",
                (_, true) => "yes",
                (_, false) => "no",
            }
            .to_owned(),
        ),
        ("models", list(session.models.iter().map(|model| model.to_string()).collect())),
        ("compactions", session.compactions.len().to_string()),
        (
            "abandoned_turns",
            session.abandoned.iter().map(|b| b.turns.len()).sum::<usize>().to_string(),
        ),
        (
            "interjections",
            session.turns.iter().map(|t| t.interjections.len()).sum::<usize>().to_string(),
        ),
    ])
}

#[test]
fn every_file_is_read_as_its_manifest_says() {
    let mut wrong = Vec::new();
    let rows = table("MANIFEST.tsv");
    assert!(rows.len() > 200);
    for row in &rows {
        let session = read_alone(&testdata(&row["path"]));
        for (column, found) in describe(&session) {
            let expected = &row[column];
            if !agrees(column, expected, &found) {
                let (path, note) = (&row["path"], &row["note"]);
                wrong.push(format!(
                    "{path}: {column}: expected {expected}, found {found}   ({note})"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_subagent_is_linked_as_the_table_says() {
    let mut wrong = Vec::new();
    for row in table("LINKS.tsv") {
        let found = discover_at(tree(&row["tree"]));
        let mut seen = false;
        for files in &found.sessions {
            let (session, failures) = read(files, &mut ReadContext::default(), &mut ()).unwrap();
            assert!(failures.is_empty());
            let all = session.walk();
            let Some(agent) = all.iter().find(|part| part.id == row["agent"]) else { continue };
            seen = true;
            let parent = agent.parent.as_ref().unwrap();
            let holder =
                all.iter().find(|part| part.subagents.iter().any(|child| child.id == agent.id));
            let found = [
                ("kind", agent.kind.name().to_owned()),
                ("parent_call", parent.call.as_deref().unwrap_or("-").to_owned()),
                ("evidence", parent.evidence.map_or("-", |evidence| evidence.name()).to_owned()),
                ("parent", holder.map_or("-".to_owned(), |holder| holder.id.clone())),
                ("session", files.id.clone()),
            ];
            for (column, found) in found {
                if !agrees(column, &row[column], &found) {
                    let (tree, agent, expected) = (&row["tree"], &row["agent"], &row[column]);
                    wrong.push(format!(
                        "{tree}/{agent}: {column}: expected {expected}, found {found}"
                    ));
                }
            }
        }
        if !seen {
            let stray = found.stray_agents.iter().any(|agent| agent.id == row["agent"]);
            wrong.push(format!(
                "{}/{}: below no session (stray: {stray})",
                row["tree"], row["agent"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_prompt_that_only_the_call_holds_starts_the_agent() {
    let found = discover_at(tree("subagents-2.0-without-prompts"));
    let (session, failures) =
        read(&found.sessions[0], &mut ReadContext::default(), &mut ()).unwrap();
    assert!(failures.is_empty());
    let mut asked = Vec::new();
    for agent in &session.subagents {
        let first = &agent.turns[0];
        let texts = first.prompt.blocks.iter().map(|part| match &part.block {
            Block::Text(Content::Owned(text)) => text.to_string(),
            other => panic!("not text from another file: {other:?}"),
        });
        asked.push((agent.id.as_str(), first.kind, texts.collect::<Vec<_>>(), first.line));
    }
    let shelves = vec!["Count the shelves of the kiln.".to_owned()];
    let heat = vec!["Say whether the kiln is “hot”.".to_owned()];
    assert_eq!(
        asked,
        [
            ("c5512d80", TurnKind::Continuation, Vec::new(), None),
            ("41c07d19", TurnKind::Task, shelves, None),
            ("9b20e6f3", TurnKind::Task, heat, None),
        ]
    );
}

#[test]
fn reader_reports_a_history_that_was_written_again() {
    let session = read_alone(&testdata("sessions/v1.0-history-written-again.jsonl"));
    let events = session.turns.iter().flat_map(|turn| &turn.events);
    let again = events.filter(|event| &*event.kind == "history-written-again");
    assert_eq!(again.map(|event| event.line).collect::<Vec<_>>(), [1, 3]);
}
