//! A line under construction: JSON written straight into a buffer that is reused.
//!
//! Not a serialiser. Values come from pools that are escaped already, so most of the work is copying;
//! building a tree of values first would make the generator several times slower.

/// One JSON line.
#[derive(Debug, Default)]
pub(crate) struct Line {
    bytes: Vec<u8>,
    comma: bool,
}

impl Line {
    /// Empties the line and opens its object.
    pub(crate) fn begin(&mut self) {
        self.bytes.clear();
        self.bytes.push(b'{');
        self.comma = false;
    }

    /// Closes the object, adds the newline, and hands the bytes out.
    pub(crate) fn finish(&mut self) -> &[u8] {
        self.bytes.extend_from_slice(b"}\n");
        &self.bytes
    }

    fn separate(&mut self) {
        if self.comma {
            self.bytes.push(b',');
        }
        self.comma = true;
    }

    /// Writes a key; the value has to follow.
    pub(crate) fn key(&mut self, key: &str) {
        self.separate();
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.extend_from_slice(b"\":");
    }

    /// A string that needs no escaping, or is escaped already.
    pub(crate) fn text(&mut self, key: &str, value: impl AsRef<[u8]>) {
        self.key(key);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(value.as_ref());
        self.bytes.push(b'"');
    }

    /// A string of several escaped pieces.
    pub(crate) fn pieces(&mut self, key: &str, pieces: &[&[u8]]) {
        self.key(key);
        self.bytes.push(b'"');
        for piece in pieces {
            self.bytes.extend_from_slice(piece);
        }
        self.bytes.push(b'"');
    }

    /// A string written by `fill`, which appends escaped bytes.
    pub(crate) fn filled(&mut self, key: &str, fill: impl FnOnce(&mut Vec<u8>)) {
        self.key(key);
        self.bytes.push(b'"');
        fill(&mut self.bytes);
        self.bytes.push(b'"');
    }

    /// A number.
    pub(crate) fn number(&mut self, key: &str, value: u64) {
        self.key(key);
        self.bytes.extend_from_slice(value.to_string().as_bytes());
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, key: &str, value: bool) {
        self.raw(key, if value { "true" } else { "false" });
    }

    /// `null`.
    pub(crate) fn null(&mut self, key: &str) {
        self.raw(key, b"null");
    }

    /// A value that is JSON already.
    pub(crate) fn raw(&mut self, key: &str, value: impl AsRef<[u8]>) {
        self.key(key);
        self.bytes.extend_from_slice(value.as_ref());
    }

    /// Members `"a":1,"b":2` that are JSON already.
    pub(crate) fn members(&mut self, members: &[u8]) {
        if !members.is_empty() {
            self.separate();
            self.bytes.extend_from_slice(members);
        }
    }

    /// An object as the value of a key.
    pub(crate) fn object(&mut self, key: &str, inside: impl FnOnce(&mut Self)) {
        self.key(key);
        self.enclosed(b'{', b'}', inside);
    }

    /// A list as the value of a key.
    pub(crate) fn list(&mut self, key: &str, inside: impl FnOnce(&mut Self)) {
        self.key(key);
        self.enclosed(b'[', b']', inside);
    }

    /// An object as an element of a list.
    pub(crate) fn element(&mut self, inside: impl FnOnce(&mut Self)) {
        self.separate();
        self.enclosed(b'{', b'}', inside);
    }

    /// A string as an element of a list.
    pub(crate) fn item(&mut self, value: impl AsRef<[u8]>) {
        self.separate();
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(value.as_ref());
        self.bytes.push(b'"');
    }

    fn enclosed(&mut self, open: u8, close: u8, inside: impl FnOnce(&mut Self)) {
        self.bytes.push(open);
        self.comma = false;
        inside(self);
        self.bytes.push(close);
        self.comma = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_separates_members_with_commas() {
        let mut line = Line::default();
        line.begin();
        line.text("a", "x");
        line.object("b", |line| {
            line.number("n", 1);
            line.list("l", |line| {
                line.item("p");
                line.element(|line| line.null("q"));
            });
        });
        line.members(b"\"c\":2");
        line.flag("d", false);
        assert_eq!(
            line.finish(),
            b"{\"a\":\"x\",\"b\":{\"n\":1,\"l\":[\"p\",{\"q\":null}]},\"c\":2,\"d\":false}\n"
        );
    }
}
