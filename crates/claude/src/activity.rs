//! Which sessions were at work somewhere in a stretch of time.
//!
//! Decided by what records say of themselves: each names the folder and the time it was made.
//! The first line of a file, its name and its modification time prove nothing.

use backstory_format::{Problem, Record, Visitor};
use backstory_model::SessionFiles;
use backstory_store::{ReadContext, StoreError, read_file};
use jiff::Timestamp;

/// What a session's records show of a place and a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Activity {
    /// Records made there and then.
    pub inside: u64,
    /// Records that name a place and a time at all.
    pub placed: u64,
    /// Whether there are records from before.
    pub earlier: bool,
}

/// Looks through a session and its subagents for records made where `here` says and not before
/// `from` nor after `until`.
pub fn activity(
    files: &SessionFiles,
    context: &mut ReadContext,
    here: &dyn Fn(&str) -> bool,
    from: Timestamp,
    until: Timestamp,
) -> Result<Activity, StoreError> {
    let mut total = Activity::default();
    let agents = files.agents.iter().map(|agent| &agent.path);
    for path in std::iter::once(&files.path).chain(agents) {
        let new = || ActivityVisitor {
            here,
            from,
            until,
            last: (String::new(), false),
            found: Activity::default(),
        };
        let found = read_file(path, context, new)?.visitor.found;
        total.inside += found.inside;
        total.placed += found.placed;
        total.earlier |= found.earlier;
    }
    Ok(total)
}

struct ActivityVisitor<'a> {
    here: &'a dyn Fn(&str) -> bool,
    from: Timestamp,
    until: Timestamp,
    /// The folder asked about last, and the answer.
    last: (String, bool),
    found: Activity,
}

impl Visitor for ActivityVisitor<'_> {
    fn record(&mut self, record: &Record<'_>) {
        let value = record.value();
        let time = value.get_text("timestamp").and_then(|text| text.parse::<Timestamp>().ok());
        let (Some(time), Some(folder)) = (time, value.get_text("cwd")) else { return };
        self.found.placed += 1;
        self.found.earlier |= time < self.from;
        if time < self.from || time > self.until {
            return;
        }
        if self.last.0 != folder {
            self.last = (folder.to_string(), (self.here)(&folder));
        }
        self.found.inside += u64::from(self.last.1);
    }

    fn problem(&mut self, _problem: Problem) {}
}
