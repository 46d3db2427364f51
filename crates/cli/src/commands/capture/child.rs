//! Running a command as if we were not there: the same terminal, the same signals, the same end.

use crate::ui;
use std::ffi::OsString;
use std::process::{Command, ExitStatus};

/// How a command ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ended {
    Status(ExitStatus),
    /// It could not be started; the shell's code for that.
    NotStarted(u8),
}

/// Runs `command` with everything inherited, and waits for it.
///
/// Interrupts from the keyboard reach the command by themselves; here they are let pass. Requests
/// to end that are sent to us alone are handed on.
pub(super) fn run(command: &[OsString]) -> Ended {
    let Some((program, arguments)) = command.split_first() else { return Ended::NotStarted(127) };
    #[cfg(unix)]
    let signals = unix::hold();
    let mut child = match Command::new(program).args(arguments).spawn() {
        Ok(child) => child,
        Err(error) => {
            ui::warn(&format!("`{}`: {error}", program.to_string_lossy()));
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            return Ended::NotStarted(if missing { 127 } else { 126 });
        }
    };
    #[cfg(unix)]
    unix::forward(signals, child.id());
    match child.wait() {
        Ok(status) => Ended::Status(status),
        Err(_) => Ended::NotStarted(126),
    }
}

impl Ended {
    /// For the head of the trace.
    pub(super) fn words(&self) -> String {
        match self {
            Ended::Status(status) => status.to_string(),
            Ended::NotStarted(code) => format!("not started ({code})"),
        }
    }

    /// The exit code for whoever started us. A command that a signal ended ends us alike.
    pub(super) fn pass_on(&self) -> u8 {
        match self {
            Ended::NotStarted(code) => *code,
            Ended::Status(status) => {
                #[cfg(unix)]
                if let Some(code) = unix::exit_by_same_signal(*status) {
                    return code;
                }
                status.code().map_or(1, |code| u8::try_from(code & 0xff).unwrap_or(1))
            }
        }
    }
}

#[cfg(unix)]
mod unix {
    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    use signal_hook::iterator::Signals;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    pub(super) fn hold() -> Option<Signals> {
        Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2]).ok()
    }

    pub(super) fn forward(signals: Option<Signals>, child: u32) {
        let Some(mut signals) = signals else { return };
        std::thread::spawn(move || {
            for signal in signals.forever() {
                // The terminal sends these to the command as well.
                if matches!(signal, SIGINT | SIGQUIT) {
                    continue;
                }
                let child = i32::try_from(child).ok().and_then(Pid::from_raw);
                if let (Some(child), Some(signal)) = (child, Signal::from_named_raw(signal)) {
                    let _ = kill_process(child, signal);
                }
            }
        });
    }

    /// Ends this process by the signal that ended the other; a code if that does not work.
    pub(super) fn exit_by_same_signal(status: ExitStatus) -> Option<u8> {
        let signal = status.signal()?;
        drop(signal_hook::low_level::emulate_default_handler(signal));
        Some(128 + u8::try_from(signal & 0x7f).unwrap_or(0))
    }
}
