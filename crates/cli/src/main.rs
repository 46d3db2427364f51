//! backstory: what coding agents did, from the traces they leave on disk.

mod args;
mod browser;
mod child;
mod commands;
mod config;
mod environment;
mod error;
mod filter;
mod guard;
mod output;
mod pager;
mod prices;
mod quote;
mod redaction;
mod sample;
mod select;
mod settings;
mod times;
mod tokens;
mod ui;
mod work;

use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

fn main() -> ExitCode {
    backstory_store::read_tables_with(backstory_table::write_rows);
    if let Some(limit) = environment::git_limit() {
        backstory_store::limit_git(limit);
    }
    let parsed = commands::Arguments::command()
        .try_get_matches()
        .and_then(|given| Ok((commands::Arguments::from_arg_matches(&given)?, given)));
    let (arguments, given) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return ui::usage_error(&error),
    };
    match commands::run(arguments, &given) {
        // Only the command that was run decides how this ends.
        Ok(outcome @ error::Outcome::Code(_)) => outcome.into(),
        Ok(outcome) => ui::ended(outcome.into()),
        Err(error) => ui::ended(ui::report(&error)),
    }
}
