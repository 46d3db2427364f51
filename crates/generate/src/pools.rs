//! Text to draw from: prose, source code, terminal output and base64, all escaped for JSON already.
//!
//! Made once per run from word lists; sessions copy slices out of it. Real words are not needed, real
//! shapes are: line breaks, escapes, tabs, quotes, characters of two, three and four bytes.

use crate::random::Random;

const WORDS: &[&str] = &[
    "the",
    "parser",
    "session",
    "trace",
    "record",
    "file",
    "line",
    "value",
    "index",
    "cache",
    "token",
    "buffer",
    "state",
    "error",
    "result",
    "user",
    "agent",
    "tool",
    "call",
    "message",
    "content",
    "stream",
    "chunk",
    "project",
    "path",
    "config",
    "option",
    "default",
    "test",
    "module",
    "function",
    "method",
    "schema",
    "version",
    "update",
    "change",
    "check",
    "fix",
    "add",
    "remove",
    "return",
    "compute",
    "load",
    "store",
    "read",
    "write",
    "open",
    "close",
    "handle",
    "request",
    "response",
    "retry",
    "timeout",
    "queue",
    "worker",
    "thread",
    "lock",
    "context",
    "window",
    "because",
    "should",
    "would",
    "could",
    "this",
    "that",
    "with",
    "from",
    "into",
    "over",
    "between",
    "before",
    "after",
    "while",
    "when",
    "where",
    "naïve",
    "café",
    "résumé",
    "日本語",
    "данные",
    "🚀",
    "→",
    "✓",
];
const NAMES: &[&str] = &[
    "user_id",
    "session_count",
    "parse_line",
    "total_cost",
    "file_path",
    "config",
    "context",
    "buffer",
    "token_count",
    "cache_key",
    "out_dir",
    "record",
    "index",
    "response",
    "payload",
];
const MARKS: &[&str] = &[
    "\\u001b[32m✓\\u001b[39m",
    "\\u001b[31mFAIL\\u001b[0m",
    "\\u001b[1mwarning\\u001b[22m:",
    "PASS",
    "  at Object.<anonymous>",
    "error[E0308]:",
];

/// A long run of escaped text that may be cut between pieces only, so that no escape is split.
#[derive(Debug)]
pub(crate) struct Pool {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Pool {
    fn fill(size: usize, mut piece: impl FnMut(&mut Vec<u8>)) -> Self {
        let (mut bytes, mut starts) = (Vec::with_capacity(size + 1024), Vec::new());
        while bytes.len() < size {
            starts.push(bytes.len());
            piece(&mut bytes);
        }
        Self { bytes, starts }
    }

    /// About `length` bytes from a random place.
    pub(crate) fn take(&self, random: &mut Random, length: usize) -> &[u8] {
        let length = length.min(self.bytes.len() / 2);
        let last = self.starts.partition_point(|&start| start + length < self.bytes.len());
        let from = self.starts[random.below(last)];
        let end = self.starts.partition_point(|&start| start < from + length.max(1));
        let to = self.starts.get(end).copied().unwrap_or(self.bytes.len());
        &self.bytes[from..to]
    }

    /// How many pieces there are.
    #[must_use]
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// One piece.
    #[must_use]
    pub(crate) fn piece(&self, number: usize) -> &[u8] {
        let number = number % self.starts.len();
        let to = self.starts.get(number + 1).copied().unwrap_or(self.bytes.len());
        &self.bytes[self.starts[number]..to]
    }
}

/// Everything a tree is made of.
#[derive(Debug)]
pub(crate) struct Pools {
    /// Sentences and short lists.
    pub(crate) prose: Pool,
    /// Lines of source code, each with its newline.
    pub(crate) code: Pool,
    /// Lines of terminal output with colours.
    pub(crate) terminal: Pool,
    base64: Vec<u8>,
}

impl Pools {
    /// Fills the pools.
    #[must_use]
    pub(crate) fn new(random: &mut Random) -> Self {
        let prose = Pool::fill(1 << 20, |out| sentence(random, out));
        let code = Pool::fill(2 << 20, |out| code_line(random, out));
        let terminal = Pool::fill(1 << 20, |out| {
            out.extend_from_slice(random.pick(MARKS).as_bytes());
            out.push(b' ');
            out.extend_from_slice(random.pick(NAMES).as_bytes());
            let rest = format!(" {} ({} ms)\\n", random.pick(WORDS), random.between(1, 900));
            out.extend_from_slice(rest.as_bytes());
        });
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut base64 = Vec::with_capacity(4 << 20);
        while base64.len() < 4 << 20 {
            let word = random.word();
            base64.extend((0..10).map(|shift| alphabet[(word >> (shift * 6)) as usize & 63]));
        }
        Self { prose, code, terminal, base64 }
    }

    /// `length` characters of base64.
    pub(crate) fn base64(&self, random: &mut Random, length: usize) -> &[u8] {
        let length = length.min(self.base64.len());
        let from = random.below(self.base64.len() - length + 1);
        &self.base64[from..from + length]
    }

    /// An identifier.
    pub(crate) fn name(&self, random: &mut Random) -> &'static str {
        random.pick(NAMES)
    }
}

fn sentence(random: &mut Random, out: &mut Vec<u8>) {
    for number in 0..random.between(5, 22) {
        if number > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(random.pick(WORDS).as_bytes());
    }
    let end: &[u8] = match random.below(7) {
        0 => b"? ",
        1 => b":\\n- ",
        2 => b".\\n\\n",
        3 => b" in `parse_line()`. ",
        4 => b" (\\\"quoted\\\"). ",
        _ => b". ",
    };
    out.extend_from_slice(end);
}

fn code_line(random: &mut Random, out: &mut Vec<u8>) {
    let indent = random.pick(&["", "    ", "        ", "\\t", "\\t\\t"]);
    let (one, two) = (random.pick(NAMES), random.pick(NAMES));
    let (word, number) = (random.pick(WORDS), random.between(0, 99_999));
    let line = match random.below(9) {
        0 => format!("{one} = {two}.get(\\\"{word}\\\", {number})"),
        1 => format!("if {one} is None and {two} > {number}:"),
        2 => format!("return {one} + {two}[{number}:]"),
        3 => format!("# {word} {number} {word}"),
        4 => format!("def {one}_{number}(self, {two}: str) -> int:"),
        5 => format!("for {one} in enumerate({two}, {number}):"),
        6 => format!("raise ValueError(f\\\"bad {{{one}!r}} in {{{two}}} at {number}\\\")"),
        7 => String::new(),
        _ => format!("self.{one}.append('{word}\\\\t{number}')"),
    };
    out.extend_from_slice(indent.as_bytes());
    out.extend_from_slice(line.as_bytes());
    out.extend_from_slice(b"\\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slice_is_a_valid_string() {
        let mut random = Random::new(3);
        let pools = Pools::new(&mut random);
        for length in [1, 10, 500, 70_000, 10_000_000] {
            for pool in [&pools.prose, &pools.code, &pools.terminal] {
                let text = [b"\"", pool.take(&mut random, length), b"\""].concat();
                assert!(serde_json::from_slice::<String>(&text).is_ok());
            }
        }
    }
}
