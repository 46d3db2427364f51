//! Sets of options under the names that users of other cloners know.
//!
//! The first four keep the tools of the last turns that have any, as ccs-cloner does; the others
//! are percentages of all turns, as the profiles of its predecessor. Unlike both, texts are cut in
//! the middle and stay of the same shape.

use super::options::{Droppable, Older, Options, Thinking, ToolMode, Tools};

/// A named set of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preset {
    /// `default`
    Default,
    /// `aggressive`
    Aggressive,
    /// `heavy`
    Heavy,
    /// `extreme`
    Extreme,
    /// `quick-clean`
    QuickClean,
    /// `heavy-trim`
    HeavyTrim,
    /// `preserve-recent`
    PreserveRecent,
}

impl Preset {
    /// Every one there is.
    pub const ALL: [Preset; 7] = [
        Preset::Default,
        Preset::Aggressive,
        Preset::Heavy,
        Preset::Extreme,
        Preset::QuickClean,
        Preset::HeavyTrim,
        Preset::PreserveRecent,
    ];

    /// The word used in options.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Default => "default",
            Preset::Aggressive => "aggressive",
            Preset::Heavy => "heavy",
            Preset::Extreme => "extreme",
            Preset::QuickClean => "quick-clean",
            Preset::HeavyTrim => "heavy-trim",
            Preset::PreserveRecent => "preserve-recent",
        }
    }

    /// What it does, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Preset::Default => "tools of the last 20 turns with tools, the older half truncated",
            Preset::Aggressive => "tools of the last 10 turns with tools, the older half truncated",
            Preset::Heavy => "tools of the last 10 turns with tools, 8 of them truncated",
            Preset::Extreme => "no tools",
            Preset::QuickClean => "no tools (100% of turns)",
            Preset::HeavyTrim => "all tools truncated",
            Preset::PreserveRecent => "no tools in the older 80% of turns",
        }
    }

    /// The options it stands for.
    pub fn options(self) -> Options {
        use ToolMode::{Remove, Truncate};
        let (mode, older, truncate_percent) = match self {
            Preset::Default => (Remove, Older::ButLast(20), 50),
            Preset::Aggressive => (Remove, Older::ButLast(10), 50),
            Preset::Heavy => (Remove, Older::ButLast(10), 80),
            Preset::Extreme => (Remove, Older::ButLast(0), 0),
            Preset::QuickClean => (Remove, Older::Percent(100), 0),
            Preset::HeavyTrim => (Truncate, Older::Percent(100), 0),
            Preset::PreserveRecent => (Remove, Older::Percent(80), 0),
        };
        let tools = Tools { mode, older, truncate_percent, ..Tools::default() };
        let drop = [Droppable::Progress, Droppable::Snapshots].into();
        Options { tools, thinking: Thinking::Remove, drop, ..Options::default() }
    }
}
