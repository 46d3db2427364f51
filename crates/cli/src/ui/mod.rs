//! The terminal: the only code that prints.

mod notices;
mod table;
mod text;

pub(crate) use notices::{notices, set_verbose};
pub(crate) use table::{Align, Column, Cut, Elastic, Table};
pub(crate) use text::{fit, fit_end, short_model, short_path, wrap};

use crate::args::ColorChoice;
use crate::environment;
use crate::error::{CliError, ErrorKind};
use anstyle::{AnsiColor, Style};
use backstory_session::parallel::Progress;
use backstory_text::escape::{JsonWriter, terminal_line};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::{BufWriter, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const ACCENT: Style = AnsiColor::Cyan.on_default();
/// What was searched for.
pub(crate) const MATCH: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Decides once whether colours are used.
pub(crate) fn set_color(choice: ColorChoice) {
    let choice = match choice {
        ColorChoice::Auto => return,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// Standard output for people; colours are dropped where they do not belong.
pub(crate) fn stdout() -> BufWriter<anstream::AutoStream<std::io::StdoutLock<'static>>> {
    BufWriter::with_capacity(64 << 10, anstream::AutoStream::auto(std::io::stdout().lock()))
}

/// Whether colours are used on standard output.
pub(crate) fn has_colour() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// Writes values as JSON, one per line.
#[derive(Debug)]
pub(crate) struct JsonLines(JsonWriter<BufWriter<std::io::StdoutLock<'static>>>);

impl JsonLines {
    pub(crate) fn new() -> JsonLines {
        JsonLines(JsonWriter::new(BufWriter::with_capacity(64 << 10, std::io::stdout().lock())))
    }

    pub(crate) fn write(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        serde_json::to_writer(&mut self.0, value)?;
        self.0.write_all(b"\n")?;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        Ok(self.0.flush()?)
    }
}

/// Prints a problem of the command line itself, or what was asked for; clap knows its own exit
/// codes.
pub(crate) fn usage_error(error: &clap::Error) -> ExitCode {
    let code = ExitCode::from(error.exit_code().clamp(0, 255) as u8);
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    match printed {
        Ok(()) => code,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => code,
        Err(_) => ExitCode::from(2),
    }
}

/// Whether something could not be written to standard error.
static STDERR_FAILED: AtomicBool = AtomicBool::new(false);

/// Writes to standard error. A reader who went away misses nothing that matters; where it cannot be
/// written for another reason, the command has failed.
fn write_stderr(text: std::fmt::Arguments<'_>) {
    let written = anstream::stderr().lock().write_fmt(text);
    if written.is_err_and(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
        STDERR_FAILED.store(true, Ordering::Relaxed);
    }
}

/// How the program ends, given that its messages have to be read: the last are those of skipped
/// files.
pub(crate) fn ended(code: ExitCode) -> ExitCode {
    notices::report_skipped();
    if STDERR_FAILED.load(Ordering::Relaxed) { ExitCode::from(2) } else { code }
}

/// Says what to type after a warning.
pub(crate) fn hint(text: &str) {
    write_stderr(format_args!("{ACCENT}hint{ACCENT:#}: {}\n", terminal_line(text)));
}

/// Prints an error with its hints.
pub(crate) fn report(error: &CliError) -> ExitCode {
    match error.kind {
        ErrorKind::ClosedPipe => return ExitCode::SUCCESS,
        ErrorKind::Failed | ErrorKind::NotFound => {}
    }
    write_stderr(format_args!("{ERROR}error{ERROR:#}: {}\n", terminal_line(&error.message)));
    for line in &error.place {
        write_stderr(format_args!("  {}\n", terminal_line(line)));
    }
    for hint in &error.hints {
        let mut lines = hint.lines();
        let first = lines.next().unwrap_or_default();
        write_stderr(format_args!("{ACCENT}hint{ACCENT:#}: {}\n", terminal_line(first)));
        for line in lines {
            write_stderr(format_args!("      {}\n", terminal_line(line)));
        }
    }
    ExitCode::from(if error.kind == ErrorKind::NotFound { 1 } else { 2 })
}

/// Says something that is not part of the answer.
pub(crate) fn say(text: &str) {
    write_stderr(format_args!("{DIM}{}{DIM:#}\n", terminal_line(text)));
}

/// Says what was left out, how much of each; nothing where nothing was.
pub(crate) fn say_left_out(counts: &[(u64, &str, &str)]) {
    let left: Vec<String> = counts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| backstory_text::figures::counted(*count, one, many))
        .collect();
    if !left.is_empty() {
        say(&format!("left out: {}", left.join(", ")));
    }
}

/// Warns of something that is not worth stopping for, in one line.
pub(crate) fn warn(text: &str) {
    write_stderr(format_args!("{WARN}warning{WARN:#}: {}\n", terminal_line(text)));
}

/// Asks a question that is answered with yes or no; no where nobody can answer.
pub(crate) fn confirm(question: &str) -> bool {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return false;
    }
    write_stderr(format_args!("{question} [y/N] "));
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer).is_ok();
    read && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// A bar on standard error that appears only when the work takes a while, and only for people.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    start: Mutex<Instant>,
    shown: AtomicBool,
}

impl Bar {
    /// A bar for what is done.
    pub(crate) fn new(what: &'static str) -> Bar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let template = "{msg} {bar:24} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.set_message(what);
        Bar { bar, start: Mutex::new(Instant::now()), shown: AtomicBool::new(true) }
    }

    fn start(&self) -> MutexGuard<'_, Instant> {
        self.start.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Bar {
    fn begin(&self, total: u64) {
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        self.bar.reset();
        self.bar.set_length(total);
        *self.start() = Instant::now();
        self.shown.store(!std::io::stderr().is_terminal(), Ordering::Relaxed);
    }

    fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
        let late = self.start().elapsed() > Duration::from_secs(1);
        if late && !self.shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Columns of the terminal, if there is one.
pub(crate) fn width() -> Option<usize> {
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    environment::columns().or_else(terminal)
}
