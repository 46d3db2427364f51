//! `backstory annotate`

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::guard::guard;
use crate::select::edited_files;
use crate::settings::LARGEST_SETTINGS;
use crate::ui::{self, ACCENT, DIM, JsonLines, WARN};
use backstory_session::annotate::{Config, Entry, Policy, append, comment, sidecar};
use backstory_session::blame::{EditedFile, LARGEST_FILE};
use backstory_session::history::{Choice, EditAction, Traced, normal_path};
use backstory_store::{
    Access, Destination, Git, Guard, GuardError, Store, read_small_text, resolve, write_file,
};
use backstory_text::escape::terminal_line;
use backstory_text::figures::counted;
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Write into files, or beside them, which model and session edited them
#[derive(Debug, Args)]
#[command(
    after_help = "Without --write nothing is changed. Rules stand in .backstory.toml:\n  [[annotate.rule]]\n  pattern = \"src/**/*.py\"\n  policy = \"comment\"        # append, sidecar, comment, skip\n\nExamples:\n  backstory annotate                  what would be written\n  backstory annotate docs --write\n  backstory annotate --check          for CI: exit 1 when something is out of date"
)]
pub(crate) struct AnnotateArguments {
    /// Files or folders; the current folder if none is named
    paths: Vec<PathBuf>,

    /// Write
    #[arg(long, conflicts_with_all = ["check", "dry_run"])]
    write: bool,

    /// Exit 1 if anything would be written
    #[arg(long)]
    check: bool,

    /// Only say what would be written (the default)
    #[arg(long)]
    dry_run: bool,

    /// Only the first and the last edit of each file
    #[arg(long)]
    first_and_last: bool,

    /// Leave out edits of fewer lines, except a file's first and last
    #[arg(long, value_name = "LINES", default_value_t = 0)]
    min_change: u64,

    /// Rules from this file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// One JSON object for each file (backstory.annotate/1)
    #[arg(long)]
    json: bool,

    /// The project lay in DIR when its sessions were recorded; repeatable
    #[arg(long, value_name = "DIR")]
    recorded_as: Vec<String>,
}

/// What is to be done for one file.
#[derive(Debug)]
struct Plan {
    source: String,
    /// The file that was edited, and the one to write as it is named.
    file: PathBuf,
    named: PathBuf,
    policy: &'static str,
    /// The file to write, links resolved, and its new text, if it changes.
    target: PathBuf,
    to: Option<Destination>,
    /// A sidecar, or what a link leads to.
    leads_elsewhere: bool,
    text: Option<String>,
    status: &'static str,
    reason: Option<String>,
    edits: usize,
}

pub(crate) fn run(
    arguments: &AnnotateArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let paths =
        if arguments.paths.is_empty() { vec![PathBuf::from(".")] } else { arguments.paths.clone() };
    let (config, base) = config(arguments)?;
    let project = edited_files(&paths, &arguments.recorded_as, global)?;
    let choice =
        Choice { first_and_last: arguments.first_and_last, min_change: arguments.min_change };
    let tops = tops(&paths, &global.store);
    let mut plans: Vec<Plan> = Vec::new();
    for (file, traced) in project.trace_all() {
        if file.exists() && !is_ours(&file.shown) {
            plans.push(plan(file, &traced, choice, &config, &base));
        }
    }
    if plans.is_empty() {
        let sessions = counted(project.sessions_searched as u64, "session", "sessions");
        return Err(CliError::not_found(format!(
            "nothing to annotate: no edit of a file here in {sessions}"
        ))
        .hint("backstory log --all lists the files that were edited anywhere")
        .given(&project.notices));
    }
    part_collisions(&mut plans);
    // Where sessions are read from is never written, wherever the project has its links.
    let guard = guard(global, &[], &[]);
    plans.iter_mut().for_each(|plan| admit(plan, &guard, &tops));
    if arguments.write {
        for plan in &plans {
            if let (Some(text), Some(to)) = (&plan.text, &plan.to) {
                let access = if to.place().exists() { Access::AsBefore } else { Access::Usual };
                write_file(to, access, |out| Ok::<_, CliError>(out.write_all(text.as_bytes())?))?;
            }
        }
    }
    report(&plans, arguments)?;
    let changes = plans.iter().any(|plan| plan.text.is_some());
    let refused = plans.iter().any(|plan| plan.status == REFUSED);
    let outcome = match (arguments.check && changes, arguments.write && refused) {
        (_, true) => Outcome::Incomplete,
        (true, _) => Outcome::Findings,
        _ => Outcome::Fine,
    };
    Ok(outcome.given(&project.notices))
}

const REFUSED: &str = "refused";

/// For each folder that was named: where it is, and the top of its repository, which links must not
/// leave.
fn tops(paths: &[PathBuf], store: &Store) -> Vec<(PathBuf, PathBuf)> {
    let top = |path: &Path| {
        let named = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let named = PathBuf::from(normal_path(&named.to_string_lossy(), None));
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let folder = if path.is_dir() { path } else { above.unwrap_or(Path::new(".")) };
        let top = Git::holding(&folder.join("x"), store).map(|git| git.top().to_path_buf());
        (named, top.unwrap_or_else(|| folder.to_path_buf()))
    };
    paths.iter().map(|path| top(path)).collect()
}

/// Finds where a plan really writes; refuses what lies elsewhere.
fn admit(plan: &mut Plan, guard: &Guard, tops: &[(PathBuf, PathBuf)]) {
    plan.target = resolve(&plan.named);
    let below = tops
        .iter()
        .find_map(|(named, top)| Some((plan.file.strip_prefix(named).ok()?, named, top)));
    let straight = |rest: &Path, named: &Path| {
        if rest.as_os_str().is_empty() {
            named
                .parent()
                .map(resolve)
                .map(|above| above.join(named.file_name().unwrap_or_default()))
        } else {
            Some(resolve(named).join(rest))
        }
    };
    plan.leads_elsewhere = plan.policy == "sidecar"
        || below.and_then(|(rest, named, _)| straight(rest, named)).as_ref() != Some(&plan.target);
    if plan.text.is_none() {
        return;
    }
    let admitted = below.map(|(_, _, top)| guard.clone().within(&plan.named, top));
    let (status, reason) = match admitted {
        Some(Ok(to)) => {
            plan.to = Some(to);
            return;
        }
        Some(Err(GuardError::AgentsFolder { .. } | GuardError::OfGit { .. })) => {
            ("skipped", "it lies in an agent's or git's own folder".to_owned())
        }
        Some(Err(refusal)) => (REFUSED, refusal.to_string()),
        None => (REFUSED, "it is not below what was named".to_owned()),
    };
    plan.text = None;
    plan.status = status;
    plan.reason = Some(reason);
}

/// Rules and the folder their patterns start from.
fn config(arguments: &AnnotateArguments) -> Result<(Config, PathBuf), CliError> {
    let here = std::path::absolute(".")?;
    let named = arguments.config.clone();
    let found = named.or_else(|| {
        let names = [".backstory.toml", ".ai-blame.yaml", ".ai-blame.yml"];
        let mut places = here.ancestors().flat_map(|folder| names.map(|name| folder.join(name)));
        places.find(|path| path.is_file())
    });
    let Some(path) = found else { return Ok((Config::default(), here)) };
    let shown = path.display();
    let text = read_small_text(&path, LARGEST_SETTINGS)?;
    let yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let config = if yaml { Config::from_ai_blame(&text) } else { Config::from_toml(&text) };
    let config = config.map_err(|cause| {
        CliError::new(format!("`{shown}`: {cause}"))
            .hint("keys of a rule are pattern, policy, format, comment, sidecar")
    })?;
    let base = std::path::absolute(&path)?.parent().map(Path::to_path_buf).unwrap_or(here);
    Ok((config, base))
}

fn is_ours(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".history.yaml") || [".backstory.toml", ".ai-blame.yaml"].contains(&name)
}

fn plan(
    file: &EditedFile,
    traced: &Traced<'_>,
    choice: Choice,
    config: &Config,
    base: &Path,
) -> Plan {
    let entries = entries(traced, choice);
    let inside = file.path.strip_prefix(base).unwrap_or(&file.path);
    let mut plan = Plan {
        source: file.shown.clone(),
        policy: "skip",
        file: file.path.clone(),
        named: file.path.clone(),
        target: file.path.clone(),
        to: None,
        leads_elsewhere: false,
        text: None,
        status: "skipped",
        reason: None,
        edits: entries.len(),
    };
    let Some(text) = file.text.as_deref() else { return plan };
    if text.contains('\u{fffd}') || text.contains('\0') {
        return sidecar_plan(
            plan,
            file,
            &entries,
            "{dir}/{name}.history.yaml",
            Some("it is not plain UTF-8"),
        );
    }
    match config.policy(&inside.to_string_lossy()) {
        Policy::Skip => plan,
        Policy::Sidecar(pattern) => sidecar_plan(plan, file, &entries, &pattern, None),
        Policy::Comment(style) => {
            plan.policy = "comment";
            with_text(plan, Some(text), comment(text, style, &entries))
        }
        Policy::Append(format) => match append(text, format, &entries) {
            Ok(new) => {
                plan.policy = "append";
                with_text(plan, Some(text), new)
            }
            Err(unfit) => {
                sidecar_plan(plan, file, &entries, "{dir}/{name}.history.yaml", Some(unfit.text()))
            }
        },
    }
}

fn sidecar_plan(
    mut plan: Plan,
    file: &EditedFile,
    entries: &[Entry],
    pattern: &str,
    reason: Option<&str>,
) -> Plan {
    let name =
        file.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = file.path.parent().unwrap_or(Path::new("."));
    let (stem, end) = name.rsplit_once('.').unwrap_or((&name, ""));
    let filled = pattern
        .replace("{dir}", &folder.to_string_lossy())
        .replace("{name}", &name)
        .replace("{stem}", stem)
        .replace("{ext}", end);
    plan.policy = "sidecar";
    plan.named = if Path::new(&filled).is_absolute() {
        PathBuf::from(&filled)
    } else {
        folder.join(&filled)
    };
    plan.reason = reason.map(str::to_owned);
    let old = read_small_text(&plan.named, LARGEST_FILE).ok();
    let new = sidecar(&name, old.as_deref(), entries);
    with_text(plan, old.as_deref(), new)
}

fn with_text(mut plan: Plan, old: Option<&str>, new: String) -> Plan {
    plan.status = match old {
        Some(old) if old == new => "up to date",
        Some(_) => "update",
        None => "create",
    };
    plan.text = (old != Some(new.as_str())).then_some(new);
    plan
}

fn entries(traced: &Traced<'_>, choice: Choice) -> Vec<Entry> {
    let shown = choice.of(&traced.edits);
    let edits = shown.iter().filter_map(|at| traced.edits.get(*at));
    edits
        .map(|edit| {
            let by = &edit.edit.by;
            Entry {
                timestamp: edit.event.time,
                model: by.model.as_deref().map(str::to_owned),
                created: edit.edit.action() == EditAction::Create,
                agent: by.agent.name().to_owned(),
                agent_version: by.version.as_deref().map(str::to_owned),
                session: by.session.to_string(),
                lines_added: edit.added,
                lines_removed: edit.removed,
            }
        })
        .collect()
}

/// Two files must not be written as one.
fn part_collisions(plans: &mut [Plan]) {
    let mut targets: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for plan in plans.iter().filter(|plan| plan.policy != "skip") {
        *targets.entry(resolve(&plan.named)).or_default() += 1;
    }
    for plan in plans.iter_mut().filter(|plan| plan.policy != "skip") {
        let taken = targets.get(&resolve(&plan.named)).is_some_and(|count| *count > 1);
        if taken {
            let reason = match plan.policy {
                "sidecar" => "its sidecar would be another file's too; put {name} into the pattern",
                _ => "it leads to another file of the plan",
            };
            plan.text = None;
            plan.status = REFUSED;
            plan.reason = Some(reason.to_owned());
        }
    }
}

fn report(plans: &[Plan], arguments: &AnnotateArguments) -> Result<(), CliError> {
    if arguments.json {
        let mut out = JsonLines::new();
        for plan in plans {
            out.write(&serde_json::json!({
                "schema": "backstory.annotate/1",
                "path": plan.source,
                "policy": plan.policy,
                "target": plan.target.to_string_lossy(),
                "status": plan.status,
                "reason": plan.reason,
                "edits": plan.edits,
                "written": arguments.write && plan.text.is_some(),
            }))?;
        }
        return out.finish();
    }
    let mut out = ui::stdout();
    for plan in plans {
        let style = if plan.text.is_some() { ACCENT } else { DIM };
        let target = ui::short_path(&plan.target.to_string_lossy());
        let reason = plan.reason.as_ref().map(|reason| format!("  ({})", terminal_line(reason)));
        writeln!(
            out,
            "{style}{:<10}{style:#}  {:<7}  {}  {DIM}{}{DIM:#}{WARN}{}{WARN:#}",
            plan.status,
            plan.policy,
            terminal_line(&plan.source),
            if plan.leads_elsewhere { format!("→ {target}") } else { String::new() },
            reason.unwrap_or_default()
        )?;
    }
    let changes = plans.iter().filter(|plan| plan.text.is_some()).count();
    let word = if arguments.write { "written" } else { "would be written; --write does it" };
    writeln!(out, "\n{changes} of {} {word}", plans.len())?;
    out.flush()?;
    Ok(())
}
