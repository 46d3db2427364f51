//! `backstory completions`

use super::Arguments;
use crate::error::{CliError, Outcome};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::Write;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory completions bash > ~/.local/share/bash-completion/completions/backstory\n  backstory completions zsh > ~/.zfunc/_backstory"
)]
pub(crate) struct CompletionsArguments {
    /// The shell to write for
    shell: Shell,
}

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<Outcome, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "backstory", &mut script);
    let mut out = std::io::stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Outcome::Fine)
}
