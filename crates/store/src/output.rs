//! A folder of documents that this program keeps up to date.
//!
//! A manifest in the folder says which files are ours and what each was made from. Nothing else
//! in the folder is ever replaced or removed, and nothing outside it is written. The names are
//! noted before the files are written, so an interrupted run is taken up by the next.

use crate::StoreError;
use crate::guard::{Destination, GuardError, MANIFEST};
use crate::write::{
    Access, FolderSync, create_folder, create_folder_of, is_plain, remove_file, sync_folder,
    write_and_sync,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read as _};
use std::path::{Path, PathBuf};

const SCHEMA: &str = "backstory.output/1";
const LARGEST_MANIFEST: u64 = 256 << 20;

/// A folder with its manifest.
#[derive(Debug)]
pub struct OutputFolder<T> {
    to: Destination,
    access: Access,
    files: BTreeMap<String, Entry<T>>,
}

/// What is known of a file in the folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry<T> {
    /// What it was made from and how; empty while it is being written.
    pub key: String,
    /// Its length when it was written; another length means that somebody changed it.
    pub bytes: u64,
    /// What else the writer wants to know of it next time.
    pub about: Option<T>,
}

#[derive(Deserialize)]
struct Manifest<T> {
    schema: String,
    files: BTreeMap<String, Entry<T>>,
}

#[derive(Serialize)]
struct ManifestOut<'a, T> {
    schema: &'a str,
    files: &'a BTreeMap<String, Entry<T>>,
}

/// Why a folder cannot be written to.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum OutputError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The place must not be written to.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// Somebody else's file has the name we need.
    #[error("`{}`: not replaced: it was not written by backstory", path.display())]
    Foreign { path: PathBuf },
    /// The manifest is there but cannot be read.
    #[error("`{}`: not a manifest that this version understands", path.display())]
    Manifest { path: PathBuf },
    /// The name would lead out of the folder.
    #[error("`{name}`: not a plain file name")]
    Name { name: String },
}

impl<T: Serialize + DeserializeOwned + Clone> OutputFolder<T> {
    /// Opens a folder, creating it if need be.
    pub fn open(to: &Destination, access: Access) -> Result<OutputFolder<T>, OutputError> {
        create_folder(to, access)?;
        let manifest = to.place().join(MANIFEST);
        let unreadable = || OutputError::Manifest { path: manifest.clone() };
        let files = match std::fs::symlink_metadata(&manifest) {
            Err(_) => BTreeMap::new(),
            Ok(facts) if !facts.is_file() || facts.len() > LARGEST_MANIFEST => {
                return Err(unreadable());
            }
            Ok(_) => {
                let mut text = String::new();
                let read =
                    File::open(&manifest).and_then(|mut file| file.read_to_string(&mut text));
                read.map_err(|cause| StoreError::Io { path: manifest.clone(), cause })?;
                let read: Manifest<T> = serde_json::from_str(&text).map_err(|_| unreadable())?;
                if read.schema != SCHEMA {
                    return Err(unreadable());
                }
                read.files
            }
        };
        Ok(OutputFolder { to: to.clone(), access, files })
    }

    /// Files of the folder that are ours.
    pub fn files(&self) -> &BTreeMap<String, Entry<T>> {
        &self.files
    }

    /// Whether a file was made from the same and is still there.
    pub fn is_current(&self, name: &str, key: &str) -> bool {
        let Some(entry) = self.files.get(name) else { return false };
        let there = std::fs::symlink_metadata(self.to.place().join(name));
        entry.key == key && there.is_ok_and(|there| there.is_file() && there.len() == entry.bytes)
    }

    /// Notes that these names will be written, with `/` where a file lies deeper; refuses names that
    /// others hold. Returns those.
    pub fn claim<'a>(
        &mut self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<OutputError>, OutputError> {
        let mut refused = Vec::new();
        for name in names {
            if !stays_inside(name) {
                refused.push(OutputError::Name { name: name.to_owned() });
                continue;
            }
            if let Some(path) = self.in_the_way(name) {
                refused.push(OutputError::Foreign { path });
                continue;
            }
            let path = self.to.place().join(name);
            let there = std::fs::symlink_metadata(&path).ok();
            let ours = self.files.contains_key(name);
            if there.is_some_and(|there| !ours || !there.is_file()) {
                refused.push(OutputError::Foreign { path });
                continue;
            }
            if self.to.inside(name).is_none() {
                refused.push(GuardError::Input { path }.into());
                continue;
            }
            let entry = Entry { key: String::new(), bytes: 0, about: None };
            self.files.entry(name.to_owned()).or_insert(entry).key.clear();
        }
        self.save()?;
        Ok(refused)
    }

    /// Writes a claimed file; gives its size.
    pub fn write<E: From<StoreError> + From<OutputError>>(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
    ) -> Result<u64, E> {
        if !self.files.contains_key(name) || !stays_inside(name) {
            return Err(OutputError::Name { name: name.to_owned() }.into());
        }
        if let Some(path) = self.in_the_way(name) {
            return Err(OutputError::Foreign { path }.into());
        }
        let Some(to) = self.to.inside(name) else {
            let path = self.to.shown().join(name);
            return Err(OutputError::from(GuardError::Input { path }).into());
        };
        create_folder_of(&to, self.access)?;
        let sync = if name.contains('/') { FolderSync::Now } else { FolderSync::Later };
        write_and_sync(&to, self.access, sync, write)
    }

    /// What stands where a folder has to be: a file, or a link that may lead anywhere.
    fn in_the_way(&self, name: &str) -> Option<PathBuf> {
        let mut parts: Vec<&str> = name.split('/').collect();
        parts.pop();
        let mut path = self.to.place().to_path_buf();
        parts.into_iter().find_map(|part| {
            path.push(part);
            let there = std::fs::symlink_metadata(&path).ok()?;
            (!there.is_dir()).then(|| path.clone())
        })
    }

    /// Notes what a written file is.
    pub fn record(&mut self, name: &str, entry: Entry<T>) {
        self.files.insert(name.to_owned(), entry);
    }

    /// Removes a file of ours.
    pub fn remove(&mut self, name: &str) -> Result<(), OutputError> {
        let path = self.to.place().join(name);
        let ours = self.files.contains_key(name) && stays_inside(name);
        let ours = ours && self.in_the_way(name).is_none();
        let there = std::fs::symlink_metadata(&path).ok();
        if let Some(to) = self.to.inside(name)
            && ours
            && there.is_some_and(|there| there.is_file())
        {
            remove_file(&to)?;
        }
        self.files.remove(name);
        Ok(())
    }

    /// Writes the manifest.
    pub fn save(&self) -> Result<(), OutputError> {
        let refused = || GuardError::Input { path: self.to.shown().join(MANIFEST) };
        let to = self.to.inside(MANIFEST).ok_or_else(refused)?;
        write_and_sync(&to, self.access, FolderSync::Later, |out| {
            let content = ManifestOut { schema: SCHEMA, files: &self.files };
            serde_json::to_writer(out, &content).map_err(|error| {
                OutputError::from(StoreError::Io { path: to.shown().into(), cause: error.into() })
            })
        })?;
        sync_folder(self.to.place());
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.to.place()
    }
}

/// Plain names, and so inside the folder.
fn stays_inside(name: &str) -> bool {
    name.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Guard;
    use std::io::Write as _;

    fn to(path: &Path) -> Destination {
        Guard::default().folder(path).unwrap()
    }

    fn put(folder: &OutputFolder<u8>, name: &str, text: &str) -> Result<u64, OutputError> {
        folder.write(name, |out| {
            out.write_all(text.as_bytes())
                .map_err(|cause| StoreError::Io { path: name.into(), cause })?;
            Ok(())
        })
    }

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn output_folder_replaces_only_its_own_files() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("theirs.md"), "keep").unwrap();
        let mut folder = OutputFolder::open(&to(place.path()), Access::Usual).unwrap();
        let refused = folder.claim(["ours.md", "theirs.md", "../up.md", ""]).unwrap();
        assert_eq!(refused.len(), 3);
        let bytes = put(&folder, "ours.md", "text").unwrap();
        assert!(
            put(&folder, "theirs.md", "no").is_err() && put(&folder, "../up.md", "no").is_err()
        );
        folder.record("ours.md", Entry { key: "k".into(), bytes, about: Some(7) });
        folder.save().unwrap();

        let mut again: OutputFolder<u8> =
            OutputFolder::open(&to(place.path()), Access::Usual).unwrap();
        assert!(again.is_current("ours.md", "k") && !again.is_current("ours.md", "other"));
        assert!(again.claim(["ours.md"]).unwrap().is_empty());
        again.remove("ours.md").unwrap();
        again.remove("theirs.md").unwrap();
        assert_eq!(std::fs::read_to_string(place.path().join("theirs.md")).unwrap(), "keep");
        assert!(!place.path().join("ours.md").exists());
    }

    #[cfg(unix)]
    #[test]
    #[allow(clippy::disallowed_methods)]
    fn output_folder_does_not_follow_a_planted_link() {
        let place = tempfile::tempdir().unwrap();
        let victim = place.path().join("victim");
        std::fs::write(&victim, "keep").unwrap();
        let inside = place.path().join("out");
        let mut folder: OutputFolder<u8> = OutputFolder::open(&to(&inside), Access::Usual).unwrap();
        assert!(folder.claim(["a.md"]).unwrap().is_empty());
        std::os::unix::fs::symlink(&victim, inside.join("a.md")).unwrap();
        put(&folder, "a.md", "text").unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "keep");
        assert!(inside.join("a.md").symlink_metadata().unwrap().is_file());
        std::os::unix::fs::symlink(&victim, inside.join("b.md")).unwrap();
        assert_eq!(folder.claim(["b.md"]).unwrap().len(), 1);

        let elsewhere = place.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        assert!(folder.claim(["deep/c.md", "new/d.md"]).unwrap().is_empty());
        std::os::unix::fs::symlink(&elsewhere, inside.join("deep")).unwrap();
        assert!(put(&folder, "deep/c.md", "no").is_err());
        assert_eq!(folder.claim(["deep/e.md", "new//f.md", "new/../g.md"]).unwrap().len(), 3);
        put(&folder, "new/d.md", "text").unwrap();
        assert_eq!(std::fs::read_to_string(inside.join("new/d.md")).unwrap(), "text");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    }
}
