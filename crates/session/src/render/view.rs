//! What of a session is shown, whatever the format.

use super::Neighbours;
use crate::stats::Prices;
use backstory_text::excerpt::Keep;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::sync::Arc;

/// What to show of a session.
#[derive(Debug, Clone)]
pub struct View {
    /// The kinds of content to show.
    pub parts: Parts,
    /// The turns to show.
    pub turns: TurnRange,
    /// How much of each tool result is shown.
    pub result: Keep,
    /// Opens what a terminal folds: results, thinking, long edits.
    pub full: bool,
    /// Show the client's messages to the model and to itself: hooks, reminders, caveats.
    pub noise: bool,
    /// The zone in which times are shown.
    pub zone: TimeZone,
    /// Further facts for the head of the document: what was run, when it was captured.
    pub facts: Vec<(String, String)>,
    /// The documents next to this one.
    pub neighbours: Option<Neighbours>,
    /// Prices of tokens; none if costs are not shown.
    pub prices: Option<Arc<Prices>>,
}

impl View {
    /// Everything, results shortened as usual.
    pub fn new(zone: TimeZone) -> View {
        View {
            parts: Parts::default(),
            turns: TurnRange::default(),
            result: Keep::Ends(DEFAULT_RESULT),
            full: false,
            noise: false,
            zone,
            facts: Vec::new(),
            neighbours: None,
            prices: None,
        }
    }

    /// `2026-01-31 09:30:00 +01:00`
    pub fn time(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
    }

    /// `2026-01-31 09:30`
    pub fn minute(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// `2026-01-31 09:30:00`
    pub fn short_time(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }
}

/// Bytes of a result that are shown by default.
pub const DEFAULT_RESULT: usize = 2_000;

/// Kinds of content that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Prompts.
    pub prompts: bool,
    /// Answers of the model.
    pub text: bool,
    /// Tool calls.
    pub tools: bool,
    /// Tool results.
    pub results: bool,
    /// Thinking.
    pub thinking: bool,
    /// Differences of edits.
    pub edits: bool,
    /// Subagents.
    pub subagents: bool,
}

impl Default for Parts {
    fn default() -> Parts {
        Parts {
            prompts: true,
            text: true,
            tools: true,
            results: true,
            thinking: true,
            edits: true,
            subagents: true,
        }
    }
}

impl Parts {
    /// The words for [`Parts::only`].
    pub const NAMES: [&'static str; 7] =
        ["prompts", "text", "tools", "results", "thinking", "edits", "subagents"];

    /// Nothing but what the words name; the first unknown word otherwise.
    pub fn only<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Parts, &'a str> {
        let mut parts = Parts {
            prompts: false,
            text: false,
            tools: false,
            results: false,
            thinking: false,
            edits: false,
            subagents: false,
        };
        for name in names {
            let part = match name {
                "prompts" => &mut parts.prompts,
                "text" => &mut parts.text,
                "tools" => &mut parts.tools,
                "results" => &mut parts.results,
                "thinking" => &mut parts.thinking,
                "edits" => &mut parts.edits,
                "subagents" => &mut parts.subagents,
                unknown => return Err(unknown),
            };
            *part = true;
        }
        Ok(parts)
    }

    /// Whether a call is shown at all.
    pub(super) fn shows_call(&self, is_edit: bool) -> bool {
        self.tools || self.results || (self.edits && is_edit)
    }
}

/// Turns by number, from one, both ends included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnRange {
    /// The first turn, counted from 1.
    pub first: Option<usize>,
    /// The last turn.
    pub last: Option<usize>,
}

impl TurnRange {
    /// `3`, `3..7`, `3..`, `..7`
    pub fn parse(text: &str) -> Option<TurnRange> {
        let number = |text: &str| match text.trim() {
            "" => Some(None),
            text => text.parse().ok().filter(|number| *number > 0).map(Some),
        };
        let (first, last) = match text.split_once("..") {
            Some((first, last)) => (number(first)?, number(last.trim_start_matches('='))?),
            None => {
                let one = number(text)?;
                (Some(one?), one)
            }
        };
        let backwards = matches!((first, last), (Some(first), Some(last)) if last < first);
        (!backwards).then_some(TurnRange { first, last })
    }

    pub(super) fn holds(&self, number: usize) -> bool {
        self.first.is_none_or(|first| number >= first)
            && self.last.is_none_or(|last| number <= last)
    }

    /// Whether a session with this many turns has one of these.
    pub fn meets(&self, turns: usize) -> bool {
        turns == 0 || self.first.unwrap_or(1) <= turns
    }

    pub(super) fn is_everything(&self) -> bool {
        self.first.is_none_or(|first| first <= 1) && self.last.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_as_typed() {
        let range = |first, last| Some(TurnRange { first, last });
        assert_eq!(TurnRange::parse("3"), range(Some(3), Some(3)));
        assert_eq!(TurnRange::parse("3..7"), range(Some(3), Some(7)));
        assert_eq!(TurnRange::parse("..7"), range(None, Some(7)));
        assert_eq!(TurnRange::parse("3.."), range(Some(3), None));
        for wrong in ["", "0", "7..3", "a", "1..b", "-1"] {
            assert_eq!(TurnRange::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn words_name_parts() {
        assert_eq!(Parts::only(Parts::NAMES), Ok(Parts::default()));
        assert_eq!(Parts::only(["prompts", "cake"]), Err("cake"));
    }
}
