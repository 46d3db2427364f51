//! Texts of the bands: collected, handed to an engine, put back where they are shorter.

use super::decide::Decider;
use super::edits::Action;
use crate::clone::{Answer, Engine, Piece, SHORTEST, Speaker, Speakers};
use crate::rows::{PromptShape, RowIndex};
use backstory_format::claude::BlockKind;
use backstory_format::json::text::encode_into;
use backstory_model::{Content, Span};
use backstory_store::{SourceReader, StoreError};

/// How many reasons for failures are reported.
const REASONS: usize = 5;

#[derive(Debug)]
struct Spot {
    row: RowIndex,
    block: usize,
    raw: u32,
}

impl Decider<'_> {
    /// Compresses what is in bands; gives the first reasons for failures.
    pub(super) fn compress(
        &mut self,
        engine: &dyn Engine,
        reader: &mut SourceReader,
    ) -> Result<Vec<String>, StoreError> {
        let (spots, pieces) = self.pieces(reader)?;
        let mut reasons = Vec::new();
        if pieces.is_empty() {
            return Ok(reasons);
        }
        let rows = self.rows();
        for (spot, answer) in spots.iter().zip(engine.shorten(&pieces)) {
            match answer {
                Answer::Shorter(text) if fits(&text, spot.raw) => {
                    self.counts.texts_compressed += 1;
                    self.edits.set(rows, spot.row, spot.block, Action::Replace(text));
                }
                Answer::Shorter(_) | Answer::AsItIs => {}
                Answer::Failed(reason) => {
                    self.counts.texts_failed += 1;
                    if reasons.len() < REASONS {
                        reasons.push(reason);
                    }
                }
            }
        }
        Ok(reasons)
    }

    fn pieces(&self, reader: &mut SourceReader) -> Result<(Vec<Spot>, Vec<Piece>), StoreError> {
        let rows = self.rows();
        let (mut spots, mut pieces) = (Vec::new(), Vec::new());
        for stage in &self.stages {
            let answers = stage.exchange.answer.iter().map(|row| (*row, Speaker::Model));
            let prompts = stage.exchange.replies.iter().filter(|row| {
                let part = rows.row(**row).and_then(|row| rows.message(row));
                self.options.speakers == Speakers::Everyone
                    && part.is_some_and(|part| part.prompt == PromptShape::Prompt)
            });
            for (at, speaker) in answers.chain(prompts.map(|row| (*row, Speaker::Person))) {
                // A prompt opens the turn after the answer that it follows.
                let band = match speaker {
                    Speaker::Model => self.band(stage),
                    Speaker::Person => rows.row(at).and_then(|row| {
                        let turn = self.taken.turns.turn(row);
                        let mut bands = self.options.bands.iter();
                        bands.find(|band| band.holds(turn, self.taken.turns.count)).copied()
                    }),
                };
                let Some(band) = band.filter(|_| !self.edits.is_gone(at)) else { continue };
                for (number, block) in self.blocks(at).iter().enumerate() {
                    let Some(text) = self.text_of(at, number, block.kind, block.text) else {
                        continue;
                    };
                    let piece = reader.text(&Content::Text(text))?.into_owned();
                    spots.push(Spot { row: at, block: number, raw: text.length });
                    pieces.push(Piece { text: piece, level: band.level, speaker });
                }
            }
        }
        Ok((spots, pieces))
    }

    fn text_of(
        &self,
        row: RowIndex,
        block: usize,
        kind: BlockKind,
        text: Option<Span>,
    ) -> Option<Span> {
        let text = text.filter(|text| text.length as usize >= SHORTEST)?;
        (kind == BlockKind::Text && *self.edits.action(row, block) == Action::Keep).then_some(text)
    }
}

/// Whether a text is one, and takes less room than what it replaces.
fn fits(text: &str, raw: u32) -> bool {
    let mut encoded = Vec::new();
    encode_into(text, &mut encoded);
    !text.trim().is_empty() && encoded.len() < raw as usize
}
