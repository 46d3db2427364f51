//! Turns as far as they are told, and events put where they belong.

use crate::recovery::Link;
use crate::rows::{Notice, Row, Rows};
use backstory_model::{Block, Content, Event, Interjection, Recovered, Span, Turn, TurnKind};
use hashbrown::HashMap;
use std::sync::Arc;

/// Turns of one sequence of records, and which lines belong to which.
#[derive(Debug, Default)]
pub(super) struct TurnBuilder {
    pub(super) turns: Vec<Turn>,
    /// (line, turn), sorted by line.
    pub(super) places: Vec<(u32, usize)>,
    /// Events before the first turn.
    early: Vec<Event>,
}

impl TurnBuilder {
    pub(super) fn add_event(&mut self, event: Event, turn: Option<usize>) {
        match turn.and_then(|turn| self.turns.get_mut(turn)) {
            Some(turn) => turn.events.push(event),
            None => self.early.push(event),
        }
    }

    pub(super) fn add_notice(
        &mut self,
        rows: &Rows,
        row: &Row,
        notice: &Notice,
        turn: Option<usize>,
    ) {
        let kind = rows.names.text(notice.subtype);
        if kind.as_deref() != Some("turn_duration") {
            let kind = kind.as_deref().unwrap_or("notice").replace('_', "-");
            return self.add_event(event(row, &kind, notice.text), turn);
        }
        if let Some(turn) = turn.and_then(|turn| self.turns.get_mut(turn)) {
            turn.duration_ms = turn.duration_ms.or(notice.duration_ms);
        }
    }

    /// Adds a notice that hangs off the conversation to the turn that was running at its line.
    pub(super) fn add_late_notice(&mut self, rows: &Rows, row: &Row, notice: &Notice) {
        let turn = self.turn_at(row.line);
        if turn.is_some() {
            self.add_notice(rows, row, notice, turn);
        }
    }

    /// Adds the events of a branch that has no turns.
    pub(super) fn add_late_events(&mut self, branch: TurnBuilder) {
        for event in branch.early {
            self.add_late_event(event);
        }
    }

    /// Adds an event to the turn that was running at its line.
    pub(super) fn add_late_event(&mut self, event: Event) {
        let turn = self.turn_at(event.line.min(u64::from(u32::MAX)) as u32);
        self.add_event(event, turn);
    }

    /// Adds the records of earlier writings to the messages that they hold.
    pub(super) fn add_copies(&mut self, rows: &Rows, links: &[Link]) {
        if links.is_empty() {
            return;
        }
        let steps = self.turns.iter_mut().flat_map(|turn| turn.steps.iter_mut());
        let mut steps: HashMap<_, _> =
            steps.filter_map(|step| Some((step.message_id.clone()?, step))).collect();
        let kept = links.iter().filter(|(_, why)| *why != Some(Recovered::Copy));
        for row in kept.filter_map(|(at, _)| rows.row(*at)) {
            let id = rows.message(row).and_then(|part| rows.names.text(part.id));
            if let Some(step) = id.and_then(|id| steps.get_mut(&id)) {
                step.uuids.extend(rows.names.text(row.uuid));
                step.lines.push(u64::from(row.line));
            }
        }
    }

    /// Says how each turn ended, once everything is in its place.
    pub(super) fn finish_turns(&mut self) {
        for turn in &mut self.turns {
            turn.outcome = turn.ending();
        }
    }

    pub(super) fn add_interjection(&mut self, interjection: &Interjection) {
        let line = interjection.line.min(u64::from(u32::MAX)) as u32;
        if let Some(turn) = self.turn_at(line).and_then(|turn| self.turns.get_mut(turn)) {
            turn.interjections.push(interjection.clone());
        }
    }

    fn turn_at(&self, line: u32) -> Option<usize> {
        let after = self.places.partition_point(|(place, _)| *place <= line);
        let turn = match after.checked_sub(1) {
            Some(at) => self.places.get(at)?.1,
            None => 0,
        };
        (turn < self.turns.len()).then_some(turn)
    }

    /// Commands, summaries and notifications that the model did not answer are events, not turns.
    pub(super) fn fold_unanswered(&mut self) {
        let mut kept: Vec<Turn> = Vec::with_capacity(self.turns.len());
        let mut moved = Vec::with_capacity(self.turns.len());
        let mut waiting = std::mem::take(&mut self.early);
        for mut turn in self.turns.drain(..) {
            if !turn.steps.is_empty() || turn.kind.is_standalone() {
                waiting.append(&mut turn.events);
                turn.events = std::mem::take(&mut waiting);
                kept.push(turn);
            } else {
                let mut events = vec![prompt_event(&turn)];
                events.append(&mut turn.events);
                match kept.last_mut() {
                    Some(before) => before.events.append(&mut events),
                    None => waiting.append(&mut events),
                }
            }
            moved.push(kept.len().saturating_sub(1));
        }
        match kept.last_mut() {
            Some(last) => last.events.append(&mut waiting),
            None => self.early = waiting,
        }
        self.turns = kept;
        for (_, turn) in &mut self.places {
            *turn = moved.get(*turn).copied().unwrap_or(0);
        }
    }
}

fn prompt_event(turn: &Turn) -> Event {
    let kind = match turn.kind {
        TurnKind::Command => "local-command",
        TurnKind::Compact => "compacted",
        other => other.name(),
    };
    let text = turn.prompt.blocks.iter().find_map(|part| match &part.block {
        Block::Text(text) => Some(text.clone()),
        _ => None,
    });
    Event { kind: Arc::from(kind), line: turn.line.unwrap_or(0), timestamp: turn.timestamp, text }
}

pub(super) fn event(row: &Row, kind: &str, text: Option<Span>) -> Event {
    Event {
        kind: Arc::from(kind),
        line: u64::from(row.line),
        timestamp: row.timestamp,
        text: text.map(Content::Text),
    }
}
