//! `backstory pairs`

mod report;

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::guard::guard;
use crate::output::{Table, named, needs_file};
use crate::redaction::{classes, redactor};
use crate::select::places;
use backstory_export::normalise::Level;
use backstory_replay::pairs::{
    Bounds, Dedup, Figures, PairFormat, PairOptions, PairsError, columns, make, states_path,
};
use backstory_store::{Access, Destination, write_file};
use backstory_table::Field;
use clap::{Args, ValueEnum};
use report::{say, write_stats};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Preference data from the journal of a replay
///
/// Where teachers agree on something else than the student did, a pair; where they agree with the student,
/// a row for supervised training; every other state has a counted reason. Rows in which a secret is found
/// are left out.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory pairs run.jsonl --out dpo.jsonl\n  backstory pairs run.jsonl --format trl --out dpo.parquet --stats pairs.json\n  backstory pairs run.jsonl --format sft --level exact --min-agree 3 > sft.jsonl"
)]
pub(crate) struct PairsArguments {
    /// The journal; its states are in the file next to it
    journal: PathBuf,

    /// Whose rows
    #[arg(long, value_name = "FORMAT", default_value = "native")]
    format: FormatArgument,

    /// What counts as the same action: exact, fuzzy (or fuzzy:0.7), name+target, name
    #[arg(long, value_name = "LEVEL", default_value = "name+target", value_parser = parse_level)]
    level: Level,

    /// So many teachers must agree; a majority of those that answered, and two, if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    min_agree: Option<u16>,

    /// Teachers to prefer when groups of equal size disagree, the first one most
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    priority: Vec<String>,

    /// Which rows are the same as earlier ones and left out
    #[arg(long, value_name = "HOW", default_value = "near")]
    dedup: DedupArgument,

    /// Leave out rows with shorter actions
    #[arg(long, value_name = "CHARACTERS", default_value_t = 1)]
    min_action_chars: usize,

    /// Leave out rows with longer actions
    #[arg(long, value_name = "CHARACTERS")]
    max_action_chars: Option<usize>,

    /// Leave out rows with longer histories
    #[arg(long, value_name = "CHARACTERS")]
    max_prompt_chars: Option<usize>,

    /// What may be in no row besides secrets: paths, people
    #[arg(long, value_name = "CLASSES", value_delimiter = ',')]
    redact: Vec<String>,

    /// The states, if they are not next to the journal
    #[arg(long, value_name = "FILE")]
    states: Option<PathBuf>,

    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Write Parquet instead of JSON lines; a file called *.parquet is always Parquet
    #[arg(long, requires = "out")]
    parquet: bool,

    /// Write agreement and the fate of every state to this file, as JSON
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArgument {
    /// The pair with everything that is known of it
    Native,
    /// TRL, preferences
    Trl,
    /// LLaMA-Factory, ranking
    Llamafactory,
    /// Axolotl, DPO with chat_template.default: calls are words
    Axolotl,
    /// OpenAI, preference fine-tuning
    Openai,
    /// TRL, answers with labels
    Kto,
    /// TRL, answers of the student that teachers agree with
    Sft,
}

impl FormatArgument {
    fn format(self) -> PairFormat {
        match self {
            FormatArgument::Native => PairFormat::Native,
            FormatArgument::Trl => PairFormat::Trl,
            FormatArgument::Llamafactory => PairFormat::LlamaFactory,
            FormatArgument::Axolotl => PairFormat::Axolotl,
            FormatArgument::Openai => PairFormat::OpenAi,
            FormatArgument::Kto => PairFormat::Kto,
            FormatArgument::Sft => PairFormat::Sft,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DedupArgument {
    /// Equal ones, and those whose new part hardly differs
    Near,
    /// Equal ones
    Exact,
    /// None
    Off,
}

fn parse_level(text: &str) -> Result<Level, String> {
    Level::parse(text).ok_or_else(|| {
        "levels are exact, fuzzy, name+target and name; fuzzy:0.7 is a share of common words"
            .to_owned()
    })
}

pub(crate) fn run(
    arguments: &PairsArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let redactor = redactor(classes(&arguments.redact)?)?;
    let states = match &arguments.states {
        Some(states) => states.clone(),
        None => {
            states_path(&arguments.journal).map_err(|error| failed(error, &arguments.journal))?
        }
    };
    let roots = places(global);
    let out = named(arguments.out.as_deref());
    if out.is_none() && arguments.parquet {
        return Err(needs_file());
    }
    let mut guard = guard(global, &roots, &[]);
    guard.reads(&arguments.journal);
    guard.reads(&states);
    let out = out.map(|out| guard.file(out)).transpose()?;
    let stats = arguments.stats.as_deref().map(|stats| guard.file(stats)).transpose()?;
    let options = PairOptions {
        format: arguments.format.format(),
        level: arguments.level,
        min_agree: arguments.min_agree.map(usize::from),
        priority: arguments.priority.clone(),
        bounds: Bounds {
            min_action: arguments.min_action_chars,
            max_action: arguments.max_action_chars,
            max_prompt: arguments.max_prompt_chars,
        },
        dedup: match arguments.dedup {
            DedupArgument::Near => Dedup::Near,
            DedupArgument::Exact => Dedup::Exact,
            DedupArgument::Off => Dedup::Off,
        },
        redactor: &redactor,
    };
    let figures = write(arguments, out.as_ref(), &states, &options)?;
    if let Some(stats) = &stats {
        write_stats(stats, &figures, &options)?;
    }
    if !global.quiet {
        say(&figures, &options);
    }
    Ok(match figures {
        Figures { unreadable_lines: 1.., .. } => Outcome::Incomplete,
        Figures { rows: 0, .. } => Outcome::Nothing,
        _ => Outcome::Fine,
    })
}

fn write(
    arguments: &PairsArguments,
    out: Option<&Destination>,
    states: &Path,
    options: &PairOptions<'_>,
) -> Result<Figures, CliError> {
    let journal = &arguments.journal;
    let explained = |error| failed(error, journal);
    let Some(out) = out else {
        // Rows are plain ASCII, so that nothing in them can reach a terminal.
        let mut out = std::io::BufWriter::with_capacity(256 << 10, std::io::stdout().lock());
        let figures = make(journal, states, options, &mut out).map_err(explained)?;
        out.flush()?;
        return Ok(figures);
    };
    let table = arguments.parquet || out.shown().extension().is_some_and(|end| end == "parquet");
    let mut done = None;
    write_file::<CliError>(out, Access::Private, |file| {
        done = Some(if !table {
            make(journal, states, options, file).map_err(explained)?
        } else {
            let mut table = Table::new(file, &table_columns(options.format)?)?;
            let made = make(journal, states, options, &mut table);
            let figures = table.with_failure(made.map_err(explained))?;
            table.finish()?;
            figures
        });
        Ok(())
    })?;
    done.ok_or_else(|| CliError::new("nothing was written"))
}

fn table_columns(format: PairFormat) -> Result<Vec<Field>, CliError> {
    columns(format).ok_or_else(|| {
        CliError::new("Parquet: this format is written as JSON only")
            .hint("OpenAI takes JSON lines: leave --parquet out")
    })
}

fn failed(error: PairsError, journal: &Path) -> CliError {
    let what = "a journal is what `backstory replay --send` writes";
    match error {
        PairsError::Write(error) => error.into(),
        PairsError::NoTeacher(_) => CliError::new(format!("--priority {error}"))
            .hint("--stats FILE lists the teachers of a journal"),
        PairsError::Read { ref path, .. } if path != journal => {
            CliError::new(error.to_string()).hint("name the states with --states FILE")
        }
        error => CliError::new(error.to_string()).hint(what),
    }
}
