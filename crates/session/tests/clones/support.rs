//! Making and reading clones in folders of their own.

use backstory_claude::check;
use backstory_claude::check::Verdict;
use backstory_claude::clone::{CloneError, Offline, Options, Order, Report, Run, clone};
use backstory_format::Limits;
use backstory_model::SessionFiles;
use backstory_session::discover::{Root, discover};
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(crate) const SOURCE: &str = "11111111-1111-4111-8111-111111111111";

pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

pub(crate) fn session(path: &Path) -> SessionFiles {
    let found = discover(&[Root { path: path.to_path_buf() }]);
    found.sessions.into_iter().find(|files| files.path == path).unwrap()
}

/// A folder with one session in the client's place for it.
pub(crate) struct Place {
    /// Goes when the test ends.
    _folder: tempfile::TempDir,
    pub(crate) source: PathBuf,
}

impl Place {
    pub(crate) fn new(bytes: &[u8]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("projects/-home-dev-kiln");
        std::fs::create_dir_all(&project).unwrap();
        let source = project.join(format!("{SOURCE}.jsonl"));
        std::fs::write(&source, bytes).unwrap();
        Place { _folder: folder, source }
    }

    pub(crate) fn clone(&self, source: &Path, options: &Options) -> Result<Report, CloneError> {
        let files = session(source);
        // Any id will do that no other clone of the folder has.
        let count = std::fs::read_dir(source.parent().unwrap()).unwrap().count();
        let id = format!("{:08x}-2222-4222-8222-222222222222", 0x2222_0000 + count);
        let target = source.with_file_name(format!("{id}.jsonl"));
        let now = "2026-11-01T10:00:00Z".parse().unwrap();
        let limits = Limits::default();
        let order = Order { files: &files, options, id: &id, now, target, limits };
        clone(&order, &Offline, Run::Write)
    }

    /// Names in the project's folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let folder = self.source.parent().unwrap();
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

pub(crate) fn resumes(path: &Path) -> bool {
    let (report, _) = check::session(&session(path), Limits::default(), &mut Vec::new()).unwrap();
    report.resume.verdict == Verdict::Yes
}

/// Every record as JSON, as far as serde reads it.
pub(crate) fn records(path: &Path) -> Vec<Value> {
    let bytes = std::fs::read(path).unwrap();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}
