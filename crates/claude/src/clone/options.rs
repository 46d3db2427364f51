//! What a clone is to hold, as plain data.
//!
//! Options are recorded in the clone they made, so everything here can be written as JSON and read
//! back. Nothing is decided here about any agent's format.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// Everything that can be chosen; the default changes nothing but ids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    pub branches: Branches,
    /// The last turn or record to take.
    pub up_to: Option<UpTo>,
    pub start: Start,
    pub subagents: Subagents,
    pub tools: Tools,
    pub thinking: Thinking,
    /// Parts of the conversation whose texts are compressed.
    pub bands: Vec<Band>,
    /// Whose texts the bands are about.
    pub speakers: Speakers,
    pub drop: BTreeSet<Droppable>,
    /// The clone's title; made from the source's if none.
    pub title: Option<String>,
    /// The folder the clone is to work in, if not the source's.
    pub project: Option<String>,
}

/// Which branches of the conversation are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Branches {
    /// What a resume would send.
    #[default]
    Active,
    /// Also what came before a compaction and what was rewound.
    All,
}

/// Where the clone begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    #[default]
    Beginning,
    LastCompaction,
}

/// What happens to the files of subagents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Subagents {
    #[default]
    Leave,
    /// Those that a call of the clone started are copied.
    Take,
}

/// The end of what is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UpTo {
    /// Number of a turn, from 1, as it is shown.
    Turn(u64),
    /// Uuid of a record, or the start of one.
    Record(String),
}

impl FromStr for UpTo {
    type Err = String;

    fn from_str(text: &str) -> Result<UpTo, String> {
        let text = text.trim();
        match text.parse::<u64>() {
            Ok(0) => Err("turns are counted from 1".to_owned()),
            Ok(turn) if text.len() < 8 => Ok(UpTo::Turn(turn)),
            _ if text.len() >= 4 => Ok(UpTo::Record(text.to_owned())),
            _ => Err("give the number of a turn or the uuid of a record".to_owned()),
        }
    }
}

/// What happens to a tool call and its result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ToolMode {
    #[default]
    Keep,
    /// Long texts are cut in the middle.
    Truncate,
    Remove,
}

impl FromStr for ToolMode {
    type Err = String;

    fn from_str(text: &str) -> Result<ToolMode, String> {
        match text {
            "keep" => Ok(ToolMode::Keep),
            "truncate" => Ok(ToolMode::Truncate),
            "remove" => Ok(ToolMode::Remove),
            other => Err(format!("`{other}` is not one of keep, truncate, remove")),
        }
    }
}

/// What happens to tool calls, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Tools {
    /// For calls in the older turns.
    pub mode: ToolMode,
    pub older: Older,
    /// Of the turns with tools that are not older, so many percent are truncated, oldest first.
    pub truncate_percent: u8,
    /// Tools with a mode of their own.
    pub by_name: BTreeMap<String, ToolMode>,
}

/// Which turns are the older ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Older {
    /// All but the last so many turns that have tools. Cloning a clone so changes nothing more.
    ButLast(u32),
    /// The first so many percent of all turns.
    Percent(u8),
}

impl Default for Older {
    fn default() -> Older {
        Older::ButLast(0)
    }
}

/// What happens to the model's thinking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Thinking {
    #[default]
    Keep,
    Remove,
}

/// Things of which every one is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Droppable {
    /// Text that the client injected.
    Meta,
    /// States of running tools.
    Progress,
    /// Records of the files before a prompt.
    Snapshots,
    /// Pictures, in prompts and in results.
    Images,
}

impl FromStr for Droppable {
    type Err = String;

    fn from_str(text: &str) -> Result<Droppable, String> {
        match text {
            "meta" => Ok(Droppable::Meta),
            "progress" => Ok(Droppable::Progress),
            "snapshots" => Ok(Droppable::Snapshots),
            "images" => Ok(Droppable::Images),
            other => Err(format!("`{other}` is not one of meta, progress, snapshots, images")),
        }
    }
}

/// Whose texts are compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Speakers {
    #[default]
    Model,
    Everyone,
}

/// How much of a text is to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Light,
    Compress,
    HeavyCompress,
}

impl Level {
    /// The word used in options and output.
    pub fn name(self) -> &'static str {
        match self {
            Level::Light => "light",
            Level::Compress => "compress",
            Level::HeavyCompress => "heavy-compress",
        }
    }

    /// Which part of a text is aimed at, in percent.
    pub fn percent(self) -> usize {
        match self {
            Level::Light => 70,
            Level::Compress => 35,
            Level::HeavyCompress => 15,
        }
    }

    /// How many bytes of a tool's text stay.
    pub fn tool_bytes(self) -> usize {
        match self {
            Level::Light => 4_000,
            Level::Compress => 1_000,
            Level::HeavyCompress => 240,
        }
    }
}

/// A part of the conversation, in percent of its turns, and what is done to its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Band {
    pub start: u8,
    pub end: u8,
    pub level: Level,
}

impl Band {
    /// Whether turn `turn` (from 0) of `turns` lies in it.
    pub fn holds(&self, turn: usize, turns: usize) -> bool {
        let (turn, turns) = (turn as u128, turns.max(1) as u128);
        turn * 100 >= u128::from(self.start) * turns && turn * 100 < u128::from(self.end) * turns
    }
}

impl fmt::Display for Band {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}:{}", self.start, self.end, self.level.name())
    }
}

impl FromStr for Band {
    type Err = String;

    fn from_str(text: &str) -> Result<Band, String> {
        let form = || "a band is START-END:LEVEL, such as 0-50:compress".to_owned();
        let (range, level) = text.split_once(':').ok_or_else(form)?;
        let (start, end) = range.split_once('-').ok_or_else(form)?;
        let percent = |text: &str| text.trim().trim_end_matches('%').parse::<u8>().ok();
        let (start, end) = percent(start).zip(percent(end)).ok_or_else(form)?;
        if start >= end || end > 100 {
            return Err("a band starts before it ends, and ends at 100 or before".to_owned());
        }
        let level = match level.trim() {
            "light" => Level::Light,
            "compress" => Level::Compress,
            "heavy-compress" | "heavy" => Level::HeavyCompress,
            other => {
                return Err(format!("`{other}` is not one of light, compress, heavy-compress"));
            }
        };
        Ok(Band { start, end, level })
    }
}

/// The first two bands of which both claim the same turns.
pub fn overlap(bands: &[Band]) -> Option<(Band, Band)> {
    bands.iter().enumerate().find_map(|(at, one)| {
        let mut later = bands.iter().skip(at + 1);
        later.find(|other| one.start < other.end && other.start < one.end).map(|two| (*one, *two))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_read_and_hold_their_turns() {
        let band: Band = "25-50:heavy".parse().unwrap();
        assert_eq!(band.to_string(), "25-50:heavy-compress");
        let held: Vec<usize> = (0..8).filter(|turn| band.holds(*turn, 8)).collect();
        assert_eq!(held, [2, 3]);
        for odd in ["", "5", "50-25:light", "0-101:light", "0-10:x", "a-b:light", "10-10:light"] {
            assert!(odd.parse::<Band>().is_err(), "{odd}");
        }
        let bands =
            ["0-30:light", "30-60:compress", "59-70:light"].map(|text| text.parse().unwrap());
        assert_eq!(overlap(&bands[..2]), None);
        assert!(overlap(&bands).is_some());
    }

    #[test]
    fn up_to_separates_turns_from_records() {
        assert_eq!("12".parse(), Ok(UpTo::Turn(12)));
        assert_eq!("12345678".parse(), Ok(UpTo::Record("12345678".into())));
        assert!("0".parse::<UpTo>().is_err() && "x".parse::<UpTo>().is_err());
    }
}
