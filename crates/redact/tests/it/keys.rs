//! Private keys, line by line: through numbers, bars and names, and across strings of a record.

use crate::support::{clear_lines, ids, redactor};
use backstory_format::json::Tape;
use serde_json::{Value, json};

const BEGIN: &str = "-----BEGIN RSA PRIVATE KEY-----";
const END: &str = "-----END RSA PRIVATE KEY-----";

/// The lines of a made-up body; the last one is shorter.
fn body() -> Vec<String> {
    let letters: Vec<char> =
        ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let mut state = 0x2545_f491_u64;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        letters[(state % 64) as usize]
    };
    [64, 64, 64, 64, 64, 28].map(|length| (0..length).map(|_| letter()).collect()).to_vec()
}

/// What is left of a record, as text.
fn cleared(record: &Value) -> String {
    let line = serde_json::to_vec(record).unwrap();
    let mut scrubber = redactor().session();
    scrubber.learn_line(&line, &ids(), &mut Tape::new());
    let lines = clear_lines(&scrubber, &[line]);
    String::from_utf8(lines.concat()).unwrap()
}

fn assert_gone(shown: &Value, lines: &[String]) {
    let left = cleared(&json!({"type": "user", "toolUseResult": shown}));
    for line in lines {
        assert!(!left.contains(line.as_str()), "{line} is left in {left}");
    }
}

/// Ways to show the lines of a file.
fn ways() -> Vec<fn(usize, &str) -> String> {
    vec![
        |_, line| line.to_owned(),
        |number, line| format!("{number:6}→  {line}"),
        |number, line| format!("│ {number:4} │ {line} │"),
        |number, line| format!("{number}:  {line}"),
        |number, line| format!("conf/app.yml-{number}-  {line}"),
        |number, line| format!("3f2a9c1d (user 2026-01-01 10:00:00 +0000 {number}) {line}"),
        |_, line| format!("{line}$"),
        |_, line| format!("+    {line}"),
        |_, line| format!("{line:70} | {line}"),
        |_, line| format!("  \"{line}\\n\" +"),
    ]
}

/// Shows the key whole and cut at either end, in every way, to `assert`.
fn in_every_way(assert: impl Fn(&[String], &[String])) {
    let body = body();
    for way in ways() {
        for (first, last) in [(Some(BEGIN), Some(END)), (Some(BEGIN), None), (None, Some(END))] {
            let lines = first.into_iter().chain(body.iter().map(String::as_str)).chain(last);
            let shown: Vec<String> =
                lines.enumerate().map(|(number, line)| way(number + 1, line)).collect();
            assert(&shown, &body);
        }
    }
}

#[test]
fn keys_cut_at_either_end_go_through_every_margin() {
    in_every_way(|shown, body| assert_gone(&json!({"stdout": shown.join("\n")}), body));
}

#[test]
fn keys_in_lists_of_lines_go() {
    in_every_way(|shown, body| {
        assert_gone(&json!({"structuredPatch": [{"lines": shown}]}), body);
        let cells: Vec<Value> = shown.iter().map(|line| json!({"text": line, "n": 1})).collect();
        assert_gone(&json!({"rows": cells}), body);
    });
}

#[test]
fn redaction_leaves_what_surrounds_a_key() {
    let body = body();
    let shown = format!("port: 80\n{}\n{END}\nhost: example", body.join("\n"));
    let left = cleared(&json!({"type": "user", "toolUseResult": {"stdout": shown}}));
    assert!(left.contains("port: 80") && left.contains("host: example"), "{left}");
    let mention = json!({"type": "user", "toolUseResult": {"lines": [
        "the file must begin with -----BEGIN PRIVATE KEY-----", "commit 3f2b9c107a4d4e1f9b8a0c1d2e3f4a5b6c7d8e9f",
    ]}});
    assert!(cleared(&mention).contains("3f2b9c107a4d4e1f9b8a0c1d2e3f4a5b6c7d8e9f"));
}
