//! Provenance written into files or next to them.
//!
//! Everything here is text to text: a file and its edits in, the new text out. What a file says
//! otherwise is never touched: nothing is parsed and printed again, only our own block is put in or
//! replaced. Where a format has no place for it, a sidecar takes it.

mod comment;
mod config;
mod json;
mod yaml;

pub use comment::CommentStyle;
pub use config::{Config, ConfigError, Policy, Rule};

use jiff::Timestamp;

/// The key and the word under which provenance is written.
pub(crate) const KEY: &str = "edit_history";

/// One edit as it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When the edit was made.
    pub timestamp: Option<Timestamp>,
    /// The model that made it.
    pub model: Option<String>,
    /// `CREATED` or `EDITED`.
    pub created: bool,
    /// The agent that made it.
    pub agent: String,
    /// The agent's version.
    pub agent_version: Option<String>,
    /// The session's id.
    pub session: String,
    /// Lines that the edit added.
    pub lines_added: u64,
    /// Lines that the edit removed.
    pub lines_removed: u64,
}

impl Entry {
    fn time(&self) -> String {
        self.timestamp.map(|time| time.to_string()).unwrap_or_default()
    }

    /// Fields in order, as plain words.
    fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![("timestamp", self.time())];
        fields.extend(self.model.as_deref().map(|model| ("model", plain(model))));
        fields.push(("action", if self.created { "CREATED" } else { "EDITED" }.to_owned()));
        fields.push(("agent_tool", plain(&self.agent)));
        fields
            .extend(self.agent_version.as_deref().map(|version| ("agent_version", plain(version))));
        fields.push(("session", plain(&self.session)));
        fields.push(("lines_added", self.lines_added.to_string()));
        fields.push(("lines_removed", self.lines_removed.to_string()));
        fields
    }
}

/// A word of a session as it may be in a source file: letters, digits and `. _ - / + @`;
/// everything else as `%` and its bytes. So it ends no comment and no line, and says nothing to an
/// editor, an interpreter or a shell.
fn plain(word: &str) -> String {
    /// No name of a model, version or id is longer.
    const LONGEST: usize = 200;
    let mut out = String::new();
    for byte in word.bytes().take(LONGEST) {
        match byte {
            byte if byte.is_ascii_alphanumeric() || b"._-/+@".contains(&byte) => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Why a file cannot take provenance itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// The YAML is not a mapping.
    NotAMapping,
    /// The file is not YAML.
    NotYaml,
    /// The file is not JSON object.
    NotJson,
    /// The YAML has several documents.
    SeveralDocuments,
}

impl Unfit {
    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Unfit::NotAMapping => "its top level is not a mapping",
            Unfit::NotYaml => "it is not plain block YAML",
            Unfit::NotJson => "it is not JSON",
            Unfit::SeveralDocuments => "it holds several documents",
        }
    }
}

/// The file with provenance under a top-level key.
pub fn append(text: &str, format: Format, entries: &[Entry]) -> Result<String, Unfit> {
    match format {
        Format::Yaml => yaml::append(text, entries),
        Format::Json => json::append(text, entries),
    }
}

/// The file with a comment block at its end.
pub fn comment(text: &str, style: CommentStyle, entries: &[Entry]) -> String {
    comment::put(text, style, entries)
}

/// The sidecar of `source`; what an existing one says of edits that are not among `entries` stays.
pub fn sidecar(source: &str, existing: Option<&str>, entries: &[Entry]) -> String {
    yaml::sidecar(source, existing, entries)
}

/// A format that has a place for provenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
}

/// The line ending that a text uses.
pub(crate) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_session_stay_words() {
        let hostile = [
            "claude\n#!/bin/sh",
            "*/ system() /*",
            "--> <script>",
            "?> <?php",
            "x\r\u{2028}\u{85}\u{202e}\u{0}\u{1b}[2J\u{7f}",
            "$(touch x) `id`",
            "vim: set exrc:",
            "-*- coding: rot13 -*-",
            "a session=other",
            "ends with \\",
            "\"'{{}}%}#}",
        ];
        for word in hostile {
            let entry = Entry {
                timestamp: None,
                model: Some(word.to_owned()),
                created: true,
                agent: word.to_owned(),
                agent_version: Some(word.to_owned()),
                session: word.to_owned(),
                lines_added: 1,
                lines_removed: 0,
            };
            let entries = [entry];
            let styles = [CommentStyle::Hash, CommentStyle::Slash, CommentStyle::Html];
            let mut texts: Vec<String> =
                styles.iter().map(|style| comment("", *style, &entries)).collect();
            assert!(texts.iter().all(|text| text.lines().count() == 3), "{texts:?}");
            texts.push(append("{}", Format::Json, &entries).unwrap());
            texts.push(append("a: b\n", Format::Yaml, &entries).unwrap());
            texts.push(sidecar("name", None, &entries));
            for text in &texts {
                assert!(text.is_ascii(), "{text:?}");
                assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'));
                for sign in ["*/", "?>", "$(", "`", "vim:", "coding:", "session=other", "\\"] {
                    assert!(!text.contains(sign), "{sign}: {text:?}");
                }
                assert!(text.matches("-->").count() <= 1, "{text:?}");
            }
        }
        assert_eq!(plain("claude-opus-4-1@20250805"), "claude-opus-4-1@20250805");
        assert_eq!(plain("a b:é"), "a%20b%3A%C3%A9");
    }
}
