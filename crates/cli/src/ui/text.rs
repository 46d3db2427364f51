//! Text cut and broken to the columns of a terminal, and names as people and shells
//! want them.

use crate::environment;
use backstory_format::slice::Part;
use backstory_text::escape::terminal_line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cuts text that is already safe to `width` columns, after a word if one ends near. The mark of a
/// clone stays.
pub(crate) fn fit(text: &str, width: usize) -> String {
    const MARK: &str = " (clone)";
    if text.width() <= width {
        return text.to_owned();
    }
    if let Some(head) = text.strip_suffix(MARK).filter(|_| width > 3 * MARK.len()) {
        return format!("{}{MARK}", fit(head, width - MARK.len()));
    }
    let mut out = String::new();
    let mut used = 0;
    for character in text.chars() {
        let columns = character.width().unwrap_or(0);
        if used + columns + 1 > width {
            break;
        }
        used += columns;
        out.push(character);
    }
    let in_word = !text.part(out.len()..).starts_with(' ');
    if let Some(space) = out.rfind(' ').filter(|at| in_word && *at * 2 > out.len()) {
        out.truncate(space + 1);
    }
    out.push('…');
    out
}

/// The same, but what is cut is the start: of a path the end tells most.
pub(crate) fn fit_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let columns = |character: char| character.width().unwrap_or(0);
    let kept = text.char_indices().rev().take_while(|(_, character)| {
        used += columns(*character);
        used < width
    });
    let start = kept.last().map_or(text.len(), |(at, _)| at);
    format!("…{}", text.part(start..))
}

/// Breaks text that is already safe at spaces, so that no line is wider than `width` columns
/// unless a single word is.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A path with the home folder shortened.
pub(crate) fn short_path(path: &str) -> String {
    let home = environment::home().map(|home| home.to_string_lossy().into_owned());
    let shortened = home
        .as_deref()
        .and_then(|home| path.strip_prefix(home))
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let path = shortened.map_or_else(|| path.to_owned(), |rest| format!("~{rest}"));
    terminal_line(&path).into_owned()
}

/// A model without the parts of its name that are the same for all.
pub(crate) fn short_model(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("claude-").unwrap_or(name);
    match name.rsplit_once('-') {
        Some((rest, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest
        }
        _ => name,
    }
}
