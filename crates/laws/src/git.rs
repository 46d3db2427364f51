//! What must hold for what git prints: commits, blobs and blame come back as they were, whatever
//! is in names, subjects and lines; other bytes give no more than they hold.

use backstory_store::{Commit, FileChange, parse_blame, parse_blobs, parse_commits};
use jiff::Timestamp;
use std::fmt::Write as _;

/// Makes commits of the data, prints them as git does, and reads them.
pub fn git(data: &[u8]) {
    let lossy = String::from_utf8_lossy(data);
    assert!(parse_commits(data).len() <= data.len());
    let lines = parse_blame(&lossy).len();
    assert!(lines <= data.iter().filter(|byte| **byte == b'\t').count());
    let held = parse_blobs(data);
    assert!(held.values().map(Vec::len).sum::<usize>() <= data.len());

    let mut words = lossy.split(['\0', '\n']);
    let mut word = || words.next().unwrap_or_default();
    let (subject, line) = (word().trim(), word().trim_end_matches('\r'));
    let paths: Vec<&str> = words.take(4).filter(|path| !path.is_empty()).collect();
    let commits: Vec<Commit> = (1..3).map(|number| commit(number, subject, &paths)).collect();
    assert_eq!(parse_commits(raw(&commits).as_bytes()), commits);
    blobs(&commits, data);
    blame(&commits, line);
}

fn commit(number: i64, subject: &str, paths: &[&str]) -> Commit {
    let id = format!("{number:040x}");
    let file = |path: &&str| FileChange {
        path: (*path).to_owned(),
        before: "0".repeat(40),
        blob: id.clone(),
    };
    let time = Timestamp::from_second(number * 1000).ok();
    let files = paths.iter().map(file).collect();
    Commit { id: id.clone(), authored: time, committed: time, subject: subject.to_owned(), files }
}

fn seconds(time: Option<Timestamp>) -> i64 {
    time.map_or(0, |time| time.as_second())
}

/// `git log --raw -z` with the format that the reader asks for.
fn raw(commits: &[Commit]) -> String {
    let mut out = String::new();
    for Commit { id, authored, committed, subject, files } in commits {
        let (authored, committed) = (seconds(*authored), seconds(*committed));
        let _ = write!(out, "\u{1}{id}\u{2}{authored}\u{2}{committed}\u{2}{subject}\0");
        for (at, FileChange { path, before, blob }) in files.iter().enumerate() {
            let start = if at == 0 { "\n" } else { "" };
            let _ = write!(out, "{start}:100644 100644 {before} {blob} M\0{path}\0");
        }
    }
    out
}

/// `git cat-file --batch`
fn blobs(commits: &[Commit], content: &[u8]) {
    let mut out = b"0 missing\n".to_vec();
    for Commit { id, .. } in commits {
        out.extend(format!("{id} blob {}\n", content.len()).bytes().chain(content.iter().copied()));
        out.push(b'\n');
    }
    let found = parse_blobs(&out);
    assert_eq!(found.len(), commits.len());
    assert!(commits.iter().all(|commit| found.get(&commit.id).is_some_and(|one| one == content)));
}

/// `git blame --line-porcelain`
fn blame(commits: &[Commit], line: &str) {
    let mut out = String::new();
    for Commit { id, authored, subject, .. } in commits {
        let time = seconds(*authored);
        let _ = write!(
            out,
            "{id} 7 1 1\nauthor {subject}\nauthor-mail <{subject}>\nauthor-time {time}\n"
        );
        let _ =
            write!(out, "author-tz +0000\ncommitter x\ncommitter-time {time}\nsummary {subject}\n");
        let _ = write!(out, "boundary\nfilename {subject}\n\t{line}\n");
    }
    let found = parse_blame(&out);
    assert_eq!(found.len(), commits.len());
    for (found, Commit { id, authored, subject, .. }) in found.iter().zip(commits) {
        assert_eq!((&*found.commit, found.original), (id.as_str(), 7));
        assert_eq!((&*found.author, &*found.summary), (subject.as_str(), subject.as_str()));
        assert_eq!((found.author_time, found.committer_time), (*authored, *authored));
        assert_eq!(*found.author_mail, format!("<{subject}>"));
        assert_eq!(&*found.filename, subject);
    }
}
