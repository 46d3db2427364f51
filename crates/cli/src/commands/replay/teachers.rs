//! Teachers and their keys.

use super::ReplayArguments;
use crate::environment;
use crate::error::CliError;
use crate::settings::{self, LARGEST_SETTINGS, Standing};
use crate::ui;
use backstory_replay::journal::JournalError;
use backstory_replay::price::PriceTable;
use backstory_replay::teacher::{Teacher, names_teachers, parse_teachers};
use backstory_session::stats::Prices;
use backstory_store::read_small_text;
use std::path::Path;

const EXAMPLE: &str = "[[teacher]]\nid = \"sonnet\"\nkind = \"anthropic\"\nbase_url = \"https://api.anthropic.com\"\nmodel = \"claude-sonnet-4-5\"\napi_key_env = \"ANTHROPIC_API_KEY\"";

/// The teachers that are to be asked: those of the user's own settings, or of a file that the user
/// names. A project's file could name anybody's address, and any variable as the key.
pub(super) fn read(arguments: &ReplayArguments, prices: Prices) -> Result<Vec<Teacher>, CliError> {
    let table = PriceTable::new(prices);
    let parse = |path: &Path, text: &str| {
        parse_teachers(text, &table).map_err(|error| {
            CliError::new(format!("`{}`: {error}", path.display()))
                .hint("docs/replay.md lists the fields of a teacher")
        })
    };
    let mut teachers: Vec<Teacher> = Vec::new();
    let mut ignored = None;
    let mut looked = Vec::new();
    match &arguments.teachers_from {
        Some(path) => {
            let text = read_small_text(path, LARGEST_SETTINGS).map_err(|error| {
                CliError::new(format!("--teachers-from {error}"))
                    .hint("name a file with [[teacher]] sections")
            })?;
            teachers = parse(path, &text)?;
            looked.push(path.clone());
        }
        None => {
            for file in settings::found()? {
                if file.standing != Standing::Own {
                    ignored = names_teachers(&file.text).then_some(file.path);
                    continue;
                }
                for teacher in parse(&file.path, &file.text)? {
                    if teachers.iter().any(|known| known.id == teacher.id) {
                        let (id, path) = (&teacher.id, file.path.display());
                        return Err(CliError::new(format!(
                            "`{path}`: teacher `{id}` is in another file too"
                        ))
                        .hint("keep one of them"));
                    }
                    teachers.push(teacher);
                }
                looked.push(file.path);
            }
        }
    }
    if let Some(path) = &ignored {
        ui::warn(&format!("`{}`: teachers of a project are not used", path.display()));
        ui::hint(&format!(
            "move them to {}, or say --teachers-from {}",
            own_file(),
            path.display()
        ));
    }
    if teachers.is_empty() {
        let looked: Vec<String> =
            looked.iter().map(|path| format!("`{}`", path.display())).collect();
        let places = if looked.is_empty() { own_file() } else { looked.join(", ") };
        return Err(CliError::new(format!("no teachers in {places}"))
            .hint(format!("write into {}:\n{EXAMPLE}", own_file())));
    }
    if arguments.teachers.is_empty() {
        return Ok(teachers);
    }
    for id in &arguments.teachers {
        if !teachers.iter().any(|teacher| teacher.id == *id) {
            let known: Vec<&str> = teachers.iter().map(|teacher| teacher.id.as_str()).collect();
            return Err(CliError::new(format!("--teacher `{id}`: no such teacher"))
                .hint(format!("the teachers are {}", known.join(", "))));
        }
    }
    teachers.retain(|teacher| arguments.teachers.contains(&teacher.id));
    Ok(teachers)
}

/// Where teachers belong.
fn own_file() -> String {
    let path = settings::own_places().into_iter().next();
    path.map_or_else(
        || "your config.toml".to_owned(),
        |path| ui::short_path(&path.to_string_lossy()),
    )
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
    if busy {
        plain.hint("wait for it, or name another journal with --journal")
    } else {
        plain.hint("nothing was sent")
    }
}
