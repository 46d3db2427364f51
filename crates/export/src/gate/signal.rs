//! What in a trace points to a mistake.

/// What in a trace points to a mistake, or makes one matter more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Signal {
    /// A call of the message failed.
    ResultError,
    /// The user refused a call of the message, or stopped the model there.
    Rejected,
    /// The user's next words say that something is wrong.
    Corrected,
    /// A call was made before, and nothing was changed in between.
    Repeated,
    /// What it wrote into a file was replaced or taken back later.
    EditUndone,
    /// The first message after a compaction.
    AfterCompaction,
    /// It changes files, or runs a command that may.
    Mutating,
    /// The model thought for long.
    LongThinking,
    /// Another model than before.
    ModelSwitch,
}

impl Signal {
    /// All signals, in the order of reports.
    pub const ALL: [Signal; 9] = [
        Signal::ResultError,
        Signal::Rejected,
        Signal::Corrected,
        Signal::Repeated,
        Signal::EditUndone,
        Signal::AfterCompaction,
        Signal::Mutating,
        Signal::LongThinking,
        Signal::ModelSwitch,
    ];

    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Signal::ResultError => "result_error",
            Signal::Rejected => "rejected",
            Signal::Corrected => "corrected",
            Signal::Repeated => "repeated",
            Signal::EditUndone => "edit_undone",
            Signal::AfterCompaction => "after_compaction",
            Signal::Mutating => "mutating",
            Signal::LongThinking => "long_thinking",
            Signal::ModelSwitch => "model_switch",
        }
    }

    /// What it adds to the log-odds of a disagreement. What somebody or something objected to weighs most,
    /// what only makes a mistake more likely least.
    pub fn weight(self) -> f64 {
        match self {
            Signal::Rejected => 4.0,
            Signal::ResultError | Signal::Corrected => 3.5,
            Signal::Repeated | Signal::EditUndone => 3.0,
            Signal::AfterCompaction | Signal::ModelSwitch => 0.6,
            Signal::Mutating | Signal::LongThinking => 0.4,
        }
    }

    fn bit(self) -> u16 {
        1 << (self as u16)
    }
}

/// A set of signals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signals(u16);

impl Signals {
    /// Adds a signal.
    pub fn insert(&mut self, signal: Signal) {
        self.0 |= signal.bit();
    }

    /// Whether a signal is in the set.
    pub fn holds(self, signal: Signal) -> bool {
        self.0 & signal.bit() != 0
    }

    /// Whether there are no signals.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// In the order of [`Signal::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Signal> {
        Signal::ALL.into_iter().filter(move |signal| self.holds(*signal))
    }

    /// Reads the names that `meta.signals` of a state holds; names of later versions are skipped.
    pub fn named<'n>(names: impl IntoIterator<Item = &'n str>) -> Signals {
        let mut signals = Signals::default();
        for name in names {
            Signal::ALL
                .iter()
                .filter(|signal| signal.name() == name)
                .for_each(|signal| signals.insert(*signal));
        }
        signals
    }
}

impl FromIterator<Signal> for Signals {
    fn from_iter<I: IntoIterator<Item = Signal>>(signals: I) -> Signals {
        let mut all = Signals::default();
        signals.into_iter().for_each(|signal| all.insert(signal));
        all
    }
}
