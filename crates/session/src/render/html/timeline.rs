//! The session at a glance: a bar per turn, as long as it took, as high as it cost tokens.
//!
//! Idle time between turns is drawn short, else a session of two evenings would be two lines.

use crate::render::heading;
use crate::render::outline::TurnView;
use backstory_model::Outcome;
use backstory_text::escape;
use backstory_text::figures::duration;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 56.0;
/// More turns than this make bars too thin to see.
const MOST_TURNS: usize = 600;
const LONGEST_GAP_SECONDS: f64 = 300.0;
const SHORTEST_TURN_SECONDS: f64 = 5.0;

/// An SVG with a link to each turn; empty when there is nothing to compare.
pub(super) fn draw(turns: &[TurnView]) -> String {
    if !(2..=MOST_TURNS).contains(&turns.len()) {
        return String::new();
    }
    let mut spans = Vec::with_capacity(turns.len());
    let mut at = 0.0;
    let mut previous: Option<jiff::Timestamp> = None;
    for turn in turns {
        if let (Some(before), Some(start)) = (previous, turn.timestamp) {
            let gap = (start.as_second() - before.as_second()) as f64;
            at += gap.clamp(1.0, LONGEST_GAP_SECONDS) / 4.0;
        }
        let length =
            (turn.duration_ms.unwrap_or(0) as f64 / 1000.0).clamp(SHORTEST_TURN_SECONDS, 7_200.0);
        spans.push((at, length));
        at += length;
        previous = turn.ended.or(turn.timestamp);
    }
    let scale = WIDTH / at.max(1.0);
    let most = turns.iter().map(weight).fold(1.0, f64::max);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"group\" aria-label=\"Timeline of turns\">\n"
    );
    for (turn, (start, length)) in turns.iter().zip(spans) {
        let height = (weight(turn) / most * (HEIGHT - 6.0) + 4.0).min(HEIGHT);
        let class = match turn.outcome {
            Outcome::Completed => "",
            Outcome::ApiError => " class=\"bad\"",
            _ => " class=\"open\"",
        };
        let mut words = format!("Turn {}: {}", turn.number, turn.title);
        if let Some(milliseconds) = turn.duration_ms {
            words.push_str(&format!(", {}", duration(milliseconds)));
        }
        if turn.usage.messages > 0 {
            words.push_str(&format!(", {}", heading::usage(&turn.usage)));
        }
        let words = escape::html(&words);
        svg.push_str(&format!(
            "<a href=\"#{}\" aria-label=\"{words}\"><title>{words}</title><rect{class} x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"/></a>\n",
            turn.anchor,
            start * scale,
            HEIGHT - height,
            (length * scale).max(1.5),
        ));
    }
    svg.push_str("</svg>\n");
    svg
}

/// Output counts most, and its square root keeps the small ones visible.
fn weight(turn: &TurnView) -> f64 {
    (turn.usage.output as f64).sqrt()
}
