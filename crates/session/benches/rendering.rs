//! Writing sessions for people: as Markdown, as pages, and for a terminal.
//!
//!     cargo bench -p backstory-session --bench rendering
//!
//! Each benchmark writes all sessions of the sample with everything in them. The content is read
//! from the files again each time, as in the program. The rate is that of the output.
#![allow(clippy::unwrap_used)]

use backstory_model::Session;
use backstory_session::render::{self, Look, RenderError, View};
use backstory_testkit::{sessions, testdata};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use jiff::tz::TimeZone;

fn main() {
    divan::main();
}

/// Measures how long it takes to write all sessions.
fn rendered(
    bencher: Bencher<'_, '_>,
    write: impl Fn(&Session, &View, &mut Vec<u8>) -> Result<(), RenderError>,
) {
    let sessions = sessions(&testdata("sample"));
    let view = View { full: true, ..View::new(TimeZone::UTC) };
    let mut out = Vec::new();
    let mut write_all = || {
        out.clear();
        for session in &sessions {
            write(black_box(session), &view, &mut out).unwrap();
        }
        out.len()
    };
    let bytes = write_all();
    assert!(bytes > 10_000, "the sample has sessions");
    bencher.counter(BytesCount::new(bytes)).bench_local(write_all);
}

#[divan::bench]
fn markdown(bencher: Bencher<'_, '_>) {
    rendered(bencher, |session, view, out| render::markdown(session, view, out));
}

#[divan::bench]
fn html(bencher: Bencher<'_, '_>) {
    rendered(bencher, |session, view, out| render::html(session, view, out));
}

#[divan::bench]
fn terminal(bencher: Bencher<'_, '_>) {
    let look = Look { width: Some(100), colour: true };
    rendered(bencher, |session, view, out| render::terminal(session, view, look, out));
}
