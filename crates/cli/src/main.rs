//! backstory: what coding agents did, from the traces they leave on disk.

mod args;
mod commands;
mod environment;
mod error;
mod pager;
mod prices;
mod project;
mod redaction;
mod sample;
mod select;
mod times;
mod tokens;
mod trail;
mod ui;
mod work;

use backstory_session::figures;
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return ui::usage_error(&error),
    };
    match commands::run(&arguments) {
        Ok(outcome) => outcome.into(),
        Err(error) => ui::report(&error),
    }
}
