//! `backstory spec`

mod output;

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::input_sessions::InputSessions;
use crate::ui;
use backstory_agents as agents;
use backstory_claude::analyze::report;
use backstory_claude::analyze::report::AnalysisJson;
use backstory_claude::analyze::{
    Analysis, Difference, Grouping, Others, Profile, Version, version_range,
};
use backstory_claude::clone;
use backstory_model::Notice;
use backstory_session::select::{SessionRef, fold_sessions};
use backstory_store::read_small_text;
use backstory_text::document::Document;
use clap::{Args, ValueEnum};
use output::Outputs;
use std::path::{Path, PathBuf};

/// Compute the specification of Claude Code's session format from sessions
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory spec --format html --out format.html\n  backstory spec --drift                    exit 1 if sessions contain something new\n  backstory spec --compare ..2.0.76 2.1.0.. what changed between versions"
)]
pub(crate) struct SpecArguments {
    /// Sessions (ids, `latest`), session files, or folders that hold them; everything by default
    targets: Vec<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "md")]
    format: Format,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Write to FILE instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,

    /// Split every table
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,

    /// Print only differences between two sets: folders, version ranges (2.1.0..2.1.50) or profiles
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["drift", "by", "history"])]
    compare: Option<Vec<String>>,

    /// Report what the known profile does not have; exit 1 if there is anything
    #[arg(long, conflicts_with_all = ["by", "history"])]
    drift: bool,

    /// Print what each version of the known profile added, changed and dropped
    #[arg(long, conflicts_with = "by")]
    history: bool,

    /// Compare with this profile instead of the one that comes with the program
    #[arg(long, value_name = "FILE")]
    pub(super) profile: Option<PathBuf>,

    /// Also save what was found as a profile (names and counts only)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["compare", "history"])]
    pub(super) save_profile: Option<PathBuf>,

    /// Start the saved profile from this one; versions found now replace its own
    #[arg(long, value_name = "FILE", requires = "save_profile")]
    base: Option<PathBuf>,

    #[command(flatten)]
    filters: FilterArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Md,
    Html,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Version,
    Project,
    Agent,
}

impl SpecArguments {
    pub(super) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

pub(crate) fn run(
    arguments: &SpecArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let mut outputs = Outputs::new(arguments, global)?;
    if arguments.history {
        let profile = match &arguments.profile {
            Some(path) => read_profile(path)?,
            None => Profile::measured().map_err(|error| CliError::new(error.to_string()))?,
        };
        outputs.history(&report::history(&profile))?;
        return Ok(Outcome::Fine);
    }
    if let Some([first, second]) = arguments.compare.as_deref() {
        return compare(arguments, global, &mut outputs, first, second);
    }
    let grouping = match arguments.by {
        None => Grouping::None,
        Some(By::Version) => Grouping::Version,
        Some(By::Project) => Grouping::Project,
        Some(By::Agent) => Grouping::Agent,
    };
    let whose = if arguments.drift || arguments.save_profile.is_some() {
        Whose::ClaudeCode
    } else {
        Whose::Every
    };
    let Counted { analysis, others, notices } =
        analyze((&arguments.targets, &arguments.filters), grouping, whose, global, &mut outputs)?;
    if arguments.save_profile.is_some() {
        let mut profile = match &arguments.base {
            Some(base) => read_profile(base)?,
            None => Profile::default(),
        };
        profile.update(&Profile::of(&analysis));
        let text = profile.to_json().map_err(|error| CliError::new(error.to_string()))?;
        outputs.save_profile(text.as_bytes())?;
    }
    if arguments.drift {
        return Ok(drift(arguments, &outputs, &analysis)?.given(&notices));
    }
    match arguments.format() {
        Format::Json => {
            outputs.lines(std::iter::once(AnalysisJson::new(&analysis, others)))?;
        }
        Format::Md | Format::Html => {
            let title = "Sessions, counted".to_owned();
            let mut document = if analysis.files.is_empty() {
                Document { title, ..Document::default() }
            } else {
                report::document(&analysis)
            };
            if !others.is_empty() {
                others.write(&mut document);
            }
            outputs.document(&document)?;
        }
    }
    Ok(Outcome::Fine.given(&notices))
}

/// What was counted, and what could not be.
struct Counted {
    analysis: Analysis,
    others: Others,
    notices: Vec<Notice>,
}

/// Whose sessions a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Only Claude Code's have a profile.
    ClaudeCode,
    Every,
}

/// Reads everything that was named and counts it. Files are numbered in the order of their names,
/// so that the result is the same every time.
fn analyze(
    (targets, filters): (&[String], &FilterArguments),
    grouping: Grouping,
    whose: Whose,
    global: &GlobalArguments,
    outputs: &mut Outputs<'_>,
) -> Result<Counted, CliError> {
    // A format is the same in all projects.
    let choice = filters.choice(global)?.only([backstory_claude::AGENT]);
    let choice = if targets.is_empty() { choice.everywhere() } else { choice };
    let mut inputs = InputSessions::named(targets, &choice, global)?;
    let foreign = match whose {
        Whose::Every => inputs.take_others(backstory_claude::AGENT),
        Whose::ClaudeCode => {
            inputs.keep_only(backstory_claude::AGENT, global)?;
            Vec::new()
        }
    };
    if inputs.is_empty() && foreign.is_empty() {
        return Err(inputs.nothing());
    }
    let chosen = inputs.chosen();
    let foreign: Vec<SessionRef<'_>> = foreign.iter().map(SessionRef::Session).collect();
    outputs.refuse(&[&*chosen, &*foreign].concat(), &inputs.store)?;
    let mut numbers = Vec::with_capacity(chosen.len());
    let mut next = 0;
    for chosen in &chosen {
        numbers.push(next);
        next += match chosen {
            SessionRef::Session(files) => 1 + files.agents.len() as u32,
            SessionRef::Agent(_) => 1,
        };
    }
    let (mut analysis, failures) = fold_sessions(
        &chosen,
        &inputs.store,
        &ui::Bar::new("analysing"),
        || Analysis::new(grouping),
        |analysis, at, chosen, context| {
            let number = numbers.get(at).copied().unwrap_or(next);
            match chosen {
                SessionRef::Session(files) => {
                    let (session, examined, failures) = backstory_claude::examine(files, context)?;
                    analysis.add(number, &session, examined);
                    Ok(failures)
                }
                SessionRef::Agent(file) => {
                    let (session, examined) = backstory_claude::examine_stray(file, context)?;
                    analysis.add_stray(number, &session, examined);
                    Ok(Vec::new())
                }
            }
        },
        Analysis::merge,
    );
    analysis.sort_lists();
    let (others, more) = fold_sessions(
        &foreign,
        &inputs.store,
        &ui::Bar::new("counting"),
        Others::default,
        |others, _, chosen, context| {
            let SessionRef::Session(files) = chosen else { return Ok(Vec::new()) };
            let (session, failures) = agents::read(files, context)?;
            others.add(&session, session.agent.unread());
            Ok(failures)
        },
        Others::merge,
    );
    let notices = [inputs.notices, failures, more].concat();
    if !global.quiet {
        ui::notices(&notices);
    }
    Ok(Counted { analysis, others, notices })
}

fn drift(
    arguments: &SpecArguments,
    outputs: &Outputs<'_>,
    analysis: &Analysis,
) -> Result<Outcome, CliError> {
    let known = known(arguments)?;
    let mut found = known.drift(&Profile::of(analysis));
    // Our own record in a clone is not the client's.
    found.retain(|difference| difference.of != clone::Lineage::KIND);
    analysis.locate(&mut found);
    outputs.differences("Not in the known profile", &found, |difference| {
        location(analysis, difference)
    })?;
    Ok(if found.is_empty() { Outcome::Fine } else { Outcome::Findings })
}

fn compare(
    arguments: &SpecArguments,
    global: &GlobalArguments,
    outputs: &mut Outputs<'_>,
    first: &str,
    second: &str,
) -> Result<Outcome, CliError> {
    let ranges = (version_range(first), version_range(second));
    let mut notices = Vec::new();
    let (one, two) = if let (Some(one), Some(two)) = ranges {
        let all = match &arguments.profile {
            Some(path) => read_profile(path)?,
            None => {
                let named = (&*arguments.targets, &arguments.filters);
                profile_of(named, global, outputs, &mut notices)?
            }
        };
        let within = |range: (Version, Version)| {
            all.only(|version| version.is_known() && *version >= range.0 && *version <= range.1)
        };
        (within(one), within(two))
    } else {
        let filters = &arguments.filters;
        let one = one_side(first, filters, global, outputs, &mut notices)?;
        (one, one_side(second, filters, global, outputs, &mut notices)?)
    };
    for (name, side) in [(first, &one), (second, &two)] {
        if side.kinds.is_empty() {
            return Err(CliError::not_found(format!("`{name}`: nothing to compare"))
                .hint("give a folder of sessions, a version range such as 2.1.0..2.1.50, or a saved profile"));
        }
    }
    let found = one.compare(&two);
    let title = format!("{first} compared with {second}");
    outputs.differences(&title, &found, |_| String::new())?;
    Ok(Outcome::Fine.given(&notices))
}

/// The profile of Claude Code's sessions; adds what could not be read.
fn profile_of(
    named: (&[String], &FilterArguments),
    global: &GlobalArguments,
    outputs: &mut Outputs<'_>,
    notices: &mut Vec<Notice>,
) -> Result<Profile, CliError> {
    let counted = analyze(named, Grouping::None, Whose::ClaudeCode, global, outputs)?;
    notices.extend(counted.notices);
    Ok(Profile::of(&counted.analysis))
}

/// A set named on the command line: a saved profile or sessions.
fn one_side(
    name: &str,
    filters: &FilterArguments,
    global: &GlobalArguments,
    outputs: &mut Outputs<'_>,
    notices: &mut Vec<Notice>,
) -> Result<Profile, CliError> {
    let path = Path::new(name);
    if path.extension().is_some_and(|end| end == "json") && path.is_file() {
        outputs.guard.reads(path);
        return read_profile(path);
    }
    if name == "known" {
        return Profile::measured().map_err(|error| CliError::new(error.to_string()));
    }
    profile_of((&[name.to_owned()], filters), global, outputs, notices)
}

fn known(arguments: &SpecArguments) -> Result<Profile, CliError> {
    match &arguments.profile {
        Some(path) => read_profile(path),
        None => Profile::shipped().map_err(|error| CliError::new(error.to_string())),
    }
}

/// More than any profile has.
const LARGEST_PROFILE: u64 = 256 << 20;

fn read_profile(path: &Path) -> Result<Profile, CliError> {
    let failed = |cause: String| {
        CliError::new(format!("`{}`: {cause}", path.display()))
            .hint("backstory spec --save-profile FILE writes one")
    };
    let text = read_small_text(path, LARGEST_PROFILE).map_err(|error| failed(error.reason()))?;
    Profile::from_json(&text).map_err(|error| failed(error.to_string()))
}

fn location(analysis: &Analysis, difference: &Difference) -> String {
    let Some(place) = difference.place else { return String::new() };
    let path = analysis.files.get(&place.file).map(|path| path.to_string_lossy());
    format!("{}:{}", ui::short_path(&path.unwrap_or_default()), place.line)
}
