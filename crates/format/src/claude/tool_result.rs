//! How a tool call ended.
//!
//! There is no status field. Failures are `is_error` with a plain-string `toolUseResult`;
//! rejections and cancellations are known by their wording (all versions) or by
//! `toolDenialKind` (newest).

use crate::json::{Kind, Value, text};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It ran.
    Ok,
    /// It ran and failed, or could not run.
    Error,
    /// The user or a permission rule refused it.
    Rejected,
    /// The user stopped it.
    Interrupted,
    /// Never ran because a parallel call failed.
    Cancelled,
}

impl Outcome {
    /// The lower-case word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Error => "error",
            Outcome::Rejected => "rejected",
            Outcome::Interrupted => "interrupted",
            Outcome::Cancelled => "cancelled",
        }
    }
}

const REJECTED: [&str; 5] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected tool use",
    "Permission to use ",
    "Claude requested permissions to ",
];
const CANCELLED: [&str; 2] = ["Cancelled: parallel tool call", "Sibling tool call errored"];
const INTERRUPTED: [&str; 2] = ["[Request interrupted by user", "Interrupted by user"];

/// Judges a result block, the record's structured result and its denial marker.
pub fn outcome(block: Value<'_>, structured: Option<Value<'_>>, denied: bool) -> Outcome {
    if denied {
        return Outcome::Rejected;
    }
    let failed = block.get("is_error").and_then(|value| value.boolean()).unwrap_or(false);
    if !failed {
        let interrupted = structured
            .filter(|value| value.kind() == Kind::Object)
            .and_then(|value| value.get("interrupted"))
            .and_then(|value| value.boolean());
        return if interrupted == Some(true) { Outcome::Interrupted } else { Outcome::Ok };
    }
    let heads = [structured.and_then(head), block.get("content").and_then(head)];
    heads.into_iter().flatten().find_map(|head| classify(&head)).unwrap_or(Outcome::Error)
}

fn classify(head: &str) -> Option<Outcome> {
    let head = head.trim_start();
    let head = head.strip_prefix("Error: ").unwrap_or(head);
    let head = head.strip_prefix("<tool_use_error>").unwrap_or(head);
    let begins = |list: &[&str]| list.iter().any(|start| head.starts_with(start));
    if begins(&REJECTED) {
        Some(Outcome::Rejected)
    } else if begins(&CANCELLED) {
        Some(Outcome::Cancelled)
    } else if begins(&INTERRUPTED) {
        Some(Outcome::Interrupted)
    } else {
        None
    }
}

/// The first words of a string, or of the first text block of a list.
fn head(value: Value<'_>) -> Option<String> {
    let text = match value.kind() {
        Kind::String => value.raw_text(),
        Kind::Array => {
            value.items().find_map(|item| item.get("text").and_then(|text| text.raw_text()))
        }
        _ => None,
    };
    text.map(|raw| text::decode_prefix(raw, 120).into_owned())
}
