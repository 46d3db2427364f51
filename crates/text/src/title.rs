//! What to call a session that nobody named: words of its first prompt.

use backstory_format::slice::Part;

/// Words that programs put in front of what somebody asked for.
const STOCK: [&str; 9] = [
    "Implement the following plan:",
    "We're currently solving the following issue within our repository.",
    "We are currently solving the following issue within our repository.",
    "Please solve this issue:",
    "Please implement the following plan:",
    "Consider the following issue/PR description:",
    "Consider the following PR description:",
    "Here's the issue text:",
    "ISSUE:",
];

/// Parts that programs put in front, and that say nothing of what is to be done.
const SKIPPED: [(&str, &str); 4] = [
    ("<uploaded_files>", "</uploaded_files>"),
    ("<system-reminder>", "</system-reminder>"),
    ("<command-message>", "</command-message>"),
    ("<working_directory>", "</working_directory>"),
];

/// Tags around what somebody asked for.
const AROUND: [&str; 4] =
    ["<issue_description>", "<pr_description>", "<problem_statement>", "<task>"];

/// A title on one line from the first prompt. A prompt that begins with stock words or with a heading
/// is called after its first heading or sentence; any other is taken as a whole.
pub fn of_prompt(text: &str) -> String {
    // What is longer is no title.
    const LONGEST: usize = 2_000;
    let text = text.trim_start();
    let text = text.part(..floor(text, LONGEST.max(skipped(text))));
    let asked = without_stock(text);
    let is_stock = asked.len() < text.len();
    let title = if is_stock || is_heading(asked) { first_words(asked) } else { one_line(asked) };
    if title.is_empty() { one_line(text) } else { title }
}

/// A text without the words, tags and parts that programs put in front.
fn without_stock(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let before = rest.len();
        for (open, close) in SKIPPED {
            if let Some((_, after)) =
                rest.strip_prefix(open).and_then(|inside| inside.split_once(close))
            {
                rest = after.trim_start();
            }
        }
        for words in STOCK {
            rest = rest.strip_prefix(words).unwrap_or(rest).trim_start();
        }
        for tag in AROUND {
            rest = rest.strip_prefix(tag).unwrap_or(rest).trim_start();
            // A template may speak of the repository first, and then name the issue.
            let near = rest.part(..floor(rest, 400));
            let intro = near.starts_with("I've uploaded") || near.starts_with("I have uploaded");
            if let Some(at) = near.find(tag).filter(|_| intro) {
                rest = rest.part(at + tag.len()..).trim_start();
            }
        }
        if rest.len() == before {
            return rest;
        }
    }
}

/// Bytes of the parts in front, and some more.
fn skipped(text: &str) -> usize {
    text.len() - without_stock(text).len() + 2_000
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn is_heading(text: &str) -> bool {
    let marks = text.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&marks) && text.part(marks..).starts_with(' ')
}

/// The first line with words in it, up to where a heading or a sentence ends.
fn first_words(text: &str) -> String {
    let mut lines = text.split(['\n', '\r']).map(str::trim);
    let Some(line) = lines.find(|line| line.chars().any(char::is_alphanumeric)) else {
        return String::new();
    };
    let line = if is_heading(line) {
        let heading = line.trim_start_matches('#').trim_start();
        // Where a prompt was written down on one line, the next heading follows.
        heading.split(" ## ").next().unwrap_or(heading)
    } else {
        sentence(line)
    };
    let plain = without_marks(line);
    let plain = plain.strip_prefix("Plan:").map(str::trim_start).unwrap_or(&plain);
    plain.trim().to_owned()
}

/// The first sentence, if it says enough.
fn sentence(line: &str) -> &str {
    const ENOUGH: usize = 24;
    let ends = [". ", "! ", "? "].iter().filter_map(|end| {
        let from = floor(line, ENOUGH);
        line.part(from..).find(end).map(|at| from + at + 1)
    });
    ends.min().map_or(line, |end| line.part(..end))
}

/// All lines as one, without reminders of the client and without marks.
fn one_line(text: &str) -> String {
    let typed = match text.find("<system-reminder>") {
        Some(at) if at > 0 => text.part(..at),
        _ => text,
    };
    let lines = typed.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    without_marks(&lines.collect::<Vec<_>>().join(" "))
}

/// A line without marks of Markdown that only change how words look.
fn without_marks(line: &str) -> String {
    let line = line.trim().trim_start_matches(['#', '>']).trim_start();
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line);
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['*', '`']) {
        let from = rest.part(at..);
        let mark = if from.starts_with("**") { "**" } else { "`" };
        let inner = from.strip_prefix(mark).and_then(|inner| inner.split_once(mark));
        let inner = inner.filter(|(inner, _)| {
            !inner.is_empty() && inner.trim() == *inner && !inner.starts_with(['*', '`'])
        });
        out.push_str(rest.part(..at));
        match inner {
            Some((inner, after)) => {
                out.push_str(inner);
                rest = after;
            }
            None => {
                let run = from.len() - from.trim_start_matches(['*', '`']).len();
                out.push_str(from.part(..run));
                rest = from.part(run..);
            }
        }
    }
    out.push_str(rest);
    out
}

/// What a copy of a session adds to its title.
const MARK: &str = " (clone)";

/// A title in at most so many characters: cut after a word, with `…` in place of the rest. The mark
/// of a clone stays.
pub fn short(title: &str, characters: usize) -> String {
    if title.chars().nth(characters).is_none() {
        return title.to_owned();
    }
    if let Some(head) = title.strip_suffix(MARK).filter(|_| characters > 2 * MARK.len()) {
        return format!("{}{MARK}", short(head, characters - MARK.len()));
    }
    let room = characters.saturating_sub(1);
    let end = title.char_indices().nth(room).map_or(title.len(), |(at, _)| at);
    let (head, rest) = title.split_at_checked(end).unwrap_or((title, ""));
    // A word that takes most of the room is cut all the same.
    let word = if rest.starts_with(' ') { None } else { head.rfind(' ') };
    let head = word.filter(|at| *at * 2 > end).map_or(head, |at| head.part(..at));
    format!("{}…", head.trim_end_matches([' ', ',', ';', ':', '–', '-', '(']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stock_words_are_not_titles() {
        let plan = "Implement the following plan:\n\n# Plan: Add a **door** alarm\n\n## Context\nx";
        assert_eq!(of_prompt(plan), "Add a door alarm");
        let joined = "Implement the following plan: # Add an alarm ## Context The door";
        assert_eq!(of_prompt(joined), "Add an alarm");
        let swe = "<uploaded_files>\n/testbed\n</uploaded_files>\nI've uploaded a python code repository in the directory testbed. Consider the following PR:\n\n<pr_description>\nFans never stop. They should.\nMore\n</pr_description>";
        assert_eq!(of_prompt(swe), "Fans never stop. They should.");
        let issue = "We're currently solving the following issue within our repository. Here's the issue text:\nISSUE:\nWrong sum in `add`\n\nIt is wrong.";
        assert_eq!(of_prompt(issue), "Wrong sum in add");
        assert_eq!(of_prompt("# Fix it\n\nNow."), "Fix it");
        assert_eq!(of_prompt("Fix it.\nNow, **please**."), "Fix it. Now, please.");
        assert_eq!(of_prompt("a * b ** c ` d"), "a * b ** c ` d");
        assert_eq!(of_prompt("Go on\n<system-reminder>x</system-reminder>"), "Go on");
        assert_eq!(of_prompt("Implement the following plan:"), "Implement the following plan:");
    }

    #[test]
    fn words_stay_whole_and_clones_are_told_apart() {
        assert_eq!(short("Add a door alarm", 40), "Add a door alarm");
        assert_eq!(short("Add a door alarm", 12), "Add a door…");
        assert_eq!(short("Add a door, alarm", 13), "Add a door…");
        assert_eq!(short("Donaudampfschiff ahoy", 10), "Donaudamp…");
        assert_eq!(short("Add a door alarm to the kiln (clone)", 24), "Add a door… (clone)");
    }

    #[test]
    fn floods_cost_little() {
        assert!(!of_prompt(&"<pr_description>".repeat(20_000)).is_empty());
        assert_eq!(of_prompt(&"*`".repeat(50_000)).len(), 2_000);
    }
}
