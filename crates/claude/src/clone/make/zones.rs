//! Which turns lose their tools.
//!
//! Percentages of all turns shrink what is kept each time a clone is cloned; counting only turns
//! that have tools does not, so that is what is done unless percentages are asked for.

use super::decide::Stage;
use crate::clone::{Older, ToolMode, Tools};
use std::collections::BTreeSet;

/// What a turn is to the rules about tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    Older,
    /// Recent, but long texts are cut.
    Middle,
    Recent,
}

/// The zones of one conversation.
#[derive(Debug)]
pub(super) struct Zones<'a> {
    tools: &'a Tools,
    /// The first turn that is not older, and the first that is recent.
    middle: usize,
    recent: usize,
}

impl Zones<'_> {
    pub(super) fn new<'a>(stages: &[Stage], turns: usize, tools: &'a Tools) -> Zones<'a> {
        let with_tools: BTreeSet<usize> =
            stages.iter().filter(|stage| !stage.pairs.is_empty()).map(|stage| stage.turn).collect();
        let with_tools: Vec<usize> = with_tools.into_iter().collect();
        let middle = match tools.older {
            Older::ButLast(count) => {
                let left = with_tools.len().saturating_sub(count as usize);
                with_tools.get(left).copied().unwrap_or(turns.max(1))
            }
            Older::Percent(percent) => turns * usize::from(percent.min(100)) / 100,
        };
        let middle = if tools.older == Older::Percent(100) { usize::MAX } else { middle };
        let kept: Vec<usize> = with_tools.into_iter().filter(|turn| *turn >= middle).collect();
        let cut = kept.len() * usize::from(tools.truncate_percent.min(100)) / 100;
        let recent = match cut {
            0 => middle,
            cut => kept.get(cut).copied().unwrap_or(usize::MAX),
        };
        Zones { tools, middle, recent }
    }

    pub(super) fn zone(&self, turn: usize) -> Zone {
        match turn {
            turn if turn < self.middle => Zone::Older,
            turn if turn < self.recent => Zone::Middle,
            _ => Zone::Recent,
        }
    }

    /// What happens to a call of `tool` in a zone.
    pub(super) fn mode(&self, zone: Zone, tool: &[u8]) -> ToolMode {
        let named = self.tools.by_name.iter().find(|(name, _)| name_fits(name, tool));
        let named = named.map(|(_, mode)| *mode);
        match (zone, named) {
            (Zone::Recent, _) | (Zone::Middle, Some(ToolMode::Keep)) => ToolMode::Keep,
            (Zone::Middle, _) => ToolMode::Truncate,
            (Zone::Older, named) => named.unwrap_or(self.tools.mode),
        }
    }
}

/// Whether a name of the options means a tool; `mcp__*` means all that begin so.
fn name_fits(name: &str, tool: &[u8]) -> bool {
    match name.strip_suffix('*') {
        Some(start) => tool.starts_with(start.as_bytes()),
        None => tool == name.as_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::decide::Pair;
    use super::*;
    use crate::check::rules::request::exchanges;
    use crate::names::Name;
    use crate::rows::Rows;

    fn stages(turns: &[usize]) -> Vec<Stage> {
        let pair = Pair { call: (0, 0), result: None, id: Name::NONE, tool: Name::NONE };
        let stage = |turn: &usize| Stage {
            exchange: exchanges(&Rows::default(), &[]).remove(0),
            turn: *turn,
            protected: false,
            pairs: vec![pair],
        };
        turns.iter().map(stage).collect()
    }

    fn zones(turns: &[usize], count: usize, older: Older, truncate_percent: u8) -> Vec<Zone> {
        let tools = Tools { mode: ToolMode::Remove, older, truncate_percent, ..Tools::default() };
        let stages = stages(turns);
        let zones = Zones::new(&stages, count, &tools);
        (0..count).map(|turn| zones.zone(turn)).collect()
    }

    #[test]
    fn the_last_turns_with_tools_are_kept() {
        use Zone::{Middle, Older as Old, Recent};
        let kept = zones(&[0, 2, 3, 5], 6, Older::ButLast(2), 50);
        assert_eq!(kept, [Old, Old, Old, Middle, Middle, Recent]);
        assert_eq!(zones(&[0, 1], 2, Older::ButLast(0), 0), [Old, Old]);
        assert_eq!(zones(&[0, 1], 2, Older::ButLast(9), 0), [Recent, Recent]);
        assert_eq!(zones(&[0, 1], 2, Older::ButLast(9), 100), [Middle, Middle]);
    }

    #[test]
    fn percentages_are_of_all_turns() {
        use Zone::{Older as Old, Recent};
        assert_eq!(zones(&[0, 4], 5, Older::Percent(80), 0), [Old, Old, Old, Old, Recent]);
        assert_eq!(zones(&[0], 1, Older::Percent(80), 0), [Recent]);
        assert_eq!(zones(&[0], 1, Older::Percent(100), 0), [Old]);
    }
}
