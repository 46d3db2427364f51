//! `backstory capture install`, `uninstall`, `status`

use super::TraceArguments;
use super::settings::{SettingsError, command_of, with_hook, without_hook};
use crate::args::GlobalArguments;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::guard::agents_guard;
use crate::quote::quoted;
use crate::settings::LARGEST_SETTINGS;
use crate::ui;
use backstory_session::discover::{NamedFile, named_file, repository_top};
use backstory_session::render::difference;
use backstory_store::{
    Access, Destination, StoreError, create_folder_of, read_small_text, resolve, write_file,
};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Capture every session of this repository from now on, by a hook in its local settings
#[derive(Debug, Args)]
#[command(
    after_help = "In a repository, the hook is in its .claude/settings.local.json and captures the sessions that began in the repository. With --everywhere, or outside a repository, it is in the user's settings and captures the sessions of all projects."
)]
pub(crate) struct InstallArguments {
    /// Folder for the traces
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,

    #[command(flatten)]
    traces: TraceArguments,

    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Debug, Args)]
pub(crate) struct SettingsArguments {
    /// The settings file to change [default: .claude/settings.local.json of this repository, or
    /// settings.json in the agent's folder]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Whose sessions a hook captures.
#[derive(Debug)]
enum Reach {
    /// Those that begin in this repository.
    Repository(PathBuf),
    Everything,
}

impl Reach {
    fn of(global: &GlobalArguments) -> Reach {
        match repository_top(Path::new(".")) {
            Some(top) if !global.everywhere => Reach::Repository(top),
            _ => Reach::Everything,
        }
    }

    /// The sessions, for people.
    fn words(&self) -> String {
        match self {
            Reach::Repository(top) => {
                format!("every session that begins in {}", ui::short_path(&top.to_string_lossy()))
            }
            Reach::Everything => "every session of every project".to_owned(),
        }
    }

    /// The option that widens a command to it.
    fn option(&self) -> &'static str {
        match self {
            Reach::Repository(_) => "",
            Reach::Everything => " --everywhere",
        }
    }

    /// The agent's settings for it.
    fn settings(&self) -> Option<PathBuf> {
        match self {
            Reach::Repository(top) => Some(top.join(".claude").join("settings.local.json")),
            Reach::Everything => user_settings(),
        }
    }
}

fn user_settings() -> Option<PathBuf> {
    environment::home_of(backstory_claude::AGENT).map(|folder| folder.join("settings.json"))
}

pub(super) fn install(
    arguments: &InstallArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    super::keep_until(&arguments.traces.keep, environment::now())?;
    arguments.traces.classes()?;
    let reach = Reach::of(global);
    let to = arguments.settings.file(&reach, global)?;
    let file = to.place();
    let before = read(file)?;
    let out = resolve(agents_guard().folder(&arguments.out)?.place());
    refuse_all_projects_in_one(&reach, &out, global)?;
    let command = command(arguments, &reach, &out)?;
    if command_of(&before).as_deref() == Some(command.as_str()) {
        ui::say(&format!("already installed: {command}"));
        return Ok(Outcome::Fine);
    }
    // A hook with other options is replaced.
    let without = without_hook(&before).map_err(|error| odd(file, &error))?;
    let after = with_hook(&without, &command).map_err(|error| odd(file, &error))?;
    change(&to, &before, &after, arguments.settings.yes)?;
    tell(arguments, &reach, &out, file);
    Ok(Outcome::Fine)
}

/// Sessions of other projects in a repository would be pushed with it.
fn refuse_all_projects_in_one(
    reach: &Reach,
    out: &Path,
    global: &GlobalArguments,
) -> Result<(), CliError> {
    let (Reach::Everything, Some(top)) = (reach, repository_top(out)) else { return Ok(()) };
    let top = ui::short_path(&top.to_string_lossy());
    if !global.everywhere {
        return Err(CliError::new(format!(
            "`{top}`: a repository, and this hook would write the sessions of every project into it"
        ))
        .hint(format!("cd {top} && backstory capture install …   only its own sessions"))
        .hint("--everywhere installs the hook all the same"));
    }
    ui::warn(&format!("sessions of every project will be written into the repository `{top}`"));
    Ok(())
}

fn command(arguments: &InstallArguments, reach: &Reach, out: &Path) -> Result<String, CliError> {
    let program = environment::this_program()
        .ok_or_else(|| CliError::new("the path of this program is unknown"))?;
    let traces = &arguments.traces;
    let mut words = vec![quoted(program.as_os_str()), "capture".to_owned(), "--hook".to_owned()];
    match reach {
        Reach::Repository(top) => {
            words.extend(["--project".to_owned(), quoted(top.as_os_str())]);
        }
        Reach::Everything => words.push("--everywhere".to_owned()),
    }
    if traces.raw {
        words.push("--raw".to_owned());
    }
    if !traces.redact.is_empty() {
        words.push(format!("--redact={}", quoted(traces.redact.join(",").as_ref())));
    }
    if traces.keep != "forever" {
        words.extend(["--keep".to_owned(), quoted(traces.keep.as_ref())]);
    }
    words.extend(["--out".to_owned(), quoted(out.as_os_str())]);
    Ok(words.join(" "))
}

/// Says what was installed, and how to undo it.
fn tell(arguments: &InstallArguments, reach: &Reach, out: &Path, file: &Path) {
    let name = ui::short_path(&file.to_string_lossy());
    ui::say(&format!("installed in {name}"));
    let how = if arguments.traces.raw { "not redacted" } else { "without secrets" };
    let out = ui::short_path(&out.to_string_lossy());
    ui::say(&format!("captured from now on: {}, into {out}, {how}", reach.words()));
    if arguments.traces.keep != "forever" {
        ui::say(&format!("traces are removed after {}", arguments.traces.keep));
    }
    ui::say(&format!("undo: backstory capture uninstall{}", reach.option()));
    let users = || user_settings().and_then(|file| Some((command_of(&read(&file).ok()?)?, file)));
    if let (Reach::Repository(_), Some((_, file))) = (reach, users()) {
        let file = ui::short_path(&file.to_string_lossy());
        ui::warn(&format!("a hook in {file} captures sessions as well"));
        ui::hint("backstory capture uninstall --everywhere");
    }
}

pub(super) fn uninstall(
    arguments: &SettingsArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let reach = Reach::of(global);
    let to = arguments.file(&reach, global)?;
    let file = to.place();
    let before = read(file)?;
    let after = without_hook(&before).map_err(|error| odd(file, &error))?;
    if before == after {
        let name = ui::short_path(&file.to_string_lossy());
        let error = CliError::not_found(format!("no hook of backstory in {name}"));
        return Err(match reach {
            Reach::Repository(_) => error.hint(
                "backstory capture uninstall --everywhere removes it from the user's settings",
            ),
            Reach::Everything => error,
        });
    }
    change(&to, &before, &after, arguments.yes)?;
    ui::say(&format!("removed from {}", ui::short_path(&file.to_string_lossy())));
    Ok(Outcome::Fine)
}

pub(super) fn status(
    arguments: &SettingsArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let reach = Reach::of(global);
    let first = arguments.file(&reach, global)?.place().to_path_buf();
    let users = user_settings().filter(|_| arguments.settings.is_none());
    let mut places = vec![first];
    places.extend(users.map(|file| resolve(&file)).filter(|file| !places.contains(file)));
    let mut out = ui::stdout();
    let mut outcome = Outcome::Nothing;
    for file in &places {
        let name = ui::short_path(&file.to_string_lossy());
        match command_of(&read(file)?) {
            Some(command) => {
                let command = backstory_text::escape::terminal_line(&command).into_owned();
                writeln!(out, "installed in {name}\n  {command}")?;
                outcome = Outcome::Fine;
            }
            None => writeln!(out, "not installed in {name}")?,
        }
    }
    out.flush()?;
    Ok(outcome)
}

impl SettingsArguments {
    /// The file itself, links resolved: settings are often kept elsewhere and linked.
    fn file(&self, reach: &Reach, global: &GlobalArguments) -> Result<Destination, CliError> {
        let path = self.settings.clone().or_else(|| reach.settings());
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
fn change(to: &Destination, before: &str, after: &str, yes: bool) -> Result<(), CliError> {
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
    Ok(())
}
