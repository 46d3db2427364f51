//! Redactors as the command line asks for them.

use crate::environment;
use crate::error::CliError;
use crate::ui;
use backstory_session::redact::{Class, Classes, Config, CopyError, RedactError, Redactor, Report};
use backstory_session::store::{Access, StoreError, create_folder, write_file};
use std::io::Write;
use std::path::PathBuf;

/// The classes named, and secrets.
pub(crate) fn classes(names: &[String]) -> Result<Classes, CliError> {
    let names = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
    Classes::named(names).map_err(|unknown| {
        let known: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
        CliError::new(format!("--redact `{unknown}`: no such class"))
            .hint(format!("the classes are {}", known.join(", ")))
    })
}

/// The nearest `.backstory.toml` and what it says.
pub(crate) fn own_settings() -> Result<Option<(PathBuf, String)>, CliError> {
    let here = std::path::absolute(".")?;
    let mut places = here.ancestors().map(|folder| folder.join(".backstory.toml"));
    let Some(path) = places.find(|path| path.is_file()) else { return Ok(None) };
    let text = std::fs::read_to_string(&path)
        .map_err(|cause| CliError::new(format!("`{}`: {cause}", path.display())))?;
    Ok(Some((path, text)))
}

/// A redactor with the bundled rules and those of the nearest `.backstory.toml`.
pub(crate) fn redactor(classes: Classes) -> Result<Redactor, CliError> {
    let home = environment::home();
    let (file, own_rules) = own_settings()?.unzip();
    let config = Config {
        classes,
        salt: salt(),
        home: home.map(|home| home.to_string_lossy().into_owned()),
        user: None,
        own_rules,
    };
    Redactor::new(&config).map_err(|error| {
        let place = file.map(|path| format!("`{}`: ", path.display())).unwrap_or_default();
        let hint = match error {
            RedactError::Toml(_) => "the section is [redact], with `allow` and [[redact.rule]]",
            RedactError::Rule(..) => "a rule has id, keywords and regex",
            RedactError::Allow(..) => "each `allow` is a regular expression",
        };
        CliError::new(format!("{place}{error}")).hint(hint)
    })
}

/// A key of this machine, made at first use: with it the same session gives the same placeholders
/// each time, and without it nobody can try guesses on them.
fn salt() -> Vec<u8> {
    let fresh =
        || [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()].map(uuid::Uuid::into_bytes).concat();
    let Some(path) = environment::state_folder().map(|folder| folder.join("redaction-key")) else {
        return fresh();
    };
    if let Ok(kept) = std::fs::read(&path)
        && kept.len() >= 16
    {
        return kept;
    }
    let key = fresh();
    let kept = path.parent().map_or(Ok(()), create_folder).and_then(|()| {
        write_file(&path, Access::Private, |out| {
            out.write_all(&key).map_err(|cause| StoreError::Io { path: path.clone(), cause })
        })
        .map(drop)
    });
    if let Err(error) = kept {
        ui::warn(&format!("{error}; placeholders will differ from run to run"));
    }
    key
}

/// What was taken out, on one line; none if nothing was.
pub(crate) fn summary(report: &Report) -> Option<String> {
    let rules: Vec<String> =
        report.rules().map(|(_, rule, tally)| format!("{rule} {}", tally.places)).collect();
    (!rules.is_empty()).then(|| rules.join(", "))
}

impl From<CopyError> for CliError {
    fn from(error: CopyError) -> CliError {
        let nothing = "nothing was written";
        match error {
            CopyError::Write(error) => error.into(),
            error => CliError::new(error.to_string()).hint(nothing),
        }
    }
}
