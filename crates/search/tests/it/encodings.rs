//! A text is found however the file writes it.

use crate::support::{all_hits, hits, references};
use backstory_testkit::{discover_at, lines, write_file};
use serde_json::json;

/// A session with one prompt and one answer.
fn session(folder: &std::path::Path, id: u32, prompt: &str, answer: &str) -> std::path::PathBuf {
    let session = format!("0000000{id}-0000-4000-8000-000000000000");
    let base = |uuid: &str, parent: Option<&str>| {
        json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/w/app",
            "sessionId": session, "version": "2.1.0", "gitBranch": "main", "uuid": uuid,
            "timestamp": "2026-03-01T10:00:00.000Z"})
    };
    let mut user = base(&format!("{session}-1"), None);
    user["type"] = "user".into();
    user["message"] = json!({"role": "user", "content": prompt});
    let mut assistant = base(&format!("{session}-2"), Some(&format!("{session}-1")));
    assistant["type"] = "assistant".into();
    assistant["message"] = json!({"id": format!("msg_{id}"), "type": "message", "role": "assistant",
        "model": "claude-opus-4-6", "content": [{"type": "text", "text": answer}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let path = folder.join(format!("projects/-w-app/{session}.jsonl"));
    write_file(&path, &lines(&[user, assistant]));
    path
}

/// Every character of the strings as an escape.
fn escape_everything(path: &std::path::Path, word: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut units = [0; 2];
    let escaped: String = word
        .chars()
        .flat_map(|letter| letter.encode_utf16(&mut units).to_vec())
        .map(|unit| format!("\\u{unit:04X}"))
        .collect();
    assert!(text.contains(word), "{word}");
    std::fs::write(path, text.replace(word, &escaped)).unwrap();
}

#[test]
fn escapes_line_breaks_and_colours_do_not_hide_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    session(root, 1, "say \"quoted\" text", "C:\\Users\\dev\\notes.txt");
    session(root, 2, "the conn\u{1b}[31mect\u{1b}[0mion was\nrefused", "größe 日本語 🦀");
    let escaped = session(root, 3, "zebra crossing", "straße 🚲 weg");
    escape_everything(&escaped, "zebra");
    escape_everything(&escaped, "straße 🚲");
    let found = discover_at(root);
    let count = |query: &str| hits(&found, &format!("in:prompt,answer {query}")).len();
    for query in [
        "\"say \\\"quoted\\\" text\"",
        "\"C:\\Users\\dev\"",
        "C:\\Users\\dev\\notes.txt",
        "Users",
        "connection",
        "\"connection was refused\"",
        "\"WAS REFUSED\"",
        "größe",
        "GRÖSSE OR größe",
        "日本",
        "🦀",
        "zebra",
        "\"zebra crossing\"",
        "straße",
        "🚲",
        "/z.bra/",
        "/\\bstra\\w+ . weg/",
    ] {
        let expected = 1 - usize::from(query == "\"WAS REFUSED\"");
        assert_eq!(count(query), expected, "{query}");
    }
    assert_eq!(count("unnnotes"), 0, "escapes are no letters");
    assert_eq!(count("Größe"), 0, "an uppercase letter makes case matter");
}

/// A frame of Zstandard with the bytes as they are.
fn packed(bytes: &[u8]) -> Vec<u8> {
    // A window of 1 MB, no content size, no checksum.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x50];
    let blocks = bytes.chunks(100_000);
    let last = blocks.len() - 1;
    for (at, block) in blocks.enumerate() {
        let header = u32::from(at == last) | (block.len() as u32) << 3;
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.extend_from_slice(block);
    }
    frame
}

#[test]
fn packed_files_are_searched() {
    let source = backstory_testkit::testdata("agents/codex");
    let plain = discover_at(&source);
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for one in
        plain.sessions.iter().filter(|one| one.path.extension().is_some_and(|end| end == "jsonl"))
    {
        let Some(name) = one.path.file_name().unwrap().to_str() else { continue };
        let bytes = std::fs::read(&one.path).unwrap();
        write_file(&folder.path().join(format!("sessions/{name}.zst")), &packed(&bytes));
        count += 1;
    }
    let packed = discover_at(folder.path());
    assert!(count > 0 && packed.sessions.len() == count, "{count} {}", packed.sessions.len());
    for one in references(&packed) {
        assert!(!all_hits(&[one], "in:prompt,answer,call,result the").is_empty(), "{one:?}");
        assert!(all_hits(&[one], "zzqxzzqx").is_empty());
    }
}
