//! Long output, a screen at a time.

use crate::environment;
use crate::error::CliError;
use crate::ui;
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

/// Prints rendered text; through the user's pager where a person would have to scroll back.
pub(crate) fn show(text: &str) -> Result<(), CliError> {
    let height = terminal_size::terminal_size().map(|(_, height)| usize::from(height.0));
    let long = height.is_some_and(|height| text.lines().count() + 1 > height);
    if std::io::stdout().is_terminal()
        && long
        && let Some(pager) = environment::pager()
        && through(&pager, text)
    {
        return Ok(());
    }
    let mut out = ui::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Whether the pager took it. One that goes away early is no error.
fn through(pager: &str, text: &str) -> bool {
    let mut words = pager.split_whitespace();
    let Some(program) = words.next() else { return false };
    let child =
        Command::new(program).args(words).env("LESSCHARSET", "utf-8").stdin(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return false };
    if let Some(mut input) = child.stdin.take() {
        let plain =
            anstream::AutoStream::choice(&std::io::stdout()) == anstream::ColorChoice::Never;
        let text =
            if plain { anstream::adapter::strip_str(text).to_string() } else { text.to_owned() };
        // The reader may quit before the end.
        let _ = input.write_all(text.as_bytes());
    }
    child.wait().is_ok()
}
