//! What the benchmarks read: text of this repository, or of the file that `BACKSTORY_BENCH_TEXT` names.

/// Documentation, code and sessions, about 200 kB.
pub(crate) fn realistic() -> String {
    #[expect(clippy::disallowed_methods, reason = "a benchmark is told by the environment")]
    let file = std::env::var_os("BACKSTORY_BENCH_TEXT");
    if let Some(text) = file.and_then(|path| std::fs::read_to_string(path).ok()) {
        return text;
    }
    [
        include_str!("../../../../ARCHITECTURE.md"),
        include_str!("../../../../CHANGELOG.md"),
        include_str!("../../../../README.md"),
        include_str!("../../../../docs/redaction.md"),
        include_str!("../../src/detect/assign.rs"),
        include_str!("../../src/detect/rules.rs"),
        include_str!("../../src/apply/scrubber.rs"),
        include_str!("../../../../testdata/sample/projects/-home-dev-greenhouse/59aba946-bbf3-47b2-a1c0-a3bbe8bbaa64.jsonl"),
        include_str!("../../../../testdata/sample/projects/-home-dev-tidewatch/bf74c68e-c847-4cdb-aade-68b60fc0dfa8.jsonl"),
    ]
    .concat()
}
