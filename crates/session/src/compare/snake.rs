//! "An O(ND) Difference Algorithm and its Variations" by Eugene Myers, with the heuristics of git: a box
//! of both lists is searched from both ends for a run of equal lines in the middle (a *snake*) and split
//! there, at the latest when that has become too much work.

use super::anchors;
use super::effort::Effort;
use super::prune::{Pruned, root};
use super::{Sides, common_end, common_start, set};
use backstory_format::slice::Part;
use imara_diff::Token;
use std::ops::Range;

/// A snake of this length is worth splitting at.
const SNAKE: i64 = 20;
/// How far a path must have come for each difference to be interesting.
const INTERESTING: i64 = 4;
/// Differences before heuristics set in.
const FEW: i64 = 256;

/// Lines of both sides that are compared, by number.
#[derive(Debug, Clone)]
struct Area {
    old: Range<usize>,
    new: Range<usize>,
    /// Split only where that is best.
    exact: bool,
}

pub(super) struct Search<'p, 'e> {
    pruned: &'p Pruned,
    /// Where the lists begin.
    start: usize,
    effort: &'e mut Effort,
    most: i64,
    forward: Vec<i64>,
    backward: Vec<i64>,
}

impl<'p, 'e> Search<'p, 'e> {
    pub(super) fn new(pruned: &'p Pruned, start: usize, effort: &'e mut Effort) -> Search<'p, 'e> {
        let diagonals = pruned.old.tokens.len() + pruned.new.tokens.len() + 3;
        effort.spend(2 * diagonals);
        let most = (root(diagonals) as i64).max(FEW);
        let (forward, backward) = (vec![0; diagonals], vec![0; diagonals]);
        Search { pruned, start, effort, most, forward, backward }
    }

    pub(super) fn run(mut self, sides: &mut Sides) {
        let (old, new) = (0..self.pruned.old.tokens.len(), 0..self.pruned.new.tokens.len());
        let mut open = vec![Area { old, new, exact: false }];
        while let Some(mut area) = open.pop() {
            let (old, new) = self.tokens(&area);
            let (start, end) = super::common_edges(old, new);
            self.effort.spend(start + end + 1);
            area.old = area.old.start + start..area.old.end - end;
            area.new = area.new.start + start..area.new.end - end;
            if area.old.is_empty() || area.new.is_empty() {
                self.mark(&area, sides);
                continue;
            }
            match self.split(&area) {
                Some((low, high)) => open.extend([high, low]),
                None => self.match_rest(&area, sides),
            }
        }
        sides.unsure.sort_unstable();
    }

    fn tokens(&self, area: &Area) -> (&'p [Token], &'p [Token]) {
        let old = self.pruned.old.tokens.part(area.old.clone());
        let new = self.pruned.new.tokens.part(area.new.clone());
        (old, new)
    }

    /// All lines of an area differ.
    fn mark(&self, area: &Area, sides: &mut Sides) {
        for at in self.pruned.old.places.part(area.old.clone()) {
            set(&mut sides.removed, self.start + at, true);
        }
        for at in self.pruned.new.places.part(area.new.clone()) {
            set(&mut sides.added, self.start + at, true);
        }
    }

    /// The effort is used up: what is left is matched in one pass.
    fn match_rest(&mut self, area: &Area, sides: &mut Sides) {
        let (old, new) = self.tokens(area);
        let rest = anchors::gaps(old, new, self.effort);
        for gap in rest {
            let shift = |range: &Range<usize>, by: usize| range.start + by..range.end + by;
            let old = shift(&gap.before, area.old.start);
            let new = shift(&gap.after, area.new.start);
            self.mark(&Area { old, new, exact: false }, sides);
            for at in gap.unsure {
                let place = self.pruned.new.places.get(area.new.start + at);
                sides.unsure.extend(place.map(|place| self.start + place));
            }
        }
    }

    /// Two areas whose comparisons are the area's; none when there is no effort left.
    fn split(&mut self, area: &Area) -> Option<(Area, Area)> {
        let (old, new) = self.tokens(area);
        let lengths = (old.len() as i64, new.len() as i64);
        let zero = self.pruned.new.tokens.len() as i64 + 1;
        let mut forward = Front::new(&mut self.forward, zero, lengths, Direction::Forward);
        let mut backward = Front::new(&mut self.backward, zero, lengths, Direction::Backward);
        let halves = |(at_old, at_new): (i64, i64), exact: (bool, bool)| {
            let (at_old, at_new) =
                (area.old.start + at_old as usize, area.new.start + at_new as usize);
            let low =
                Area { old: area.old.start..at_old, new: area.new.start..at_new, exact: exact.0 };
            let high =
                Area { old: at_old..area.old.end, new: at_new..area.new.end, exact: exact.1 };
            Some((low, high))
        };
        let mut cost = 0;
        while cost <= self.most {
            forward.widen();
            let mut snake = forward.advance(old, new, self.effort, |_, _| false) != Met::Nothing;
            backward.widen();
            let meets = |diagonal: i64, place: i64| {
                forward.holds(diagonal) && place <= forward.place(diagonal)
            };
            match backward.advance(old, new, self.effort, meets) {
                Met::Other(place) => return halves(place, (true, true)),
                Met::Snake => snake = true,
                Met::Nothing => {}
            }
            if self.effort.is_used_up() {
                return None;
            }
            if area.exact {
                continue;
            }
            if snake && cost > FEW {
                if let Some(place) = forward.interesting(cost, old, new, self.effort) {
                    return halves(place, (true, false));
                }
                if let Some(place) = backward.interesting(cost, old, new, self.effort) {
                    return halves(place, (false, true));
                }
            }
            cost += 1;
        }
        let (far, at) = forward.best();
        let (near, back_at) = backward.best();
        if far > lengths.0 + lengths.1 - near {
            halves((at, far - at), (true, false))
        } else {
            halves((back_at, near - back_at), (false, true))
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// What a step of the search met.
#[derive(PartialEq, Eq)]
enum Met {
    Nothing,
    Snake,
    /// The search from the other end, at these lines.
    Other((i64, i64)),
}

/// Outside of every list.
const NOWHERE: i64 = i64::MAX / 4;

/// How far paths with some number of differences come, by diagonal.
struct Front<'k> {
    places: &'k mut [i64],
    /// Index of diagonal 0.
    zero: i64,
    lengths: (i64, i64),
    lowest: i64,
    highest: i64,
    direction: Direction,
}

impl<'k> Front<'k> {
    fn new(
        places: &'k mut [i64],
        zero: i64,
        lengths: (i64, i64),
        direction: Direction,
    ) -> Front<'k> {
        let (middle, place) = match direction {
            Direction::Forward => (0, 0),
            Direction::Backward => (lengths.0 - lengths.1, lengths.0),
        };
        let mut front = Front { places, zero, lengths, lowest: middle, highest: middle, direction };
        front.put(middle, place);
        front
    }

    fn holds(&self, diagonal: i64) -> bool {
        (self.lowest..=self.highest).contains(&diagonal)
    }

    fn place(&self, diagonal: i64) -> i64 {
        self.places.get((self.zero + diagonal) as usize).copied().unwrap_or(0)
    }

    fn put(&mut self, diagonal: i64, place: i64) {
        if let Some(slot) = self.places.get_mut((self.zero + diagonal) as usize) {
            *slot = place;
        }
    }

    /// One difference more: one diagonal more on each side, or one less at the edge of the area.
    fn widen(&mut self) {
        let outside = match self.direction {
            Direction::Forward => -NOWHERE,
            Direction::Backward => NOWHERE,
        };
        if self.lowest > -self.lengths.1 {
            self.lowest -= 1;
            self.put(self.lowest - 1, outside);
        } else {
            self.lowest += 1;
        }
        if self.highest < self.lengths.0 {
            self.highest += 1;
            self.put(self.highest + 1, outside);
        } else {
            self.highest -= 1;
        }
    }

    fn diagonals(&self) -> impl Iterator<Item = i64> + use<> {
        let (lowest, highest) = (self.lowest, self.highest);
        std::iter::successors(Some(highest), |diagonal| Some(diagonal - 2))
            .take_while(move |diagonal| *diagonal >= lowest)
    }

    /// Goes as far as possible on every diagonal.
    fn advance(
        &mut self,
        old: &[Token],
        new: &[Token],
        effort: &mut Effort,
        meets: impl Fn(i64, i64) -> bool,
    ) -> Met {
        let mut met = Met::Nothing;
        for diagonal in self.diagonals() {
            let (below, above) = (self.place(diagonal - 1), self.place(diagonal + 1));
            let mut at = match self.direction {
                Direction::Forward if below >= above => below + 1,
                Direction::Forward => above,
                Direction::Backward if below < above => below,
                Direction::Backward => above - 1,
            };
            let other = at - diagonal;
            // A path may leave the lists, where nothing is equal.
            let inside =
                (0..=old.len() as i64).contains(&at) && (0..=new.len() as i64).contains(&other);
            let (at_old, at_new) = (at as usize, other as usize);
            let snake = match self.direction {
                Direction::Forward if inside => {
                    common_start(old.part(at_old..), new.part(at_new..))
                }
                Direction::Backward if inside => common_end(old.part(..at_old), new.part(..at_new)),
                _ => 0,
            };
            effort.spend(snake + 1);
            let snake = snake as i64;
            if snake > SNAKE {
                met = Met::Snake;
            }
            at += if self.direction == Direction::Forward { snake } else { -snake };
            self.put(diagonal, at);
            if meets(diagonal, at) {
                return Met::Other((at, at - diagonal));
            }
            if effort.is_used_up() {
                break;
            }
        }
        met
    }

    /// The place of the path that came furthest: the sum of both line numbers, and the old one.
    fn best(&self) -> (i64, i64) {
        let forward = self.direction == Direction::Forward;
        let mut best = if forward { (-1, -1) } else { (i64::MAX, i64::MAX) };
        for diagonal in self.diagonals() {
            let mut at = self.place(diagonal);
            at = if forward { at.min(self.lengths.0) } else { at.max(0) };
            let mut other = at - diagonal;
            if forward && other > self.lengths.1 {
                (at, other) = (self.lengths.1 + diagonal, self.lengths.1);
            } else if !forward && other < 0 {
                (at, other) = (diagonal, 0);
            }
            let sum = at + other;
            if if forward { sum > best.0 } else { sum < best.0 } {
                best = (sum, at);
            }
        }
        best
    }

    /// The place of a path that has come very far for its differences and ends in a snake.
    fn interesting(
        &self,
        cost: i64,
        old: &[Token],
        new: &[Token],
        effort: &mut Effort,
    ) -> Option<(i64, i64)> {
        let mut best = (0, None);
        for diagonal in self.diagonals() {
            effort.spend(1);
            let at = self.place(diagonal);
            let other = at - diagonal;
            let (allowed_old, allowed_new) = match self.direction {
                Direction::Forward => (SNAKE..self.lengths.0, SNAKE..self.lengths.1),
                Direction::Backward => (0..self.lengths.0 - SNAKE, 0..self.lengths.1 - SNAKE),
            };
            if !allowed_old.contains(&at) || !allowed_new.contains(&other) {
                continue;
            }
            let gone = match self.direction {
                Direction::Forward => at + other,
                Direction::Backward => self.lengths.0 - at + self.lengths.1 - other,
            };
            let score = gone + diagonal.abs();
            if score <= INTERESTING * cost || score <= best.0 {
                continue;
            }
            let (at_old, at_new) = (at as usize, other as usize);
            let snake = SNAKE as usize;
            effort.spend(snake);
            let sides = match self.direction {
                // Of equal numbers on both sides, as in `imara-diff`.
                Direction::Forward => {
                    let end = at_old.min(at_new);
                    (old.get(end - snake..end), new.get(end - snake..end))
                }
                Direction::Backward => {
                    (old.get(at_old..at_old + snake), new.get(at_new..at_new + snake))
                }
            };
            if matches!(sides, (Some(old), Some(new)) if old == new) {
                best = (score, Some((at, other)));
            }
        }
        best.1
    }
}
