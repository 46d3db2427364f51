//! JSON as Python's `json.dumps(sort_keys=True)` writes it, so that what is written is at once
//! what is hashed.
//!
//! Everything is either plain (names of fields, words of ours), an id or text, and ids and texts pass
//! through [`Clearing`] on their way; there is no fourth way to get a string into an export. What the secrets of
//! the session are was learnt from all of its files before. Callers put keys in order themselves; a
//! test sorts them again and compares the hash.

pub(super) use crate::digest::{hexadecimal, sha256};
use crate::escape::{rewrite, write_text};
use crate::fields::{Order, ordered};
use crate::number;
use backstory_format::json::text::decode;
use backstory_format::json::{Kind, Value};
use backstory_format::slice::Part;
use backstory_redact::{Raw, Scrubber};
use backstory_store::Spool;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::io::Write as _;

/// What is done with text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Clearing<'c> {
    /// Secrets are taken out.
    Scrub(&'c Scrubber),
    /// The user wants it as it is.
    Raw(Raw),
}

/// A document that is being written.
#[derive(Debug)]
pub(super) struct CanonicalWriter<'c> {
    spool: Spool,
    clearing: Clearing<'c>,
    /// Of what was written up to `hashed`.
    hasher: Option<Sha256>,
    hashed: usize,
    comma: bool,
    nested: u32,
    order: Order,
}

/// What was being written before something else was.
#[derive(Debug)]
pub(super) struct Outer(Spool, bool);

/// Deeper values than this become text: readers of the formats give up at some depth.
const DEEPEST: u32 = 100;
const SPILL_AT: usize = 64 << 10;
/// What is written apart takes mostly no more than this.
const NESTED: usize = 1000;

impl<'c> CanonicalWriter<'c> {
    pub(super) fn new(clearing: Clearing<'c>) -> CanonicalWriter<'c> {
        let (spool, order) = (Spool::default(), Order::ByName);
        CanonicalWriter { spool, clearing, hasher: None, hashed: 0, comma: false, nested: 0, order }
    }

    /// The same for a document that tells its hash.
    pub(super) fn hashing(clearing: Clearing<'c>) -> CanonicalWriter<'c> {
        CanonicalWriter { hasher: Some(Sha256::new()), ..CanonicalWriter::new(clearing) }
    }

    /// Leaves fields in the order in which the model wrote them.
    pub(super) fn keep_order(&mut self) {
        self.order = Order::AsWritten;
    }

    fn put(&mut self, bytes: &[u8]) {
        self.spool.push(bytes);
    }

    fn value(&mut self) {
        if self.comma {
            self.put(b", ");
        }
        self.comma = true;
    }

    pub(super) fn open(&mut self) {
        self.value();
        self.put(b"{");
        self.comma = false;
    }

    pub(super) fn close(&mut self) {
        self.put(b"}");
        self.comma = true;
    }

    pub(super) fn open_list(&mut self) {
        self.value();
        self.put(b"[");
        self.comma = false;
    }

    pub(super) fn close_list(&mut self) {
        self.put(b"]");
        self.comma = true;
        self.hash_and_spill();
    }

    pub(super) fn key(&mut self, name: &str) {
        self.plain(name);
        self.put(b": ");
        self.comma = false;
    }

    pub(super) fn null(&mut self) {
        self.value();
        self.put(b"null");
    }

    pub(super) fn bool(&mut self, value: bool) {
        self.value();
        self.put(if value { b"true" } else { b"false" });
    }

    pub(super) fn number(&mut self, value: u64) {
        self.value();
        // Digits of a number: there is nothing that could fail.
        let _ = write!(self.spool.buffer(), "{value}");
    }

    pub(super) fn float(&mut self, value: f64) {
        self.value();
        self.put(number::float(value).as_bytes());
    }

    /// A word of ours, or what is cleared already, as it is.
    pub(super) fn plain(&mut self, text: &str) {
        self.value();
        write_text(text, self.spool.buffer());
    }

    /// A field whose value is plain.
    pub(super) fn static_field(&mut self, name: &str, value: &str) {
        self.key(name);
        self.plain(value);
    }

    /// An id of the session.
    pub(super) fn id(&mut self, id: &str) {
        match self.clearing {
            Clearing::Scrub(scrubber) => self.plain(scrubber.clear_id(id).get()),
            Clearing::Raw(_) => self.plain(id),
        }
    }

    pub(super) fn id_or_null(&mut self, id: Option<&str>) {
        match id {
            Some(id) => self.id(id),
            None => self.null(),
        }
    }

    pub(super) fn id_list<'t>(&mut self, ids: impl IntoIterator<Item = &'t str>) {
        self.open_list();
        ids.into_iter().for_each(|id| self.id(id));
        self.close_list();
    }

    /// Text of the session.
    pub(super) fn text(&mut self, text: &str) {
        self.value();
        let cleared = self.clear(text);
        write_text(&cleared, self.spool.buffer());
    }

    /// The inside of a JSON string of the session. Where nothing is taken out of it and it is
    /// written as Python writes, it goes through as it is.
    pub(super) fn written_text(&mut self, raw: &[u8]) {
        self.written_text_of("", raw);
    }

    fn written_text_of(&mut self, name: &str, raw: &[u8]) {
        self.value();
        if self.passes(name, raw) && rewrite(raw, self.spool.buffer()) {
            return;
        }
        let text = decode(raw);
        let cleared = self.clear_field(name, &text);
        write_text(&cleared, self.spool.buffer());
    }

    /// Whether it is known that nothing is taken out of the inside of a JSON string.
    pub(super) fn passes(&self, name: &str, raw: &[u8]) -> bool {
        match self.clearing {
            Clearing::Scrub(scrubber) => scrubber.leaves(name, raw),
            Clearing::Raw(_) => true,
        }
    }

    /// Text as it will be written.
    pub(super) fn clear<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.clear_field("", text)
    }

    fn clear_field<'t>(&self, name: &str, text: &'t str) -> Cow<'t, str> {
        match self.clearing {
            Clearing::Scrub(scrubber) => scrubber.clear_field(name, text).into_inner(),
            Clearing::Raw(_) => Cow::Borrowed(text),
        }
    }

    pub(super) fn plain_or_null(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.plain(text),
            None => self.null(),
        }
    }

    pub(super) fn text_or_null(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.text(text),
            None => self.null(),
        }
    }

    pub(super) fn number_or_null(&mut self, value: Option<u64>) {
        match value {
            Some(value) => self.number(value),
            None => self.null(),
        }
    }

    pub(super) fn float_or_null(&mut self, value: Option<f64>) {
        match value.filter(|value| value.is_finite()) {
            Some(value) => self.float(value),
            None => self.null(),
        }
    }

    /// `{}`
    pub(super) fn empty(&mut self) {
        self.open();
        self.close();
    }

    /// `[]`
    pub(super) fn empty_list(&mut self) {
        self.open_list();
        self.close_list();
    }

    pub(super) fn plain_list<'t>(&mut self, words: impl IntoIterator<Item = &'t str>) {
        self.open_list();
        words.into_iter().for_each(|word| self.plain(word));
        self.close_list();
    }

    pub(super) fn text_list<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        self.open_list();
        texts.into_iter().for_each(|text| self.text(text));
        self.close_list();
    }

    /// A value of the session; keys are text too.
    pub(super) fn json(&mut self, value: Value<'_>) {
        self.nested("", value, 0);
    }

    fn nested(&mut self, name: &str, value: Value<'_>, depth: u32) {
        match value.kind() {
            Kind::Null => self.null(),
            Kind::True => self.bool(true),
            Kind::False => self.bool(false),
            Kind::Number => {
                let raw = String::from_utf8_lossy(value.raw());
                match number::normal(&raw) {
                    Some(number) => {
                        self.value();
                        self.put(number.as_bytes());
                    }
                    None => self.text(&raw),
                }
            }
            Kind::String => self.written_text_of(name, value.raw_text().unwrap_or_default()),
            _ if depth >= DEEPEST => self.text(&String::from_utf8_lossy(value.raw())),
            Kind::Array => {
                self.open_list();
                value.items().for_each(|item| self.nested(name, item, depth + 1));
                self.close_list();
            }
            Kind::Object => {
                self.open();
                let order = self.order;
                for (name, value) in ordered(value, order, |name| self.clear(name)) {
                    self.key(&name);
                    self.nested(&name, value, depth + 1);
                }
                self.close();
            }
        }
    }

    fn hash_and_spill(&mut self) {
        if self.nested > 0 {
            return;
        }
        let buffer = self.spool.buffer();
        if buffer.len() - self.hashed > SPILL_AT {
            if let Some(hasher) = &mut self.hasher {
                hasher.update(buffer.part(self.hashed..));
            }
            self.spool.spill();
            self.hashed = self.spool.buffer().len();
        }
    }

    /// The hash of everything so far and a closing brace, in hexadecimal digits.
    pub(super) fn hash(&mut self) -> Option<String> {
        let buffer = self.spool.buffer();
        let mut hasher = self.hasher.clone()?;
        hasher.update(buffer.part(self.hashed..));
        hasher.update(b"}");
        Some(hexadecimal(&hasher.finalize()))
    }

    /// Ends a document.
    pub(super) fn end_line(&mut self) {
        self.put(b"\n");
        self.comma = false;
        self.hash_and_spill();
    }

    pub(super) fn finish(self) -> Spool {
        self.spool
    }

    /// Writes something apart, until [`end_nested`](CanonicalWriter::end_nested).
    pub(super) fn begin_nested(&mut self) -> Outer {
        self.begin_nested_in(Vec::with_capacity(NESTED))
    }

    /// The same behind what a buffer holds already.
    pub(super) fn begin_nested_in(&mut self, buffer: Vec<u8>) -> Outer {
        self.nested += 1;
        let comma = std::mem::take(&mut self.comma);
        let outer = Outer(std::mem::take(&mut self.spool), comma);
        *self.spool.buffer() = buffer;
        outer
    }

    /// What was written apart.
    pub(super) fn end_nested(&mut self, outer: Outer) -> Vec<u8> {
        self.nested -= 1;
        self.comma = outer.1;
        let mut inner = std::mem::replace(&mut self.spool, outer.0);
        std::mem::take(inner.buffer())
    }

    /// A value that was written apart.
    pub(super) fn written(&mut self, value: &[u8]) {
        self.value();
        self.put(value);
    }

    /// A list of values that were written apart; each part holds any number of them.
    pub(super) fn written_list(&mut self, parts: [&[u8]; 3]) {
        self.open_list();
        parts.iter().filter(|part| !part.is_empty()).for_each(|part| self.written(part));
        self.close_list();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backstory_format::json::{Tape, scan};

    #[test]
    fn values_are_written_as_python_does() {
        let text = r#"{"b":[1,2.50,1e2,-0,true,null],"a":"\u00e9\/\ud83d\ude00\u007f\b\f\u0001",
            "b2":{},"a":1e999,"":[]}"#;
        let mut tape = Tape::new();
        scan(text.as_bytes(), 0, 64, &mut tape).unwrap();
        let mut canon = CanonicalWriter::new(Clearing::Raw(Raw::requested_by_user()));
        canon.json(tape.root(text.as_bytes()).unwrap());
        canon.text("\u{e9}/\u{1f600}\u{7f}\u{8}\u{c}\u{1}\"");
        canon.end_line();
        let mut out = Vec::new();
        canon.finish().copy_to(&mut out).unwrap();
        let expected = "{\"\": [], \"a\": \"1e999\", \"b\": [1, 2.5, 100.0, 0, true, null], \
                        \"b2\": {}}, \"\\u00e9/\\ud83d\\ude00\\u007f\\b\\f\\u0001\\\"\"\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn deep_values_become_text() {
        let text = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let mut tape = Tape::new();
        scan(text.as_bytes(), 0, 1024, &mut tape).unwrap();
        let mut canon = CanonicalWriter::new(Clearing::Raw(Raw::requested_by_user()));
        canon.json(tape.root(text.as_bytes()).unwrap());
        let mut out = Vec::new();
        canon.finish().copy_to(&mut out).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(value.to_string().matches('[').count(), 500);
    }
}
