//! Options that all commands have, and values of options.

use backstory_store::Store;
use clap::Args;
use std::path::PathBuf;

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct GlobalArguments {
    /// Read sessions from DIR: an agent's folder, any folder of session files, or a file;
    /// repeatable
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) root: Vec<PathBuf>,

    /// Use the bundled sample instead of the sessions on this machine
    #[arg(long, global = true, conflicts_with = "root", hide_short_help = true)]
    pub(crate) sample: bool,

    /// All projects, not only the repository of the current folder
    #[arg(long, short = 'a', global = true)]
    pub(crate) everywhere: bool,

    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: ColorChoice,

    /// Skip records longer than this (bytes, or with K, M, G)
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = parse_size, global = true, hide_short_help = true)]
    pub(crate) max_record: u64,

    /// Do not report skipped files
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// What all of the command reads through.
    #[arg(skip)]
    pub(crate) store: Store,

    /// Name each skipped file, and why
    #[arg(long, short, global = true, conflicts_with = "quiet", hide_short_help = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let (digits, unit) =
        match text.char_indices().find(|(_, character)| !character.is_ascii_digit()) {
            Some((at, _)) => text.split_at(at),
            None => (text, ""),
        };
    let factor = match unit.to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err(format!("unknown unit `{unit}`; use K, M or G")),
    };
    let number: u64 = digits.parse().map_err(|_| "a number is needed, such as 256M".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "too large".to_owned())
}
