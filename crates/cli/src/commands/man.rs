//! `backstory man`

use crate::args::Arguments;
use crate::error::{CliError, Outcome};
use backstory_session::store::create_folder;
use clap::{Args, CommandFactory};
use std::io::Write;
use std::path::PathBuf;

/// Print the manual page, or write one for each command
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory man | man -l -\n  backstory man --out ~/.local/share/man/man1"
)]
pub(crate) struct ManArguments {
    /// Write backstory.1, backstory-ls.1, … into this folder, which is created if need be
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &ManArguments) -> Result<Outcome, CliError> {
    let command = Arguments::command();
    match &arguments.out {
        Some(folder) => {
            create_folder(folder)?;
            clap_mangen::generate_to(command, folder)
                .map_err(|error| CliError::new(format!("`{}`: {error}", folder.display())))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            std::io::stdout().lock().write_all(&page)?;
        }
    }
    Ok(Outcome::Fine)
}
