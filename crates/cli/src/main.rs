//! backstory: what coding agents did, from the traces they leave on disk.

mod args;
mod browser;
mod child;
mod commands;
mod config;
mod environment;
mod error;
mod filter;
mod former_names;
mod guard;
mod input_sessions;
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

use crate::args::GlobalArguments;
use backstory_format::Limits;
use backstory_store::Store;
use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

fn main() -> ExitCode {
    let (words, notices) = former_names::replace(std::env::args_os().collect());
    notices.iter().for_each(|notice| ui::say(notice));
    let parsed = commands::Arguments::command()
        .try_get_matches_from(words)
        .and_then(|given| Ok((commands::Arguments::from_arg_matches(&given)?, given)));
    let (mut arguments, given) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return ui::usage_error(&error),
    };
    arguments.global.store = store(&arguments.global);
    match commands::run(arguments, &given) {
        // Only the command that was run decides how this ends.
        Ok(outcome @ error::Outcome::Code(_)) => outcome.into(),
        Ok(outcome) => ui::ended(outcome.into()),
        Err(error) => ui::ended(ui::report(&error)),
    }
}

/// What the command reads through.
fn store(global: &GlobalArguments) -> Store {
    let limits = Limits { max_record: global.max_record, ..Limits::default() };
    let store = Store::default().with_limits(limits).with_tables(backstory_table::write_rows);
    match environment::git_limit() {
        Some(limit) => store.with_git_limit(limit),
        None => store,
    }
}
