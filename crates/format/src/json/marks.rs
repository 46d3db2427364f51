//! Finding the few bytes of a text that matter, 32 at a time.
//!
//! Escapes and line ends are close together, so a search that starts again after each of them spends
//! its time on starting. Here a block is compared once; the result is a mask that is used up bit by
//! bit. In source code inside JSON strings this is 5 times as fast as `memchr2` and 3.7 times as fast
//! as a loop over the bytes (`benches/json.rs`).

use wide::u8x16;

const BLOCK: usize = 32;

/// A kind of bytes that is looked for.
pub trait Class {
    /// All bits of the bytes that are of the kind, none of the others.
    fn held(bytes: u8x16) -> u8x16;
}

/// What ends a run of plain bytes inside a JSON string: a quote, a backslash, a control character.
#[derive(Debug, Clone, Copy)]
pub struct Special;

/// The same, and what is not ASCII or cannot be printed.
#[derive(Debug, Clone, Copy)]
pub struct Unprintable;

/// One byte.
#[derive(Debug, Clone, Copy)]
pub struct Byte<const BYTE: u8>;

impl Class for Special {
    #[inline(always)]
    fn held(bytes: u8x16) -> u8x16 {
        let control = bytes.min(u8x16::splat(0x1f)).simd_eq(bytes);
        Byte::<b'"'>::held(bytes) | Byte::<b'\\'>::held(bytes) | control
    }
}

impl Class for Unprintable {
    #[inline(always)]
    fn held(bytes: u8x16) -> u8x16 {
        Special::held(bytes) | bytes.max(u8x16::splat(0x7f)).simd_eq(bytes)
    }
}

impl<const BYTE: u8> Class for Byte<BYTE> {
    #[inline(always)]
    fn held(bytes: u8x16) -> u8x16 {
        bytes.simd_eq(u8x16::splat(BYTE))
    }
}

/// Letters and digits of ASCII, `_` and `-`: what words and most tokens are made of.
#[derive(Debug, Clone, Copy)]
pub struct WordPart;

impl WordPart {
    /// Whether one byte is of the kind.
    pub fn holds(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
    }
}

impl Class for WordPart {
    #[inline(always)]
    fn held(bytes: u8x16) -> u8x16 {
        let within = |bytes: u8x16, first: u8, last: u8| {
            let ahead = bytes - u8x16::splat(first);
            ahead.min(u8x16::splat(last - first)).simd_eq(ahead)
        };
        within(bytes | u8x16::splat(0x20), b'a', b'z')
            | within(bytes, b'0', b'9')
            | Byte::<b'_'>::held(bytes)
            | Byte::<b'-'>::held(bytes)
    }
}

/// A bit for each byte of a block that is of the kind.
#[inline(always)]
fn marks_of<C: Class>(block: &[u8; BLOCK]) -> u32 {
    match block.as_chunks::<16>().0 {
        [low, high] => {
            let mask = |half: &[u8; 16]| C::held(u8x16::new(*half)).to_bitmask();
            mask(low) | mask(high) << 16
        }
        _ => u32::MAX,
    }
}

/// The same for the block that begins at `start`. What stands behind the end is of no kind.
#[inline(always)]
fn marks_at<C: Class>(bytes: &[u8], start: usize) -> u32 {
    let rest = bytes.get(start..).unwrap_or(&[]);
    match rest.first_chunk::<BLOCK>() {
        Some(block) => marks_of::<C>(block),
        None => marks_of::<C>(&last_block(rest)) & !(u32::MAX << rest.len()),
    }
}

/// The bytes of a kind, one after the other.
#[derive(Debug)]
pub struct Marks<'a, C> {
    bytes: &'a [u8],
    /// Where the block stands, and what is still to be told of it.
    start: usize,
    marks: u32,
    class: std::marker::PhantomData<C>,
}

impl<'a, C: Class> Marks<'a, C> {
    /// Those from `at` on.
    #[inline(always)]
    pub fn new(bytes: &'a [u8], at: usize) -> Marks<'a, C> {
        let mut marks = Marks { bytes, start: at, marks: 0, class: std::marker::PhantomData };
        marks.load();
        marks
    }

    #[inline(always)]
    fn load(&mut self) {
        self.marks = marks_at::<C>(self.bytes, self.start);
    }

    /// Goes on from `at`, which is not before what was told last.
    #[inline(always)]
    pub fn pass_to(&mut self, at: usize) {
        match at - self.start {
            ahead @ 0..BLOCK => self.marks &= u32::MAX << ahead,
            _ => {
                self.start = at;
                self.load();
            }
        }
    }

    /// Where the next one stands; the same again until it is passed.
    #[inline(always)]
    pub fn peek(&mut self) -> Option<usize> {
        while self.marks == 0 {
            self.start += BLOCK;
            if self.start >= self.bytes.len() {
                return None;
            }
            self.load();
        }
        Some(self.start + self.marks.trailing_zeros() as usize)
    }
}

/// Runs of at least `LEAST` bytes of a kind, in order. `LEAST` is less than a block.
#[derive(Debug)]
pub struct Runs<'a, C, const LEAST: usize> {
    bytes: &'a [u8],
    /// Where the block stands, and its bytes of the kind that are not yet told.
    start: usize,
    marks: u32,
    /// Where the run begins that goes on into the block.
    open: Option<usize>,
    class: std::marker::PhantomData<C>,
}

impl<'a, C: Class, const LEAST: usize> Runs<'a, C, LEAST> {
    /// Those of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Runs<'a, C, LEAST> {
        let (marks, class) = (marks_at::<C>(bytes, 0), std::marker::PhantomData);
        Runs { bytes, start: 0, marks, open: None, class }
    }

    /// Where `LEAST` bytes of the kind begin that stand in one block.
    #[inline(always)]
    fn beginnings(marks: u32) -> u32 {
        let (mut long, mut length) = (marks, 1);
        while length < LEAST {
            let more = length.min(LEAST - length);
            long &= long >> more;
            length += more;
        }
        long
    }
}

impl<C: Class, const LEAST: usize> Iterator for Runs<'_, C, LEAST> {
    type Item = std::ops::Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<std::ops::Range<usize>> {
        loop {
            if let Some(open) = self.open {
                let more = self.marks.trailing_ones();
                if more < u32::BITS {
                    let end = self.start + more as usize;
                    self.open = None;
                    self.marks &= u32::MAX << more;
                    if end - open >= LEAST {
                        return Some(open..end);
                    }
                }
            }
            if self.open.is_none() {
                let first = Self::beginnings(self.marks).trailing_zeros();
                let behind = self.marks.checked_shr(first).unwrap_or_default();
                let length = behind.trailing_ones();
                if length > 0 && first + length < u32::BITS {
                    self.marks &= u32::MAX << (first + length);
                    let start = self.start + first as usize;
                    return Some(start..start + length as usize);
                }
                let last = self.marks.leading_ones();
                self.open = (last > 0).then(|| self.start + BLOCK - last as usize);
            }
            if self.start + BLOCK > self.bytes.len() {
                return None;
            }
            self.start += BLOCK;
            self.marks = marks_at::<C>(self.bytes, self.start);
        }
    }
}

/// What is left of the bytes, filled up.
#[cold]
fn last_block(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<C: Class>(bytes: &[u8], from: usize) -> Vec<usize> {
        let mut marks = Marks::<C>::new(bytes, from);
        let mut found = Vec::new();
        while let Some(at) = marks.peek() {
            assert_eq!(marks.peek(), Some(at));
            found.push(at);
            marks.pass_to(at + 1);
        }
        found
    }

    fn is_special(byte: u8) -> bool {
        byte < b' ' || matches!(byte, b'"' | b'\\')
    }

    fn is_unprintable(byte: u8) -> bool {
        is_special(byte) || !matches!(byte, b' '..=b'~')
    }

    /// Runs of at least `least` bytes of words, one byte after the other.
    fn expected_runs(bytes: &[u8], least: usize) -> Vec<std::ops::Range<usize>> {
        let mut runs = Vec::new();
        let mut start = 0;
        for end in 0..=bytes.len() {
            if bytes.get(end).is_none_or(|byte| !WordPart::holds(*byte)) {
                runs.extend((end - start >= least).then_some(start..end));
                start = end + 1;
            }
        }
        runs
    }

    fn expected(bytes: &[u8], from: usize, holds: impl Fn(u8) -> bool) -> Vec<usize> {
        (from..bytes.len()).filter(|at| holds(bytes[*at])).collect()
    }

    #[test]
    fn every_byte_is_of_its_kind() {
        for byte in 0..=255 {
            let all = |held| if held { u32::MAX } else { 0 };
            assert_eq!(marks_of::<Special>(&[byte; BLOCK]), all(is_special(byte)), "{byte}");
            assert_eq!(marks_of::<WordPart>(&[byte; BLOCK]), all(WordPart::holds(byte)), "{byte}");
            assert_eq!(
                marks_of::<Unprintable>(&[byte; BLOCK]),
                all(is_unprintable(byte)),
                "{byte}"
            );
        }
        for at in 0..BLOCK {
            let mut block = [b'a'; BLOCK];
            block[at] = b'b';
            assert_eq!(marks_of::<Byte<b'b'>>(&block), 1 << at);
            assert_eq!(marks_of::<Byte<b'a'>>(&block), !(1 << at));
        }
    }

    proptest::proptest! {
        #[test]
        fn runs_are_found_at_any_place(
            lengths in proptest::collection::vec(0usize..90, 0..8),
            short in proptest::collection::vec(0usize..20, 0..30),
            gap in proptest::sample::select(vec![" ", "  ", "\u{e9}", ".@/", "                                 "]),
        ) {
            let words: Vec<String> =
                lengths.iter().chain(&short).chain(&lengths).map(|length| "aZ0_-".chars().cycle().take(*length).collect()).collect();
            let text = words.join(gap);
            let bytes = text.as_bytes();
            let found: Vec<_> = Runs::<WordPart, 15>::new(bytes).collect();
            assert_eq!(found, expected_runs(bytes, 15));
            let found: Vec<_> = Runs::<WordPart, 1>::new(bytes).collect();
            assert_eq!(found, expected_runs(bytes, 1));
            let found: Vec<_> = Runs::<WordPart, 31>::new(bytes).collect();
            assert_eq!(found, expected_runs(bytes, 31));
        }

        #[test]
        fn marks_are_found_at_any_place(
            bytes in proptest::collection::vec(proptest::sample::select(
                b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\\\x00\x1f\x20\x7e\x7f\x80\xff".to_vec()), 0..200),
            from in 0usize..200,
            ahead in 0usize..80,
        ) {
            let from = from.min(bytes.len());
            assert_eq!(all::<Special>(&bytes, from), expected(&bytes, from, is_special));
            assert_eq!(all::<Unprintable>(&bytes, from), expected(&bytes, from, is_unprintable));
            assert_eq!(all::<Byte<0>>(&bytes, from), expected(&bytes, from, |byte| byte == 0));
            let mut marks = Marks::<Special>::new(&bytes, from);
            if let Some(first) = marks.peek() {
                marks.pass_to(first + ahead);
                let left = expected(&bytes, first + ahead, is_special);
                assert_eq!(marks.peek(), left.first().copied());
            }
        }
    }
}
