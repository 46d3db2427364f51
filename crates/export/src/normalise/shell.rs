//! Shell commands as far as comparing them needs: words, programs, and what is only for show.
//!
//! Here-documents are left as they are, and nothing is expanded.

use super::{composed, seen_from};
use backstory_format::slice::Part;
use backstory_model::shell::{Command, Link, Redirection, Script, assigns};

/// A command without the whitespace, the folder change and the shortening of output that do not
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
    let script = Script::split(&squeezed);
    let start = after_folder(&script, folder);
    let end = before_shortening(&script, start);
    squeezed.part(start..end.max(start)).to_owned()
}

/// Runs of blanks outside quotes become one; a run with a line end stays a line end.
fn squeeze(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    let mut done = 0;
    for gap in Script::split(command).gaps {
        out.push_str(command.part(done..gap.start));
        done = gap.end;
        if gap.start > 0 && gap.end < command.len() {
            let ends_line = command.part(gap).replace("\\\n", "").contains('\n');
            out.push(if ends_line { '\n' } else { ' ' });
        }
    }
    out.push_str(command.part(done..));
    out
}

/// Where a command begins after `cd FOLDER &&`, where FOLDER is where the session runs anyway.
fn after_folder(script: &Script<'_>, folder: Option<&str>) -> usize {
    let stays = |command: &&Command| match command.texts().as_slice() {
        ["cd", place] if command.link == Link::And && command.redirections.is_empty() => {
            seen_from(place, folder) == "."
        }
        _ => false,
    };
    let Some(last) = script.commands.iter().take_while(stays).last() else { return 0 };
    let rest = script.text.part(last.link_at + 2..);
    script.text.len() - rest.trim_start().len()
}

/// Where a command that begins at `start` ends before `2>&1`, `| head -20` and `| tail -n 5`.
fn before_shortening(script: &Script<'_>, start: usize) -> usize {
    let until = |end: usize| script.text.part(..end).trim_end().len();
    let mut commands = script.commands.as_slice();
    let mut end = until(script.text.len());
    while let Some((last, before)) = commands.split_last() {
        let mut redirections = last.redirections.as_slice();
        while let Some((Redirection { span, .. }, others)) = redirections.split_last() {
            let rest = until(span.start);
            let merges = script.text.part(span.clone()) == "2>&1";
            if span.end != end || !merges || rest <= start {
                return end;
            }
            (redirections, end) = (others, rest);
        }
        let ends_here = last.words.last().is_some_and(|word| word.span.end == end);
        match before.last() {
            Some(pipe) if pipe.link == Link::Pipe && ends_here && shortens(&last.texts()) => {
                end = until(pipe.link_at);
                commands = before;
            }
            _ => break,
        }
    }
    end
}

/// `head -20`, `tail -n 5`
fn shortens(words: &[&str]) -> bool {
    let ["head" | "tail", counts @ ..] = words else { return false };
    let digits = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    counts.iter().all(|word| {
        let bare = word.strip_prefix('-').unwrap_or(word);
        *word == "-n" || digits(bare) || bare.strip_prefix('n').is_some_and(digits)
    })
}

/// Words that only start another program.
const WRAPPERS: [&str; 6] = ["sudo", "env", "time", "nohup", "command", "exec"];

/// Programs that a command runs, each with its words, without wrappers, settings and changes of folder.
pub fn programs(command: &str) -> Vec<Vec<String>> {
    Script::split(command).all().into_iter().filter_map(program).collect()
}

fn program(command: &Command) -> Option<Vec<String>> {
    let mut words: Vec<String> = command.words.iter().map(|word| word.text.clone()).collect();
    let skip =
        words.iter().take_while(|word| assigns(word) || WRAPPERS.contains(&word.as_str())).count();
    words.drain(..skip);
    if words.first().is_some_and(|word| word == "timeout") {
        words.drain(..words.len().min(2));
    }
    let first = words.first_mut()?;
    if let Some((_, name)) = first.rsplit_once('/') {
        *first = name.to_owned();
    }
    (first != "cd" && !first.is_empty()).then_some(words)
}

/// The program that a command is about and its first operand.
pub(super) fn target(command: &str, folder: Option<&str>) -> String {
    let programs = programs(command);
    let Some(words) = programs.first() else { return String::new() };
    let Some((program, rest)) = words.split_first() else { return String::new() };
    let operand = rest.iter().find(|word| !word.starts_with('-'));
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
    let script = Script::split(command);
    let commands = script.all();
    let mut outputs = commands.iter().flat_map(|command| command.outputs());
    let programs: Vec<Vec<String>> = commands.iter().filter_map(|one| program(one)).collect();
    outputs.all(|target| target == "/dev/null")
        && !programs.is_empty()
        && programs.iter().all(|words| {
            let Some((program, rest)) = words.split_first() else { return false };
            let changes = match program.as_str() {
                "sed" => rest.iter().any(|word| word.starts_with("-i")),
                "find" => rest.iter().any(|word| word == "-delete" || word.starts_with("-exec")),
                "git" => !rest.first().is_some_and(|word| ASKED.contains(&word.as_str())),
                program => READERS.binary_search(&program).is_err(),
            };
            !changes
        })
}
