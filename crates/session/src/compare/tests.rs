use super::effort::{STEPS_AT_LEAST, STEPS_FOR_A_LINE};
use super::*;
use imara_diff::{Algorithm, Diff, IndentHeuristic};
use proptest::prelude::*;

fn indent(token: Token) -> IndentLevel {
    IndentLevel::for_ascii_line(std::iter::repeat_n(b' ', (token.0 % 3) as usize).chain(*b"x"), 8)
}

fn tokens(numbers: impl IntoIterator<Item = u32>) -> Vec<Token> {
    numbers.into_iter().map(Token).collect()
}

/// The comparison that this one follows step by step.
fn peer(before: &[Token], after: &[Token]) -> Vec<DifferingLines> {
    let count = before.iter().chain(after).map(|token| token.0 + 1).max().unwrap_or(0);
    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Myers, before, after, count);
    diff.postprocess_with(before, after, IndentHeuristic::new(indent));
    let range = |range: std::ops::Range<u32>| range.start as usize..range.end as usize;
    diff.hunks()
        .map(|hunk| DifferingLines { before: range(hunk.before), after: range(hunk.after) })
        .collect()
}

/// The lines between hunks are the same on both sides.
fn fits(before: &[Token], after: &[Token], compared: &Compared) -> bool {
    let (mut old, mut new) = (0, 0);
    let end = DifferingLines { before: before.len()..0, after: after.len()..0 };
    for hunk in compared.hunks.iter().chain([&end]) {
        if before[old..hunk.before.start] != after[new..hunk.after.start] {
            return false;
        }
        (old, new) = (hunk.before.end, hunk.after.end);
    }
    true
}

fn changed(lines: usize, kinds: u32) -> impl Strategy<Value = (Vec<Token>, Vec<Token>)> {
    let list = prop::collection::vec(0..kinds, 0..lines);
    let edits = prop::collection::vec(
        (0..lines, 0..4usize, prop::collection::vec(0..kinds + 2, 0..4)),
        0..6,
    );
    let edited = (list.clone(), edits).prop_map(|(old, edits)| {
        let mut new = old.clone();
        for (at, out, put) in edits {
            let start = at.min(new.len());
            let end = (start + out).min(new.len());
            new.splice(start..end, put);
        }
        (old, new)
    });
    let unrelated = (list.clone(), list);
    prop_oneof![edited, unrelated].prop_map(|(old, new)| (tokens(old), tokens(new)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn hunks_are_those_of_the_peer((before, after) in (1..60u32).prop_flat_map(|kinds| changed(400, kinds))) {
        let compared = compare(&before, &after, Placing::ByIndent(&indent));
        prop_assert!(compared.unsure.is_empty());
        prop_assert_eq!(&compared.hunks, &peer(&before, &after));
        prop_assert!(fits(&before, &after, &compared));
    }

    /// With no effort at all the rest is matched in one pass: the result still fits, and every line
    /// that is put in and could have stayed is unsure.
    #[test]
    fn without_effort_nothing_is_claimed((before, after) in (1..60u32).prop_flat_map(|kinds| changed(100, kinds))) {
        let mut effort = Effort::none();
        let compared = compare_within(&before, &after, Placing::Any, &mut effort);
        prop_assert!(fits(&before, &after, &compared));
        let put_in = |at: &usize| compared.hunks.iter().any(|hunk| hunk.after.contains(at));
        prop_assert!(compared.unsure.iter().all(put_in));
        prop_assert!(compared.unsure.is_sorted());
    }
}

/// A shape of lists of which the second is made to be hard to compare with the first.
type Shape = (&'static str, fn(u32) -> (Vec<Token>, Vec<Token>));

fn random(seed: u32) -> impl FnMut() -> u32 {
    let mut state = u64::from(seed) + 88_172_645_463_325_252;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as u32
    }
}

fn of_few(lines: u32, kinds: u32, seed: u32) -> Vec<Token> {
    let mut next = random(seed);
    tokens((0..lines).map(|_| next() % kinds))
}

const SHAPES: [Shape; 9] = [
    ("three lines at random", |n| (of_few(n, 3, 1), of_few(n, 3, 2))),
    ("a hundred lines at random", |n| (of_few(n, 100, 1), of_few(n, 100, 2))),
    ("the same line", |n| {
        (
            tokens(std::iter::repeat_n(0, n as usize)),
            tokens((0..n).map(|at| u32::from(at % 7 == 0))),
        )
    }),
    ("two in turn", |n| (tokens((0..n).map(|at| at % 2)), tokens((0..n).map(|at| at / 3 % 2)))),
    ("the other way round", |n| (tokens(0..n), tokens((0..n).rev()))),
    ("each line changed", |n| (tokens(0..n), tokens(n..2 * n))),
    ("all in another order", |n| {
        let mut next = random(3);
        let mut list: Vec<u32> = (0..n).collect();
        for at in (1..list.len()).rev() {
            list.swap(at, next() as usize % (at + 1));
        }
        (tokens(0..n), tokens(list))
    }),
    ("common lines among new ones", |n| {
        (
            tokens((0..n).map(|at| at % 4)),
            tokens((0..n).map(|at| if at % 5 == 0 { at % 4 } else { at + 9 })),
        )
    }),
    ("periods of seven and eleven", |n| {
        (tokens((0..n).map(|at| at % 7)), tokens((0..n).map(|at| at % 11)))
    }),
];

/// Steps are counted where they are made, so their number is the work.
#[test]
fn work_grows_as_the_lists_do() {
    for (name, shape) in SHAPES {
        let steps = |lines: u32| {
            let (before, after) = shape(lines);
            let mut effort = Effort::for_lines(before.len() + after.len());
            let compared = compare_within(&before, &after, Placing::ByIndent(&indent), &mut effort);
            assert!(fits(&before, &after, &compared), "{name}");
            // One step more than the limit may be as long as the lists.
            let most =
                (STEPS_FOR_A_LINE + 32) * (before.len() + after.len()) as u64 + STEPS_AT_LEAST;
            assert!(effort.spent <= most, "{name}: {} steps for {lines} lines", effort.spent);
            effort.spent
        };
        let (one, two, four) = (steps(800), steps(1_600), steps(3_200));
        assert!(two <= one * 3 && four <= two * 3, "{name}: {one}, {two}, {four}");
    }
}

/// Long lists, for which heuristics decide.
#[test]
fn long_lists_are_split_where_the_peer_splits_them() {
    for (seed, kinds) in [(1, 3), (2, 30), (3, 400), (4, 4000)] {
        let before = of_few(3_000, kinds, seed);
        let mut after = of_few(3_000, kinds, seed + 10);
        // A part stays, and some lines in it change.
        after[500..1_500].copy_from_slice(&before[900..1_900]);
        (500..1_500).step_by(37).for_each(|at| after[at] = Token(kinds + 1));
        let mut effort = Effort::unlimited();
        let compared = compare_within(&before, &after, Placing::ByIndent(&indent), &mut effort);
        assert_eq!(compared.hunks, peer(&before, &after), "{kinds}");
    }
}

/// Where the work was cut off, lines that may have stayed are not called new.
#[test]
fn what_was_not_compared_is_unsure() {
    let (before, after) = (of_few(40_000, 3, 1), of_few(40_000, 3, 2));
    let mut effort = Effort::for_lines(100);
    let compared = compare_within(&before, &after, Placing::ByIndent(&indent), &mut effort);
    let put_in: usize = compared.hunks.iter().map(|hunk| hunk.after.len()).sum();
    assert!(fits(&before, &after, &compared));
    assert!(
        put_in > 1000 && compared.unsure.len() * 10 > put_in * 9,
        "{put_in} lines are put in, {} unsure",
        compared.unsure.len()
    );
}
