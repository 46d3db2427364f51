//! The index of one record: a flat list of spans, and views on it.
//!
//! A tape is filled by [`scan`](super::scan) and reused from record to record, so reading a file
//! allocates only for its widest record.

use super::text;
use crate::slice::Part;
use std::borrow::Cow;
use std::ops::Range;

/// The JSON type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number of any size.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

/// One value or key. For containers `next` is the index behind the last descendant; while a
/// container is still open it holds the index of the enclosing one instead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) next: u32,
    pub(super) kind: Kind,
    pub(super) escaped: bool,
}

/// Oddities met while scanning one value; each is worth a problem but none makes it unreadable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Where an object repeats a key, relative to the scanned bytes.
    pub duplicate_key: Option<u32>,
    /// Where half a surrogate pair stands.
    pub lone_surrogate: Option<u32>,
    /// Where a number stands that no machine type holds.
    pub huge_number: Option<u32>,
}

/// Spans of one scanned value, in document order.
#[derive(Debug, Default)]
pub struct Tape {
    pub(super) nodes: Vec<Node>,
    pub(super) key_masks: Vec<u128>,
    pub(super) oddities: Oddities,
}

impl Tape {
    /// An empty tape.
    pub fn new() -> Tape {
        Tape::default()
    }

    /// What was odd in the value scanned last.
    pub fn oddities(&self) -> Oddities {
        self.oddities
    }

    /// The value scanned last, over the same bytes.
    pub fn root<'a>(&'a self, bytes: &'a [u8]) -> Option<Value<'a>> {
        self.nodes.first().map(|node| Value { bytes, tape: self, index: 0, node: *node })
    }

    pub(super) fn key_equals(&self, bytes: &[u8], node: &Node, wanted: &[u8]) -> bool {
        let raw = inside(bytes, node);
        if node.escaped { text::decode(raw).as_bytes() == wanted } else { raw == wanted }
    }
}

/// A value inside a record; cheap to copy.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    bytes: &'a [u8],
    tape: &'a Tape,
    index: u32,
    node: Node,
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Value").field(&bstr::BStr::new(self.raw())).finish()
    }
}

impl<'a> Value<'a> {
    /// Its JSON type.
    pub fn kind(&self) -> Kind {
        self.node.kind
    }

    /// Where it stands in the scanned bytes.
    pub fn span(&self) -> Range<usize> {
        self.node.start as usize..self.node.end as usize
    }

    /// Exactly what was written.
    pub fn raw(&self) -> &'a [u8] {
        self.bytes.part(self.span())
    }

    /// Raw inside of a string, escapes not decoded.
    pub fn raw_text(&self) -> Option<&'a [u8]> {
        (self.node.kind == Kind::String).then(|| inside(self.bytes, &self.node))
    }

    /// Where the inside of a string stands in the scanned bytes.
    pub fn text_span(&self) -> Option<Range<usize>> {
        (self.node.kind == Kind::String)
            .then(|| self.node.start as usize + 1..self.node.end as usize - 1)
    }

    /// Decoded text of a string.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        let raw = self.raw_text()?;
        if self.node.escaped { Some(text::decode(raw)) } else { Some(text::lossy(raw)) }
    }

    /// Whether it is a string with exactly this (ASCII) text.
    pub fn is_text(&self, wanted: &str) -> bool {
        self.node.kind == Kind::String
            && self.tape.key_equals(self.bytes, &self.node, wanted.as_bytes())
    }

    /// `true` or `false`.
    pub fn boolean(&self) -> Option<bool> {
        match self.node.kind {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.node.kind == Kind::Null
    }

    /// A whole, non-negative number that fits.
    pub fn unsigned(&self) -> Option<u64> {
        if self.node.kind != Kind::Number {
            return None;
        }
        std::str::from_utf8(self.raw()).ok()?.parse().ok()
    }

    /// A number as a float; for display and durations only.
    pub fn float(&self) -> Option<f64> {
        if self.node.kind != Kind::Number {
            return None;
        }
        std::str::from_utf8(self.raw()).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Fields of an object in the order written, repeated keys included.
    pub fn fields(&self) -> Fields<'a> {
        let end = if self.node.kind == Kind::Object { self.node.next } else { self.index + 1 };
        Fields { bytes: self.bytes, tape: self.tape, at: self.index + 1, end }
    }

    /// Items of an array.
    pub fn items(&self) -> Items<'a> {
        let end = if self.node.kind == Kind::Array { self.node.next } else { self.index + 1 };
        Items { bytes: self.bytes, tape: self.tape, at: self.index + 1, end }
    }

    /// The last field of that name: with repeated keys the last one counts.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        let mut found = None;
        for (key, value) in self.fields() {
            if key.is(name) {
                found = Some(value);
            }
        }
        found
    }

    /// [`get`](Value::get), only if it is a string.
    pub fn get_text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.text()
    }
}

/// The key of a field.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    bytes: &'a [u8],
    tape: &'a Tape,
    node: Node,
}

impl std::fmt::Debug for Key<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Key").field(&self.text()).finish()
    }
}

impl<'a> Key<'a> {
    /// Whether it is this name.
    pub fn is(&self, name: &str) -> bool {
        self.tape.key_equals(self.bytes, &self.node, name.as_bytes())
    }

    /// Where it stands in the scanned bytes, quotes included.
    pub fn span(&self) -> Range<usize> {
        self.node.start as usize..self.node.end as usize
    }

    /// Decoded name.
    pub fn text(&self) -> Cow<'a, str> {
        text::decode(inside(self.bytes, &self.node))
    }

    /// The name as it is written, escapes not decoded.
    pub fn raw(&self) -> &'a [u8] {
        inside(self.bytes, &self.node)
    }

    /// Whether the name is written with escapes.
    pub fn is_escaped(&self) -> bool {
        self.node.escaped
    }

    /// Where the inside of the name stands in the scanned bytes.
    pub fn text_span(&self) -> Range<usize> {
        self.node.start as usize + 1..self.node.end as usize - 1
    }

    /// The name's bytes, decoded if it was written with escapes.
    pub fn name(&self) -> Cow<'a, [u8]> {
        let raw = inside(self.bytes, &self.node);
        if self.node.escaped {
            Cow::Owned(text::decode(raw).into_owned().into_bytes())
        } else {
            Cow::Borrowed(raw)
        }
    }
}

/// Iterator of [`Value::fields`].
#[derive(Clone)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    tape: &'a Tape,
    at: u32,
    end: u32,
}

impl std::fmt::Debug for Fields<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.clone()).finish()
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Key<'a>, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let key = *self.tape.nodes.get(self.at as usize)?;
        let index = self.at + 1;
        let node = *self.tape.nodes.get(index as usize)?;
        self.at = node.next;
        Some((
            Key { bytes: self.bytes, tape: self.tape, node: key },
            Value { bytes: self.bytes, tape: self.tape, index, node },
        ))
    }
}

/// Iterator of [`Value::items`].
#[derive(Clone)]
pub struct Items<'a> {
    bytes: &'a [u8],
    tape: &'a Tape,
    at: u32,
    end: u32,
}

impl std::fmt::Debug for Items<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.clone()).finish()
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        if self.at >= self.end {
            return None;
        }
        let index = self.at;
        let node = *self.tape.nodes.get(index as usize)?;
        self.at = node.next;
        Some(Value { bytes: self.bytes, tape: self.tape, index, node })
    }
}

fn inside<'a>(bytes: &'a [u8], node: &Node) -> &'a [u8] {
    bytes.part(node.start as usize + 1..node.end as usize - 1)
}
