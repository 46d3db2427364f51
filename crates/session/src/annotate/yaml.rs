//! A top-level key in a YAML file, and sidecars, which are YAML.

use super::{Entry, KEY, Unfit, line_end};
use backstory_format::slice::Part;
use backstory_text::escape::is_unsafe;

pub(super) fn append(text: &str, entries: &[Entry]) -> Result<String, Unfit> {
    top_level(text)?;
    let end = line_end(text);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (before, old, after) = split(&lines);
    let block = block(entries, &kept(&old, entries), end);
    let mut out = before.concat();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push_str(end);
    }
    out.push_str(&block);
    out.push_str(&after.concat());
    Ok(out)
}

pub(super) fn sidecar(source: &str, existing: Option<&str>, entries: &[Entry]) -> String {
    let lines: Vec<&str> = existing.unwrap_or_default().split_inclusive('\n').collect();
    let (before, old, after) = split(&lines);
    let head = match existing {
        Some(_) if !before.is_empty() => before.concat(),
        _ => format!("source_file: {}\n", scalar(source)),
    };
    format!("{head}{}{}", block(entries, &kept(&old, entries), "\n"), after.concat())
}

/// Only a mapping written in block style has a place for a key at its end.
fn top_level(text: &str) -> Result<(), Unfit> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut started = false;
    let mut keys = 0;
    // Inside a quoted or block text, lines at the margin cannot be in block style.
    for line in text.lines() {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') || line.starts_with('%') {
            continue;
        }
        if line == "---" || line.starts_with("--- ") {
            if started {
                return Err(Unfit::SeveralDocuments);
            }
            started = true;
            if line != "---" {
                return Err(Unfit::NotYaml);
            }
            continue;
        }
        if line == "..." {
            return Err(Unfit::SeveralDocuments);
        }
        started = true;
        if line.starts_with([' ', '\t']) {
            continue;
        }
        if line == "-" || line.starts_with("- ") {
            if keys == 0 {
                return Err(Unfit::NotAMapping);
            }
            continue;
        }
        if line.starts_with(['{', '[', '&', '*', '!', '|', '>', '?', '@', '`']) {
            return Err(if keys == 0 { Unfit::NotAMapping } else { Unfit::NotYaml });
        }
        let key = line.split_once(": ").map(|(key, _)| key).or_else(|| line.strip_suffix(':'));
        match key {
            Some(_) => keys += 1,
            None if keys == 0 => return Err(Unfit::NotAMapping),
            None => return Err(Unfit::NotYaml),
        }
    }
    if keys == 0 { Err(Unfit::NotAMapping) } else { Ok(()) }
}

/// Lines before our key, the lines under it, and the rest.
fn split<'l>(lines: &[&'l str]) -> (Vec<&'l str>, Vec<&'l str>, Vec<&'l str>) {
    let is_key = |line: &&str| line.trim_end() == format!("{KEY}:");
    let Some(from) = lines.iter().position(is_key) else {
        return (lines.to_vec(), Vec::new(), Vec::new());
    };
    let rest = lines.part(from + 1..);
    let inside = |line: &&str| line.starts_with([' ', '-']) || line.trim().is_empty();
    let mut length = rest.iter().take_while(|line| inside(line)).count();
    while length > 0 && rest.get(length - 1).is_some_and(|line| line.trim().is_empty()) {
        length -= 1;
    }
    let (old, after) = rest.split_at(length);
    (lines.part(..from).to_vec(), old.to_vec(), after.to_vec())
}

/// Items that speak of other edits, as they are.
fn kept(old: &[&str], entries: &[Entry]) -> String {
    let mut items: Vec<Vec<&str>> = Vec::new();
    for line in old {
        if line.trim_start().starts_with("- ") {
            items.push(vec![line]);
        } else if let Some(item) = items.last_mut() {
            item.push(line);
        }
    }
    let known: Vec<String> = entries.iter().map(Entry::time).collect();
    items.retain(|item| {
        let times = item.iter().filter_map(|line| line.split_once("timestamp:"));
        let mut times = times.map(|(_, time)| time.trim().trim_matches(['"', '\'']));
        !times.any(|time| known.iter().any(|known| same_time(known, time)))
    });
    items.concat().concat()
}

fn same_time(known: &str, written: &str) -> bool {
    let parse = |text: &str| text.parse::<jiff::Timestamp>().ok();
    known == written || parse(known).is_some_and(|time| Some(time) == parse(written))
}

fn block(entries: &[Entry], kept: &str, end: &str) -> String {
    let mut out = format!("{KEY}:{end}{kept}");
    if !kept.is_empty() && !kept.ends_with('\n') {
        out.push_str(end);
    }
    // Our items are as deep as those that were there.
    let margin = if kept.starts_with('-') { "" } else { "  " };
    for entry in entries {
        for (at, (name, value)) in entry.fields().into_iter().enumerate() {
            let lead = if at == 0 { "- " } else { "  " };
            out.push_str(&format!("{margin}{lead}{name}: {}{end}", scalar(&value)));
        }
    }
    out
}

/// A word that YAML reads back as the same text, or a number as itself.
fn scalar(text: &str) -> String {
    let number = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
    let plain = text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "._/-".contains(letter))
        && !["true", "false", "null", "yes", "no", "on", "off"]
            .contains(&text.to_lowercase().as_str());
    if number || plain {
        return text.to_owned();
    }
    let mut out = String::new();
    for letter in serde_json::to_string(text).unwrap_or_default().chars() {
        if is_unsafe(letter) {
            letter
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(letter);
        }
    }
    out
}
