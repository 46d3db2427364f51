//! Nothing above the readers names an agent: what is asked of one, `AgentReader` answers.

use backstory_agents::{own_folders, readers};
use backstory_testkit::{files_below, top};
use std::collections::BTreeSet;

/// Crates that know agents only by their readers.
const CRATES: [&str; 9] =
    ["store", "model", "redact", "text", "session", "search", "export", "replay", "cli"];

/// Commands that exist for one agent only, and how its results are written.
const OF_ONE_AGENT: [&str; 6] = [
    "cli/src/commands/spec/",
    "cli/src/commands/capture/",
    "cli/src/commands/check/",
    "cli/src/commands/clone/",
    "session/src/wire/check.rs",
    "session/src/wire/clone.rs",
];

/// Other places, each with the text that names an agent.
const KNOWN: [(&str, &str); 7] = [
    // Commands typed by the user, as one agent marks them in prompts.
    ("session/src/render/words.rs", "backstory_claude"),
    ("session/src/wire/session.rs", "backstory_claude"),
    // Worktrees inside a repository are where one agent makes them.
    ("session/src/history/scope.rs", ".claude"),
    ("session/src/link/belonging.rs", ".claude"),
    // Inputs and results of calls are noted while their records are read.
    ("session/src/history/extract.rs", "backstory_claude"),
    ("session/src/history/call_cache.rs", "backstory_claude"),
    ("session/src/history/lazy_reads.rs", "backstory_claude"),
];

/// A line of code without comments. The help of arguments is in comments, too.
fn code(line: &str) -> &str {
    let line = line.trim_start();
    if line.starts_with("//") { "" } else { line.split(" // ").next().unwrap_or(line) }
}

/// Texts by which code could name an agent.
fn names() -> BTreeSet<String> {
    let mut names: BTreeSet<String> = ["backstory_claude".to_owned()].into();
    for agent in readers().map(|reader| reader.agent()) {
        let name = agent.name();
        names.extend([name.to_owned(), name.replace('-', "_"), name.replace('-', "")]);
        names.insert(agent.title().to_lowercase());
    }
    names.extend(own_folders().map(|folder| folder.name.to_owned()));
    names
}

/// Whether a text is in a line, and not as a part of a longer word.
fn holds(line: &str, name: &str) -> bool {
    let is_word = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '-')
    };
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !is_word(before) && !is_word(after)
    })
}

#[test]
fn no_crate_above_the_readers_names_an_agent() {
    let names = names();
    let (mut found, mut used, mut lines) = (Vec::new(), BTreeSet::new(), 0);
    for path in
        CRATES.iter().flat_map(|name| files_below(&top().join("crates").join(name).join("src")))
    {
        let path = path.strip_prefix(top().join("crates")).unwrap().to_str().unwrap().to_owned();
        if !path.ends_with(".rs") || OF_ONE_AGENT.iter().any(|known| path.starts_with(known)) {
            continue;
        }
        let text = std::fs::read_to_string(top().join("crates").join(&path)).unwrap();
        // Tests in the files themselves come last.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for (number, line) in text.lines().enumerate() {
            let line = code(line).to_lowercase();
            lines += 1;
            for name in names.iter().filter(|name| holds(&line, name)) {
                let known = KNOWN.iter().position(|known| *known == (&*path, &**name));
                match known {
                    Some(known) => drop(used.insert(known)),
                    None => found.push(format!("{path}:{}: {name}: {line}", number + 1)),
                }
            }
        }
    }
    assert!(lines > 20_000, "{lines} lines");
    assert!(found.is_empty(), "ask the reader instead:\n{}", found.join("\n"));
    let unused = KNOWN.iter().enumerate().filter(|(at, _)| !used.contains(at));
    let unused: Vec<_> = unused.map(|(_, known)| known).collect();
    assert!(unused.is_empty(), "exceptions that are not needed: {unused:?}");
}
