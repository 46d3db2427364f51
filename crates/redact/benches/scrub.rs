//! Learning from a text and taking out what was found.
//!
//!     cargo bench -p backstory-redact --bench scrub
//!     BACKSTORY_BENCH_TEXT=FILE cargo bench -p backstory-redact --bench scrub

mod text;

use backstory_redact::{Classes, Config, Redactor};
use divan::{Bencher, counter::BytesCount};

fn main() {
    divan::main();
}

/// Compiling the rules, which every run does once.
#[divan::bench]
fn compile() -> Option<Redactor> {
    Redactor::new(&Config::default()).ok()
}

/// All lines as texts of one session, each learnt from and then cleared.
#[divan::bench]
fn scrub(bencher: Bencher) {
    let config = Config { classes: Classes::ALL, ..Config::default() };
    let Ok(redactor) = Redactor::new(&config) else { return };
    let text = text::realistic();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut scrubber = redactor.session();
        text.lines().for_each(|line| scrubber.learn(line));
        text.lines().map(|line| scrubber.scrub(line).len()).sum::<usize>()
    });
}

/// The whole text at once, as a result of a tool is.
#[divan::bench]
fn scrub_whole(bencher: Bencher) {
    let Ok(redactor) = Redactor::new(&Config::default()) else { return };
    let text = text::realistic();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut scrubber = redactor.session();
        scrubber.learn(&text);
        scrubber.scrub(&text).len()
    });
}
