//! `backstory resume`: the client's own command, in the session's folder.

use crate::args::GlobalArguments;
use crate::child;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::quote::quoted;
use crate::select::Selection;
use crate::ui;
use backstory_agents as agents;
use backstory_session::select::SessionRef;
use backstory_store::ReadContext;
use backstory_text::escape::terminal_line;
use clap::Args;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

/// Continue a session with the agent that wrote it
///
/// Runs the agent's own resume command in the folder that the session worked in.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory resume               the newest session of this repository\n  backstory resume 3f2a --print  the command, to be copied"
)]
pub(crate) struct ResumeArguments {
    /// An id or the start of one, a path, `latest` (if none is named), or `latest~2`
    session: Option<String>,

    /// Print the command instead of running it
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    filters: FilterArguments,
}

pub(crate) fn run(
    arguments: &ResumeArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let resuming = || agents::readers().filter(|reader| reader.resumes());
    let choice = arguments.filters.choice(global)?.only(resuming().map(|reader| reader.agent()));
    let wanted = arguments.session.as_deref().unwrap_or("latest");
    let (selection, path) = Selection::for_one(wanted, global)?;
    let files = match selection.one(wanted, path.as_ref(), &choice, global)? {
        SessionRef::Session(files) => files,
        SessionRef::Agent(file) => {
            return Err(CliError::new(format!(
                "`{}`: a subagent is not resumed by itself",
                file.id
            ))
            .hint("name its session"));
        }
    };
    let agent = files.agent;
    let Some(words) = agents::reader(agent).resume(files) else {
        let titles: Vec<&str> = resuming().map(|reader| reader.agent().title()).collect();
        return Err(CliError::new(format!(
            "`{}`: {} has no command that resumes it",
            files.id,
            agent.title()
        ))
        .hint(format!("agents that have one: {}", titles.join(", "))));
    };
    // A file can have any name; the client must not take it for an option.
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if files.id.starts_with('-') || !files.id.chars().all(plain) {
        return Err(CliError::new(format!(
            "`{}`: not an id that {} makes",
            files.id,
            agent.title()
        )));
    }
    let session = agents::read_alone(files, &mut ReadContext::new(&global.store))?;
    let folder = session.cwds.first().map(ToString::to_string).ok_or_else(|| {
        CliError::new(format!("`{}`: the session names no folder", files.id))
            .hint(format!("in its folder: {}", words.join(" ")))
    })?;
    if arguments.print {
        let command: Vec<String> = words.iter().map(|word| quoted(word.as_ref())).collect();
        let line = format!("cd {} && {}", quoted(folder.as_ref()), command.join(" "));
        let mut out = ui::stdout();
        writeln!(out, "{}", terminal_line(&line))?;
        out.flush()?;
        return Ok(Outcome::Fine);
    }
    if !Path::new(&folder).is_dir() {
        return Err(CliError::new(format!("`{folder}`: the folder of the session does not exist"))
            .hint("backstory resume --print shows the command"));
    }
    if !global.quiet {
        ui::say(&format!("{} in {}", words.join(" "), ui::short_path(&folder)));
    }
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    Ok(Outcome::Code(child::run(&words, Path::new(&folder)).pass_on()))
}
