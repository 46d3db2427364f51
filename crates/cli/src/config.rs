//! The settings that are in force, and where each comes from.
//!
//! Later files go before earlier ones, and options of a command before all of them. A project's file
//! that is not trusted may set only what cannot do harm: a file that came with a repository must not
//! choose a program to run, folders to read, or what is redacted.

use crate::environment;
use crate::error::CliError;
use crate::settings::{self, Settings, Standing};
use crate::ui;
use backstory_redact::{Class, Classes};
use jiff::tz::TimeZone;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use toml::Value;

/// Keys at the top of a file of settings; the last three are sections of commands.
const KEYS: [&str; 8] =
    ["roots", "timezone", "quiet", "pager", "prices", "redact", "annotate", "teacher"];

/// What an untrusted project may set.
const HARMLESS: [&str; 2] = ["timezone", "quiet"];

/// A setting and the file that made it.
#[derive(Debug, Clone)]
pub(crate) struct Set<T> {
    pub(crate) value: T,
    pub(crate) from: PathBuf,
}

/// What the files of settings say.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// Where sessions are looked for instead of the agents' own places.
    pub(crate) roots: Option<Set<Vec<PathBuf>>>,
    pub(crate) timezone: Option<Set<TimeZone>>,
    pub(crate) quiet: Option<Set<bool>>,
    pub(crate) pager: Option<Set<String>>,
    pub(crate) prices: Option<Set<PathBuf>>,
    /// What is redacted if a command does not say so.
    pub(crate) redact: Option<Set<Classes>>,
    /// Keys of a project's file that are not used, since it is not trusted.
    pub(crate) unused: Vec<Set<String>>,
}

static IN_FORCE: OnceLock<Config> = OnceLock::new();

/// What is in force; the defaults before it was read.
pub(crate) fn in_force() -> &'static Config {
    static DEFAULTS: OnceLock<Config> = OnceLock::new();
    IN_FORCE.get().unwrap_or_else(|| DEFAULTS.get_or_init(Config::default))
}

/// Reads all files of settings and puts them in force.
pub(crate) fn read() -> Result<&'static Config, CliError> {
    let mut config = Config::default();
    for file in settings::own()? {
        config.add(&file)?;
    }
    // What came with a repository must not keep commands from working there.
    match settings::of_project() {
        Ok(file) => file.iter().try_for_each(|file| config.add(file))?,
        Err(error) => ui::warn(&error.message),
    }
    Ok(IN_FORCE.get_or_init(|| config))
}

/// The time zone of days and of times that are typed.
pub(crate) fn zone() -> TimeZone {
    in_force().timezone.as_ref().map_or_else(TimeZone::system, |set| set.value.clone())
}

impl Config {
    fn add(&mut self, file: &Settings) -> Result<(), CliError> {
        let shown = file.path.display();
        let table: toml::Table = match toml::from_str(&file.text) {
            Ok(table) => table,
            Err(error) => {
                let message = format!("`{shown}`: not valid TOML: {}", error.message());
                if file.standing == Standing::Own {
                    return Err(CliError::new(message));
                }
                ui::warn(&message);
                return Ok(());
            }
        };
        for (key, value) in &table {
            if !KEYS.contains(&key.as_str()) {
                self.unknown(file, key)?;
            } else if file.standing == Standing::Unknown && !is_harmless(key, value) {
                if is_own(key, value) {
                    let value = key.clone();
                    self.unused.push(Set { value, from: file.path.clone() });
                }
            } else {
                self.set(key, value, &file.path)?;
            }
        }
        Ok(())
    }

    /// A key that does not exist: an error in the user's own files, and a warning in a project's.
    fn unknown(&mut self, file: &Settings, key: &str) -> Result<(), CliError> {
        let message = format!("`{}`: unknown key `{key}`", file.path.display());
        let nearest = KEYS.iter().min_by_key(|known| distance(known, key));
        let hint = match nearest.filter(|known| distance(known, key) <= 3) {
            Some(known) => format!("write `{known}`"),
            None => format!("the keys are {}", KEYS.join(", ")),
        };
        if file.standing == Standing::Own {
            return Err(CliError::new(message).hint(hint));
        }
        ui::warn(&message);
        ui::hint(&hint);
        Ok(())
    }

    fn set(&mut self, key: &str, value: &Value, from: &Path) -> Result<(), CliError> {
        let wrong = |wanted: &str| {
            CliError::new(format!("`{}`: `{key}` is not {wanted}", from.display()))
                .hint("docs/settings.md shows each key")
        };
        let text = || value.as_str().ok_or_else(|| wrong("a text"));
        let from = from.to_path_buf();
        match key {
            "roots" => {
                let list = value.as_array().ok_or_else(|| wrong("a list of folders"))?;
                let place = |one: &Value| one.as_str().map(|path| full_path(path, &from));
                let all: Option<Vec<PathBuf>> = list.iter().map(place).collect();
                let value = all.ok_or_else(|| wrong("a list of folders"))?;
                self.roots = Some(Set { value, from });
            }
            "timezone" => {
                let value = TimeZone::get(text()?).map_err(|_| wrong("a time zone"))?;
                self.timezone = Some(Set { value, from });
            }
            "quiet" => {
                let value = value.as_bool().ok_or_else(|| wrong("true or false"))?;
                self.quiet = Some(Set { value, from });
            }
            "pager" => self.pager = Some(Set { value: text()?.to_owned(), from }),
            "prices" => {
                self.prices = Some(Set { value: full_path(text()?, &from), from });
            }
            "redact" => {
                let Some(classes) = value.get("classes") else { return Ok(()) };
                let names = classes.as_array().map(|list| list.iter().map(Value::as_str));
                let names: Option<Vec<&str>> = names.and_then(Iterator::collect);
                let classes = names.and_then(|names| Classes::named(names).ok());
                let known = Class::ALL.map(|class| class.name()).join(", ");
                let value = classes.ok_or_else(|| wrong(&format!("with classes of {known}")))?;
                self.redact = Some(Set { value, from });
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether a key is read here, and not by the command whose section it is.
fn is_own(key: &str, value: &Value) -> bool {
    match key {
        "annotate" | "teacher" => false,
        "redact" => value.get("classes").is_some(),
        _ => true,
    }
}

fn is_harmless(key: &str, value: &Value) -> bool {
    HARMLESS.contains(&key) || !is_own(key, value)
}

/// A path as written in a file: `~/` is the home folder, other paths start from the file's folder.
fn full_path(text: &str, file: &Path) -> PathBuf {
    match (text.strip_prefix("~/"), environment::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => file.parent().unwrap_or(Path::new(".")).join(text),
    }
}

/// How many letters differ.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut next = vec![at + 1];
        for (column, known) in other.iter().enumerate() {
            let get = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX - 1);
            let changed = get(&row, column) + usize::from(letter != *known);
            next.push(changed.min(get(&row, column + 1) + 1).min(get(&next, column) + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(config: &mut Config, text: &str, standing: Standing) -> Result<(), CliError> {
        let path = PathBuf::from("/etc/x/config.toml");
        config.add(&Settings { path, text: text.to_owned(), standing })
    }

    #[test]
    fn a_slip_is_an_error_that_names_the_key() {
        let error = add(&mut Config::default(), "timezon = 'UTC'", Standing::Own).unwrap_err();
        assert_eq!(error.message, "`/etc/x/config.toml`: unknown key `timezon`");
        assert_eq!(error.hints, ["write `timezone`"]);
        let error = add(&mut Config::default(), "quiet = 'yes'", Standing::Own).unwrap_err();
        assert_eq!(error.message, "`/etc/x/config.toml`: `quiet` is not true or false");
        assert!(add(&mut Config::default(), "[annotate]\nx = 1", Standing::Own).is_ok());
        assert_eq!((distance("pager", "pager"), distance("pager", "apger")), (0, 2));
    }

    #[test]
    fn an_unknown_project_sets_only_what_is_harmless() {
        let text = "timezone = 'UTC'\npager = 'rm'\nroots = ['/']\n[redact]\nclasses = ['paths']";
        let mut config = Config::default();
        add(&mut config, text, Standing::Unknown).unwrap();
        assert!(config.timezone.is_some() && config.pager.is_none() && config.redact.is_none());
        let unused: Vec<&str> = config.unused.iter().map(|set| set.value.as_str()).collect();
        assert_eq!(unused, ["pager", "redact", "roots"]);
        add(&mut config, text, Standing::Trusted).unwrap();
        assert_eq!(config.roots.unwrap().value, [PathBuf::from("/")]);
        assert!(config.redact.unwrap().value.holds(Class::Paths));
    }
}
