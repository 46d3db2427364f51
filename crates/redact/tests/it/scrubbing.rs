//! Secrets do not get out: what others leaked or mangled, every position and encoding, and what
//! must stay as it is.

use crate::known::LEAKS;
use crate::support::{base64, clear_lines, ids, redactor};
use backstory_format::json::{IdPaths, Tape};
use backstory_redact::{Classes, Config, Level, Redactor};
use proptest::prelude::*;
use serde_json::{Value, json};

fn everything() -> Redactor {
    let config = Config { classes: Classes::ALL, user: Some("jdoe7".into()), ..Config::default() };
    Redactor::new(&config).unwrap()
}

#[test]
fn redaction_takes_out_what_other_tools_leak() {
    let redactor = redactor();
    for (text, secret) in LEAKS {
        // As a tool's input and as its result there is no difference: both are text.
        let cleared = redactor.session().scrub(text).into_owned();
        assert!(!cleared.contains(secret), "{cleared}");
        assert!(cleared.contains("[redacted:"), "{cleared}");
    }
}

#[test]
fn redaction_leaves_what_other_tools_mangle() {
    let redactor = redactor();
    for text in [
        "task-management-system-for-users",
        "disk-usage-monitoring-service-v2",
        "at 1731700000 and 1731700000123",
        "cache_key = payload.get('cache')",
        "if (apiKey == \"\") { return null }",
        "const accessTokenExpiryMilliseconds = 3600",
        "cccccccc-1111-4222-8333-444444444444",
        "commit 3f2b9c107a4d4e1f9b8a0c1d2e3f4a5b6c7d8e9f",
        "sha256:9f2c7d41aa03be5587c1d0e6f4b29a837c55d1e09f2c7d41aa03be5587c1d0e6",
        "integrity sha512-q8yKET1VDJTpfCwseUDzT8vFhXkZx81kQpLm20sVbnRt5Wc64GhKq7Dd93fJ==",
        "max_tokens: 4096, input_tokens=12345678901234567890",
        "toolu_01AbCdEfGhIjKlMnOpQrStUv msg_01AbCdEfGhIjKlMnOpQrStUv req_011CTest",
        "git@github.com:someone/something.git",
        "the password must have at least eight characters",
        "TOKEN=$(cat token.txt) PASSWORD=${DB_PASSWORD}",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "--- PASS: TestTokenRefresh_ExpiredToken (0.01s)",
        "this.password = password; const pwd = userInput;",
        "Cache saved with key: setup-node-linux-npm-f804a68745ce7318dacd9fc03814",
        "PublicKey = S9X0/F1Umxd5To5vcMTTK11WrglqN2gYQUQu3PXfHS8=",
        "db_password = getPasswordFromVault()",
    ] {
        assert_eq!(redactor.session().scrub(text), text);
    }
}

#[test]
fn reports_never_hold_a_value() {
    let redactor = redactor();
    let mut scrubber = redactor.session();
    for (text, _) in LEAKS {
        scrubber.learn(text);
    }
    let report = scrubber.report();
    let said = format!("{report:?} {:?}", report.sensitivity());
    for (_, secret) in LEAKS {
        assert!(!said.contains(secret), "{said}");
    }
    assert_eq!(report.sensitivity().level, Level::High);
    assert_eq!(redactor.session().report().sensitivity().level, Level::Low);
}

#[test]
fn the_name_of_a_field_decides_what_its_value_is() {
    let scrubber = redactor().session();
    let value = json!({
        "password": "xvqcmuyb", "env": [{ "name": "DB_PASSWORD", "value": "wtklwuvhud" }],
        "tokens": ["bf21e4a49f67afd5"], "note": "xvqcmuyb", "max_tokens": "4096",
    });
    let cleared = scrubber.clear_json(value, &IdPaths::default()).into_inner();
    assert!(cleared["password"].as_str().unwrap().starts_with("[redacted:password:"));
    assert!(cleared["env"][0]["value"].as_str().unwrap().starts_with("[redacted:password:"));
    assert!(cleared["tokens"][0].as_str().unwrap().starts_with("[redacted:token:"));
    // Found only where something tells: by itself it could be anything.
    assert_eq!(
        (cleared["note"].as_str(), cleared["max_tokens"].as_str()),
        (Some("xvqcmuyb"), Some("4096"))
    );
}

#[test]
fn homes_people_and_places_go_when_asked() {
    let scrubber = {
        let mut scrubber = everything().session();
        scrubber.learn("/Users/jane8/work");
        scrubber
    };
    for (text, cleared) in [
        ("cd /Users/jane8/code/app", "cd ~/code/app"),
        (r"C:\Users\jane8\app", r"~\app"),
        ("/home/jane8", "~"),
        ("https://example.com/home/page", "https://example.com/home/page"),
        ("src/users/list.rs", "src/users/list.rs"),
    ] {
        assert_eq!(scrubber.scrub(text), cleared);
    }
    for (text, gone) in [
        ("jane8@host:~$ ls", "jane8"),
        ("projects/-Users-jane8-work", "jane8"),
        ("ssh jdoe7@10.1.2.3", "jdoe7"),
        ("ssh jdoe7@10.1.2.3", "10.1.2.3"),
        ("From: Jane <jane.roe@corp.example.com>", "jane.roe@corp.example.com"),
        ("http://wiki.acme.internal/x", "wiki.acme.internal"),
        ("To: jane.roe@example.org; tom.roe@example.org", "tom.roe"),
        ("jane.roe@example.org\ntom.roe@example.org", "tom.roe"),
        ("email = \"jane.roe@example.org\")) <tom.roe@example.org>", "tom.roe"),
        ("cd /var/home/ann0/x", "/var/home"),
        ("cd /data/home/ann1/x", "ann1"),
        ("cd /export/home/ann2/x", "ann2"),
        ("cd /mnt/c/Users/ann3/x", "ann3"),
        ("~/.claude/projects/-var-home-ann4-src/1.jsonl", "ann4"),
        ("~/.claude/projects/C--Users-ann5-src/1.jsonl", "ann5"),
        ("in -home-ann6", "ann6"),
    ] {
        assert!(!scrubber.scrub(text).contains(gone), "{}", scrubber.scrub(text));
    }
    // And only then.
    let secrets_only = redactor().session();
    assert_eq!(
        secrets_only.scrub("/Users/jane8 jane@example.org"),
        "/Users/jane8 jane@example.org"
    );
}

#[test]
fn redaction_takes_the_real_home_at_any_place() {
    let config = Config {
        classes: Classes::ALL,
        home: Some("/people/teams/jroe4".into()),
        ..Config::default()
    };
    let scrubber = Redactor::new(&config).unwrap().session();
    assert_eq!(scrubber.scrub("cd /people/teams/jroe4/app"), "cd ~/app");
    assert!(!scrubber.scrub("owner jroe4").contains("jroe4"));
    assert_eq!(scrubber.scrub("cd /people/teams"), "cd /people/teams");
}

#[test]
fn equal_secrets_stay_equal_and_salts_differ() {
    let token = "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";
    let clear = |salt: &[u8]| {
        let redactor = Redactor::new(&Config { salt: salt.to_vec(), ..Config::default() }).unwrap();
        (redactor.session().scrub(token).into_owned(), redactor.session().scrub(token).into_owned())
    };
    let (one, two) = clear(b"a");
    assert_eq!(one, two);
    assert_ne!(one, clear(b"b").0);
}

/// A secret, in forms that a session may hold it in.
fn forms(secret: &str) -> Vec<String> {
    let escaped = serde_json::to_string(secret).unwrap();
    let percent: String = secret
        .bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect();
    let twice = serde_json::to_string(&escaped).unwrap();
    let half = secret.len() / 2;
    vec![
        secret.to_owned(),
        escaped.trim_matches('"').to_owned(),
        twice.strip_prefix("\"\\\"").unwrap().strip_suffix("\\\"\"").unwrap().to_owned(),
        percent,
        base64(secret.as_bytes()),
        base64(format!("x{secret}").as_bytes()),
        base64(format!("us:{secret}\n").as_bytes()),
        base64(format!("xy{secret}z").as_bytes()),
        format!("{}\n    {}", &secret[..half], &secret[half..]),
        format!("{}\\n{}", &secret[..half], &secret[half..]),
    ]
}

/// A record with `form` at one of many places; the secret stands in clear in another record.
fn planted(place: usize, form: &str) -> Value {
    let mut record = json!({
        "type": "assistant", "uuid": "cccccccc-1111-4222-8333-444444444444", "cwd": "/srv/app",
        "sessionId": "aaaaaaaa-1111-4222-8333-444444444444",
        "message": { "role": "assistant", "id": "msg_01AbCdEfGhIjKlMnOpQrStUv", "content": [
            { "type": "text", "text": "text" },
            { "type": "thinking", "thinking": "thoughts", "signature": "c2ln" },
            { "type": "tool_use", "id": "toolu_01AbCdEfGhIjKlMnOpQrStUv", "name": "Bash", "input": { "command": "ls" } },
            { "type": "tool_result", "tool_use_id": "toolu_01AbCdEfGhIjKlMnOpQrStUv", "content": [{ "type": "text", "text": "out" }] },
        ] },
        "toolUseResult": { "stdout": "out", "structuredPatch": [{ "lines": ["+x"] }] },
    });
    let content = &mut record["message"]["content"];
    let text = format!("before {form} after");
    match place {
        0 => content[0]["text"] = text.into(),
        1 => content[1]["thinking"] = text.into(),
        2 => content[2]["input"]["command"] = text.into(),
        3 => content[2]["input"] = json!({ "deep": [[{ form: [{ "x": text }] }]] }),
        4 => content[3]["content"][0]["text"] = text.into(),
        5 => content[3]["content"] = text.into(),
        6 => record["toolUseResult"]["stdout"] = text.into(),
        7 => record["toolUseResult"]["structuredPatch"][0]["lines"][0] = text.into(),
        8 => record["cwd"] = format!("/srv/{form}/app").into(),
        9 => content[2]["name"] = text.into(),
        10 => {
            record["toolUseResult"] = serde_json::to_string(&json!({ "a": text })).unwrap().into();
        }
        _ => record["unknown"] = json!({ "field": [text] }),
    }
    record
}

const PLACES: usize = 12;

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// A token that one record shows in clear is in no output, in whatever place and form another
    /// record holds it; what comes out is valid, has its ids, and clearing it again changes nothing.
    #[test]
    fn planted_secrets_never_get_out(
        token in "[a-z][A-Za-z0-9]{5}[0-9][A-Za-z0-9]{4}[/+.~\"&]?[A-Z][0-9][a-z0-9]{6}[0-9]",
        place in 0..PLACES,
        shape in 0..10usize,
    ) {
        let form = forms(&token)[shape].clone();
        let shown = json!({ "type": "user", "uuid": "u", "message": { "content": "", "env": { "API_TOKEN": token } } });
        let lines: Vec<Vec<u8>> = [shown, planted(place, &form)]
            .iter()
            .map(|record| format!("{record}\n").into_bytes())
            .collect();
        let redactor = redactor();
        let mut scrubber = redactor.session();
        let (ids, mut tape) = (ids(), Tape::new());
        for line in &lines {
            scrubber.learn_line(line, &ids, &mut tape);
        }
        let cleared = clear_lines(&scrubber, &lines);
        for line in &cleared {
            let value: Value = serde_json::from_slice(line).expect("still JSON");
            let decoded = all_text(&value);
            prop_assert!(!decoded.contains(&token), "{decoded}");
            prop_assert!(!decoded.contains(&form), "{shape} {place} {form}: {decoded}");
        }
        let record: Value = serde_json::from_slice(&cleared[1]).unwrap();
        prop_assert_eq!(&record["uuid"], "cccccccc-1111-4222-8333-444444444444");
        prop_assert_eq!(&record["message"]["content"][2]["id"], "toolu_01AbCdEfGhIjKlMnOpQrStUv");
        let mut again = redactor.session();
        for line in &cleared {
            again.learn_line(line, &ids, &mut tape);
        }
        prop_assert_eq!(clear_lines(&again, &cleared), cleared);
    }

    /// Whatever the bytes are, what no secret covers stays as it is.
    #[test]
    fn lines_without_secrets_stay_byte_for_byte(line in prop::collection::vec(any::<u8>(), 0..200)) {
        let scrubber = redactor().session();
        let text = String::from_utf8_lossy(&line);
        if scrubber.scrub(&text) == text {
            let cleared = clear_lines(&scrubber, std::slice::from_ref(&line));
            prop_assert_eq!(&cleared[0], &line);
        }
    }
}

fn all_text(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\u{1}"),
        Value::Array(items) => items.iter().map(all_text).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{name}\u{1}{}", all_text(value))).collect()
        }
        _ => String::new(),
    }
}

#[test]
fn oddities_next_to_a_secret_survive() {
    let line = br#"{"type":"user","a":"\ud83d \u00e9\/ caf\u0065 password=xvqcmuyb9 \udc00","b":1.0E+2,"b":"x"}"#;
    let scrubber = redactor().session();
    let cleared = clear_lines(&scrubber, &[line.to_vec()]).remove(0);
    let cleared = String::from_utf8(cleared).unwrap();
    let (before, after) = cleared.split_once("[redacted:password:").unwrap();
    assert!(before.ends_with(r#""a":"\ud83d \u00e9\/ caf\u0065 password="#), "{cleared}");
    assert!(after.ends_with(r#"] \udc00","b":1.0E+2,"b":"x"}"#), "{cleared}");
}

#[test]
fn redaction_leaves_ids_of_the_format_and_finds_secrets_in_them() {
    let token = "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";
    let uuid = "3f2b9c10-7a4d-4e1f-9b8a-0c1d2e3f4a5b";
    let lines = [
        format!(r#"{{"type":"user","uuid":"{uuid}","text":"token={uuid}"}}"#).into_bytes(),
        format!(r#"{{"type":"user","uuid":"{token}","parentUuid":"{uuid}"}}"#).into_bytes(),
    ];
    let mut scrubber = redactor().session();
    let (ids, mut tape) = (ids(), Tape::new());
    for line in &lines {
        scrubber.learn_line(line, &ids, &mut tape);
    }
    let cleared: Vec<Value> = clear_lines(&scrubber, &lines)
        .iter()
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(cleared[0]["uuid"], uuid);
    assert_eq!(cleared[1]["parentUuid"], uuid);
    assert!(!cleared[0]["text"].as_str().unwrap().contains(uuid));
    assert!(!cleared[1].to_string().contains(token));
}

#[test]
fn bait_costs_no_more_than_its_length() {
    // Nothing is timed here: what is quadratic would not end.
    let redactor = redactor();
    for bait in [
        "sk-",
        "ghp_",
        "-----BEGIN PRIVATE KEY-----",
        "password=",
        "://a:",
        "eyJ.",
        "key\"",
        "AKIA",
        "token: [\"",
        "\\",
        "curl -u a:",
    ] {
        let text = bait.repeat((1 << 18) / bait.len());
        redactor.session().scrub(&text);
    }
}
