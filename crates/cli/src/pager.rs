//! Showing long output through the user's pager.

use crate::config;
use crate::environment;
use crate::error::CliError;
use std::io::{BufWriter, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

/// Runs `show` with the pager's input, or with standard output where no pager is wanted.
///
/// A pager that is left early is no error.
pub(crate) fn page(
    wanted: bool,
    show: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let pager =
        if wanted && std::io::stdout().is_terminal() { command().and_then(start) } else { None };
    let Some(mut pager) = pager else {
        let mut out = BufWriter::with_capacity(64 << 10, std::io::stdout().lock());
        show(&mut out)?;
        return Ok(out.flush()?);
    };
    ignore_interrupts();
    let shown = match pager.stdin.take() {
        Some(input) => {
            // Large enough to be quick, small enough that the first screen does not wait.
            let mut out = BufWriter::with_capacity(16 << 10, input);
            show(&mut out).and_then(|()| Ok(out.flush()?))
        }
        None => Ok(()),
    };
    drop(pager.wait());
    shown
}

/// Prints rendered text; through the pager where a person would have to scroll back.
pub(crate) fn show(text: &str) -> Result<(), CliError> {
    let height = terminal_size::terminal_size().map(|(_, height)| usize::from(height.0));
    let long = height.is_some_and(|height| text.lines().nth(height.saturating_sub(1)).is_some());
    let plain = anstream::AutoStream::choice(&std::io::stdout()) == anstream::ColorChoice::Never;
    page(long, |out| {
        if plain {
            Ok(out.write_all(anstream::adapter::strip_str(text).to_string().as_bytes())?)
        } else {
            Ok(out.write_all(text.as_bytes())?)
        }
    })
}

/// Shows what `write` writes, through the pager where a person would have to scroll back.
pub(crate) fn show_written(
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut text = Vec::new();
    write(&mut text)?;
    show(&String::from_utf8_lossy(&text))
}

/// Whether long lines can be scrolled to on standard output, and need not be cut.
pub(crate) fn scrolls() -> bool {
    std::io::stdout().is_terminal() && command().is_some_and(|command| is_less(&command))
}

fn command() -> Option<String> {
    let configured = config::in_force().pager.as_ref().map(|pager| pager.value.as_str());
    environment::pager(configured)
}

fn is_less(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    program.rsplit('/').next() == Some("less")
}

fn start(command: String) -> Option<Child> {
    // A user's LESS does not switch these off: colours are shown, and long lines scroll sideways.
    let command = if is_less(&command) { format!("{command} -R -S") } else { command };
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::piped());
    for (name, value) in environment::pager_defaults() {
        shell.env(name, value);
    }
    shell.spawn().ok()
}

/// The pager deals with Ctrl-C; dying here would leave it without a terminal.
fn ignore_interrupts() {
    #[cfg(unix)]
    {
        let seen = std::sync::Arc::default();
        drop(signal_hook::flag::register(signal_hook::consts::SIGINT, seen));
    }
}
