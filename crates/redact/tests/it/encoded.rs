//! What encodings hide is found, and what only looks like one stays.

use crate::support::{base64, redactor};

const TOKEN: &str = "ghp_s3WcXWk03UGfkg91qomjTCaHuWxGxrQMm1Ab";

#[test]
fn redaction_takes_encoded_secrets_and_nothing_else() {
    let inside = |text: &str| base64(text.as_bytes());
    let cases = [
        (format!("a {} b", inside(&format!("x=1\nT={TOKEN}\n"))), "a ", " b"),
        (inside(&inside(&format!("T={TOKEN}"))), "", ""),
        (format!("one\ntoken\u{1b}[m\u{1b}[K = '{TOKEN}'\ntwo"), "one\n", "\ntwo"),
        (format!("a,password,b\n1,{TOKEN},2\n"), "a,password,b\n1,", ",2\n"),
        (format!("q={}&r=2", TOKEN.replace("ghp_", "%67hp_")), "q=", ""),
    ];
    for (text, before, behind) in cases {
        let cleared = redactor().session().scrub(&text).into_owned();
        assert!(cleared.starts_with(before) && cleared.ends_with(behind), "{cleared}");
        assert!(cleared.contains("[redacted:"), "{cleared}");
    }
}

#[test]
fn equal_secrets_have_equal_ids_in_every_encoding() {
    let plain = redactor().session().scrub(TOKEN).into_owned();
    let hidden = base64(format!("see {TOKEN} ok").as_bytes());
    let cleared = redactor().session().scrub(&hidden).into_owned();
    assert!(cleared.contains(&plain), "{plain} {cleared}");
}

#[test]
fn redaction_takes_known_values_encoded_without_their_names() {
    let secret = "Tr7wQz9xLm2kVb4n";
    let escaped: String = secret.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let mut scrubber = redactor().session();
    scrubber.learn(&format!("DB_PASSWORD={secret}"));
    let text = format!("as letters: {escaped}");
    assert!(!scrubber.scrub(&text).contains(&escaped), "{}", scrubber.scrub(&text));
}

#[test]
fn redaction_leaves_text_that_only_looks_encoded() {
    for text in [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b and 89e6c98d92887913cadf06b2adb97f26cde4849b",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "GET /find?q=hello%20world%3F&page=2",
        "name,colour\nplum,blue\n",
        "printf \"a\" \"b\" \\\n  \"c\"",
        "SGVsbG8sIHRoaXMgaXMganVzdCBhIHNlbnRlbmNlIGFib3V0IG5vdGhpbmcu",
        "00000000: 4865 6c6c 6f2c 2077 6f72 6c64 210a       Hello, world!.\n",
    ] {
        assert_eq!(redactor().session().scrub(text), text);
    }
}

#[test]
fn a_token_after_many_token_prefixes_is_found() {
    for (bait, count) in [("ghp_", 300), ("sk-", 3000), ("password=", 2000), ("0|", 4000)] {
        let text = format!("{}{TOKEN}", bait.repeat(count));
        let cleared = redactor().session().scrub(&text).into_owned();
        assert!(!cleared.contains(&TOKEN[8..]), "{bait}");
    }
}
