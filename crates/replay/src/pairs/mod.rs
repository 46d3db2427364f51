//! Preference data from a journal: where teachers agree on something else than the student did.
//!
//! Every state of the run has one fate, and the fates add up: it became a pair, teachers agree with the
//! student, or there is a reason why neither. Nothing is asked here and nothing is guessed: a state whose
//! teachers failed has no pair. One conversation is in memory at a time, and the answers of all.

mod agreement;
#[cfg(feature = "table")]
mod columns;
mod consensus;
mod figures;
mod filter;
mod format;
mod maker;
mod schema;
mod turns;
mod votes;

pub use agreement::{Agreement, Counts};
#[cfg(feature = "table")]
pub use columns::columns;
pub use consensus::{Verdict, decide};
pub use figures::{Figures, JournalFigures, Reason};
pub use filter::{Bounds, Dedup};
pub use format::{Kind, PairFormat};

use backstory_export::normalise::Level;
use backstory_redact::Redactor;
use backstory_store::open_file;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// How pairs are made.
#[derive(Debug, Clone)]
pub struct PairOptions<'o> {
    /// The format of the rows.
    pub format: PairFormat,
    /// What counts as the same action.
    pub level: Level,
    /// How many teachers must agree; without it a majority of those that answered, and two at least.
    pub min_agree: Option<usize>,
    /// Teachers whose word counts first where groups are of one size; then comes the order of the
    /// journal.
    pub priority: Vec<String>,
    /// Lengths that are allowed.
    pub bounds: Bounds,
    /// Which repeated rows are left out.
    pub dedup: Dedup,
    /// What must find nothing in a row.
    pub redactor: &'o Redactor,
}

/// Why no pairs were made.
#[allow(missing_docs, reason = "the messages say what the fields are")]
#[derive(Debug, thiserror::Error)]
pub enum PairsError {
    #[error("`{}`: {cause}", path.display())]
    Read { path: PathBuf, cause: io::Error },
    #[error("`{}`: no line of it is a journal's", path.display())]
    NoJournal { path: PathBuf },
    #[error("`{0}`: the journal has no such teacher")]
    NoTeacher(String),
    #[error(transparent)]
    Write(io::Error),
}

/// Where the states of a journal are: the file that its first run names, next to it.
pub fn states_path(journal: &Path) -> Result<PathBuf, PairsError> {
    let read = |cause| PairsError::Read { path: journal.to_path_buf(), cause };
    let file = open_file(journal).map_err(read)?;
    for line in BufReader::new(file).lines() {
        let line = line.map_err(read)?;
        if let Ok(crate::journal::Entry::Run(run)) = crate::journal::Entry::parse(&line) {
            let name = Path::new(&run.states).file_name().map(PathBuf::from).unwrap_or_default();
            return Ok(journal.with_file_name(name));
        }
    }
    Err(PairsError::NoJournal { path: journal.to_path_buf() })
}

/// Makes the rows of a journal, and says what became of every state.
pub fn make(
    journal: &Path,
    states: &Path,
    options: &PairOptions<'_>,
    out: &mut dyn Write,
) -> Result<Figures, PairsError> {
    let votes = votes::Votes::read(journal, &options.priority)?;
    let mut maker = maker::Maker::new(votes, options, out);
    let failed = |cause| PairsError::Read { path: states.to_path_buf(), cause };
    let file = open_file(states).map_err(failed)?;
    let mut lines = BufReader::with_capacity(256 << 10, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        if !line.trim_ascii().is_empty() {
            maker.line(&line).map_err(PairsError::Write)?;
        }
    }
    Ok(maker.finish())
}

#[cfg(test)]
mod tests;
