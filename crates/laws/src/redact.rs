//! What must hold for redaction of any bytes.

use backstory_claude::structural_paths;
use backstory_format::json::Tape;
use backstory_redact::{Classes, Config, Redactor, Scrubber};
use std::sync::OnceLock;

fn redactor() -> &'static Redactor {
    static REDACTOR: OnceLock<Redactor> = OnceLock::new();
    REDACTOR.get_or_init(|| {
        let user = Some("jdoe7".to_owned());
        let config = Config { classes: Classes::ALL, user, ..Config::default() };
        Redactor::new(&config).expect("the bundled rules are sound")
    })
}

fn copy(scrubber: &mut Scrubber, data: &[u8]) -> Vec<u8> {
    let (ids, mut tape) = (structural_paths(), Tape::new());
    let lines: Vec<&[u8]> = data.split_inclusive(|byte| *byte == b'\n').collect();
    for line in &lines {
        scrubber.learn_line(line, &ids, &mut tape);
    }
    let clear = |line: &&[u8], tape: &mut Tape| {
        scrubber.clear_line(line, &ids, tape).into_inner().into_owned()
    };
    lines.iter().flat_map(|line| clear(line, &mut tape)).collect()
}

/// Lines stay lines and JSON stays JSON, nothing that was found is left, and what is clear stays as
/// it is.
pub fn redact(data: &[u8]) {
    let mut scrubber = redactor().session();
    let out = copy(&mut scrubber, data);
    let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count();
    assert_eq!(lines(&out), lines(data));
    for (before, after) in data.split(|b| *b == b'\n').zip(out.split(|b| *b == b'\n')) {
        let is_json = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).is_ok();
        assert!(!is_json(before) || is_json(after), "{}", String::from_utf8_lossy(after));
    }
    if scrubber.report().is_empty() && !out.windows(5).any(|part| part == b"jdoe7") {
        assert_eq!(out, data, "nothing was found, something was changed");
    }
    let mut again = redactor().session();
    assert_eq!(copy(&mut again, &out), out, "clearing twice changes nothing");
}
