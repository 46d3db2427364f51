//! Files of settings: the user's own, and one that came with a project.
//!
//! A project's file may be written by other people. Its rules for `annotate` and further rules for
//! redaction count as they are; exceptions from redaction only if the user trusts the file; teachers
//! never (docs/settings.md).

use crate::environment;
use crate::error::CliError;
use crate::guard::agents_guard;
use crate::ui;
use backstory_session::trust::TrustList;
use backstory_store::{Access, create_folder_of, read_small_text, resolve, write_file};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The name of a project's file.
pub(crate) const NAME: &str = ".backstory.toml";

/// More than a file of settings has.
pub(crate) const LARGEST_SETTINGS: u64 = 1 << 20;
const LARGEST_LIST: u64 = 64 << 20;

/// A file of settings.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) standing: Standing,
}

/// Whose settings they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// In the user's own folders.
    Own,
    /// A project's, which the user trusts.
    Trusted,
    /// A project's.
    Unknown,
}

/// All settings that concern the current folder, the user's own first.
pub(crate) fn found() -> Result<Vec<Settings>, CliError> {
    let mut all = own()?;
    all.extend(of_project()?);
    Ok(all)
}

/// The user's own.
pub(crate) fn own() -> Result<Vec<Settings>, CliError> {
    let there = own_places().into_iter().filter(|path| path.is_file());
    there
        .map(|path| {
            let text = read_small_text(&path, LARGEST_SETTINGS)?;
            Ok(Settings { path, text, standing: Standing::Own })
        })
        .collect()
}

/// Those of the project that the current folder belongs to.
pub(crate) fn of_project() -> Result<Option<Settings>, CliError> {
    let is_own = |path: &PathBuf| own_places().iter().any(|own| resolve(own) == resolve(path));
    let Some(path) = nearest()?.filter(|path| !is_own(path)) else { return Ok(None) };
    let text = read_small_text(&path, LARGEST_SETTINGS)?;
    let trusted = trust_list().trusts(&resolve(&path), text.as_bytes());
    let standing = if trusted { Standing::Trusted } else { Standing::Unknown };
    Ok(Some(Settings { path, text, standing }))
}

/// Where the user's own settings are looked for.
pub(crate) fn own_places() -> Vec<PathBuf> {
    let config = environment::config_folder().map(|folder| folder.join("config.toml"));
    let home = environment::home().map(|home| home.join(NAME));
    config.into_iter().chain(home).collect()
}

/// The file of the project that the current folder belongs to.
pub(crate) fn nearest() -> Result<Option<PathBuf>, CliError> {
    let here = std::path::absolute(".")?;
    let mut places = here.ancestors().map(|folder| folder.join(NAME));
    Ok(places.find(|path| path.is_file()))
}

fn list_path() -> Option<PathBuf> {
    environment::state_folder().map(|folder| folder.join("trusted.json"))
}

/// The files that the user trusts. What cannot be read trusts nothing.
pub(crate) fn trust_list() -> TrustList {
    let Some(path) = list_path().filter(|path| path.exists()) else { return TrustList::default() };
    let list = read_small_text(&path, LARGEST_LIST).ok();
    list.and_then(|text| TrustList::parse(&text)).unwrap_or_else(|| {
        ui::warn(&format!("`{}`: not a list of trusted files; none is trusted", path.display()));
        TrustList::default()
    })
}

/// Keeps the list, for the user alone.
pub(crate) fn keep_trust_list(list: &TrustList) -> Result<(), CliError> {
    let path = list_path().ok_or_else(|| {
        CliError::new("no folder to remember it in").hint("set HOME or XDG_STATE_HOME")
    })?;
    let to = agents_guard().file(&path)?;
    create_folder_of(&to, Access::Private)?;
    write_file(&to, Access::Private, |out| {
        Ok::<_, CliError>(out.write_all(list.to_json().as_bytes())?)
    })?;
    Ok(())
}

/// A command that trusts this file.
pub(crate) fn trust_hint(path: &Path) -> String {
    format!("read the file, then: backstory trust {}", path.display())
}
