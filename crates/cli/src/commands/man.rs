//! `backstory man`

use super::Arguments;
use crate::error::{CliError, Outcome};
use crate::guard::agents_guard;
use backstory_store::{Access, create_folder, write_file};
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
            let mut guard = agents_guard();
            create_folder(&guard.folder(folder)?, Access::Usual)?;
            for (name, page) in pages(command)? {
                let to = guard.file(&folder.join(name))?;
                write_file(&to, Access::Usual, |out| Ok::<_, CliError>(out.write_all(&page)?))?;
            }
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            let mut out = std::io::stdout().lock();
            out.write_all(&page)?;
            out.flush()?;
        }
    }
    Ok(Outcome::Fine)
}

/// A page for each command, with the name of its file.
fn pages(mut command: clap::Command) -> Result<Vec<(String, Vec<u8>)>, CliError> {
    command.build();
    let mut pages = Vec::new();
    let mut waiting = vec![command.disable_help_subcommand(true)];
    while let Some(command) = waiting.pop() {
        let shown = |one: &&clap::Command| !one.is_hide_set() && one.get_name() != "help";
        waiting.extend(command.get_subcommands().filter(shown).cloned());
        let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
        let mut page = Vec::new();
        clap_mangen::Man::new(command.disable_help_subcommand(true)).render(&mut page)?;
        pages.push((format!("{name}.1"), page));
    }
    Ok(pages)
}
