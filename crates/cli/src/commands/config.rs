//! `backstory config`

use crate::config;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::settings;
use crate::ui::{self, Align, BOLD, Column, JsonLines, Table};
use backstory_redact::{Class, Classes};
use backstory_text::escape::terminal_line;
use clap::Args;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Show the settings in force, and where each comes from
#[derive(Debug, Args)]
#[command(
    after_help = "Settings are in ~/.config/backstory/config.toml and .backstory.toml (docs/settings.md).\n\nExamples:\n  backstory config\n  backstory config --json"
)]
pub(crate) struct ConfigArguments {
    /// One JSON object for each setting (backstory.config/1)
    #[arg(long)]
    json: bool,
}

/// A setting: its key, its value, and the file it comes from unless it is the default.
struct Row {
    key: &'static str,
    value: Value,
    from: Option<PathBuf>,
}

pub(crate) fn run(arguments: &ConfigArguments) -> Result<Outcome, CliError> {
    let config = config::read()?;
    let rows = rows(config);
    if arguments.json {
        let mut out = JsonLines::new();
        for row in &rows {
            let from = row.from.as_ref().map(|from| from.to_string_lossy());
            out.write(&json!({
                "schema": "backstory.config/1", "key": row.key, "value": row.value, "from": from,
            }))?;
        }
        out.finish()?;
    } else {
        write_table(&rows)?;
    }
    for unused in &config.unused {
        let path = unused.from.display();
        ui::warn(&format!("`{path}`: `{}` not used: the file is not trusted", unused.value));
    }
    if let Some(unused) = config.unused.first() {
        ui::hint(&settings::trust_hint(&unused.from));
    }
    Ok(Outcome::Fine)
}

fn rows(config: &config::Config) -> Vec<Row> {
    fn row<T>(
        key: &'static str,
        set: Option<&config::Set<T>>,
        value: impl FnOnce(&T) -> Value,
        default: Value,
    ) -> Row {
        match set {
            Some(set) => Row { key, value: value(&set.value), from: Some(set.from.clone()) },
            None => Row { key, value: default, from: None },
        }
    }
    let paths = |paths: &[PathBuf]| {
        Value::from(paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>())
    };
    let places = environment::default_roots();
    let places: Vec<PathBuf> = places.into_iter().map(|root| root.path).collect();
    let zone = config::zone();
    let zone = Value::from(zone.iana_name().unwrap_or("that of the system"));
    let names = |classes: &Classes| {
        let held = Class::ALL.iter().filter(|class| classes.holds(**class));
        Value::from(held.map(|class| class.name()).collect::<Vec<_>>())
    };
    vec![
        row("roots", config.roots.as_ref(), |roots| paths(roots), paths(&places)),
        row("timezone", config.timezone.as_ref(), |_| zone.clone(), zone.clone()),
        row("quiet", config.quiet.as_ref(), |quiet| Value::from(*quiet), Value::from(false)),
        row(
            "pager",
            config.pager.as_ref(),
            |pager| Value::from(pager.as_str()),
            environment::pager(None).map_or(Value::Null, Value::from),
        ),
        row(
            "prices",
            config.prices.as_ref(),
            |path| Value::from(path.to_string_lossy()),
            Value::Null,
        ),
        row("redact.classes", config.redact.as_ref(), names, Value::Null),
    ]
}

fn write_table(rows: &[Row]) -> Result<(), CliError> {
    const TEXT: Column = Column::new(Align::Left);
    let head = ["key", "value", "from"];
    let cells: Vec<[String; 3]> = rows.iter().map(cells).collect();
    let mut table = Table::new([TEXT, TEXT, TEXT]);
    table.measure(&head);
    cells.iter().for_each(|row| table.measure(row));
    let mut out = ui::stdout();
    writeln!(out, "{}", table.line(&head, BOLD))?;
    for row in &cells {
        writeln!(out, "{}", table.line(row, anstyle::Style::new()))?;
    }
    out.flush()?;
    Ok(())
}

fn cells(row: &Row) -> [String; 3] {
    let short = |text: &str| {
        if Path::new(text).is_absolute() {
            ui::short_path(text)
        } else {
            terminal_line(text).into_owned()
        }
    };
    let value = match &row.value {
        Value::Null => "–".to_owned(),
        Value::String(text) => short(text),
        Value::Array(list) => {
            list.iter().filter_map(Value::as_str).map(short).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    let from = row.from.as_ref().map(|from| ui::short_path(&from.to_string_lossy()));
    [row.key.to_owned(), value, from.unwrap_or_else(|| "default".to_owned())]
}
