//! Shell commands as far as comparing them needs: words, programs, and what is only for show.
//!
//! This is no shell. Quotes and escapes are respected, a here-document is left as it is, and nothing is
//! expanded.

use super::{composed, seen_from};
use backstory_format::slice::Part;

/// A command without the white space, the folder change and the shortening of output that do not
/// change what it does.
pub fn normal_command(command: &str, folder: Option<&str>) -> String {
    let mut command = composed(command);
    loop {
        let next = once(&command, folder);
        if next == command {
            return command;
        }
        command = next;
    }
}

fn once(command: &str, folder: Option<&str>) -> String {
    let squeezed = squeeze(command.trim());
    let mut rest = squeezed.as_str();
    if let Some(inner) = without_folder(rest, folder) {
        rest = inner;
    }
    if !rest.contains("<<") {
        while let Some(shorter) = without_shortening(rest) {
            rest = shorter;
        }
    }
    rest.to_owned()
}

/// Runs of blanks outside quotes become one; a run with a line end stays a line end.
fn squeeze(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    let mut letters = command.char_indices().peekable();
    let mut quote = None;
    let mut blank: Option<char> = None;
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        if quote.is_none() && letter == '\\' && next == Some('\n') {
            letters.next();
            blank = blank.or(Some(' '));
            continue;
        }
        if quote.is_none() && letter.is_whitespace() {
            blank = if letter == '\n' { Some('\n') } else { blank.or(Some(' ')) };
            continue;
        }
        out.extend(blank.take());
        if quote.is_none() && letter == '<' && next == Some('<') {
            out.push_str(command.part(at..));
            return out;
        }
        out.push(letter);
        match (quote, letter) {
            (None | Some('"'), '\\') => out.extend(letters.next().map(|(_, next)| next)),
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
    }
    out
}

/// `cd FOLDER && rest`, where FOLDER is where the session runs anyway.
fn without_folder<'c>(command: &'c str, folder: Option<&str>) -> Option<&'c str> {
    let (place, rest) = command.strip_prefix("cd ")?.split_once("&&")?;
    let place = place.trim().trim_matches(['"', '\'']);
    (!place.contains(['"', '\'', ';', '|', '&', '\n']) && seen_from(place, folder) == ".")
        .then(|| rest.trim_start())
}

/// Without a last `2>&1`, `| head -20` or `| tail -n 5`.
fn without_shortening(command: &str) -> Option<&str> {
    let command = command.trim_end();
    if let Some(rest) = command.strip_suffix("2>&1") {
        return Some(rest.trim_end()).filter(|rest| !rest.is_empty());
    }
    let (before, last) = command.rsplit_once('|')?;
    let before = before.trim_end();
    if before.is_empty() || before.ends_with(['|', '\\']) {
        return None;
    }
    let mut words = last.split(' ').filter(|word| !word.is_empty());
    if !matches!(words.next(), Some("head" | "tail")) {
        return None;
    }
    let digits = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let counts = |word: &str| {
        let bare = word.strip_prefix('-').unwrap_or(word);
        word == "-n" || digits(bare) || bare.strip_prefix('n').is_some_and(digits)
    };
    words.all(counts).then_some(before)
}

/// The words of the simple commands that a command is made of, without their quotes.
fn simple_commands(command: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = command.chars().peekable();
    let push = |commands: &mut Vec<Vec<String>>, word: &mut Option<String>| {
        if let (Some(word), Some(last)) = (word.take(), commands.last_mut()) {
            last.push(word);
        }
    };
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '<') if letters.peek() == Some(&'<') => break,
            (None, '&') if word.as_deref().is_some_and(|word| word.ends_with('>')) => {
                word.get_or_insert_default().push(letter);
            }
            (None, ';' | '|' | '&' | '\n' | '(' | ')') => {
                push(&mut commands, &mut word);
                commands.push(Vec::new());
            }
            (None, letter) if letter.is_whitespace() => push(&mut commands, &mut word),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(letter);
            }
            (Some(open), letter) if open == letter => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (Some(_), '>') => word.get_or_insert_default().push('\u{1}'),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    push(&mut commands, &mut word);
    commands.retain(|words| !words.is_empty());
    commands
}

/// Words that only start another program.
const WRAPPERS: [&str; 6] = ["sudo", "env", "time", "nohup", "command", "exec"];

/// Programs that a command runs, each with its words, without wrappers, settings and changes of folder.
pub fn programs(command: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for mut words in simple_commands(command) {
        let set = |word: &str| {
            let name = word.split_once('=').map_or("", |(name, _)| name);
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let skip = words.iter().take_while(|word| set(word) || WRAPPERS.contains(&word.as_str()));
        words.drain(..skip.count());
        if words.first().is_some_and(|word| word == "timeout") {
            words.drain(..words.len().min(2));
        }
        let Some(first) = words.first_mut() else { continue };
        if let Some((_, name)) = first.rsplit_once('/') {
            *first = name.to_owned();
        }
        if first != "cd" && !first.is_empty() {
            found.push(words);
        }
    }
    found
}

/// The program that a command is about and its first operand.
pub(super) fn target(command: &str, folder: Option<&str>) -> String {
    let programs = programs(command);
    let Some(words) = programs.first() else { return String::new() };
    let Some((program, rest)) = words.split_first() else { return String::new() };
    let operand = rest.iter().find(|word| !word.starts_with('-') && !word.contains('>'));
    match operand {
        Some(operand) if operand.contains('/') || operand.starts_with('.') => {
            format!("{program} {}", seen_from(operand, folder))
        }
        Some(operand) => format!("{program} {operand}"),
        None => program.clone(),
    }
}

/// Programs that change nothing.
const READERS: [&str; 32] = [
    "[", "awk", "basename", "cat", "cut", "date", "df", "diff", "dirname", "du", "echo", "env",
    "false", "file", "find", "grep", "head", "jq", "ls", "nl", "printf", "pwd", "realpath", "rg",
    "sed", "sort", "stat", "tail", "tree", "true", "wc", "which",
];
/// What git can be asked without changing anything.
const ASKED: [&str; 10] = [
    "blame",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "remote",
    "rev-parse",
    "show",
    "status",
];

/// Whether a command surely changes nothing: it only runs programs that read, and writes to no file.
pub fn is_read_only(command: &str) -> bool {
    let programs = programs(command);
    !programs.is_empty()
        && programs.iter().all(|words| {
            let Some((program, rest)) = words.split_first() else { return false };
            let writes = rest.iter().any(|word| {
                word.contains('>')
                    && !word.ends_with("/dev/null")
                    && word != "2>&1"
                    && !matches!(word.as_str(), ">" | "2>")
            });
            let aside = rest
                .windows(2)
                .any(|pair| matches!(pair, [mark, to] if mark.ends_with('>') && to != "/dev/null"));
            let changes = match program.as_str() {
                "sed" => rest.iter().any(|word| word.starts_with("-i")),
                "find" => rest.iter().any(|word| word == "-delete" || word.starts_with("-exec")),
                "git" => !rest.first().is_some_and(|word| ASKED.contains(&word.as_str())),
                program => READERS.binary_search(&program).is_err(),
            };
            !(writes || aside || changes)
        })
}
