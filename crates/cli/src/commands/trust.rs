//! `backstory trust`

use crate::error::{CliError, Outcome};
use crate::settings::{self, LARGEST_SETTINGS, NAME};
use crate::ui;
use backstory_redact::own_settings;
use backstory_store::{read_small_text, resolve};
use backstory_text::escape::terminal_line;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Trust a project's .backstory.toml, as it is now
///
/// A project's file may be written by anybody, so its exceptions from redaction are not used until
/// you trust it. A file that changes has to be trusted again.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory trust                     the .backstory.toml of this project\n  backstory trust --list\n  backstory trust ~/src/app --revoke"
)]
pub(crate) struct TrustArguments {
    /// The file, or the folder that holds it; the nearest if none is named
    path: Option<PathBuf>,

    /// Trust it no more
    #[arg(long, conflicts_with = "list")]
    revoke: bool,

    /// List what is trusted
    #[arg(long, conflicts_with = "path")]
    list: bool,
}

pub(crate) fn run(arguments: &TrustArguments) -> Result<Outcome, CliError> {
    let mut list = settings::trust_list();
    if arguments.list {
        let mut out = ui::stdout();
        for file in list.files() {
            let path = terminal_line(&file.path.to_string_lossy()).into_owned();
            let text = read_small_text(&file.path, LARGEST_SETTINGS).unwrap_or_default();
            let changed = !list.trusts(&file.path, text.as_bytes());
            writeln!(out, "{path}{}", if changed { "  (changed since; not used)" } else { "" })?;
        }
        out.flush()?;
        return Ok(if list.files().is_empty() { Outcome::Nothing } else { Outcome::Fine });
    }
    let path = match &arguments.path {
        Some(path) if path.is_dir() => path.join(NAME),
        Some(path) => path.clone(),
        None => settings::nearest()?.ok_or_else(|| {
            CliError::not_found("no .backstory.toml here").hint("backstory trust PATH")
        })?,
    };
    let place = resolve(&path);
    if arguments.revoke {
        let was = list.revoke(&place);
        if was {
            settings::keep_trust_list(&list)?;
        }
        let outcome = if was { "no longer trusted" } else { "was not trusted" };
        ui::say(&format!("{outcome}: {}", place.display()));
        return Ok(if was { Outcome::Fine } else { Outcome::Nothing });
    }
    let text = read_small_text(&path, LARGEST_SETTINGS)?;
    let own = own_settings(&text).map_err(|error| {
        CliError::new(format!("`{}`: {error}", path.display())).hint("correct the file first")
    })?;
    list.trust(&place, text.as_bytes());
    settings::keep_trust_list(&list)?;
    let mut out = ui::stdout();
    writeln!(out, "trusted: {}", terminal_line(&place.to_string_lossy()))?;
    for exception in &own.allow {
        writeln!(out, "  left alone from now on: {}", terminal_line(exception))?;
    }
    out.flush()?;
    Ok(Outcome::Fine)
}
