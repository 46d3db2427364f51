//! What each client version wrote: which fields, which layout, how complete its usage is.
//!
//! The list of versions spans every regime of the format; a version is a date, too, so that trees have
//! a plausible history.

use crate::random::Random;

/// How far the usage recorded on the records of one message can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsageRegime {
    /// Up to 2.1.52: a placeholder on every record, `stop_reason` null.
    Placeholder,
    /// 2.1.59 to 2.1.97, and subagent files of later versions: only the last record is final.
    LastRecord,
    /// From 2.1.98: the final numbers on every record.
    EveryRecord,
}

/// One client version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Era {
    /// As written in records.
    pub(crate) version: &'static str,
    number: (u16, u16, u16),
    /// First day it was used, in days since 1970.
    pub(crate) day: i64,
    models: &'static [&'static str],
}

const fn era(
    version: &'static str,
    number: (u16, u16, u16),
    day: i64,
    models: &'static [&'static str],
) -> Era {
    Era { version, number, day, models }
}

const FOUR: &[&str] = &["claude-sonnet-4-20250514", "claude-opus-4-20250514"];
const FOUR_FIVE: &[&str] = &["claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101"];
const FOUR_SIX: &[&str] = &["claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-5-20251101"];
const FOUR_SEVEN: &[&str] = &["claude-opus-4-7", "claude-sonnet-4-6", "claude-opus-4-6"];
const FIVE: &[&str] = &["claude-opus-5", "claude-sonnet-5", "claude-opus-4-8"];
const GATEWAY: &[&str] = &["glm-5.1", "deepseek-v3.2", "MiniMax-M2"];

/// Every version a tree may contain, oldest first.
pub(crate) const ERAS: &[Era] = &[
    era("1.0.31", (1, 0, 31), 20_270, FOUR),
    era("1.0.62", (1, 0, 62), 20_295, FOUR),
    era("1.0.98", (1, 0, 98), 20_330, FOUR),
    era("2.0.28", (2, 0, 28), 20_390, FOUR_FIVE),
    era("2.0.76", (2, 0, 76), 20_430, FOUR_FIVE),
    era("2.1.0", (2, 1, 0), 20_460, FOUR_FIVE),
    era("2.1.20", (2, 1, 20), 20_475, FOUR_FIVE),
    era("2.1.30", (2, 1, 30), 20_485, FOUR_FIVE),
    era("2.1.45", (2, 1, 45), 20_500, FOUR_SIX),
    era("2.1.52", (2, 1, 52), 20_508, FOUR_SIX),
    era("2.1.62", (2, 1, 62), 20_516, FOUR_SIX),
    era("2.1.76", (2, 1, 76), 20_530, FOUR_SIX),
    era("2.1.84", (2, 1, 84), 20_540, FOUR_SIX),
    era("2.1.92", (2, 1, 92), 20_548, FOUR_SIX),
    era("2.1.98", (2, 1, 98), 20_555, FOUR_SEVEN),
    era("2.1.112", (2, 1, 112), 20_570, FOUR_SEVEN),
    era("2.1.143", (2, 1, 143), 20_590, FOUR_SEVEN),
    era("2.1.165", (2, 1, 165), 20_640, FIVE),
    era("2.1.215", (2, 1, 215), 20_680, FIVE),
    era("2.1.228", (2, 1, 228), 20_700, FIVE),
    era("2.1.325", (2, 1, 325), 20_760, FIVE),
];

impl Era {
    /// True from this version on.
    #[must_use]
    pub(crate) fn from(self, major: u16, minor: u16, patch: u16) -> bool {
        self.number >= (major, minor, patch)
    }

    /// True between two 2.1 versions, both included.
    #[must_use]
    pub(crate) fn within(self, first: u16, last: u16) -> bool {
        self.number >= (2, 1, first) && self.number <= (2, 1, last)
    }

    /// Subagents live inside the main file.
    #[must_use]
    pub(crate) fn sidechains_inside(self) -> bool {
        !self.from(2, 0, 0)
    }

    /// Subagents have a folder of their own, instead of files next to the session.
    #[must_use]
    pub(crate) fn agents_in_folder(self) -> bool {
        self.from(2, 1, 0)
    }

    /// Results of parallel calls hang from their own call, instead of from each other.
    #[must_use]
    pub(crate) fn results_fan_out(self) -> bool {
        self.from(2, 1, 0)
    }

    /// The tool that starts a subagent.
    #[must_use]
    pub(crate) fn agent_tool(self) -> &'static str {
        if self.from(2, 1, 63) { "Agent" } else { "Task" }
    }

    /// Subagent results come with `toolUseResult`.
    #[must_use]
    pub(crate) fn agents_have_structured_results(self) -> bool {
        !(self.within(14, 63) || self.within(89, 150))
    }

    /// Thinking blocks are signed but empty.
    #[must_use]
    pub(crate) fn thinking_is_empty(self) -> bool {
        self.from(2, 1, 146)
    }

    /// The regime of a session's own file.
    #[must_use]
    pub(crate) fn usage(self) -> UsageRegime {
        if !self.from(2, 1, 53) {
            UsageRegime::Placeholder
        } else if self.from(2, 1, 98) {
            UsageRegime::EveryRecord
        } else {
            UsageRegime::LastRecord
        }
    }

    /// The regime of a subagent's file.
    #[must_use]
    pub(crate) fn agent_usage(self) -> UsageRegime {
        match self.usage() {
            UsageRegime::EveryRecord => UsageRegime::LastRecord,
            other => other,
        }
    }

    /// A model a session of this time would use; one in twenty goes through a third-party gateway.
    #[must_use]
    pub(crate) fn model(self, random: &mut Random) -> &'static str {
        if self.from(2, 0, 0) && random.permille(50) {
            random.pick(GATEWAY)
        } else {
            random.pick(self.models)
        }
    }
}

/// True for models behind gateways: their ids have other forms and no request id.
#[must_use]
pub(crate) fn is_gateway(model: &str) -> bool {
    GATEWAY.contains(&model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_dates_rise() {
        assert!(
            ERAS.windows(2)
                .all(|pair| pair[0].number < pair[1].number && pair[0].day < pair[1].day)
        );
        for era in ERAS {
            let (major, minor, patch) = era.number;
            assert_eq!(era.version, format!("{major}.{minor}.{patch}"));
        }
    }
}
