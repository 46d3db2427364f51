//! Compression without a model: lines are ranked and the best stay, in their order.
//!
//! Code blocks, decisions, names of files and errors come first, then headings and what stands at
//! the beginning or the end; what was said before is dropped. The same text always gives the same
//! result, and no word is ever changed or invented. Code is never cut inside a block: a block
//! stays as a whole or is named by its length.

use super::engine::{Answer, Piece, SHORTEST};
use backstory_format::slice::Part;
use backstory_text::figures::counted;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Lines that earlier texts of the clone hold already.
#[derive(Debug, Default)]
pub(super) struct Seen(HashSet<u64>);

/// A line of prose or a whole code block.
#[derive(Debug)]
struct Unit<'a> {
    text: &'a str,
    kind: Kind,
    weight: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Prose,
    Code,
    Blank,
}

pub(super) fn shorten(piece: &Piece, seen: &mut Seen) -> Answer {
    let text = piece.text.as_str();
    let mut units = units(text);
    let budget = text.len() * piece.level.percent() / 100;
    if text.len() < SHORTEST {
        seen.note(&units);
        return Answer::AsItIs;
    }
    let count = units.len();
    let mut kept = vec![false; count];
    for (at, unit) in units.iter_mut().enumerate() {
        let repeated = unit.kind == Kind::Prose && unit.text.len() > 20 && seen.knows(unit.text);
        unit.weight = if repeated { 0 } else { weight(unit, at, count) };
    }
    seen.note(&units);
    let mut order: Vec<usize> = (0..count).filter(|at| is_worth(&units, *at)).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(units.get(*at).map_or(0, |unit| unit.weight)), *at));
    let mut used = 0;
    for at in order {
        let Some(unit) = units.get(at) else { continue };
        // The best line stays, however long it is.
        if used > 0 && used + unit.text.len() > budget {
            continue;
        }
        used += unit.text.len() + 1;
        if let Some(slot) = kept.get_mut(at) {
            *slot = true;
        }
    }
    let out = join(&units, &kept);
    if out.trim().is_empty() || out.len() >= text.len() {
        Answer::AsItIs
    } else {
        Answer::Shorter(out)
    }
}

fn is_worth(units: &[Unit<'_>], at: usize) -> bool {
    units.get(at).is_some_and(|unit| unit.kind != Kind::Blank && unit.weight > 0)
}

/// What was kept, with a mark where something is missing.
fn join(units: &[Unit<'_>], kept: &[bool]) -> String {
    let mut out = String::new();
    let mut missing = 0;
    let mut blank = false;
    for (unit, kept) in units.iter().zip(kept) {
        match (unit.kind, kept) {
            (Kind::Blank, _) => blank = true,
            (_, false) => missing += unit.text.lines().count(),
            (_, true) => {
                if missing > 0 {
                    out.push_str(&mark(missing));
                } else if blank && !out.is_empty() {
                    out.push('\n');
                }
                out.push_str(unit.text);
                out.push('\n');
                (missing, blank) = (0, false);
            }
        }
    }
    if missing > 0 {
        out.push_str(&mark(missing));
    }
    out.truncate(out.trim_end().len());
    out
}

fn mark(lines: usize) -> String {
    format!("[… {} cut …]\n", counted(lines as u64, "line", "lines"))
}

fn units(text: &str) -> Vec<Unit<'_>> {
    let mut units = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = cut_line(rest);
        let fence = line.trim_start();
        let fence = ["```", "~~~"].into_iter().find(|mark| fence.starts_with(mark));
        if let Some(mark) = fence {
            let mut tail = after;
            while !tail.is_empty() {
                let (line, next) = cut_line(tail);
                tail = next;
                if line.trim_start().starts_with(mark) {
                    break;
                }
            }
            let block = rest.get(..rest.len() - tail.len()).unwrap_or(rest);
            units.push(Unit { text: block.trim_end_matches('\n'), kind: Kind::Code, weight: 0 });
            rest = tail;
            continue;
        }
        if line.trim().is_empty() {
            units.push(Unit { text: "", kind: Kind::Blank, weight: 0 });
        } else {
            units.extend(sentences(line));
        }
        rest = after;
    }
    units
}

/// Long lines are whole paragraphs: their sentences count one by one.
fn sentences(line: &str) -> Vec<Unit<'_>> {
    let prose = |text| Unit { text, kind: Kind::Prose, weight: 0 };
    if line.len() < 160 {
        return vec![prose(line)];
    }
    let mut units = Vec::new();
    let mut start = 0;
    for (at, _) in line.match_indices(['.', '!', '?', ';', '。']) {
        let end =
            at + line.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        let ends = line.get(end..).is_none_or(|rest| rest.starts_with(' ') || rest.is_empty());
        if ends && end - start >= 40 {
            units.extend(line.get(start..end).map(|text| prose(text.trim_start())));
            start = end;
        }
    }
    let rest = line.part(start..);
    if !rest.trim().is_empty() {
        units.push(prose(rest.trim_start()));
    }
    units
}

fn cut_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

const ERRORS: [&str; 10] = [
    "error",
    "fail",
    "panic",
    "exception",
    "cannot",
    "can't",
    "warning",
    "traceback",
    "denied",
    "not found",
];
const DECISIONS: [&str; 16] = [
    "decid",
    "instead",
    "because",
    "must",
    "chose",
    "choose",
    "therefore",
    "so that",
    "root cause",
    "fixed",
    "we will",
    "i will",
    "i'll",
    "next step",
    "important",
    "never",
];

fn weight(unit: &Unit<'_>, at: usize, count: usize) -> u32 {
    if unit.kind == Kind::Code {
        return 70;
    }
    let low = unit.text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| low.contains(word));
    let mut weight = 10;
    if has(&ERRORS) {
        weight += 40;
    }
    if has(&DECISIONS) {
        weight += 30;
    }
    if names_file(unit.text) {
        weight += 25;
    }
    if unit.text.trim_start().starts_with('#') {
        weight += 20;
    }
    if at == 0 || at + 1 == count {
        weight += 15;
    }
    weight
}

/// A word with a slash or a dot inside, or one in back quotes.
fn names_file(text: &str) -> bool {
    text.contains('`')
        || text.split_whitespace().any(|word| {
            let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
            let dotted = word.rsplit_once('.').is_some_and(|(stem, end)| {
                !stem.is_empty()
                    && (1..=5).contains(&end.len())
                    && end.chars().all(|letter| letter.is_ascii_alphanumeric())
                    && end.chars().any(|letter| letter.is_ascii_alphabetic())
            });
            dotted || word.contains('/')
        })
}

impl Seen {
    fn knows(&self, line: &str) -> bool {
        self.0.contains(&hash(line))
    }

    fn note(&mut self, units: &[Unit<'_>]) {
        self.0.extend(
            units.iter().filter(|unit| unit.kind == Kind::Prose).map(|unit| hash(unit.text)),
        );
    }
}

fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.trim().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::super::engine::Speaker;
    use super::super::options::Level;
    use super::*;

    fn piece(text: &str, level: Level) -> Piece {
        Piece { text: text.into(), level, speaker: Speaker::Model }
    }

    const ANSWER: &str = "Let me have a look at the kiln first and then tell you what I think about it.\n\nThe burner starts late. That is how it was before, and nobody minded it at all for a long while.\n\nerror[E0308]: mismatched types in src/burner.rs\n\n```rust\nfn main() {\n    fire();\n}\n```\n\nI decided to use a queue instead of a lock because two zones write at once.\nEverything else stays more or less the way it has been so far, as far as I can see.\n";

    #[test]
    fn code_decisions_names_and_errors_stay() {
        let Answer::Shorter(short) = shorten(&piece(ANSWER, Level::Light), &mut Seen::default())
        else {
            panic!("there is something to take out")
        };
        for kept in
            ["error[E0308]", "```rust\nfn main() {\n    fire();\n}\n```", "queue instead of"]
        {
            assert!(short.contains(kept), "{kept} is missing in:\n{short}");
        }
        assert!(short.len() < ANSWER.len() && short.contains(" cut …]"), "{short}");
    }

    #[test]
    fn levels_are_ordered_and_the_same_every_time() {
        let lengths = [Level::Light, Level::Compress, Level::HeavyCompress].map(|level| {
            let once = shorten(&piece(ANSWER, level), &mut Seen::default());
            assert_eq!(once, shorten(&piece(ANSWER, level), &mut Seen::default()));
            match once {
                Answer::Shorter(text) => text.len(),
                _ => ANSWER.len(),
            }
        });
        assert!(lengths[0] >= lengths[1] && lengths[1] >= lengths[2], "{lengths:?}");
    }

    #[test]
    fn shorten_drops_repeated_sentences() {
        let mut seen = Seen::default();
        shorten(&piece(ANSWER, Level::Light), &mut seen);
        let again = format!("Something new about flues.rs that was not there before.\n{ANSWER}");
        let Answer::Shorter(short) = shorten(&piece(&again, Level::Light), &mut seen) else {
            panic!("almost all of it was said before")
        };
        assert!(short.contains("flues.rs") && !short.contains("queue instead"), "{short}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_gets_shorter_or_stays(text in "[a-zé.`# /\n]{0,600}") {
            for level in [Level::Light, Level::Compress, Level::HeavyCompress] {
                match shorten(&piece(&text, level), &mut Seen::default()) {
                    Answer::Shorter(short) => {
                        proptest::prop_assert!(short.len() < text.len() && !short.trim().is_empty());
                    }
                    other => proptest::prop_assert_eq!(other, Answer::AsItIs),
                }
            }
        }
    }
}
