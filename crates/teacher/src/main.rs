//! `backstory-teacher`: a scripted teacher that listens on this machine.

use backstory_teacher::{Faults, Script, Server};
use clap::Parser;
use std::io::Write;
use std::time::Duration;

/// Answer as a model would, on this machine, for tests and benchmarks
///
/// Prints its address, then answers until it is killed. With --quit-on-input it ends when its standard
/// input does, and prints how many answers it gave.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Port to listen at; any free one without it
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Milliseconds that an answer takes
    #[arg(long, value_name = "MS", default_value_t = 50)]
    latency: u64,
    /// A few faults of each kind
    #[arg(long)]
    faults: bool,
    /// End when standard input ends
    #[arg(long)]
    quit_on_input: bool,
}

fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    let script = Script {
        latency: Duration::from_millis(arguments.latency),
        faults: if arguments.faults { Faults::some() } else { Faults::default() },
        ..Script::default()
    };
    let server = Server::listen(script, arguments.port)?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", server.url())?;
    out.flush()?;
    if arguments.quit_on_input {
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
        return writeln!(out, "{}", server.books().count());
    }
    loop {
        std::thread::park();
    }
}
