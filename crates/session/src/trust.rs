//! Which files of settings the user has read and trusts: by path and content.
//!
//! A file of settings may come with another person's repository. What could let a secret
//! through counts only if the user trusts the file, as it is: a changed file is a new one.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

const SCHEMA: &str = "backstory.trust/1";

/// Trusted files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustList {
    schema: String,
    files: Vec<Trusted>,
}

/// A file with the content that is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    /// The file.
    pub path: PathBuf,
    /// The SHA-256 of its trusted content.
    pub sha256: String,
}

impl Default for TrustList {
    fn default() -> TrustList {
        TrustList { schema: SCHEMA.to_owned(), files: Vec::new() }
    }
}

impl TrustList {
    /// Reads a list; none if it is not one of this version.
    pub fn parse(text: &str) -> Option<TrustList> {
        serde_json::from_str(text).ok().filter(|list: &TrustList| list.schema == SCHEMA)
    }

    /// The list as it is kept.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// All trusted files.
    pub fn files(&self) -> &[Trusted] {
        &self.files
    }

    /// Whether the file at `path`, links resolved, is trusted with this content.
    pub fn trusts(&self, path: &Path, content: &[u8]) -> bool {
        let sha256 = hash(content);
        self.files.iter().any(|file| file.path == path && file.sha256 == sha256)
    }

    /// Trusts a file with this content, and with no other.
    pub fn trust(&mut self, path: &Path, content: &[u8]) {
        self.revoke(path);
        self.files.push(Trusted { path: path.to_path_buf(), sha256: hash(content) });
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Trusts a file no more; whether it was trusted.
    pub fn revoke(&mut self, path: &Path) -> bool {
        let before = self.files.len();
        self.files.retain(|file| file.path != path);
        self.files.len() < before
    }
}

fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_trusted_as_it_was_read() {
        let (one, two) = (Path::new("/a/.backstory.toml"), Path::new("/b/.backstory.toml"));
        let mut list = TrustList::default();
        list.trust(one, b"x");
        let mut list = TrustList::parse(&list.to_json()).unwrap();
        assert!(list.trusts(one, b"x"));
        assert!(!list.trusts(one, b"y") && !list.trusts(two, b"x"));
        list.trust(one, b"y");
        assert!(list.trusts(one, b"y") && !list.trusts(one, b"x"));
        assert!(list.revoke(one) && !list.revoke(one) && list.files().is_empty());
        assert!(TrustList::parse("{}").is_none());
        let other = list.to_json().replace("trust/1", "trust/2");
        assert!(TrustList::parse(&other).is_none());
    }
}
