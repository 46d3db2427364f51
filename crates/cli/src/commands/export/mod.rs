//! `backstory export`

mod report;
mod sft;
pub(crate) mod states;
mod target;

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::guard::guard;
use crate::input_sessions::InputSessions;
use crate::output::{Table, named, needs_file};
use crate::prices;
use crate::redaction::{classes_or, redactor};
use crate::ui;
use backstory_export::{
    Document, Export, Format, KnownRepositories, OnUnknown, Options, Put, Repositories, Secrets,
    Stopped, Totals, columns,
};
use backstory_model::Notice;
use backstory_redact::{Classes, Raw};
use backstory_session::select::{SessionRef, distinct_names};
use backstory_store::{Access, Destination, Entry, OutputFolder, write_file};
use backstory_table::Field;
use clap::{ArgMatches, Args};
use report::{say, warn_of_versions, write_stats};
use sft::SftArguments;
use states::StateArguments;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use target::Target;

/// Sessions in formats that others read, with secrets taken out
///
/// The same sessions with the same options give the same bytes. Secrets, home folders, user names,
/// addresses and host names are replaced by placeholders; `--redact` chooses, and only `--raw` leaves
/// everything as it is.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory export latest --to opentraces --out trace.jsonl\n  backstory export ~/src/app --to atif --out trajectories/     one file per session\n  backstory export --to opentraces --schema 0.3.0 > all.jsonl\n  backstory export latest --to agent-trace\n  backstory export --to trace-state --compact --out states.jsonl --stats states.json\n  backstory export --to sft --format trl --out rows.parquet"
)]
pub(crate) struct ExportArguments {
    /// Ids or starts of ids, session files, folders that hold them, project folders, `latest`;
    /// all sessions if none is given
    sessions: Vec<String>,

    /// The format
    #[arg(long, value_name = "FORMAT")]
    to: Target,

    /// Version of the format: opentraces 0.9.0 or 0.3.0, atif 1.7 or 1.8, agent-trace 0.1.0
    #[arg(long, value_name = "VERSION")]
    schema: Option<String>,

    /// Write to this file, one line per session, or into this folder, one file per session
    #[arg(long, short, value_name = "FILE|DIR")]
    out: Option<PathBuf>,

    /// What to take out besides secrets: paths, people, or `secrets` for nothing else
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', conflicts_with = "raw")]
    redact: Vec<String>,

    /// Take nothing out, secrets included
    #[arg(long)]
    raw: bool,

    /// Number of this snapshot of the sessions; part of their trace ids
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true)]
    generation: u64,

    /// Keep at most N characters of each tool result
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_observation: Option<usize>,

    /// Do not search the repositories of the sessions for their commits
    #[arg(long, hide_short_help = true)]
    no_git: bool,

    /// Take prices from this file (TOML, in the form of the bundled table)
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    prices: Option<PathBuf>,

    #[command(flatten)]
    states: StateArguments,

    #[command(flatten)]
    sft: SftArguments,

    /// Write Parquet instead of JSON lines; a file called *.parquet is always Parquet
    #[arg(long, requires = "out")]
    parquet: bool,

    /// Write counts of what was exported, left out and redacted to this file, as JSON
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,

    #[command(flatten)]
    filters: FilterArguments,
}

pub(crate) fn run(
    arguments: &ExportArguments,
    given: &ArgMatches,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    arguments.to.check(given.subcommand_matches("export").unwrap_or(given))?;
    let prices = prices::read(arguments.prices.as_deref())?;
    let input = arguments.states.input()?;
    let choice = arguments.filters.choice(global)?;
    let inputs = InputSessions::named(&arguments.sessions, &choice, global)?;
    let count_records = arguments.stats.is_some();
    let states = arguments.states.options(&input, count_records);
    let known = KnownRepositories::new(&inputs.store);
    let options = Options {
        format: arguments.to.format(arguments.schema.as_deref(), || match arguments.to {
            Target::Sft => Ok(Format::Sft(arguments.sft.options(states)?)),
            _ => Ok(Format::TraceState(states)),
        })?,
        generation: arguments.generation,
        max_observation: arguments.max_observation,
        repositories: if arguments.no_git {
            Repositories::Leave
        } else {
            Repositories::Ask(&known)
        },
        prices: &prices,
    };
    if inputs.is_empty() {
        return Err(inputs.nothing());
    }
    let chosen = inputs.chosen();
    let mut guard = guard(global, &inputs.roots, &chosen);
    arguments.files_read().for_each(|file| guard.reads(file));
    let out = named(arguments.out.as_deref()).map(|out| guard.file_or_folder(out)).transpose()?;
    let stats = arguments.stats.as_deref().map(|stats| guard.file(stats)).transpose()?;
    let redactor = if arguments.raw {
        None
    } else {
        Some(redactor(classes_or(&arguments.redact, Classes::ALL)?)?)
    };
    let secrets = match &redactor {
        Some(redactor) => Secrets::TakenOut(redactor),
        None => {
            ui::warn("--raw: nothing is taken out; passwords and keys in the sessions stay in it");
            Secrets::Kept(Raw::requested_by_user())
        }
    };
    refuse_ending(arguments.out.as_deref())?;
    let table = arguments.table(out.as_ref().map(Destination::shown), &options.format)?;
    let on_unknown = arguments.states.on_unknown();
    let store = &inputs.store;
    let export = Export { sessions: &chosen, options, secrets, store, on_unknown };
    let job = Job { export, table };
    let (totals, mut notices) = match &out {
        None => job.to_stdout()?,
        Some(out) if !out.is_folder() => job.write_file(out)?,
        Some(out) if job.table.is_some() => job.write_folder(out, "parquet")?,
        Some(out) => job.write_folder(out, arguments.to.extension())?,
    };
    if let Some(stats) = &stats {
        write_stats(stats, &totals, arguments.states.tokenizer(), notices.len())?;
    }
    notices.splice(0..0, inputs.notices.iter().cloned());
    if !global.quiet {
        ui::notices(&notices);
        if on_unknown == OnUnknown::Warn {
            warn_of_versions(&totals);
        }
        say(&totals);
    }
    let outcome = if totals.sessions == 0 { Outcome::Nothing } else { Outcome::Fine };
    Ok(outcome.given(&notices))
}

/// A file that is named as something else would not open as that.
fn refuse_ending(out: Option<&Path>) -> Result<(), CliError> {
    let ending = out.and_then(Path::extension).and_then(|end| end.to_str()).unwrap_or_default();
    if !["csv", "tsv", "pdf", "xlsx"].contains(&ending.to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    Err(CliError::new(format!("--out: exports are JSON lines or Parquet, not {ending}"))
        .hint("name a file *.jsonl, *.json or *.parquet"))
}

impl ExportArguments {
    /// Files that are read besides sessions.
    fn files_read(&self) -> impl Iterator<Item = &Path> {
        self.prices.as_deref().into_iter().chain(self.states.file_read())
    }

    /// The columns of the table, if it is to be one.
    fn table(
        &self,
        out: Option<&Path>,
        format: &Format<'_>,
    ) -> Result<Option<Vec<Field>>, CliError> {
        let ending = out.and_then(|out| out.extension());
        if !self.parquet && ending.is_none_or(|end| end != "parquet") {
            return Ok(None);
        }
        if out.is_none() {
            return Err(needs_file());
        }
        columns(format).map(Some).ok_or_else(|| {
            CliError::new("Parquet: this format is written as JSON only")
                .hint("use --to sft, or --to trace-state without --compact")
        })
    }
}

/// An export with its form.
struct Job<'a> {
    export: Export<'a>,
    /// Columns, for a table.
    table: Option<Vec<Field>>,
}

impl Job<'_> {
    /// Hands every document to `put` in the order of the sessions.
    fn each(
        &self,
        put: impl FnMut(SessionRef<'_>, &mut Document) -> Result<Put, CliError> + Send,
    ) -> Result<(Totals, Vec<Notice>), CliError> {
        self.export.each(&ui::Bar::new("exporting"), put).map_err(stopped)
    }

    fn to_stdout(&self) -> Result<(Totals, Vec<Notice>), CliError> {
        // Output is plain ASCII, so that nothing in it can reach a terminal.
        let out = Mutex::new(std::io::BufWriter::with_capacity(256 << 10, std::io::stdout()));
        let done = self.each(|_, document| {
            let mut out = out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            document.copy_to(&mut *out)?;
            Ok(Put::Written)
        })?;
        out.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).flush()?;
        Ok(done)
    }

    fn write_file(&self, out: &Destination) -> Result<(Totals, Vec<Notice>), CliError> {
        let mut done = None;
        write_file::<CliError>(out, Access::Private, |file| {
            done = Some(match &self.table {
                None => self.each(|_, document| {
                    document.copy_to(file)?;
                    Ok(Put::Written)
                })?,
                Some(columns) => {
                    let mut table = Table::new(file, columns)?;
                    let done = self.each(|_, document| {
                        table.put(document)?;
                        Ok(Put::Written)
                    })?;
                    table.finish()?;
                    done
                }
            });
            Ok(())
        })?;
        done.ok_or_else(|| CliError::new("nothing was written"))
    }

    fn write_folder(
        &self,
        out: &Destination,
        extension: &str,
    ) -> Result<(Totals, Vec<Notice>), CliError> {
        let mut folder: OutputFolder<()> = OutputFolder::open(out, Access::Private)?;
        // One file may hold several sessions.
        let names: HashMap<(&Path, &str), String> = self
            .export
            .sessions
            .iter()
            .zip(distinct_names(self.export.sessions))
            .map(|(chosen, name)| ((chosen.path(), chosen.id()), format!("{name}.{extension}")))
            .collect();
        let refused = folder.claim(names.values().map(String::as_str))?;
        let mut written = HashMap::new();
        let new: Vec<String> = names
            .values()
            .filter(|name| folder.files().get(*name).is_some_and(|entry| entry.bytes == 0))
            .cloned()
            .collect();
        let done = self.each(|chosen, document| {
            let name = names.get(&(chosen.path(), chosen.id()));
            let Some(name) = name.filter(|name| folder.files().contains_key(*name)) else {
                return Ok(Put::Refused);
            };
            let bytes = folder.write::<CliError>(name, |file| match &self.table {
                None => Ok(document.copy_to(file)?),
                Some(columns) => {
                    let mut table = Table::new(file, columns)?;
                    table.put(document)?;
                    table.finish()
                }
            })?;
            written.insert(name.clone(), bytes);
            Ok(Put::Written)
        });
        // Claimed, but there was nothing to write, or not all could be written.
        for name in new.iter().filter(|name| done.is_err() || !written.contains_key(*name)) {
            folder.remove(name)?;
        }
        let (totals, mut notices) = match done {
            Ok(done) => done,
            Err(failure) => {
                folder.save()?;
                return Err(failure);
            }
        };
        for (name, bytes) in written {
            folder.record(&name, Entry { key: String::new(), bytes, about: None });
        }
        folder.save()?;
        notices.extend(refused.iter().map(|error| Notice::failed(out.shown(), error.to_string())));
        Ok((totals, notices))
    }
}

/// The error of an export that ended early.
pub(crate) fn stopped(stopped: Stopped<CliError>) -> CliError {
    match stopped {
        Stopped::Put(error) => error,
        Stopped::OutsideVersions { path, versions } => {
            let (path, versions) = (path.display(), versions.join(", "));
            CliError::new(format!("`{path}`: versions outside the range: {versions}"))
                .hint("widen --versions, or say --on-unknown warn, skip or ignore")
        }
    }
}
