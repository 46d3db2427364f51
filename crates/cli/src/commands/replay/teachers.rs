//! Teachers and their keys.

use super::ReplayArguments;
use crate::environment;
use crate::error::CliError;
use crate::redaction::own_settings;
use backstory_replay::journal::JournalError;
use backstory_replay::price::PriceTable;
use backstory_replay::teacher::{Teacher, parse_teachers};
use backstory_session::stats::Prices;

const EXAMPLE: &str = "write into .backstory.toml:\n[[teacher]]\nid = \"sonnet\"\nkind = \"anthropic\"\nbase_url = \"https://api.anthropic.com\"\nmodel = \"claude-sonnet-4-5\"\napi_key_env = \"ANTHROPIC_API_KEY\"";

/// The teachers that are to be asked.
pub(super) fn read(arguments: &ReplayArguments, prices: Prices) -> Result<Vec<Teacher>, CliError> {
    let (path, text) = match &arguments.teachers_from {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|cause| {
                CliError::new(format!("--teachers-from `{}`: {cause}", path.display()))
                    .hint("name a file with [[teacher]] sections")
            })?;
            (path.clone(), text)
        }
        None => own_settings()?.ok_or_else(|| {
            CliError::new("no teachers: there is no .backstory.toml here").hint(EXAMPLE)
        })?,
    };
    let mut teachers = parse_teachers(&text, &PriceTable::new(prices)).map_err(|error| {
        CliError::new(format!("`{}`: {error}", path.display()))
            .hint("docs/replay.md lists the fields of a teacher")
    })?;
    if teachers.is_empty() {
        return Err(CliError::new(format!("no teachers in `{}`", path.display())).hint(EXAMPLE));
    }
    if arguments.teachers.is_empty() {
        return Ok(teachers);
    }
    for id in &arguments.teachers {
        if !teachers.iter().any(|teacher| teacher.id == *id) {
            let known: Vec<&str> = teachers.iter().map(|teacher| teacher.id.as_str()).collect();
            return Err(CliError::new(format!("--teacher `{id}`: not in `{}`", path.display()))
                .hint(format!("the teachers are {}", known.join(", "))));
        }
    }
    teachers.retain(|teacher| arguments.teachers.contains(&teacher.id));
    Ok(teachers)
}

/// The value of each teacher's key.
pub(super) fn keys(teachers: &[Teacher]) -> Result<Vec<Option<String>>, CliError> {
    let value = |teacher: &Teacher| {
        let Some(name) = &teacher.api_key_env else { return Ok(None) };
        environment::key(name).map(Some).ok_or_else(|| {
            CliError::new(format!("teacher `{}`: the variable {name} is not set", teacher.id))
                .hint(format!("export {name}=… and start again; nothing was sent"))
        })
    };
    teachers.iter().map(value).collect()
}

pub(super) fn of_journal(error: JournalError) -> CliError {
    let busy = matches!(error, JournalError::Busy(_));
    let plain = CliError::new(error.to_string());
    match busy {
        true => plain.hint("wait for it, or name another journal with --journal"),
        false => plain.hint("nothing was sent"),
    }
}
