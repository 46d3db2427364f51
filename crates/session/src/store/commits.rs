//! Commits of a repository: what they changed, by path, blob and line.
//!
//! Merges are left out: what they bring in stands in the commits they join.

use super::git::{Git, GitError, seconds};
use hashbrown::HashMap;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// A commit and the files it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    pub authored: Option<Timestamp>,
    pub committed: Option<Timestamp>,
    pub subject: String,
    pub files: Vec<FileChange>,
}

/// A file that a commit changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// From the top of the repository, with `/`.
    pub path: String,
    /// The blob it became; zeros if it was removed.
    pub blob: String,
}

/// What an id names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    pub id: String,
    pub kind: String,
}

/// Lines that commits added, by commit and path.
pub type AddedLines = HashMap<String, BTreeMap<String, Vec<String>>>;

const FORMAT: &str = "--format=%x01%H%x02%at%x02%ct%x02%s";
const RAW: [&str; 9] = [
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "--no-ext-diff",
    "--no-color",
    "--no-notes",
    "--encoding=UTF-8",
    "-z",
    FORMAT,
];

impl Git {
    /// The commit that a commit was made on, and when that one was made; none for the first one of
    /// a history and for merges.
    pub fn parent(&self, id: &str) -> Result<Option<(String, Option<Timestamp>)>, GitError> {
        let is_id = |id: &str| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id(id) {
            return Ok(None);
        }
        let told = |id: &str, what: &str| {
            let out = self.run(&["log", "-1", "--no-show-signature", what, id, "--"])?;
            Ok::<_, GitError>(String::from_utf8_lossy(&out).trim().to_owned())
        };
        let parent = told(id, "--format=%P")?;
        if !is_id(&parent) {
            return Ok(None);
        }
        let made = seconds(&told(&parent, "--format=%ct")?);
        Ok(Some((parent, made)))
    }

    /// Which of these names (full or short ids) are objects of the repository.
    pub fn objects(&self, names: &[String]) -> Result<HashMap<String, Object>, GitError> {
        let plain = |name: &&String| name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let names: Vec<&String> = names.iter().filter(plain).collect();
        if names.is_empty() {
            return Ok(HashMap::new());
        }
        let input: String = names.iter().map(|name| format!("{name}\n")).collect();
        let out = self.run_with(&["cat-file", "--batch-check"], input.as_bytes())?;
        let out = String::from_utf8_lossy(&out);
        let mut found = HashMap::new();
        for (name, line) in names.into_iter().zip(out.lines()) {
            let mut words = line.split(' ');
            let (id, kind, size) = (words.next(), words.next(), words.next());
            if let (Some(id), Some(kind), Some(_)) = (id, kind, size) {
                found.insert(name.clone(), Object { id: id.to_owned(), kind: kind.to_owned() });
            }
        }
        Ok(found)
    }

    /// Commits on any branch that change one of these paths, from a time on; oldest first.
    pub fn commits_changing(
        &self,
        paths: &[String],
        since: Option<Timestamp>,
    ) -> Result<Vec<Commit>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let since = since.map(|time| format!("--since={}", time.as_second()));
        let mut words = vec!["log", "--all", "--full-history", "--no-merges"];
        words.extend(RAW);
        words.extend(since.as_deref());
        words.push("--pathspec-from-file=-");
        words.push("--pathspec-file-nul");
        let input = paths.join("\0");
        // Older versions of git take such paths only as arguments.
        let out = match self.run_with(&words, input.as_bytes()) {
            Ok(out) => out,
            Err(_) => {
                words.truncate(words.len() - 2);
                words.push("--");
                words.extend(paths.iter().map(String::as_str));
                self.run(&words)?
            }
        };
        let mut commits = parse_commits(&out);
        commits.sort_by(|a, b| (a.committed, &a.id).cmp(&(b.committed, &b.id)));
        Ok(commits)
    }

    /// These commits and everything they changed.
    pub fn commits_named(&self, ids: &[String]) -> Result<Vec<Commit>, GitError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut words = vec!["log", "--no-walk=unsorted", "--stdin"];
        words.extend(RAW);
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        Ok(parse_commits(&self.run_with(&words, input.as_bytes())?))
    }

    /// Ids of the commits of a range such as `main..topic`, newest first; merges left out.
    pub fn range(&self, range: &str) -> Result<Vec<String>, GitError> {
        let out = self.run(&["rev-list", "--no-merges", "--end-of-options", range])?;
        Ok(String::from_utf8_lossy(&out).lines().map(str::to_owned).collect())
    }

    /// Whether a commit is part of the history of another.
    pub fn is_ancestor(&self, earlier: &str, later: &str) -> Result<bool, GitError> {
        let without = format!("^{later}");
        Ok(self.run(&["rev-list", "-1", earlier, &without])?.is_empty())
    }

    /// The lines that commits added to some paths.
    pub fn added_lines(&self, ids: &[String], paths: &[String]) -> Result<AddedLines, GitError> {
        if ids.is_empty() || paths.is_empty() {
            return Ok(AddedLines::new());
        }
        let mut words = vec![
            "log",
            "--no-walk=unsorted",
            "--stdin",
            "--patch",
            "--unified=0",
            "--inter-hunk-context=0",
            "--text",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-notes",
            "--ignore-submodules=none",
            "--submodule=short",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--format=%x01%H",
        ];
        words.push("--");
        words.extend(paths.iter().map(String::as_str));
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        Ok(parse_added(&self.run_with(&words, input.as_bytes())?))
    }
}

fn parse_commits(out: &[u8]) -> Vec<Commit> {
    let mut commits: Vec<Commit> = Vec::new();
    let mut parts = out.split(|byte| *byte == 0);
    while let Some(part) = parts.next() {
        let text = String::from_utf8_lossy(part);
        let text = text.trim_start_matches('\n');
        if let Some(header) = text.strip_prefix('\u{1}') {
            let mut fields = header.splitn(4, '\u{2}');
            let mut field = || fields.next().unwrap_or_default();
            commits.push(Commit {
                id: field().to_owned(),
                authored: seconds(field()),
                committed: seconds(field()),
                subject: field().to_owned(),
                files: Vec::new(),
            });
        } else if let Some(change) = text.strip_prefix(':') {
            let path = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
            let blob = change.split(' ').nth(3).unwrap_or_default().to_owned();
            if let Some(commit) = commits.last_mut() {
                commit.files.push(FileChange { path, blob });
            }
        }
    }
    commits
}

/// Reads hunks by their lengths, so that content which looks like a header stays content.
fn parse_added(out: &[u8]) -> AddedLines {
    let mut found = AddedLines::new();
    let (mut commit, mut path) = (String::new(), String::new());
    let (mut old, mut new) = (0u64, 0u64);
    for line in out.split(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        if old > 0 && text.starts_with('-') {
            old -= 1;
        } else if let Some(added) = text.strip_prefix('+').filter(|_| new > 0) {
            new -= 1;
            let lines = found.entry(commit.clone()).or_default().entry(path.clone()).or_default();
            lines.push(added.strip_suffix('\r').unwrap_or(added).to_owned());
        } else if let Some(id) = text.strip_prefix('\u{1}') {
            id.clone_into(&mut commit);
        } else if let Some(name) = text.strip_prefix("+++ ") {
            path = unquoted(name.trim_end_matches('\t'));
        } else if let Some(head) = text.strip_prefix("@@ -") {
            (old, new) = hunk_lengths(head);
        }
    }
    found
}

/// The numbers of lines in `3,2 +3,4 @@ …`.
fn hunk_lengths(head: &str) -> (u64, u64) {
    let length = |part: &str| match part.split_once(',') {
        Some((_, length)) => length.parse().unwrap_or(0),
        None => 1,
    };
    let mut words = head.split(' ');
    (length(words.next().unwrap_or_default()), length(words.next().unwrap_or_default()))
}

/// A name as git writes it into a patch: with `b/` before, in quotes if it is odd.
fn unquoted(name: &str) -> String {
    let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let plain = match quoted {
        None => name.to_owned(),
        Some(inside) => {
            let mut bytes = Vec::new();
            let mut letters = inside.bytes();
            while let Some(letter) = letters.next() {
                let escaped = if letter == b'\\' { letters.next() } else { None };
                bytes.push(match escaped {
                    None => letter,
                    Some(b'n') => b'\n',
                    Some(b't') => b'\t',
                    Some(b'r') => b'\r',
                    Some(digit @ b'0'..=b'3') => {
                        let rest = [letters.next(), letters.next()].into_iter().flatten();
                        rest.fold(digit - b'0', |number, digit| {
                            number.wrapping_mul(8).wrapping_add(digit.wrapping_sub(b'0'))
                        })
                    }
                    Some(other) => other,
                });
            }
            String::from_utf8_lossy(&bytes).into_owned()
        }
    };
    plain.strip_prefix("b/").map_or(plain.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_output_is_read_by_position() {
        let out = b"\x01aa\x021\x022\x02Subject: :100644 x\0\n:100644 100644 0 bb M\0\x01odd\0:100644 100644 0 cc M\0b.rs\0\x01dd\x023\x024\x02Next\0";
        let commits = parse_commits(out);
        assert_eq!(commits.len(), 2);
        let paths: Vec<&str> = commits[0].files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["\u{1}odd", "b.rs"]);
        assert_eq!(
            (commits[0].files[1].blob.as_str(), commits[1].subject.as_str()),
            ("cc", "Next")
        );
    }

    #[test]
    fn content_that_looks_like_a_header_stays_content() {
        let out = b"\x01aa\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,3 @@\n--- gone\n+++ b/y\n+@@ -1 +1 @@\n+last\n";
        let found = parse_added(out);
        assert_eq!(found["aa"]["x"], ["++ b/y", "@@ -1 +1 @@", "last"]);
        assert_eq!(unquoted("\"b/a\\303\\251 \\\"q\\\"\""), "aé \"q\"");
    }
}
