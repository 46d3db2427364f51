//! `backstory-generate`: writes a synthetic session tree.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use backstory_generate::{Plan, describe, generate};
use clap::Parser;

/// Write a realistic synthetic session tree and its ground truth
///
/// The tree goes to DIR/projects, the truth to DIR/truth.json. The same arguments always give the same
/// bytes. Sizes come out right when there are at least about 20 KB per file.
///
/// Examples:
///   backstory-generate --out bench --mb 200 --files 400
///   backstory-generate --out small --mb 2 --files 20 --seed 3 --describe
#[derive(Debug, Parser)]
#[command(version, verbatim_doc_comment)]
struct Arguments {
    /// Folder to write to; it must not hold a tree already
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Size of all session files together, in millions of bytes
    #[arg(long, value_name = "MB", default_value_t = 200.0)]
    mb: f64,
    /// Number of .jsonl files, subagents included
    #[arg(long, value_name = "N", default_value_t = 400)]
    files: usize,
    /// Number of project folders
    #[arg(long, value_name = "N", default_value_t = 24)]
    projects: usize,
    /// Same seed, same tree
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
    /// Print line lengths and the number of lines of each type
    #[arg(long)]
    describe: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    ensure!(arguments.mb > 0.0 && arguments.mb < 1e9, "`--mb` must be a positive number");
    let plan = Plan {
        out: arguments.out,
        bytes: (arguments.mb * 1e6) as u64,
        files: arguments.files,
        projects: arguments.projects,
        seed: arguments.seed,
    };
    let truth = generate(&plan)?;
    let mut out = std::io::stdout().lock();
    let printed = if arguments.describe {
        describe(&truth, &mut out)
    } else {
        writeln!(
            out,
            "{} files, {} bytes in {}",
            truth.files.len(),
            truth.bytes,
            plan.out.display()
        )
    };
    match printed {
        // The reader may stop early.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot print"),
    }
}
