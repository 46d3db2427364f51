//! Every file of `testdata/agents` against what its table says a reader must find.

use backstory_model::{Effect, Session};
use backstory_testkit::{agrees, edits, sessions, table, testdata};
use std::collections::{BTreeMap, BTreeSet};

/// What was found in a session of another agent, in the words of `AGENTS.tsv`.
fn describe_agent(session: &Session) -> BTreeMap<&'static str, String> {
    let list = |items: Vec<String>| if items.is_empty() { "-".to_owned() } else { items.join(",") };
    let known = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let (counts, usage) = (&session.counts, &session.usage);
    let effects = session.turns.iter().flat_map(|turn| turn.calls()).flat_map(|call| &call.effects);
    let shell = effects.filter(|effect| matches!(effect, Effect::Shell { .. })).count();
    let tokens = format!("{}/{}/{}", usage.input, usage.output, usage.cache_read);
    let cost = session.reported_cost.map(|cost| format!("{cost:.2}"));
    let cost = cost.map(|cost| cost.trim_end_matches('0').to_owned());
    let has_system = session.requests.shapes.iter().any(|shape| shape.system.is_some());
    let problems = session.problems.counts().keys().map(ToString::to_string);
    BTreeMap::from([
        ("agent", session.agent.name().to_owned()),
        ("session", session.id.clone()),
        ("turns", counts.turns.to_string()),
        ("steps", counts.steps.to_string()),
        ("calls", counts.calls.to_string()),
        ("results", counts.results.to_string()),
        ("errors", counts.errors.to_string()),
        ("orphan_calls", counts.orphan_calls.to_string()),
        ("usage", if usage.total() == 0 { "-".to_owned() } else { tokens }),
        ("cost", known(cost.as_deref())),
        ("models", list(session.models.iter().map(|model| model.to_string()).collect())),
        (
            "edits",
            list(edits(session).iter().map(|(path, change)| format!("{change}:{path}")).collect()),
        ),
        ("shell", shell.to_string()),
        ("cwd", known(session.cwds.first().map(AsRef::as_ref))),
        ("system", if has_system { "yes" } else { "no" }.to_owned()),
        ("title", known(session.title.as_ref().map(|title| title.text.as_str()))),
        ("problems", list(problems.collect())),
    ])
}

#[test]
fn every_session_of_another_agent_is_read_as_its_table_says() {
    let (mut wrong, mut folders) = (Vec::new(), BTreeSet::new());
    for row in table("AGENTS.tsv") {
        let path = &row["path"];
        folders.insert(path.clone());
        let found = sessions(&testdata("agents").join(path));
        let [session] = found.as_slice() else { panic!("{path}: {} sessions", found.len()) };
        for (column, found) in describe_agent(session) {
            if !agrees(column, &row[column], &found) {
                let expected = &row[column];
                wrong.push(format!("{path}: {column}: expected {expected}, found {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
    let mut there = BTreeSet::new();
    for agent in std::fs::read_dir(testdata("agents")).unwrap().map(Result::unwrap) {
        let name = agent.file_name().into_string().unwrap();
        assert!(backstory_agents::named(&name).is_some(), "{name}");
        for form in std::fs::read_dir(agent.path()).unwrap().map(Result::unwrap) {
            there.insert(format!("{name}/{}", form.file_name().into_string().unwrap()));
        }
    }
    assert_eq!(there, folders, "every folder has its row");
}
