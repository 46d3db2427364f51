//! Random queries have the same hits as a plain search in everything decoded.

use crate::oracle::{Name, Said, meets, name, quoted, said};
use crate::random::Random;
use crate::support::{all_hits, references};
use backstory_agents as agents;
use backstory_search::parse;
use backstory_session::discover::Found;
use backstory_session::select::SessionRef;
use backstory_store::ReadContext;
use backstory_testkit::{discover_in, lines, number, or_slow, testdata, write_file};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn read(session: SessionRef<'_>) -> backstory_model::Session {
    let context = &mut ReadContext::default();
    match session {
        SessionRef::Session(files) => agents::read(files, context).unwrap().0,
        SessionRef::Agent(file) => agents::read_stray(file, context).unwrap(),
    }
}

/// A part of a text: a word, or some of them.
fn part(random: &mut Random, text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let start = random.below(letters.len());
    let longest = *random.of(&[4, 12, 40]);
    let length = 1 + random.below(longest);
    letters[start..].iter().take(length).collect()
}

fn term(random: &mut Random, all: &[Said]) -> Option<String> {
    let one = random.of(all);
    let (_, text) = one.texts.get(random.below(one.texts.len().max(1)))?;
    if text.trim().is_empty() {
        return None;
    }
    let part = part(random, text);
    let word = part.split_whitespace().max_by_key(|word| word.len())?;
    Some(match random.below(10) {
        0..3 => quoted(word),
        3..5 => quoted(&part),
        5 => quoted(&word.to_lowercase()),
        6 => quoted(&word.to_uppercase()),
        7 => {
            let pattern = regex::escape(word).replace('/', "\\/");
            format!("/{}\\S*/", if pattern.ends_with('\\') { "x" } else { &pattern })
        }
        8 => {
            let alternatives = [word, "zzqx"].map(|one| regex::escape(one).replace('/', "\\/"));
            format!("/({}).?/", alternatives.join("|"))
        }
        _ => quoted(random.of::<&str>(&["the", "é", "日", "e", "\\n", "function", "ſ", "1"])),
    })
}

fn query(random: &mut Random, all: &[Said]) -> Option<String> {
    let mut parts = Vec::new();
    for _ in 0..1 + random.below(3) {
        let term = match random.below(5) {
            0 => {
                let qualifiers = random.of(all).qualifiers();
                random.of(&qualifiers).clone()
            }
            _ => term(random, all)?,
        };
        parts.push(match random.below(8) {
            0 => format!("-{term}"),
            1 => format!("({term} OR zzqx)"),
            2 => format!("{term} OR"),
            _ => term,
        });
    }
    let fields = [
        "",
        "",
        "in:prompt",
        "in:answer,thinking",
        "in:call,path",
        "in:result",
        "in:title",
        "in:prompt,answer,thinking,call,result,title,path",
    ];
    let text = parts.join(" ").trim_end_matches(" OR").to_owned();
    Some(format!("{} {}", random.of(&fields), text.replace("--", "-")))
}

/// Asks random queries; how many had hits, and how many hits.
fn compare(found: &Found, count: usize, seed: u64) -> (usize, usize) {
    let sessions = references(found);
    let all: Vec<Said> = sessions.iter().flat_map(|one| said(&read(*one))).collect();
    let random = &mut Random::new(seed);
    let (mut asked, mut answered, mut hits) = (0, 0, 0);
    while asked < count {
        let Some(query) = query(random, &all) else { continue };
        let Ok(parsed) = parse(&query) else { continue };
        asked += 1;
        let mut expected: Vec<&Name> =
            all.iter().filter(|one| meets(&parsed, one)).map(|one| &one.name).collect();
        let found = all_hits(&sessions, &query);
        let mut names: Vec<Name> = found.iter().map(name).collect();
        expected.sort();
        names.sort();
        if !names.iter().eq(expected.iter().copied()) {
            let missing = expected.iter().find(|name| !names.contains(name));
            let invented = names.iter().find(|name| !expected.contains(name));
            panic!("{query}\nmissing: {missing:?}\ninvented: {invented:?}");
        }
        for hit in &found {
            assert!(hit.snippet.lines.len() <= 3, "{query}: {hit:?}");
        }
        answered += usize::from(!expected.is_empty());
        hits += expected.len();
    }
    (answered, hits)
}

#[test]
fn random_queries_over_the_test_data() {
    let mut folders: Vec<PathBuf> = vec![testdata("sample"), testdata("agents")];
    for folder in ["sessions", "trees"] {
        let entries = std::fs::read_dir(testdata(folder)).unwrap();
        folders.extend(entries.map(|entry| entry.unwrap().path()));
    }
    let found = discover_in(&folders);
    assert!(found.sessions.len() > 100);
    let (answered, hits) = compare(&found, or_slow(150, 600), 7);
    assert!(answered > or_slow(60, 240) && hits > answered, "{answered} {hits}");
}

/// Words in which every way of writing a letter occurs.
const WORDS: [&str; 16] = [
    "redis",
    "Redis",
    "straße",
    "日本語",
    "🦀",
    "C:\\Users\\dev",
    "\"quoted\"",
    "a\u{1b}[31mb\u{1b}[0mc",
    "\u{1b}]8;;http://x.example/\u{7}link\u{1b}]8;;\u{7}",
    "Kelvin",
    "ſharp",
    "tab\tbed",
    "\\u0041",
    "connection\nrefused",
    "/usr/bin/env",
    "x",
];

fn text(random: &mut Random) -> String {
    let count = 1 + random.below(9);
    let words: Vec<&str> = (0..count).map(|_| *random.of(&WORDS)).collect();
    words.join(random.of::<&str>(&[" ", "\n", "  ", "", "\r\n"]))
}

/// The same JSON with some letters written as escapes.
fn escaped(random: &mut Random, json: &str) -> String {
    let mut out = String::new();
    let mut after_backslash = false;
    // Digits of an escape that follow.
    let mut digits = 0_usize;
    for letter in json.chars() {
        let is_free = letter.is_alphabetic() && !after_backslash && digits == 0;
        let plain = is_free && random.below(12) == 0;
        digits = if after_backslash && letter == 'u' { 4 } else { digits.saturating_sub(1) };
        after_backslash = letter == '\\' && !after_backslash;
        if plain {
            let mut units = [0; 2];
            letter
                .encode_utf16(&mut units)
                .iter()
                .for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(letter);
        }
    }
    out
}

/// A tree of sessions whose texts are written in every way. Some are copies of others.
fn write_tree(folder: &Path, seed: u64) {
    let random = &mut Random::new(seed);
    for number in 0..12 {
        let id = format!("{number:08x}-0000-4000-8000-000000000000");
        let mut records: Vec<Value> = Vec::new();
        let mut push = |mut record: Value| {
            let at = records.len();
            let parent = at.checked_sub(1).map(|before| format!("{id}-{before}"));
            let second = at % 60;
            record["uuid"] = format!("{id}-{at}").into();
            record["parentUuid"] = json!(parent);
            record["timestamp"] =
                format!("2026-03-01T{:02}:00:{second:02}.000Z", number % 24).into();
            record["sessionId"] = id.clone().into();
            record["cwd"] = "/w/app".into();
            record["gitBranch"] = random_branch(number).into();
            record["version"] = "2.1.0".into();
            record["isSidechain"] = false.into();
            record["userType"] = "external".into();
            records.push(record);
        };
        for turn in 0..4 {
            push(json!({"type": "user", "message": {"role": "user", "content": text(random)}}));
            let message = |block: Value, part: &str| {
                json!({"type": "assistant", "message": {
                "id": format!("msg_{number}_{turn}_{part}"), "type": "message", "role": "assistant",
                "model": "claude-opus-4-6", "content": [block], "stop_reason": "end_turn",
                "usage": {"input_tokens": 1, "output_tokens": 1}}})
            };
            push(message(
                json!({"type": "thinking", "thinking": text(random), "signature": "s"}),
                "a",
            ));
            push(message(json!({"type": "text", "text": text(random)}), "a"));
            let call = format!("toolu_{number}_{turn}");
            let (name, input) = match random.below(3) {
                0 => (
                    "Edit",
                    json!({"file_path": "/w/app/src/main.rs", "old_string": text(random), "new_string": text(random)}),
                ),
                1 => ("Write", json!({"file_path": "/w/app/größe.txt", "content": text(random)})),
                _ => (
                    "Bash",
                    json!({"command": text(random), "timeout": 30_000, "more": [text(random)]}),
                ),
            };
            push(message(
                json!({"type": "tool_use", "id": call, "name": name, "input": input}),
                "b",
            ));
            push(
                json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result",
                "tool_use_id": call, "content": text(random), "is_error": random.below(4) == 0}]}}),
            );
        }
        let bytes: String = lines(&records)
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| {
                // Keys and ids stay as they are: the strings inside messages are what is searched.
                let line = std::str::from_utf8(line).unwrap();
                let at = line.find("\"message\":").unwrap();
                let strings = escaped_strings(random, &line[at..]);
                format!("{}{strings}\n", &line[..at])
            })
            .collect();
        write_file(&folder.join(format!("projects/-w-app/{id}.jsonl")), bytes.as_bytes());
    }
}

fn random_branch(number: usize) -> &'static str {
    ["main", "fix/page"][number % 2]
}

/// Escapes letters inside strings that are texts.
fn escaped_strings(random: &mut Random, json: &str) -> String {
    let mut out = String::new();
    let mut rest = json;
    while let Some(at) =
        ["\"text\":\"", "\"thinking\":\"", "\"content\":\"", "\"command\":\"", "_string\":\""]
            .iter()
            .filter_map(|key| rest.find(key).map(|at| at + key.len()))
            .min()
    {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let mut end = 0;
        let bytes = after.as_bytes();
        while bytes[end] != b'"' {
            end += 1 + usize::from(bytes[end] == b'\\');
        }
        out.push_str(&escaped(random, &after[..end]));
        rest = &after[end..];
    }
    out + rest
}

#[test]
fn random_queries_over_texts_written_in_every_way() {
    for seed in 0..or_slow(2, 4) {
        let folder = tempfile::tempdir().unwrap();
        write_tree(folder.path(), seed);
        let found = discover_in(&[folder.path().to_path_buf()]);
        assert_eq!(found.sessions.len(), 12);
        let (answered, hits) = compare(&found, or_slow(400, 450), seed);
        assert!(answered > 150 && hits > answered, "{answered} {hits}");
    }
}

/// For `scripts/corpus`: queries over the sessions below a folder.
#[test]
fn random_queries_over_a_folder() {
    let Ok(folder) = std::env::var("BACKSTORY_SEARCHED") else { return };
    let count = number("BACKSTORY_QUERIES").map_or(1_000, |count| count as usize);
    let found = discover_in(&[PathBuf::from(folder)]);
    let (answered, hits) = compare(&found, count, 11);
    let sessions = found.sessions.len();
    println!("{count} queries over {sessions} sessions: {answered} with hits, {hits} hits");
    assert!(answered > 0);
}
