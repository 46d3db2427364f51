//! Sessions and subagents in trees of files.

use backstory_testkit::{discover_at, table, tree};

#[test]
fn discovery_finds_what_the_trees_hold() {
    for row in table("TREES.tsv") {
        let found = discover_at(tree(&row["tree"]));
        let agents = found.sessions.iter().map(|files| files.agents.len()).sum::<usize>()
            + found.stray_agents.len();
        let mut projects: Vec<_> = found.sessions.iter().map(|files| files.path.parent()).collect();
        projects.dedup();
        let counted = [
            ("sessions", found.sessions.len()),
            ("subagents", agents),
            ("projects", projects.len()),
        ];
        for (column, count) in counted {
            assert_eq!(row[column], count.to_string(), "{}: {column}", row["tree"]);
        }
    }
}
