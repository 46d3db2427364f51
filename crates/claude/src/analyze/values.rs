//! What strings look like, and which values a field chooses from.

use std::collections::BTreeMap;

/// How many different values are kept before a field counts as free text.
const MAX_VALUES: usize = 24;
/// Longer strings are no choice from a list.
const MAX_LENGTH: usize = 48;

/// The form of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// An empty text.
    Empty,
    /// A UUID.
    Uuid,
    /// A time.
    Time,
    /// `msg_…`, `toolu_…`, `req_…`: an id of the API.
    ApiId,
    /// Hexadecimal digits.
    Hex,
    /// A path.
    Path,
    /// A word of letters, digits and a few marks.
    Word,
    /// Any other text.
    Text,
}

impl Format {
    /// How many formats there are.
    pub const COUNT: usize = 8;
    /// All formats.
    pub const ALL: [Format; Format::COUNT] = [
        Format::Empty,
        Format::Uuid,
        Format::Time,
        Format::ApiId,
        Format::Hex,
        Format::Path,
        Format::Word,
        Format::Text,
    ];

    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Format::Empty => "empty",
            Format::Uuid => "uuid",
            Format::Time => "time",
            Format::ApiId => "API id",
            Format::Hex => "hex",
            Format::Path => "path",
            Format::Word => "word",
            Format::Text => "text",
        }
    }

    /// The form of a JSON string's inside.
    pub fn of(raw: &[u8]) -> Format {
        let dashes = |places: [usize; 4]| places.iter().all(|at| raw.get(*at) == Some(&b'-'));
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.:<>@+".contains(byte);
        match raw {
            [] => Format::Empty,
            _ if raw.len() == 36 && dashes([8, 13, 18, 23]) => Format::Uuid,
            [b'0'..=b'9', ..] if (20..=30).contains(&raw.len()) && raw.get(10) == Some(&b'T') => {
                Format::Time
            }
            _ if raw.len() > MAX_LENGTH * 4 => Format::Text,
            [b'/' | b'~', ..] | [_, b':', b'\\' | b'/', ..] if !raw.contains(&b' ') => Format::Path,
            _ if is_api_id(raw) => Format::ApiId,
            _ if raw.len() >= 7 && raw.iter().all(u8::is_ascii_hexdigit) => Format::Hex,
            _ if raw.len() <= MAX_LENGTH && raw.iter().all(word) => Format::Word,
            _ => Format::Text,
        }
    }
}

fn is_api_id(raw: &[u8]) -> bool {
    let prefix = raw.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let rest = raw.get(prefix + 1..).unwrap_or_default();
    (2..=8).contains(&prefix)
        && raw.get(prefix) == Some(&b'_')
        && rest.len() >= 12
        && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && rest.iter().any(u8::is_ascii_digit)
}

/// Fields whose values are a fixed choice of the format, by their own name or that of their list.
/// Only these become part of a profile: they are names of the format, never user data.
const CHOICES: [&str; 37] = [
    "type",
    "subtype",
    "role",
    "stop_reason",
    "operation",
    "userType",
    "entrypoint",
    "permissionMode",
    "mode",
    "kind",
    "trigger",
    "level",
    "status",
    "service_tier",
    "speed",
    "promptSource",
    "toolDenialKind",
    "hookEvent",
    "commandMode",
    "edit_mode",
    "cell_type",
    "media_type",
    "output_mode",
    "inference_geo",
    "retrieval_status",
    "effort",
    "task_type",
    "taskType",
    "phase",
    "severity",
    "outcome",
    "spawnMode",
    "isolation",
    "decision",
    "behavior",
    "error",
    "updatedFields",
];

/// Whether the values of a field with this name belong to the format.
pub(super) fn is_choice(key: &str) -> bool {
    CHOICES.contains(&key)
}

/// The values of a field, as long as they look like a choice from a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values {
    counts: BTreeMap<Box<str>, u64>,
    /// There were values that are no choice from a list.
    open: bool,
    yes: u64,
    no: u64,
}

impl Values {
    pub(super) fn see(&mut self, key: &str, raw: &[u8]) {
        if self.open {
            return;
        }
        let Ok(text) = std::str::from_utf8(raw) else { return self.close(key) };
        if let Some(count) = self.counts.get_mut(text) {
            *count += 1;
        } else if is_value(key, text) && self.counts.len() < MAX_VALUES {
            self.counts.insert(text.into(), 1);
        } else {
            self.close(key);
        }
    }

    /// A choice stays one: what does not fit is left out. Anything else is free text from here on.
    fn close(&mut self, key: &str) {
        if !is_choice(key) {
            self.open = true;
            self.counts.clear();
        }
    }

    pub(super) fn see_boolean(&mut self, value: bool) {
        if value {
            self.yes += 1;
        } else {
            self.no += 1;
        }
    }

    pub(super) fn merge(&mut self, other: &Values) {
        self.yes += other.yes;
        self.no += other.no;
        self.open |= other.open;
        if self.open {
            self.counts.clear();
            return;
        }
        for (value, count) in &other.counts {
            *self.counts.entry(value.clone()).or_default() += count;
        }
        self.open = self.counts.len() > 4 * MAX_VALUES;
    }

    /// Values with counts, the most frequent first; none when they are free text.
    pub fn listed(&self) -> Vec<(&str, u64)> {
        let mut listed: Vec<(&str, u64)> =
            self.counts.iter().map(|(value, count)| (&**value, *count)).collect();
        if self.yes > 0 {
            listed.push(("true", self.yes));
        }
        if self.no > 0 {
            listed.push(("false", self.no));
        }
        listed.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        listed
    }
}

/// Whether a string may be one of a fixed set.
fn is_value(key: &str, text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:<>/".contains(&byte);
    let length = 1..=MAX_LENGTH;
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    length.contains(&text.len())
        && text.bytes().all(plain)
        && (is_choice(key) || key == "model" || digits < 6)
        && !matches!(Format::of(text.as_bytes()), Format::Uuid | Format::Time | Format::Path)
        && (Format::of(text.as_bytes()) != Format::ApiId || is_choice(key))
}
