//! `backstory show`

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::select::{Chosen, Seek, Selection, as_path};
use crate::ui::{self, JsonLines};
use backstory_session::agents::claude_code;
use backstory_session::store::{Notice, Root, discover};
use backstory_session::wire::SessionJson;
use clap::{Args, ValueEnum};

/// Show one session
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory show latest --format json | jq '.turns[].prompt.text'\n  backstory show 3f2a --format json > session.json"
)]
pub(crate) struct ShowArguments {
    /// An id or the start of one, a path, `latest`, or `latest~2` for the one two before it
    session: String,

    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The whole model, documented and versioned
    Json,
}

pub(crate) fn run(
    arguments: &ShowArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let path = as_path(&arguments.session);
    let extra: Vec<_> = path.clone().into_iter().collect();
    let selection = Selection::find(global, &extra, Seek::All)?;
    let chosen = match &path {
        Some(root) => {
            let found = &selection.found;
            let session = found.sessions.iter().find(|files| files.path == root.path);
            let agent = || found.stray_agents.iter().find(|agent| agent.path == root.path);
            session.map(Chosen::Session).or_else(|| agent().map(Chosen::Agent)).ok_or_else(
                || {
                    CliError::new(format!("`{}`: not a session file", root.path.display()))
                        .hint("backstory ls --root DIR lists what is in a folder")
                },
            )?
        }
        None => selection.resolve(&arguments.session)?,
    };
    let mut buffer = Vec::new();
    let (mut session, failures) = match chosen {
        Chosen::Session(files) => claude_code::read(files, selection.limits, &mut buffer)?,
        Chosen::Agent(file) => {
            (claude_code::read_stray(file, selection.limits, &mut buffer)?, Vec::new())
        }
    };
    if let Chosen::Session(files) = chosen {
        let folder = files.path.parent().map(|path| Root { path: path.to_path_buf() });
        let siblings = match &path {
            // Only the file was named, so its neighbours are still unknown.
            Some(_) => discover(folder.as_slice()).sessions,
            None => selection.found.sessions.clone(),
        };
        claude_code::relate(&mut session, &siblings);
    }
    if !global.quiet {
        let notices: Vec<Notice> = failures
            .iter()
            .map(|error| Notice {
                path: session.source.path().to_path_buf(),
                reason: error.to_string(),
            })
            .collect();
        ui::notices(&notices);
        if session.file.bytes == 0 {
            ui::say("the file is empty");
        }
    }
    match arguments.format {
        Format::Json => {
            let mut out = JsonLines::new();
            out.write(&SessionJson(&session))?;
            out.finish()?;
        }
    }
    Ok(Outcome::Fine)
}
