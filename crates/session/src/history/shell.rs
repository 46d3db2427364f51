//! Which files a shell command may have changed.
//!
//! Nothing here is proof: a command is read as text, never run. What it finds is told as *possibly
//! changed*, and moves of files are followed only where the content agrees.

use super::order::When;
use super::path::normal_path;
use jiff::Timestamp;
use std::sync::Arc;

/// A command of the agent that may have changed files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellTouch {
    pub command: Box<str>,
    pub session: Arc<str>,
    pub call: Option<Box<str>>,
    /// The recorded time.
    pub time: Option<Timestamp>,
    /// Where it stands among all that is known.
    pub when: When,
    /// Files it names as what it writes, absolute.
    pub paths: Vec<String>,
    /// It may change files that it does not name: a formatter, a checkout.
    pub any_file: bool,
}

/// What a command may write.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Touched {
    pub(super) paths: Vec<String>,
    pub(super) renames: Vec<(String, String)>,
    pub(super) any_file: bool,
}

/// Reads a command line. Relative paths are taken from `folder` and from where `cd` leads.
pub(super) fn touched(command: &str, folder: Option<&str>) -> Touched {
    let mut found = Touched::default();
    let mut folder = folder.map(str::to_owned);
    for words in simple_commands(command) {
        let place = |word: &str| normal_path(word, folder.as_deref());
        let mut words = words;
        while let Some(at) = words.iter().position(|word| is_redirection(word)) {
            let operator = words.remove(at);
            let joined = operator.trim_start_matches(['0', '1', '2', '&', '>', '|']).to_owned();
            let target =
                if joined.is_empty() && at < words.len() { words.remove(at) } else { joined };
            if !target.is_empty() && !target.starts_with("/dev/") && !target.starts_with('&') {
                found.paths.push(place(&target));
            }
        }
        while words.first().is_some_and(|word| is_prefix(word)) {
            words.remove(0);
        }
        let Some((name, rest)) = words.split_first() else { continue };
        let name = name.rsplit('/').next().unwrap_or(name);
        let plain: Vec<&String> = rest.iter().filter(|word| !word.starts_with('-')).collect();
        let has = |option: &str| rest.iter().any(|word| word.starts_with(option));
        match name {
            "cd" => {
                let target = plain.first().map_or("", |word| word.as_str());
                folder = Some(place(target));
            }
            "sed" | "perl" if has("-i") || has("--in-place") || has("-pi") || has("-ni") => {
                found.paths.extend(plain.iter().map(|word| place(word)));
            }
            "tee" | "rm" | "truncate" => found.paths.extend(plain.iter().map(|word| place(word))),
            "mv" | "cp" => found.moved(name, &plain, place),
            "git" => match plain.first().map_or("", |word| word.as_str()) {
                "mv" => found.moved("mv", plain.get(1..).unwrap_or_default(), place),
                "rm" => found.paths.extend(plain.iter().skip(1).map(|word| place(word))),
                "checkout" | "restore" | "reset" | "stash" | "merge" | "pull" | "rebase"
                | "cherry-pick" | "revert" | "switch" | "apply" | "am" | "clean" => {
                    found.any_file = true;
                }
                _ => {}
            },
            "patch" => found.any_file = true,
            _ if formats(name, rest) => {
                found.any_file = true;
                found.paths.extend(plain.iter().filter(|w| w.contains('.')).map(|w| place(w)));
            }
            _ => {}
        }
    }
    found
}

impl Touched {
    fn moved(&mut self, name: &str, words: &[&String], place: impl Fn(&str) -> String) {
        let Some((target, sources)) = words.split_last() else { return };
        let target = place(target);
        for source in sources {
            let file = source.rsplit('/').next().unwrap_or(source);
            let inside = format!("{target}/{file}");
            let from = place(source);
            if name == "mv" {
                self.paths.push(from.clone());
                self.renames.push((from.clone(), target.clone()));
                self.renames.push((from, inside.clone()));
            }
            self.paths.push(inside);
        }
        self.paths.push(target);
    }
}

/// Programs that rewrite files, and the word that makes them do so.
fn formats(name: &str, rest: &[String]) -> bool {
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(&word.as_str()));
    match name {
        "rustfmt" | "black" | "isort" | "autopep8" | "pre-commit" | "python" | "python3"
        | "node" | "ruby" | "patch" | "codemod" | "jscodeshift" | "sd" | "fastmod" => true,
        "prettier" | "biome" => has(&["--write", "-w", "--apply", "--fix"]),
        "eslint" | "stylelint" | "golangci-lint" | "clippy" => has(&["--fix"]),
        "ruff" => has(&["format", "--fix"]),
        "gofmt" | "goimports" | "shfmt" | "yapf" => has(&["-w", "-i"]),
        "clang-format" => has(&["-i"]),
        "cargo" => has(&["fmt", "--fix", "fix"]),
        "terraform" | "tofu" | "dart" | "mix" | "zig" | "deno" | "go" | "swift" => {
            has(&["fmt", "format", "fix", "generate"])
        }
        "npx" | "bunx" | "pnpx" | "uvx" | "uv" | "poetry" | "mise" | "dlx" => {
            rest.split_first().is_some_and(|(name, rest)| {
                let rest = if name == "run" { rest } else { return formats(name, rest) };
                rest.split_first().is_some_and(|(name, rest)| formats(name, rest))
            })
        }
        "npm" | "pnpm" | "yarn" | "bun" | "make" | "just" | "task" => rest.iter().any(|word| {
            ["format", "fmt", "fix", "generate", "prettier"].iter().any(|part| word.contains(part))
        }),
        _ => false,
    }
}

fn is_prefix(word: &str) -> bool {
    let assigns = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    });
    assigns || ["sudo", "env", "time", "nice", "command", "then", "do", "else", "!"].contains(&word)
}

fn is_redirection(word: &str) -> bool {
    let rest = word.trim_start_matches(['0', '1', '2', '&']);
    rest.starts_with('>')
}

/// Splits a command line into simple commands and their words; here-documents are left out.
fn simple_commands(command: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = command.chars().peekable();
    let mut ends: Vec<String> = Vec::new();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, '\n' | ';' | '|' | '(' | ')' | ' ' | '\t') => {
                push(&mut commands, word.take(), &mut ends);
                if !matches!(letter, ' ' | '\t') {
                    commands.push(Vec::new());
                }
                if letter == '\n' {
                    for end in ends.drain(..) {
                        skip_document(&mut letters, &end);
                    }
                }
            }
            (None, '&') if letters.peek() == Some(&'&') => {
                letters.next();
                push(&mut commands, word.take(), &mut ends);
                commands.push(Vec::new());
            }
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    push(&mut commands, word, &mut ends);
    commands.retain(|words| !words.is_empty());
    commands
}

fn push(commands: &mut [Vec<String>], word: Option<String>, ends: &mut Vec<String>) {
    let (Some(word), Some(command)) = (word, commands.last_mut()) else { return };
    if let Some(end) = word.strip_prefix("<<") {
        let end = end.trim_start_matches(['-', '~']);
        if !end.starts_with('<') {
            ends.push(end.to_owned());
            return;
        }
    }
    // `<< END` with a space between.
    if let Some(open) = ends.last_mut().filter(|end| end.is_empty()) {
        open.push_str(&word);
        return;
    }
    command.push(word);
}

fn skip_document(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, end: &str) {
    let mut line = String::new();
    for letter in letters.by_ref() {
        if letter != '\n' {
            line.push(letter);
        } else if line.trim() == end {
            return;
        } else {
            line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(command: &str) -> Vec<String> {
        touched(command, Some("/w")).paths
    }

    #[test]
    fn what_commands_write() {
        assert_eq!(paths("sed -i 's/a/b/' src/x.rs"), ["/w/s/a/b", "/w/src/x.rs"]);
        assert_eq!(paths("echo hi > out.txt 2>&1"), ["/w/out.txt"]);
        assert_eq!(
            paths("cat <<'EOF' >> notes.md\nrm -rf x.rs\nEOF\ntee a.log"),
            ["/w/notes.md", "/w/a.log"]
        );
        assert_eq!(paths("cd sub && printf x >y.txt"), ["/w/sub/y.txt"]);
        assert!(paths("grep -n 'a > b' x.rs | head").is_empty());
        assert!(touched("cargo fmt --all", None).any_file);
        assert!(touched("npx prettier --write .", None).any_file);
        assert!(!touched("cargo test", None).any_file);
    }

    #[test]
    fn moves_are_renames() {
        let moved = touched("git mv a.rs src/b.rs", Some("/w"));
        assert!(moved.renames.contains(&("/w/a.rs".into(), "/w/src/b.rs".into())));
    }
}
