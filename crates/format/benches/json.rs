//! What the scanner and the search for marks gain over the crates that do something alike.
//!
//! `cargo bench -p backstory-format`. Compare the medians within one run only.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use backstory_format::json::marks::{Byte, Class, Marks, Special};
use backstory_format::json::{Tape, scan, text};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use serde::de::IgnoredAny;

fn main() {
    divan::main();
}

/// An assistant's record as clients write them: a long text with line breaks and quotes, and a call.
fn record() -> Vec<u8> {
    let text = "The test fails because \"page\" starts at 1:\n\n```rust\nlet page = query.page - 1;\n```\n\n";
    let source =
        "    fn next(&mut self) -> Option<Page> {\n\t\tself.pages.get(\"next\").cloned()\n    }\n";
    serde_json::json!({
        "parentUuid": "0b0c7a1e-2f7d-4b57-9a43-6f6d0b6a5a10",
        "isSidechain": false,
        "type": "assistant",
        "message": {
            "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-opus-5",
            "content": [
                {"type": "text", "text": text.repeat(24)},
                {"type": "tool_use", "id": "toolu_01", "name": "Edit", "input": {
                    "file_path": "/src/pages.rs",
                    "old_string": source.repeat(12),
                    "new_string": source.repeat(13)
                }}
            ],
            "usage": {"input_tokens": 12, "cache_read_input_tokens": 60_112, "output_tokens": 731}
        },
        "uuid": "5f4b5a7e-7c0e-4bd1-a3f8-4a7b1f9d5f11",
        "timestamp": "2026-03-01T09:30:00.000Z"
    })
    .to_string()
    .into_bytes()
}

/// The inside of a JSON string that holds source code.
fn string() -> Vec<u8> {
    let record = record();
    let start = record.windows(14).position(|part| part == b"\"old_string\":\"").unwrap() + 14;
    let end = record[start..].windows(3).position(|part| part == b"\",\"").unwrap();
    record[start..start + end].to_vec()
}

/// How many bytes of a class there are.
fn count<C: Class>(bytes: &[u8]) -> usize {
    let mut marks = Marks::<C>::new(bytes, 0);
    let mut count = 0;
    while let Some(at) = marks.peek() {
        count += 1;
        marks.pass_to(at + 1);
    }
    count
}

mod whole_record {
    use super::*;

    /// Every value of the record, with where it is in the bytes.
    #[divan::bench]
    fn scan_to_tape(bencher: Bencher<'_, '_>) {
        let record = record();
        let mut tape = Tape::new();
        bencher
            .counter(BytesCount::of_slice(&record))
            .bench_local(|| scan(black_box(&record), 0, 1_024, &mut tape).is_ok());
    }

    /// Checks the syntax and keeps nothing.
    #[divan::bench]
    fn serde_json_ignored(bencher: Bencher<'_, '_>) {
        let record = record();
        bencher
            .counter(BytesCount::of_slice(&record))
            .bench_local(|| serde_json::from_slice::<IgnoredAny>(black_box(&record)).is_ok());
    }

    /// Copies every value.
    #[divan::bench]
    fn serde_json_value(bencher: Bencher<'_, '_>) {
        let record = record();
        bencher.counter(BytesCount::of_slice(&record)).bench_local(|| {
            serde_json::from_slice::<serde_json::Value>(black_box(&record)).is_ok()
        });
    }
}

mod special_bytes {
    use super::*;

    /// One comparison for each block of 32 bytes.
    #[divan::bench]
    fn marks(bencher: Bencher<'_, '_>) {
        let string = string();
        bencher
            .counter(BytesCount::of_slice(&string))
            .bench_local(|| count::<Special>(black_box(&string)));
    }

    /// Starts again after each mark, and sees two of the three kinds only.
    #[divan::bench]
    fn memchr2(bencher: Bencher<'_, '_>) {
        let string = string();
        bencher.counter(BytesCount::of_slice(&string)).bench_local(|| {
            memchr::memchr2_iter(b'"', b'\\', black_box(&string)).fold(0, |sum, at| sum ^ at)
        });
    }

    #[divan::bench]
    fn byte_by_byte(bencher: Bencher<'_, '_>) {
        let string = string();
        bencher.counter(BytesCount::of_slice(&string)).bench_local(|| {
            let special = |byte: &&u8| matches!(**byte, b'"' | b'\\' | 0..=0x1f);
            black_box(&string).iter().filter(special).count()
        });
    }
}

mod one_byte {
    use super::*;

    #[divan::bench]
    fn marks(bencher: Bencher<'_, '_>) {
        let string = string();
        bencher
            .counter(BytesCount::of_slice(&string))
            .bench_local(|| count::<Byte<b'\\'>>(black_box(&string)));
    }

    #[divan::bench]
    fn memchr(bencher: Bencher<'_, '_>) {
        let string = string();
        bencher.counter(BytesCount::of_slice(&string)).bench_local(|| {
            memchr::memchr_iter(b'\\', black_box(&string)).fold(0, |sum, at| sum ^ at)
        });
    }
}

mod text_of_a_string {
    use super::*;

    #[divan::bench]
    fn decode(bencher: Bencher<'_, '_>) {
        let string = string();
        bencher
            .counter(BytesCount::of_slice(&string))
            .bench_local(|| text::decode(black_box(&string)).len());
    }

    #[divan::bench]
    fn serde_json(bencher: Bencher<'_, '_>) {
        let string = [b"\"", string().as_slice(), b"\""].concat();
        bencher.counter(BytesCount::of_slice(&string)).bench_local(|| {
            serde_json::from_slice::<String>(black_box(&string)).map_or(0, |text| text.len())
        });
    }
}
