//! A block of comment lines at the end of a file.

use super::{Entry, KEY, line_end};

/// How a language writes comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentStyle {
    /// `# …`
    Hash,
    /// `// …`
    Slash,
    /// `<!-- … -->`
    Html,
}

impl CommentStyle {
    /// The style by the word used in configuration.
    pub fn from_name(name: &str) -> Option<CommentStyle> {
        match name {
            "hash" => Some(CommentStyle::Hash),
            "slash" => Some(CommentStyle::Slash),
            "html" => Some(CommentStyle::Html),
            _ => None,
        }
    }

    /// The style that the end of a file name suggests.
    pub fn for_name(name: &str) -> Option<CommentStyle> {
        let end = name.rsplit_once('.').map_or(name, |(_, end)| end);
        match end {
            "py" | "sh" | "bash" | "zsh" | "rb" | "pl" | "r" | "toml" | "yaml" | "yml" | "conf"
            | "cfg" | "mk" | "Makefile" | "Dockerfile" | "ex" | "exs" | "jl" | "nix" | "tf" => {
                Some(CommentStyle::Hash)
            }
            "rs" | "js" | "ts" | "jsx" | "tsx" | "mjs" | "go" | "c" | "h" | "cc" | "cpp"
            | "hpp" | "java" | "kt" | "swift" | "scala" | "cs" | "dart" | "zig" | "proto"
            | "php" => Some(CommentStyle::Slash),
            "md" | "html" | "htm" | "xml" | "svg" | "vue" | "svelte" => Some(CommentStyle::Html),
            _ => None,
        }
    }

    fn ends(self) -> (String, String, &'static str) {
        let lines =
            |sign: &str| (format!("{sign} --- {KEY} ---"), format!("{sign} --- end {KEY} ---"));
        match self {
            CommentStyle::Hash => {
                let (first, last) = lines("#");
                (first, last, "# ")
            }
            CommentStyle::Slash => {
                let (first, last) = lines("//");
                (first, last, "// ")
            }
            CommentStyle::Html => (format!("<!-- {KEY}"), "-->".to_owned(), ""),
        }
    }
}

pub(super) fn put(text: &str, style: CommentStyle, entries: &[Entry]) -> String {
    let end = line_end(text);
    let (first, last, sign) = style.ends();
    let mut block = vec![first.clone()];
    for entry in entries {
        let fields: Vec<String> =
            entry.fields().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        // Two dashes would end an HTML comment.
        let mut line = fields.join(" ");
        while style == CommentStyle::Html && line.contains("--") {
            line = line.replace("--", "- -");
        }
        block.push(format!("{sign}{line}"));
    }
    block.push(last.clone());
    let mut lines: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let old = lines.iter().rposition(|line| *line == first).and_then(|from| {
        let to = lines.iter().skip(from).position(|line| *line == last)?;
        Some(from..from + to + 1)
    });
    if let Some(old) = old {
        lines.splice(old, block.iter().map(String::as_str));
        return lines.join(end);
    }
    let mut out = text.to_owned();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push_str(end);
    }
    for line in block {
        out.push_str(&line);
        out.push_str(end);
    }
    out
}
