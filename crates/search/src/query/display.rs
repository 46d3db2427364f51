//! A query as it can be typed.

use super::{Condition, Query};
use std::fmt;

impl fmt::Display for Query {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(fields) = self.fields {
            write!(out, "in:{fields}")?;
            if self.condition != Condition::All(Vec::new()) {
                out.write_str(" ")?;
            }
        }
        write!(out, "{}", self.condition)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::All(parts) => list(parts, " ", out),
            Condition::Any(parts) => list(parts, " OR ", out),
            Condition::Not(inner) => match **inner {
                Condition::All(_) | Condition::Any(_) | Condition::Not(_) => {
                    write!(out, "-({inner})")
                }
                _ => write!(out, "-{inner}"),
            },
            Condition::Text(text, _) => out.write_str(&typed(text)),
            Condition::Regex(pattern, _) => write!(out, "/{pattern}/"),
            Condition::Is(property, _) => write!(out, "is:{}", property.name()),
            Condition::Has(qualifier, value, _) => {
                write!(out, "{}:{}", qualifier.name(), typed(value))
            }
        }
    }
}

fn list(parts: &[Condition], between: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.write_str(between)?;
        }
        match part {
            // `OR` joins less closely than a space.
            Condition::Any(_) => write!(out, "({part})")?,
            _ => write!(out, "{part}")?,
        }
    }
    Ok(())
}

/// A text as it is, if it cannot be read as anything else; in quotes otherwise.
fn typed(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-');
    let plain = text.chars().all(is_plain) && !text.starts_with('-');
    if plain && !text.is_empty() && !matches!(text, "OR" | "AND") {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
