//! Records cleared in place: strings and keys are replaced where they stand, every other byte
//! stays.
//!
//! Each replacement is mapped from the decoded text back to the bytes it was written with, so that
//! a lone surrogate or an odd escape next to a secret survives.

use crate::apply::cleared::Cleared;
use crate::apply::scrubber::{PAIR_NAMES, Replacement, Scrubber, is_value};
use crate::detect::pem;
use backstory_format::Limits;
use backstory_format::json::{
    IdPaths, IdPlace, Key, Kind, Splice, Tape, Value, scan, splice, text,
};
use memchr::memmem;
use simdutf8::basic::from_utf8;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// A string of a record: where it stands, what it says, and what its place tells.
struct Piece<'a> {
    span: Range<usize>,
    raw: &'a [u8],
    name: &'a str,
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The name of a field.
    Key,
    /// An id of the format.
    Id,
    Text,
}

impl Scrubber {
    /// Learns from a line of a JSON Lines file; true if there was something.
    pub fn learn_line(&mut self, line: &[u8], paths: &IdPaths, tape: &mut Tape) -> bool {
        let mut found = false;
        let rest = each_value(line, tape, |value| found |= self.learn_value(value, paths));
        for chunk in line.get(rest..).unwrap_or_default().utf8_chunks() {
            found |= self.learn_field("", chunk.valid());
        }
        found
    }

    /// Learns from every string and key of a value that stands in a file.
    pub fn learn_value(&mut self, value: Value<'_>, paths: &IdPaths) -> bool {
        let mut found = false;
        visit(value, paths, &mut |piece| {
            found |= match piece.role {
                Role::Id => false,
                Role::Key => self.learn_key(piece.raw),
                Role::Text => self.learn_written(piece.name, piece.raw),
            };
        });
        static MARK: LazyLock<memmem::Finder<'static>> =
            LazyLock::new(|| memmem::Finder::new(pem::MARK));
        if MARK.find(value.raw()).is_some() {
            let mut strings = Vec::new();
            visit(value, paths, &mut |piece| {
                if piece.role == Role::Text {
                    strings.push(text::decode(piece.raw).into_owned());
                }
            });
            let strings: Vec<&str> = strings.iter().map(String::as_str).collect();
            found |= self.learn_scattered(&strings);
        }
        found
    }

    /// A line of a JSON Lines file without what is to go. What no replacement covers stays byte for
    /// byte.
    pub fn clear_line<'l>(
        &self,
        line: &'l [u8],
        paths: &IdPaths,
        tape: &mut Tape,
    ) -> Cleared<Cow<'l, [u8]>> {
        let mut splices = Vec::new();
        let rest = each_value(line, tape, |value| {
            visit(value, paths, &mut |piece| {
                let decoded = text::decode(piece.raw);
                let replacements = match piece.role {
                    Role::Id if is_opaque(piece.raw) => return,
                    Role::Id => self.certain(&decoded),
                    Role::Key | Role::Text => self.replacements(piece.name, &decoded),
                };
                splices.extend(written(&piece, &replacements));
            });
        });
        let mut at = rest;
        for chunk in line.get(rest..).unwrap_or_default().utf8_chunks() {
            let valid = chunk.valid();
            splices.extend(self.replacements("", valid).into_iter().map(|one| Splice {
                range: at + one.range.start..at + one.range.end,
                with: one.with.into_bytes(),
            }));
            at += valid.len() + chunk.invalid().len();
        }
        if splices.is_empty() {
            return Cleared::assert_cleared(Cow::Borrowed(line));
        }
        // They never overlap; if they did, nothing may get out.
        let changed = splice(line, &splices).unwrap_or_default();
        Cleared::assert_cleared(Cow::Owned(changed))
    }

    /// Whether a line holds something that was learnt, in whatever form.
    pub fn may_hold(&self, line: &[u8]) -> bool {
        self.memory.may_hold(line)
    }
}

/// Images and signatures: long, and nothing but base64.
fn is_opaque(raw: &[u8]) -> bool {
    const SHORTEST: usize = 200;
    raw.len() >= SHORTEST
        && raw.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte))
}

/// Calls `each` for every value that stands at the start of the line; gives the place behind the
/// last of them.
fn each_value(line: &[u8], tape: &mut Tape, mut each: impl FnMut(Value<'_>)) -> usize {
    let mut at = 0;
    // Deeper records are treated as text.
    while let Ok(end) = scan(line, at, Limits::DEPTH, tape) {
        let Some(value) = tape.root(line) else { break };
        if !matches!(value.kind(), Kind::Object | Kind::Array | Kind::String) || end <= at {
            break;
        }
        each(value);
        at = end;
    }
    at
}

enum Inside<'a> {
    /// The fields that are left of an object, and the object.
    Fields(backstory_format::json::Fields<'a>, Value<'a>),
    Items(backstory_format::json::Items<'a>, Named<'a>),
}

/// The name of a field, and what it tells about the value.
#[derive(Clone)]
struct Named<'a> {
    name: Cow<'a, str>,
    /// The name in `{"name": "DB_PASSWORD", "value": "…"}`.
    pair: Option<Cow<'a, str>>,
}

/// Visits every string and key at any depth, without recursion.
fn visit<'a>(value: Value<'a>, paths: &IdPaths, each: &mut impl FnMut(Piece<'_>)) {
    // Checked as a whole, which is cheaper than name by name.
    let (start, valid) = (value.span().start, from_utf8(value.raw()).ok());
    let plain = |key: &Key<'a>| {
        let span = key.text_span();
        let written = valid.filter(|_| !key.is_escaped());
        written.and_then(|text| text.get(span.start - start..span.end - start))
    };
    let mut stack: Vec<(Inside<'a>, IdPlace)> = Vec::new();
    let nameless = Named { name: Cow::Borrowed(""), pair: None };
    let mut next = Some((value, nameless, paths.root()));
    loop {
        if let Some((value, named, place)) = next.take() {
            match value.kind() {
                Kind::Object => stack.push((Inside::Fields(value.fields(), value), place)),
                Kind::Array => stack.push((Inside::Items(value.items(), named), place)),
                Kind::String => {
                    if let (Some(span), Some(raw)) = (value.text_span(), value.raw_text()) {
                        let is_id = paths.holds(&place, &named.name);
                        let role = if is_id { Role::Id } else { Role::Text };
                        let name = named.pair.as_deref().unwrap_or(&named.name);
                        each(Piece { span, raw, name, role });
                    }
                }
                _ => {}
            }
        }
        let Some((inside, place)) = stack.last_mut() else { return };
        match inside {
            Inside::Fields(fields, object) => match fields.next() {
                Some((key, value)) => {
                    each(Piece {
                        span: key.text_span(),
                        raw: key.raw(),
                        name: "",
                        role: Role::Key,
                    });
                    let name = plain(&key).map_or_else(|| key.text(), Cow::Borrowed);
                    let pair = is_value(&name).then(|| pair_name(object)).flatten();
                    let place = paths.field(place, &name);
                    next = Some((value, Named { name, pair }, place));
                }
                None => drop(stack.pop()),
            },
            Inside::Items(items, named) => match items.next() {
                Some(value) => {
                    // What a pair's name tells holds for its value only.
                    next = Some((value, Named { pair: None, ..named.clone() }, *place));
                }
                None => drop(stack.pop()),
            },
        }
    }
}

fn pair_name<'a>(value: &Value<'a>) -> Option<Cow<'a, str>> {
    PAIR_NAMES.iter().find_map(|name| value.get_text(name))
}

/// Replacements of a decoded text as splices of the bytes it was written with.
fn written(piece: &Piece<'_>, replacements: &[Replacement]) -> Vec<Splice> {
    if replacements.is_empty() {
        return Vec::new();
    }
    let places: Vec<usize> =
        replacements.iter().flat_map(|one| [one.range.start, one.range.end]).collect();
    let located = text::locate(piece.raw, &places);
    replacements
        .iter()
        .zip(located.chunks(2))
        .filter_map(|(one, place)| {
            let &[start, end] = place else { return None };
            let mut with = Vec::new();
            text::encode_into(&one.with, &mut with);
            Some(Splice { range: piece.span.start + start..piece.span.start + end, with })
        })
        .collect()
}
