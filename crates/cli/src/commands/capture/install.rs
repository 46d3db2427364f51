//! `backstory capture install`, `uninstall`, `status`

use super::settings::{SettingsError, command_of, with_hook, without_hook};
use crate::args::GlobalArguments;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::guard::agents_guard;
use crate::settings::LARGEST_SETTINGS;
use crate::ui;
use backstory_session::discover::{NamedFile, named_file};
use backstory_session::render::difference;
use backstory_store::{
    Access, Destination, StoreError, create_folder_of, read_small_text, resolve, write_file,
};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Capture every session from now on, by a hook in the agent's settings
#[derive(Debug, Args)]
pub(crate) struct InstallArguments {
    /// Folder for the traces
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,

    /// Remove captured traces after this long (30d, 12w), or `forever`
    #[arg(long, value_name = "AGE", default_value = "30d")]
    keep: String,

    /// Take secrets out of the traces, and what else is named: paths, people
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', num_args = 0..=1, default_missing_value = "secrets", require_equals = true)]
    redact: Vec<String>,

    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Debug, Args)]
pub(crate) struct SettingsArguments {
    /// The settings file to change (default: settings.json in the agent's folder)
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn install(
    arguments: &InstallArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    super::keep_until(&arguments.keep, environment::now())?;
    crate::redaction::classes(&arguments.redact)?;
    let to = arguments.settings.file(global)?;
    let file = to.place();
    let before = read(file)?;
    if let Some(command) = command_of(&before) {
        ui::say(&format!("already there: {command}"));
        return Ok(Outcome::Fine);
    }
    let program = environment::this_program()
        .ok_or_else(|| CliError::new("the path of this program is unknown"))?;
    let out = resolve(agents_guard().folder(&arguments.out)?.place());
    let redact = if arguments.redact.is_empty() {
        String::new()
    } else {
        format!("--redact={} ", crate::quote::quoted(arguments.redact.join(",").as_ref()))
    };
    let command = format!(
        "{} capture --hook {redact}--keep {} --out {}",
        crate::quote::quoted(program.as_os_str()),
        crate::quote::quoted(arguments.keep.as_ref()),
        crate::quote::quoted(out.as_os_str())
    );
    let after = with_hook(&before, &command).map_err(|error| odd(file, &error))?;
    change(&to, &before, &after, arguments.settings.yes)
}

pub(super) fn uninstall(
    arguments: &SettingsArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let to = arguments.file(global)?;
    let file = to.place();
    let before = read(file)?;
    let after = without_hook(&before).map_err(|error| odd(file, &error))?;
    if before == after {
        ui::say(&format!("no hook of backstory in {}", file.display()));
        return Ok(Outcome::Nothing);
    }
    change(&to, &before, &after, arguments.yes)
}

pub(super) fn status(
    arguments: &SettingsArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let to = arguments.file(global)?;
    let file = to.place();
    let mut out = ui::stdout();
    let name = ui::short_path(&file.to_string_lossy());
    let outcome = match command_of(&read(file)?) {
        Some(command) => {
            let command = backstory_text::escape::terminal_line(&command).into_owned();
            writeln!(out, "installed in {name}\n  {command}")?;
            Outcome::Fine
        }
        None => {
            writeln!(out, "not installed in {name}")?;
            Outcome::Nothing
        }
    };
    out.flush()?;
    Ok(outcome)
}

impl SettingsArguments {
    /// The file itself, links resolved: settings are often kept elsewhere and linked.
    fn file(&self, global: &GlobalArguments) -> Result<Destination, CliError> {
        let named = self.settings.clone();
        let usual = || environment::home_of(backstory_claude::AGENT);
        let path = named.or_else(|| usual().map(|folder| folder.join("settings.json")));
        let path = path.ok_or_else(|| {
            CliError::new("no settings file").hint("name one with --settings FILE")
        })?;
        let is_session =
            |path: &Path| matches!(named_file(path, &global.store), Ok(NamedFile::Session));
        Ok(agents_guard().settings(&path, is_session)?)
    }
}

fn read(file: &Path) -> Result<String, CliError> {
    match read_small_text(file, LARGEST_SETTINGS) {
        Ok(text) => Ok(text),
        Err(StoreError::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
            Ok(String::new())
        }
        Err(error) => Err(error.into()),
    }
}

fn odd(file: &Path, error: &SettingsError) -> CliError {
    let cause = match error {
        SettingsError::NotJson => "not valid JSON".to_owned(),
        SettingsError::Shape(what) => format!("{what} has an unexpected form"),
    };
    CliError::new(format!("`{}`: {cause}, so nothing was changed", file.display()))
        .hint("correct the file first, or add the hook by hand")
}

/// Shows the change, asks, and makes it.
fn change(to: &Destination, before: &str, after: &str, yes: bool) -> Result<Outcome, CliError> {
    let file = to.place();
    let mut out = ui::stdout();
    writeln!(out, "{}", ui::short_path(&file.to_string_lossy()))?;
    for line in difference(before, after).iter().flat_map(|hunk| hunk.lines.lines()) {
        let line = backstory_text::escape::lines(line);
        writeln!(out, "  {line}")?;
    }
    out.flush()?;
    if !yes && !ui::confirm("Change the file?") {
        return Err(CliError::new("nothing was changed").hint("answer yes, or give --yes"));
    }
    if read(file)? != before {
        return Err(
            CliError::new(format!("`{}`: changed meanwhile", file.display())).hint("try again")
        );
    }
    create_folder_of(to, Access::Private)?;
    write_file::<StoreError>(to, Access::AsBefore, |out| {
        out.write_all(after.as_bytes())
            .map_err(|cause| StoreError::Io { path: file.to_path_buf(), cause })
    })?;
    Ok(Outcome::Fine)
}
