//! Redactors as the command line asks for them.

use crate::config;
use crate::environment;
use crate::error::CliError;
use crate::guard::agents_guard;
use crate::settings::{self, Standing};
use crate::ui;
use backstory_redact::{
    Class, Classes, Config, Exceptions, OwnRules, RedactError, Redactor, Report, own_settings,
};
use backstory_session::clear::CopyError;
use backstory_session::render::View;
use backstory_store::{Access, StoreError, create_folder_of, write_file};
use backstory_text::figures::counted;
use std::io::Write;

/// The classes named; if none is, those of the settings, else `usual`.
pub(crate) fn classes_or(names: &[String], usual: Classes) -> Result<Classes, CliError> {
    if !names.is_empty() {
        return classes(names);
    }
    Ok(config::in_force().redact.as_ref().map_or(usual, |set| set.value))
}

/// The classes named, and secrets.
pub(crate) fn classes(names: &[String]) -> Result<Classes, CliError> {
    let names = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
    Classes::named(names).map_err(|unknown| {
        let known: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
        CliError::new(format!("--redact `{unknown}`: no such class"))
            .hint(format!("the classes are {}", known.join(", ")))
    })
}

/// A redactor with the bundled rules and those of the settings. Says which exceptions are used and
/// which are not.
pub(crate) fn redactor(classes: Classes) -> Result<Redactor, CliError> {
    let home = environment::home();
    let mut own_rules = Vec::new();
    for file in settings::found()? {
        let shown = file.path.display();
        let wrong = |error: RedactError| {
            let hint = match error {
                RedactError::Toml(_) => "the section is [redact], with `allow` and [[redact.rule]]",
                RedactError::Rule(..) => "a rule has id, keywords and regex",
                RedactError::Allow(..) => "each `allow` is a regular expression",
            };
            CliError::new(format!("`{shown}`: {error}")).hint(hint)
        };
        let count = own_settings(&file.text).map_err(wrong)?.allow.len() as u64;
        let exceptions = counted(count, "exception", "exceptions");
        let use_them = match file.standing {
            Standing::Own => Exceptions::Used,
            Standing::Trusted => Exceptions::Used,
            Standing::Unknown => Exceptions::Ignored,
        };
        if count > 0 && use_them == Exceptions::Used {
            ui::say(&format!("`{shown}`: {exceptions} from redaction in use"));
        }
        if count > 0 && use_them == Exceptions::Ignored {
            ui::warn(&format!(
                "`{shown}`: {exceptions} from redaction not used: the file is not trusted"
            ));
            ui::hint(&settings::trust_hint(&file.path));
        }
        let rules = OwnRules { text: file.text.clone(), exceptions: use_them };
        let alone = Config { own_rules: vec![rules.clone()], ..Config::default() };
        Redactor::new(&alone).map_err(wrong)?;
        own_rules.push(rules);
    }
    let config = Config {
        classes,
        salt: salt(),
        home: home.map(|home| home.to_string_lossy().into_owned()),
        user: None,
        own_rules,
    };
    Redactor::new(&config).map_err(|error| CliError::new(error.to_string()))
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
    let keep = || {
        let to = agents_guard().file(&path)?;
        create_folder_of(&to, Access::Private)?;
        write_file(&to, Access::Private, |out| {
            out.write_all(&key).map_err(|cause| StoreError::Io { path: path.clone(), cause })
        })?;
        Ok::<_, CliError>(())
    };
    if let Err(error) = keep() {
        ui::warn(&format!("{}; placeholders will differ from run to run", error.message));
    }
    key
}

/// What was taken out, on one line; none if nothing was.
pub(crate) fn summary(report: &Report) -> Option<String> {
    let rules: Vec<String> =
        report.rules().map(|(_, rule, tally)| format!("{rule} {}", tally.places)).collect();
    (!rules.is_empty()).then(|| rules.join(", "))
}

/// How much of each class was taken out, for the head of a document: `secrets 3, paths 12`.
pub(crate) fn by_class(report: &Report) -> String {
    let counts = Class::ALL.map(|class| (class.name(), report.places(class)));
    let found: Vec<String> = counts
        .iter()
        .filter(|(_, places)| *places > 0)
        .map(|(class, places)| format!("{class} {places}"))
        .collect();
    if found.is_empty() { "nothing".to_owned() } else { found.join(", ") }
}

/// A view whose documents report what was redacted.
pub(crate) fn with_report(view: &View, report: &Report) -> View {
    let mut view = view.clone();
    view.facts.push(("Taken out".to_owned(), by_class(report)));
    view
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
