//! `check`: every invariant has broken fixtures that it names and repaired ones that pass.

use backstory_claude::check;
use backstory_claude::check::{CheckId, Id, Report, Verdict};
use backstory_format::Severity;
use backstory_store::ReadContext;
use backstory_testkit::{discover_at, session_at, table, testdata};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn check_path(path: &Path) -> Report {
    let (report, failures) =
        check::session(&session_at(path), &mut ReadContext::default()).unwrap();
    assert!(failures.is_empty());
    report
}

/// `id`, or `id*n` where there are several.
fn finding_names(report: &Report) -> String {
    let groups = report.files.iter().flat_map(|file| file.findings.groups());
    let names: Vec<String> = groups
        .map(|(id, group)| match group.count {
            1 => id.to_string(),
            count => format!("{id}*{count}"),
        })
        .collect();
    if names.is_empty() { "-".into() } else { names.join(",") }
}

fn because(report: &Report) -> String {
    report.resume.because.as_ref().map_or_else(
        || "-".into(),
        |finding| match finding.line {
            Some(line) => format!("{}:{line}", finding.id),
            None => format!("{}:-", finding.id),
        },
    )
}

#[test]
fn every_fixture_has_exactly_the_findings_of_its_row() {
    let mut faults = Vec::new();
    let rows = table("check/MANIFEST.tsv");
    for row in &rows {
        let report = check_path(&testdata("check").join(&row["path"]));
        let found =
            (finding_names(&report), report.resume.verdict.name().to_owned(), because(&report));
        let expected = (row["findings"].clone(), row["resume"].clone(), row["because"].clone());
        if found != expected {
            faults.push(format!("{}: expected {expected:?}, found {found:?}", row["path"]));
        }
        if row["path"].contains("-repaired") {
            assert_eq!(row["findings"], "-", "{}", row["path"]);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));

    let mut listed: BTreeSet<PathBuf> =
        rows.iter().map(|row| testdata("check").join(&row["path"])).collect();
    let found = discover_at(testdata("check"));
    for files in &found.sessions {
        assert!(listed.remove(&files.path), "{} has no row", files.path.display());
    }
    assert!(listed.is_empty(), "without a file: {listed:?}");
}

#[test]
fn every_invariant_and_every_id_has_a_broken_and_a_repaired_fixture() {
    let mut broken: BTreeMap<u8, BTreeSet<String>> = BTreeMap::new();
    let mut repaired = BTreeSet::new();
    let mut named = BTreeSet::new();
    for row in table("check/MANIFEST.tsv") {
        let invariant: u8 = row["invariant"].parse().unwrap_or(0);
        if row["path"].contains("-repaired") {
            repaired.insert(invariant);
            continue;
        }
        for id in row["findings"].split(',') {
            let id = id.split('*').next().unwrap().to_owned();
            let own = Id::from_name(&id).unwrap().invariant().unwrap_or(0) == invariant;
            if own {
                broken.entry(invariant).or_default().insert(id.clone());
            }
            named.insert(id);
        }
    }
    // Their broken files are made by the tests below.
    named.extend(["large-session", "being-written"].map(str::to_owned));
    broken.entry(15).or_default().insert("large-session".into());
    for invariant in 1..=15 {
        assert!(broken.contains_key(&invariant), "nothing breaks invariant {invariant}");
        assert!(repaired.contains(&invariant), "nothing repairs invariant {invariant}");
    }
    for id in CheckId::ALL {
        assert!(named.contains(id.name()), "no fixture for {}", id.name());
    }
}

#[test]
fn a_large_session_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.jsonl");
    let mut bytes = std::fs::read(testdata("check/15-large-session-repaired.jsonl")).unwrap();
    bytes.resize(50_000_001, b'\n');
    write(&path, &bytes);
    let report = check_path(&path);
    assert_eq!(
        (finding_names(&report).as_str(), report.resume.verdict),
        ("large-session", Verdict::Yes)
    );
}

#[test]
fn a_million_faults_are_counted_and_a_hundred_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("faulty.jsonl");
    let prompt = r#"{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-01-31T12:00:00.000Z","message":{"role":"user","content":"x"}}"#;
    write(&path, format!("{prompt}\n{}", "x\n".repeat(1_000_000)).as_bytes());
    let report = check_path(&path);
    let (id, group) = report.files[0].findings.groups().next().unwrap();
    assert_eq!((id.name(), group.count, group.listed.len()), ("stray-bytes", 1_000_000, 100));
    assert_eq!(report.at_least(Severity::Error), 1_000_000);
    assert_eq!(report.resume.verdict, Verdict::WithLoss);
    assert_eq!(because(&report), "stray-bytes:2");
}

#[test]
fn check_reports_the_orphans_of_the_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orphans.jsonl");
    let mut text = String::new();
    let mut parent = "null".to_owned();
    for number in 0..400 {
        let message = if number % 2 == 0 {
            r#"{"role":"user","content":"go on"}"#.to_owned()
        } else {
            format!(
                r#"{{"role":"assistant","id":"m{number}","model":"claude-x","usage":{{"output_tokens":1}},"content":[{{"type":"tool_use","id":"c{number}","name":"Bash","input":{{}}}}]}}"#
            )
        };
        let kind = if number % 2 == 0 { "user" } else { "assistant" };
        text.push_str(&format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"u{number}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"timestamp\":\"2026-01-31T12:00:00.000Z\",\"message\":{message}}}\n"
        ));
        parent = format!("\"u{number}\"");
    }
    write(&path, text.as_bytes());
    assert_eq!(finding_names(&check_path(&path)), "call-without-result*199,call-cut-off");
}

#[test]
fn healthy_sessions_are_clean() {
    let found = discover_at(testdata("sample"));
    for files in &found.sessions {
        let (report, _) = check::session(files, &mut ReadContext::default()).unwrap();
        assert_eq!(finding_names(&report), "-", "{}", files.path.display());
        assert_eq!(report.resume.verdict, Verdict::Yes);
        assert_eq!(report.files.len(), 1 + files.agents.len());
    }
}

#[test]
fn ids_are_unique_and_explained() {
    let mut names = BTreeSet::new();
    for id in Id::all() {
        let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        assert!(id.name().chars().all(|letter| plain(letter) || letter == '-'), "{id}");
        assert!(names.insert(id.name()), "{id} twice");
        assert_eq!(Id::from_name(id.name()), Some(id));
        assert!(id.meaning().ends_with('.'), "{id}");
        let long = id.explain();
        for text in [long.why, long.evidence, long.remedy] {
            assert!(text.ends_with('.'), "{id}: {text}");
        }
    }
}

#[test]
fn checking_twice_says_the_same() {
    for folder in ["sessions", "trees", "check"] {
        let found = discover_at(testdata(folder));
        for files in &found.sessions {
            let check = || check::session(files, &mut ReadContext::default()).unwrap().0;
            assert_eq!(check(), check(), "{}", files.path.display());
        }
    }
}

#[test]
fn a_file_that_grows_meanwhile_is_named() {
    use std::io::Write as _;
    use std::sync::atomic::{AtomicBool, Ordering};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.jsonl");
    let whole = std::fs::read_to_string(testdata("check/15-large-session-repaired.jsonl")).unwrap();
    write(&path, format!("{whole}{}", "\n".repeat(4 << 20)).as_bytes());
    let done = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = std::fs::File::options().append(true).open(&path).unwrap();
            while !done.load(Ordering::Relaxed) {
                file.write_all(b"\n").unwrap();
            }
        });
        let seen = (0..50).any(|_| finding_names(&check_path(&path)) == "being-written");
        done.store(true, Ordering::Relaxed);
        seen
    });
    assert!(seen);
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}
