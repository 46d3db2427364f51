//! OpenTraces' `TraceRecord`, one line for a session.
//!
//! Keys are written in the order of their letters with all that is empty or null, because the hash is
//! over exactly that; `content_hash` and `trace_id`, which are not hashed, come last. What the trace
//! does not hold is null: nothing is guessed from the machine on which the export runs.

mod attribution;
mod snippet;
mod step;

pub(super) use attribution::{by_edit, range_hash, revision};
pub(super) use step::{Placed, beginning, result_text, write_input};

use crate::commits::{owner_and_name, tier_name};
use crate::context::{Context, CountedTokens};
use crate::definition::input_schema;
use crate::fetch::Fetcher;
use crate::json::CanonicalWriter;
use crate::options::{OpenTracesSchema, Options};
use crate::shapes::Shapes;
use backstory_model::{CompactionKind, Content, Outcome, Session, TurnKind};
use backstory_redact::{Class, Report};
use backstory_store::StoreError;
use uuid::Uuid;

/// Version of what decides about secrets, for the record's security block.
const CLASSIFIER: &str = concat!("backstory ", env!("CARGO_PKG_VERSION"));

pub(super) fn write(
    context: &Context<'_>,
    schema: OpenTracesSchema,
    options: &Options<'_>,
    report: Option<&Report>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<(), StoreError> {
    let session = context.session;
    let newest = schema == OpenTracesSchema::V0_9;
    let trace = trace_id(session, options.generation);
    let mut fetcher = context.fetcher();
    let shapes = Shapes::of(&context.timeline, &mut fetcher, canon)?;
    let mut environment = Surroundings::default();
    if let Some(content) = &session.requests.environment {
        environment = Surroundings::read(&mut fetcher, content)?;
    }
    canon.open();
    canon.key("agent");
    canon.open();
    canon.key("model");
    canon.id_or_null(session.models.first().map(|model| model_name(model)).as_deref());
    canon.key("name");
    canon.plain(session.agent.name());
    canon.key("version");
    canon.id_or_null(session.versions.last().map(|version| &**version));
    canon.close();
    canon.key("attribution");
    attribution::write(context, &trace, canon);
    if newest {
        canon.key("context_tree_summary");
        canon.empty();
    }
    canon.key("dependencies");
    canon.text_list(context.packages.iter().map(String::as_str));
    canon.key("environment");
    environment.write(context, newest, canon);
    canon.key("execution_context");
    canon.plain("devtime");
    canon.key("generation_index");
    canon.number(options.generation);
    canon.key("git_links");
    git_links(context, canon);
    canon.key("lifecycle");
    let committed = context.commits.newest().is_some();
    canon.plain(if committed { "final" } else { "provisional" });
    canon.key("metadata");
    metadata(context, &mut fetcher, canon)?;
    canon.key("metrics");
    metrics(context, canon);
    canon.key("outcome");
    outcome(context, schema, &mut fetcher, canon)?;
    if newest {
        canon.key("patches");
        attribution::patches(context, canon);
    }
    canon.key("schema_version");
    canon.plain(if newest { "0.9.0" } else { "0.3.0" });
    canon.key("security");
    security(report, canon);
    canon.key("session_id");
    canon.id(&session.id);
    canon.key("steps");
    step::write(context, &shapes, newest, options, &mut fetcher, canon)?;
    canon.key("system_prompts");
    canon.open();
    for (name, text) in &shapes.prompts {
        canon.key(name);
        // Cleared already, and named by the hash of that.
        canon.plain(text);
    }
    canon.close();
    canon.key("task");
    task(context, &mut fetcher, canon)?;
    canon.key("timestamp_end");
    canon.plain_or_null(session.ended.map(|time| time.to_string()).as_deref());
    canon.key("timestamp_start");
    canon.plain_or_null(session.started.map(|time| time.to_string()).as_deref());
    canon.key("tool_definitions");
    shapes.write_tools(&mut fetcher, canon, |canon, tool| {
        canon.open();
        canon.key("description");
        canon.text_or_null(tool.get_text("description").as_deref());
        canon.key("input_schema");
        match input_schema(&tool) {
            Some(schema) => canon.json(schema),
            None => canon.null(),
        }
        canon.key("name");
        canon.id(&tool.get_text("name").unwrap_or_default());
        canon.close();
    })?;
    let hash = canon.hash();
    canon.key("content_hash");
    canon.plain_or_null(hash.as_deref());
    canon.key("trace_id");
    canon.plain(&trace);
    canon.close();
    Ok(())
}

/// The same for the same session and generation, wherever it is exported.
pub(super) fn trace_id(session: &Session, generation: u64) -> String {
    let name = format!("{}/{}/{generation}", session.agent.name(), session.id);
    let space = Uuid::new_v5(&Uuid::NAMESPACE_URL, b"urn:backstory:trace");
    Uuid::new_v5(&space, name.as_bytes()).to_string()
}

/// `provider/model` where the provider is certain.
pub(super) fn model_name(model: &str) -> String {
    if model.starts_with("claude-") { format!("anthropic/{model}") } else { model.to_owned() }
}

/// What the client wrote down of the machine.
#[derive(Debug, Default)]
struct Surroundings {
    platform: Option<String>,
    shell: Option<String>,
}

impl Surroundings {
    fn read(fetcher: &mut Fetcher<'_>, content: &Content) -> Result<Surroundings, StoreError> {
        let value = fetcher.json(0, content)?;
        let text = |name: &str| Some(value.as_ref()?.get_text(name)?.into_owned());
        Ok(Surroundings { platform: text("platform"), shell: text("shell") })
    }

    fn write(&self, context: &Context<'_>, newest: bool, canon: &mut CanonicalWriter<'_>) {
        canon.open();
        if newest {
            canon.key("abi_tag");
            canon.null();
            canon.key("arch");
            canon.null();
            canon.key("interpreter");
            canon.null();
        }
        canon.key("language_ecosystem");
        canon.plain_list(context.languages.iter().copied());
        canon.key("os");
        canon.text_or_null(self.platform.as_deref());
        if newest {
            canon.key("platform");
            canon.text_or_null(self.platform.as_deref());
            canon.key("resolved_dependencies");
            canon.null();
        }
        canon.key("shell");
        canon.text_or_null(self.shell.as_deref());
        canon.key("vcs");
        let branch = context.session.git_branches.first();
        canon.open();
        canon.key("base_commit");
        canon.plain_or_null(context.commits.base.as_deref());
        canon.key("branch");
        canon.text_or_null(branch.map(|branch| &**branch));
        canon.key("diff");
        canon.null();
        canon.key("type");
        canon.plain(if branch.is_some() { "git" } else { "none" });
        canon.close();
        canon.close();
    }
}

/// What no field of the schema has a place for.
fn metadata(
    context: &Context<'_>,
    fetcher: &mut Fetcher<'_>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<(), StoreError> {
    let session = context.session;
    let left_out = context.timeline.left_out;
    canon.open();
    canon.key("benchmark");
    benchmark(session, fetcher, canon)?;
    canon.key("commits_searched");
    canon.bool(context.commits.searched);
    canon.key("continues");
    canon.id_list(session.continues.iter().map(|id| &**id));
    canon.key("cwds");
    canon.text_list(session.cwds.iter().map(|cwd| &**cwd));
    canon.key("entrypoints");
    canon.text_list(session.entrypoints.iter().map(|name| &**name));
    canon.key("forked_from");
    canon.id_or_null(session.forked_from.as_ref().map(|from| &*from.session));
    canon.key("git_branches");
    canon.text_list(session.git_branches.iter().map(|branch| &**branch));
    canon.key("is_compacted");
    let full = |kind| kind == CompactionKind::Full;
    canon.bool(session.compactions.iter().any(|compaction| full(compaction.kind)));
    canon.key("kind");
    canon.plain(session.kind.name());
    canon.key("left_out");
    canon.open();
    canon.key("abandoned_turns");
    canon.number(left_out.abandoned_turns);
    canon.key("housekeeping_agents");
    canon.number(left_out.housekeeping);
    canon.key("unreadable_lines");
    canon.number(session.file.bad_lines);
    canon.close();
    canon.key("models");
    canon.id_list(session.models.iter().map(|model| &**model));
    canon.key("num_turns");
    canon.number(session.counts.turns);
    canon.key("project");
    canon.text_or_null(session.project_key.as_deref());
    canon.key("reported_cost_usd");
    canon.float_or_null(session.reported_cost);
    canon.key("title");
    canon.text_or_null(session.title.as_ref().map(|title| title.text.as_str()));
    canon.key("usage_incomplete");
    canon.bool(context.usage.incomplete || context.told == CountedTokens::Nothing);
    canon.key("versions");
    canon.id_list(session.versions.iter().map(|version| &**version));
    canon.key("writer");
    canon.plain(CLASSIFIER);
    canon.close();
    Ok(())
}

/// What a benchmark's run says of the session.
pub(super) fn benchmark(
    session: &Session,
    fetcher: &mut Fetcher<'_>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<(), StoreError> {
    let Some(run) = &session.benchmark else {
        canon.null();
        return Ok(());
    };
    canon.open();
    canon.key("exit_status");
    canon.text_or_null(run.exit_status.as_deref());
    canon.key("instance_id");
    canon.text_or_null(run.instance.as_deref());
    canon.key("patch");
    match &run.patch {
        Some(patch) => canon.text(&fetcher.text(0, patch)?),
        None => canon.null(),
    }
    canon.key("resolved");
    match run.resolved {
        Some(resolved) => canon.bool(resolved),
        None => canon.null(),
    }
    canon.close();
    Ok(())
}

fn metrics(context: &Context<'_>, canon: &mut CanonicalWriter<'_>) {
    let usage = &context.usage;
    let read = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    canon.open();
    canon.key("cache_hit_rate");
    canon.float_or_null((read > 0).then(|| usage.cache_read as f64 / read as f64));
    canon.key("estimated_cost_usd");
    canon.float_or_null(context.dollars());
    canon.key("total_cache_creation_tokens");
    canon.number(usage.cache_write);
    canon.key("total_cache_read_tokens");
    canon.number(usage.cache_read);
    canon.key("total_duration_s");
    canon.float_or_null(context.session.duration_ms().map(|time| time as f64 / 1000.0));
    canon.key("total_input_tokens");
    canon.number(usage.input);
    canon.key("total_output_tokens");
    canon.number(usage.output);
    canon.key("total_steps");
    canon.number(context.timeline.items.len() as u64);
    canon.close();
}

/// How the last turn ended is known; whether the work was any good, only where a benchmark says so.
fn outcome(
    context: &Context<'_>,
    schema: OpenTracesSchema,
    fetcher: &mut Fetcher<'_>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<(), StoreError> {
    let run = context.session.benchmark.as_ref();
    let last = context.session.turns.last().map(|turn| turn.outcome);
    canon.open();
    let newest = context.commits.newest();
    canon.key("commit_sha");
    canon.plain_or_null(newest.map(|link| &*link.commit.id));
    canon.key("committed");
    canon.bool(newest.is_some());
    canon.key("description");
    let ended = last.map(|outcome| format!("last turn: {}", outcome.name()));
    canon.plain_or_null(ended.as_deref());
    if schema == OpenTracesSchema::V0_3 {
        canon.key("patch");
        match (&context.written.patch, run.and_then(|run| run.patch.as_ref())) {
            // What was handed in counts, not what edits tell.
            (_, Some(patch)) => canon.text(&fetcher.text(0, patch)?),
            (patch, None) => canon.text_or_null(patch.as_deref()),
        }
    }
    canon.key("reward");
    canon.null();
    canon.key("reward_source");
    canon.null();
    canon.key("signal_confidence");
    canon.plain("derived");
    canon.key("signal_source");
    canon.plain("deterministic");
    canon.key("success");
    match run.and_then(|run| run.resolved) {
        Some(resolved) => canon.bool(resolved),
        None => canon.null(),
    }
    canon.key("terminal_state");
    canon.plain_or_null(match last {
        Some(Outcome::Interrupted) => Some("interrupted"),
        Some(Outcome::ApiError) => Some("error"),
        _ => None,
    });
    canon.close();
    Ok(())
}

fn git_links(context: &Context<'_>, canon: &mut CanonicalWriter<'_>) {
    canon.open_list();
    for link in &context.commits.links {
        canon.open();
        canon.key("branch");
        canon.null();
        canon.key("commit_reachable");
        canon.null();
        canon.key("content_alive");
        canon.null();
        canon.key("repo_url");
        canon.text_or_null(context.commits.url.as_deref());
        canon.key("revision");
        canon.plain(&link.commit.id);
        canon.key("tier");
        canon.plain(tier_name(link));
        canon.key("vcs_type");
        canon.plain("git");
        canon.close();
    }
    canon.close_list();
}

fn security(report: Option<&Report>, canon: &mut CanonicalWriter<'_>) {
    let places = report.map(|report| Class::ALL.iter().map(|class| report.places(*class)).sum());
    canon.open();
    canon.key("classifier_version");
    canon.plain_or_null(report.map(|_| CLASSIFIER));
    canon.key("flags_reviewed");
    canon.number(0);
    canon.key("redactions_applied");
    canon.number(places.unwrap_or(0));
    canon.key("scanned");
    canon.bool(report.is_some());
    canon.close();
}

fn task(
    context: &Context<'_>,
    fetcher: &mut Fetcher<'_>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<(), StoreError> {
    let asked = context.task();
    let mut description = None;
    if let Some((item, _)) = asked
        && let crate::timeline::Entry::Prompt(turn) = item.what
    {
        let typed = turn.prompt.blocks.iter().filter(|block| !block.context);
        let words = fetcher.words(item.member, typed.map(|block| &block.block))?;
        description = Some(words).filter(|words| !words.trim().is_empty());
    }
    canon.open();
    canon.key("base_commit");
    canon.plain_or_null(context.commits.base.as_deref());
    canon.key("description");
    canon.text_or_null(description.as_deref());
    let url = context.commits.url.as_deref();
    canon.key("repository");
    canon.text_or_null(url.and_then(owner_and_name));
    canon.key("repository_url");
    canon.text_or_null(url);
    canon.key("source");
    canon.plain_or_null(asked.map(|(_, kind)| match kind {
        TurnKind::Command => "slash_command",
        TurnKind::Bash => "shell_command",
        TurnKind::Task => "parent_agent",
        _ => "user_prompt",
    }));
    canon.close();
    Ok(())
}
