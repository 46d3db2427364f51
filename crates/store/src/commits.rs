//! Commits of a repository: what they changed, by path, blob and line.
//!
//! Merges are left out: what they bring in stands in the commits they join.

use crate::git::{Git, GitError, is_id, seconds};
use backstory_format::slice::Part;
use hashbrown::HashMap;
use jiff::Timestamp;

/// A commit and the files it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The full hash.
    pub id: String,
    /// When the change was made; a rebase keeps it.
    pub authored: Option<Timestamp>,
    /// When this commit was made of it.
    pub committed: Option<Timestamp>,
    /// The first line of the message.
    pub subject: String,
    /// Against its first parent.
    pub files: Vec<FileChange>,
}

/// A file that a commit changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// From the top of the repository, with `/`.
    pub path: String,
    /// The blob it was; zeros if it is new.
    pub before: String,
    /// The blob it became; zeros if it was removed.
    pub blob: String,
}

/// What an id names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The hash of the object.
    pub id: String,
    /// `blob`, `tree`, `commit` or `tag`.
    pub kind: String,
    /// Its length without compression.
    pub bytes: u64,
}

impl Commit {
    pub(super) fn without_files(&self) -> Commit {
        let Commit { id, authored, committed, subject, .. } = self;
        let (id, subject) = (id.clone(), subject.clone());
        Commit { id, authored: *authored, committed: *committed, subject, files: Vec::new() }
    }
}

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
        if !is_id(id) {
            return Ok(None);
        }
        let log_field = |id: &str, what: &str| {
            let out = self.run(&["log", "-1", "--no-show-signature", what, id, "--"])?;
            Ok::<_, GitError>(String::from_utf8_lossy(&out).trim().to_owned())
        };
        let parent = log_field(id, "--format=%P")?;
        if !is_id(&parent) {
            return Ok(None);
        }
        let made = seconds(&log_field(&parent, "--format=%ct")?);
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
            let bytes = size.and_then(|size| size.parse().ok());
            if let (Some(id), Some(kind), Some(bytes)) = (id, kind, bytes) {
                let object = Object { id: id.to_owned(), kind: kind.to_owned(), bytes };
                found.insert(name.clone(), object);
            }
        }
        Ok(found)
    }

    /// Commits on any branch that were made from one time on and before another, with everything
    /// they changed.
    pub(super) fn commits_between(
        &self,
        since: Timestamp,
        before: Option<Timestamp>,
    ) -> Result<Vec<Commit>, GitError> {
        let mut words = vec!["log", "--all", "--full-history", "--no-merges"];
        words.extend(RAW);
        // git takes no times before 1970.
        let since =
            (since > Timestamp::UNIX_EPOCH).then(|| format!("--since={}", since.as_second()));
        let until = before.map(|before| format!("--until={}", before.as_second() - 1));
        words.extend(since.as_deref());
        words.extend(until.as_deref());
        Ok(parse_commits(&self.run(&words)?))
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

    /// The content of blobs, as far as they are there.
    pub fn blobs(&self, ids: &[&str]) -> Result<HashMap<String, Vec<u8>>, GitError> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let out = self.run_with(&["cat-file", "--batch", "--buffer"], input.as_bytes())?;
        Ok(parse_blobs(&out))
    }
}

/// Reads what `git cat-file --batch` prints: `id blob length`, the content, and a newline; or `id missing`.
pub fn parse_blobs(mut out: &[u8]) -> HashMap<String, Vec<u8>> {
    let mut found = HashMap::new();
    while let Some(end) = memchr::memchr(b'\n', out) {
        let (head, rest) = out.split_at(end);
        let head = String::from_utf8_lossy(head);
        out = rest.part(1..);
        let mut words = head.split(' ');
        let (id, kind) = (words.next().unwrap_or_default(), words.next());
        let Some(length) = words.next().and_then(|length| length.parse::<usize>().ok()) else {
            continue;
        };
        // Less than was said is no content.
        let Some(content) = out.get(..length) else { break };
        if kind == Some("blob") {
            found.insert(id.to_owned(), content.to_vec());
        }
        out = out.get(length.saturating_add(1)..).unwrap_or_default();
    }
    found
}

/// Reads what `git log --raw -z` prints in the format asked for here.
pub fn parse_commits(out: &[u8]) -> Vec<Commit> {
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
            let mut words = change.split(' ').skip(2).map(str::to_owned);
            let (before, blob) = (words.next().unwrap_or_default(), words.next());
            if let Some((commit, blob)) = commits.last_mut().zip(blob) {
                commit.files.push(FileChange { path, before, blob });
            }
        }
    }
    commits
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
    fn blobs_are_read_by_their_lengths() {
        let out =
            b"aa blob 9\nbb blob 3\nbb missing\ncc tree 2\n\0\n\ndd blob 0\n\nee blob 4\nlast\n";
        let found = parse_blobs(out);
        assert!(parse_blobs(b"aa blob 18446744073709551615\nabc\n").is_empty());
        let text = |id: &str| found.get(id).map(|content| String::from_utf8_lossy(content));
        assert_eq!(text("aa").as_deref(), Some("bb blob 3"));
        assert_eq!((text("bb"), text("cc"), text("dd").as_deref()), (None, None, Some("")));
        assert_eq!(text("ee").as_deref(), Some("last"));
    }
}
