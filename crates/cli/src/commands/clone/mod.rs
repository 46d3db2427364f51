//! `backstory clone`

mod summarizer;
mod text;

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::guard::agents_guard;
use crate::select::Selection;
use crate::ui::{self, JsonLines};
use backstory_claude::check::Verdict;
use backstory_claude::clone;
use backstory_claude::clone::{
    Band, Branches, CloneError, Droppable, Engine, Offline, Older, Options, Order, Preset, Proof,
    Run, Speakers, Start, Subagents, Thinking, ToolMode, UpTo,
};
use backstory_claude::project_key;
use backstory_model::SessionFiles;
use backstory_session::discover::session_at;
use backstory_session::select::SessionRef;
use backstory_session::wire::{clone_json, proof_json};
use backstory_store::{Access, Guard, create_folder_of, resolve};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use summarizer::Summarizer;
use text::Found;

/// Make a trimmed copy of a session that resumes
///
/// The source is only read. The copy gets new ids, says where it comes from, and is checked before
/// it is written: a copy that would not resume is an error.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory clone latest                     a copy with new ids, nothing trimmed\n  backstory clone 3f2a --preset default      as other cloners do it\n  backstory clone latest --tools truncate --keep-tool-turns 5 --thinking remove --dry-run\n  backstory clone --verify CLONE.jsonl"
)]
pub(crate) struct CloneArguments {
    /// An id or the start of one, a path, `latest`, or `latest~2`
    #[arg(required_unless_present = "verify")]
    session: Option<String>,

    /// A named set of options; others on the command line go before it
    #[arg(long, value_name = "NAME")]
    preset: Option<PresetName>,

    /// What happens to tool calls in older turns: keep, truncate, remove
    #[arg(long, value_name = "MODE")]
    tools: Option<ToolMode>,

    /// Older are all but the last N turns that have tools
    #[arg(long, value_name = "N", conflicts_with = "tool_percent")]
    keep_tool_turns: Option<u32>,

    /// Older are the first P percent of all turns
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u8).range(0..=100))]
    tool_percent: Option<u8>,

    /// Of the other turns with tools, truncate P percent, oldest first
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u8).range(0..=100))]
    truncate_percent: Option<u8>,

    /// A mode for single tools: Bash=truncate,Read=remove,mcp__*=keep
    #[arg(long, value_name = "TOOL=MODE", value_delimiter = ',', value_parser = tool_mode)]
    tools_for: Vec<(String, ToolMode)>,

    /// Thinking of finished turns: keep, remove
    #[arg(long, value_name = "MODE")]
    thinking: Option<ThinkingMode>,

    /// Compress texts of a part, in percent of turns: 0-50:compress (light, heavy-compress)
    #[arg(long, value_name = "START-END:LEVEL")]
    compress: Vec<Band>,

    /// Also compress what people wrote
    #[arg(long, requires = "compress")]
    include_user: bool,

    /// Compress with a program: JSON on standard input and output
    #[arg(long, value_name = "CMD", requires = "compress")]
    summarizer: Option<String>,

    /// How long the program may take for one text
    #[arg(long, value_name = "SECONDS", default_value_t = 90, hide_short_help = true)]
    summarizer_timeout: u64,

    /// How often the program is asked again
    #[arg(long, value_name = "N", default_value_t = 2, hide_short_help = true)]
    summarizer_retries: u32,

    /// Leave out: meta, progress, snapshots, images
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    drop: Vec<Droppable>,

    /// Also what was rewound, and what came before a compaction
    #[arg(long, conflicts_with_all = ["until_turn", "since_compaction"])]
    all_branches: bool,

    /// End with this turn or record
    #[arg(long, value_name = "TURN|UUID")]
    until_turn: Option<UpTo>,

    /// Begin with the last compaction
    #[arg(long)]
    since_compaction: bool,

    /// Also copy the subagents of the calls that stay
    #[arg(long)]
    with_subagents: bool,

    /// The title of the copy
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Write this file, or into this folder
    #[arg(long, short, value_name = "FILE|DIR")]
    out: Option<PathBuf>,

    /// Put the copy where sessions of this folder are kept
    #[arg(long, value_name = "PATH")]
    project: Option<PathBuf>,

    /// Do everything but write
    #[arg(long)]
    dry_run: bool,

    /// Prove a clone: would it resume, is it what it says it is
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    verify: Option<String>,

    /// One JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy)]
struct PresetName(Preset);

impl ValueEnum for PresetName {
    fn value_variants<'a>() -> &'a [PresetName] {
        const ALL: [PresetName; 7] = {
            let mut all = [PresetName(Preset::Default); 7];
            let mut at = 0;
            while at < 7 {
                all[at] = PresetName(Preset::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.meaning()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ThinkingMode {
    Keep,
    Remove,
}

fn tool_mode(text: &str) -> Result<(String, ToolMode), String> {
    let (tool, mode) = text.split_once('=').ok_or("a tool and its mode, such as Bash=truncate")?;
    Ok((tool.trim().to_owned(), mode.trim().parse()?))
}

impl CloneArguments {
    /// The preset with what was said besides.
    fn options(&self) -> Options {
        let mut options = self.preset.map(|preset| preset.0.options()).unwrap_or_default();
        let tools = &mut options.tools;
        if let Some(count) = self.keep_tool_turns {
            tools.older = Older::ButLast(count);
        } else if let Some(percent) = self.tool_percent {
            tools.older = Older::Percent(percent);
        } else if self.preset.is_none() && self.tools.is_none() && self.tools_for.is_empty() {
            // Nothing is older where nothing is done to older turns.
            tools.older = Older::ButLast(u32::MAX);
        }
        let region = self.keep_tool_turns.is_some() || self.tool_percent.is_some();
        tools.mode = match self.tools {
            Some(mode) => mode,
            None if self.preset.is_none() && region && self.tools_for.is_empty() => {
                ToolMode::Remove
            }
            None => tools.mode,
        };
        tools.truncate_percent = self.truncate_percent.unwrap_or(tools.truncate_percent);
        tools.by_name.extend(self.tools_for.iter().cloned());
        match self.thinking {
            Some(ThinkingMode::Keep) => options.thinking = Thinking::Keep,
            Some(ThinkingMode::Remove) => options.thinking = Thinking::Remove,
            None => {}
        }
        options.bands.clone_from(&self.compress);
        if self.include_user {
            options.speakers = Speakers::Everyone;
        }
        options.drop.extend(self.drop.iter().copied());
        if self.all_branches {
            options.branches = Branches::All;
        }
        if self.since_compaction {
            options.start = Start::LastCompaction;
        }
        if self.with_subagents {
            options.subagents = Subagents::Take;
        }
        options.up_to.clone_from(&self.until_turn);
        options.title.clone_from(&self.title);
        let project =
            self.project.as_deref().map(|path| resolve(path).to_string_lossy().into_owned());
        options.project = project;
        options
    }

    fn engine(&self) -> Box<dyn Engine> {
        match &self.summarizer {
            None => Box::new(Offline),
            Some(command) => Box::new(Summarizer {
                command: command.clone(),
                limit: Duration::from_secs(self.summarizer_timeout.max(1)),
                retries: self.summarizer_retries,
            }),
        }
    }
}

pub(crate) fn run(
    arguments: &CloneArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    if let Some(clone) = &arguments.verify {
        return verify(clone, arguments, global);
    }
    let Some(wanted) = &arguments.session else {
        return Err(CliError::new("no session was named").hint("backstory ls"));
    };
    let files = find(wanted, global)?;
    let id = uuid::Uuid::new_v4().to_string();
    let target = target(arguments, &files, &id)?;
    let (options, engine) = (arguments.options(), arguments.engine());
    let order = Order {
        files: &files,
        options: &options,
        id: &id,
        now: environment::now(),
        target,
        store: &global.store,
    };
    let run = if arguments.dry_run { Run::Dry } else { Run::Write };
    if run == Run::Write {
        // Only a new session may lie where sessions are kept; the file is never one that is there.
        create_folder_of(&Guard::default().file(&order.target)?, Access::Private)?;
    }
    let report =
        clone::clone(&order, engine.as_ref(), run).map_err(|error| explain(error, &files))?;
    if arguments.json {
        let mut out = JsonLines::new();
        out.write(&clone_json(&report))?;
        out.finish()?;
    } else {
        let mut out = ui::stdout();
        let found = if is_found(&order.target, &id) { Found::ByClient } else { Found::ByPath };
        text::write_report(&mut out, &report, found)?;
        out.flush()?;
    }
    if !global.quiet && !is_found(&order.target, &id) && run == Run::Write {
        let place = "in the project's folder below ~/.claude/projects";
        ui::warn(&format!("to be resumed, the file must lie {place} and be named {id}.jsonl"));
    }
    Ok(Outcome::Fine)
}

/// Whether the client would find a session by its id: in a project's folder, under its name.
fn is_found(target: &Path, id: &str) -> bool {
    let target = resolve(target);
    let folder = target.parent().and_then(Path::parent).and_then(Path::file_name);
    folder.is_some_and(|folder| folder == "projects") && target.file_stem() == Some(id.as_ref())
}

fn find(wanted: &str, global: &GlobalArguments) -> Result<SessionFiles, CliError> {
    let (selection, path) = Selection::for_one(wanted, global)?;
    let choice = FilterArguments::default().choice(global)?.only([backstory_claude::AGENT]);
    match selection.one(wanted, path.as_ref(), &choice, global)? {
        SessionRef::Session(files) if files.agent != backstory_claude::AGENT => {
            Err(CliError::new(format!("`{}`: written by {}", files.id, files.agent.name()))
                .hint("only sessions of Claude Code can be cloned"))
        }
        SessionRef::Session(files) => Ok(files.clone()),
        SessionRef::Agent(file) => Err(CliError::new(format!(
            "`{}`: a subagent is not resumed by itself",
            file.path.display()
        ))
        .hint("clone its session, with --with-subagents")),
    }
}

/// Where the clone goes: what was named, the project's folder, or beside the source.
fn target(arguments: &CloneArguments, files: &SessionFiles, id: &str) -> Result<PathBuf, CliError> {
    let name = format!("{id}.jsonl");
    if let Some(out) = &arguments.out {
        let folder = out.is_dir() || out.as_os_str().to_string_lossy().ends_with(['/', '\\']);
        let target = if folder { out.join(name) } else { out.clone() };
        if std::fs::symlink_metadata(&target).is_ok() {
            return Err(CliError::new(format!("`{}`: exists already", target.display()))
                .hint("name a file that does not exist, or a folder"));
        }
        refuse_other_agents(&target)?;
        return Ok(target);
    }
    let beside = files.path.parent().unwrap_or(Path::new("."));
    let Some(project) = &arguments.project else { return Ok(beside.join(name)) };
    let key = project_key(&resolve(project).to_string_lossy());
    let projects = beside.parent().filter(|above| above.file_name() == Some("projects".as_ref()));
    let projects = match projects {
        Some(projects) => projects.to_path_buf(),
        None => {
            let home = environment::home_of(backstory_claude::AGENT);
            home.map(|home| home.join("projects")).ok_or_else(|| {
                CliError::new("--project: no folder for sessions is known").hint("--out DIR")
            })?
        }
    };
    Ok(projects.join(key).join(name))
}

/// A session may lie with those of its agent, and nowhere among another's.
fn refuse_other_agents(target: &Path) -> Result<(), CliError> {
    let own = environment::home_of(backstory_claude::AGENT);
    let own = own.map(|home| resolve(&home)).filter(|own| resolve(target).starts_with(own));
    if own.is_none() {
        agents_guard().file(target)?;
    }
    Ok(())
}

/// Adds what can be done about it.
fn explain(error: CloneError, files: &SessionFiles) -> CliError {
    let plain = match &error {
        CloneError::Store(error) => CliError::new(error.to_string()),
        error => CliError::new(format!("`{}`: {error}", files.path.display())),
    };
    match error {
        CloneError::WouldNotResume(why) => plain
            .hint(format!("nothing was written; backstory check --explain {}", why.id))
            .hint(format!("backstory check {} says what is wrong with the source", files.id)),
        CloneError::NoTurn { .. } | CloneError::NoRecord(_) | CloneError::AmbiguousRecord(_) => {
            plain.hint(format!("backstory show {} --format json lists turns and uuids", files.id))
        }
        CloneError::NeverCompacted => plain.hint("leave out --since-compaction"),
        CloneError::Nothing => plain.hint(format!("backstory check {} --severity info", files.id)),
        CloneError::Overlap(..) => {
            plain.hint("--compress 0-50:heavy-compress --compress 50-80:light")
        }
        _ => plain,
    }
}

fn verify(
    wanted: &str,
    arguments: &CloneArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let (files, store) = (find(wanted, global)?, &global.store);
    let find_source = |path: &Path| session_at(path, store);
    let verified =
        clone::verify(&files, store, &find_source).map_err(|error| explain(error, &files))?;
    if arguments.json {
        let mut out = JsonLines::new();
        out.write(&proof_json(&verified))?;
        out.finish()?;
    } else {
        let mut out = ui::stdout();
        text::write_proof(&mut out, &verified)?;
        out.flush()?;
    }
    let resumes = verified.report.resume.verdict == Verdict::Yes;
    let differs = matches!(verified.proof, Proof::Differs(_));
    Ok(if resumes && !differs { Outcome::Fine } else { Outcome::Findings })
}
