//! Seeds changed at random, for tests: no coverage leads the way as it does for the fuzzer, but they run
//! everywhere. `BACKSTORY_MUTATIONS` says how many.

use backstory_testkit::{number, or_slow};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Bytes that mean something in one of the formats.
const TELLING: [&[u8]; 16] = [
    b"\n",
    b"\0",
    b"\"",
    b"\\",
    b"{",
    b"]",
    b"\r\n",
    b"\xff",
    b"\xc3",
    b"\x1b[",
    b"<b>",
    b"```\n",
    b"1e999",
    b"\\u0000",
    b"18446744073709551615",
    b"\xf0\x9f\x98\x80",
];

/// Runs the law on the seeds, cut short, and changed in many ways.
pub(crate) fn mutated(seeds: &[Vec<u8>], law: fn(&[u8])) {
    assert!(!seeds.is_empty(), "no seeds");
    for seed in seeds {
        for at in (0..seed.len()).step_by(seed.len() / 8 + 1).chain([seed.len()]) {
            expect_law(&seed[..at], law);
        }
    }
    let mut dice = Dice(88_172_645_463_325_252);
    for _ in 0..number("BACKSTORY_MUTATIONS").unwrap_or(or_slow(100, 1_000)) {
        let mut data = seeds[dice.below(seeds.len())].clone();
        for _ in 0..=dice.below(6) {
            change(&mut data, seeds, &mut dice);
        }
        expect_law(&data, law);
    }
}

/// Shows what broke the law.
fn expect_law(data: &[u8], law: fn(&[u8])) {
    if let Err(broken) = catch_unwind(AssertUnwindSafe(|| law(data))) {
        eprintln!("broken by b\"{}\"", data.escape_ascii());
        resume_unwind(broken);
    }
}

fn change(data: &mut Vec<u8>, seeds: &[Vec<u8>], dice: &mut Dice) {
    let from = dice.below(data.len() + 1);
    let to = (from + dice.below(9)).min(data.len());
    match dice.below(6) {
        0 => drop(data.drain(from..to)),
        1 => drop(data.splice(from..from, TELLING[dice.below(TELLING.len())].iter().copied())),
        2 => drop(data.splice(from..to, TELLING[dice.below(TELLING.len())].iter().copied())),
        3 => data.extend_from_within(from..to),
        4 => {
            let other = &seeds[dice.below(seeds.len())];
            let start = dice.below(other.len() + 1);
            let end = (start + dice.below(64)).min(other.len());
            data.splice(from..to, other[start..end].iter().copied());
        }
        _ => data.iter_mut().skip(from).take(1).for_each(|byte| *byte ^= 1 << dice.below(8)),
    }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most.max(1)
    }
}
