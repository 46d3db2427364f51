//! Which files a shell command may have changed.
//!
//! Nothing here is proof: a command is read as text, never run. What it finds is told as *possibly
//! changed*, and moves of files are followed only where the content agrees.

use super::in_place;
use super::order::When;
use super::path::normal_path;
use backstory_model::shell::{Command, Script, assigns, unwrapped};
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

/// Scripts in scripts that are looked into.
const DEEPEST: u32 = 4;

/// Reads a command line. Relative paths are taken from `folder` and from where `cd` leads.
pub(super) fn touched(command: &str, folder: Option<&str>) -> Touched {
    let mut found = Touched::default();
    found.script(command, folder, DEEPEST);
    found
}

impl Touched {
    fn script(&mut self, script: &str, folder: Option<&str>, depth: u32) {
        self.commands(&Script::split(script).commands, folder, depth);
    }

    fn commands(&mut self, commands: &[Command], folder: Option<&str>, depth: u32) {
        let mut folder = folder.map(str::to_owned);
        for command in commands {
            let place = |word: &str| normal_path(word, folder.as_deref());
            let is_file = |target: &&str| !target.is_empty() && !target.starts_with("/dev/");
            self.paths.extend(command.outputs().filter(is_file).map(place));
            let words = command.texts();
            let mut words = words.as_slice();
            while let Some((_, rest)) = words.split_first().filter(|(word, _)| is_prefix(word)) {
                words = rest;
            }
            // A folder that is left in a substitution is that of nothing else.
            self.commands(&command.substituted, folder.as_deref(), depth);
            let Some((name, rest)) = words.split_first() else { continue };
            let name = name.rsplit('/').next().unwrap_or(name);
            if let Some(inner) = unwrapped(words).filter(|_| depth > 0) {
                self.script(inner, folder.as_deref(), depth - 1);
            } else if name == "cd" {
                let target = rest.iter().find(|word| !word.starts_with('-'));
                folder = Some(place(target.copied().unwrap_or_default()));
            } else {
                self.add(name, rest, &place);
            }
        }
    }

    /// What one command writes.
    fn add(&mut self, name: &str, rest: &[&str], place: &dyn Fn(&str) -> String) {
        let mut write = |words: Vec<&str>| self.paths.extend(words.into_iter().map(place));
        match name {
            "sed" => write(in_place::sed(rest)),
            "perl" | "ruby" if in_place::edits(rest) => write(in_place::perl(rest)),
            "tee" => write(operands(rest, &[])),
            "rm" => write(operands(rest, &[])),
            "truncate" => write(operands(rest, &["-s", "-r", "--size", "--reference"])),
            "mv" | "cp" => self.moved(name, rest, place),
            "git" => self.git(rest, place),
            "patch" => self.any_file = true,
            _ if formats(name, rest) => {
                self.any_file = true;
                if !INTERPRETERS.contains(&name) {
                    let named = operands(rest, &[]).into_iter().filter(|word| word.contains('.'));
                    self.paths.extend(named.map(place));
                }
            }
            _ => {}
        }
    }

    fn git(&mut self, rest: &[&str], place: &dyn Fn(&str) -> String) {
        // Options that go before the command, of which these have a value.
        let mut rest = rest;
        let mut folder = None;
        while let Some((option, more)) =
            rest.split_first().filter(|(word, _)| word.starts_with('-'))
        {
            let has_value = ["-C", "-c", "--git-dir", "--work-tree"].contains(option);
            if *option == "-C" {
                folder = more.first().map(|folder| place(folder));
            }
            rest = if has_value { more.get(1..).unwrap_or_default() } else { more };
        }
        let inside = |word: &str| match &folder {
            Some(folder) => normal_path(word, Some(folder)),
            None => place(word),
        };
        let Some((command, rest)) = rest.split_first() else { return };
        match *command {
            "mv" => self.moved("mv", rest, &inside),
            "rm" if rest.contains(&"--cached") => {}
            "rm" => self.paths.extend(operands(rest, &[]).into_iter().map(inside)),
            "checkout" | "restore" | "reset" | "stash" | "merge" | "pull" | "rebase"
            | "cherry-pick" | "revert" | "switch" | "apply" | "am" | "clean" => {
                self.any_file = true;
            }
            _ => {}
        }
    }

    fn moved(&mut self, name: &str, rest: &[&str], place: &dyn Fn(&str) -> String) {
        let valued = ["-t", "--target-directory", "-S", "--suffix"];
        let words = operands(rest, &valued);
        let (target, sources) = match (target_folder(rest), words.split_last()) {
            (Some(target), _) => (target, words.as_slice()),
            (None, Some((target, sources))) => (*target, sources),
            (None, None) => return,
        };
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

/// The folder that `mv -t FOLDER` and `cp -t FOLDER` name.
fn target_folder<'w>(rest: &[&'w str]) -> Option<&'w str> {
    let long = rest.iter().find_map(|word| word.strip_prefix("--target-directory="));
    let short = || {
        let at = rest.iter().position(|word| *word == "-t" || *word == "--target-directory")?;
        rest.get(at + 1).copied()
    };
    long.or_else(short)
}

/// Words that are not options or values of options; after `--` every word is one. Options in
/// `valued` take the next word, unless they hold their value themselves.
fn operands<'w>(words: &[&'w str], valued: &[&str]) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word == "--" {
            found.extend(words);
            break;
        }
        if valued.contains(&word) {
            words.next();
        } else if !word.starts_with('-') || word == "-" {
            found.push(word);
        }
    }
    found.retain(|word| *word != "-");
    found
}

/// Programs that run a script, which may write any file but names none here.
const INTERPRETERS: [&str; 4] = ["python", "python3", "node", "ruby"];

/// Programs that rewrite files, and the word that makes them do so.
fn formats(name: &str, rest: &[&str]) -> bool {
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(word));
    match name {
        name if INTERPRETERS.contains(&name) => true,
        "rustfmt" | "black" | "isort" | "autopep8" | "pre-commit" | "patch" | "codemod"
        | "jscodeshift" | "sd" | "fastmod" => true,
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
                let rest = if *name == "run" { rest } else { return formats(name, rest) };
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
    assigns(word)
        || ["sudo", "env", "time", "nice", "command", "then", "do", "else", "!"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(command: &str) -> Vec<String> {
        touched(command, Some("/w")).paths
    }

    #[test]
    fn shell_commands_and_the_files_they_write() {
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
    fn shell_reads_and_runs_are_not_writes() {
        for (command, written) in [
            ("truncate -s 0 a.log", &["/w/a.log"][..]),
            ("truncate --size=0 a.log", &["/w/a.log"]),
            ("tee -a out.txt < in.txt", &["/w/out.txt"]),
            ("tee -- -odd", &["/w/-odd"]),
            ("cat <<< 'a b' > out.txt", &["/w/out.txt"]),
            ("echo '> not.txt' '<in'", &[]),
            ("run 2>err.txt >>out.txt", &["/w/err.txt", "/w/out.txt"]),
            ("run &> all.txt & rm old.txt", &["/w/all.txt", "/w/old.txt"]),
            ("run >& all.txt; run >|b.txt", &["/w/all.txt", "/w/b.txt"]),
            ("python -c \"open('x.py', 'w')\" y.py", &[]),
            ("python3 mill.py", &[]),
            ("git rm --cached a.rs", &[]),
            ("git -C sub rm a.rs", &["/w/sub/a.rs"]),
            ("cp -t out a.txt b.txt", &["/w/out/a.txt", "/w/out/b.txt", "/w/out"]),
            ("black src/a.py", &["/w/src/a.py"]),
            ("ls # rm -f x > y", &[]),
            ("git commit -m \"$(cat <<'E'\nIt's > x\nE\n)\"; rm y", &["/w/y"]),
            ("echo \"$(tee log)\"", &["/w/log"]),
            ("x=$(cd sub && rm a); rm b", &["/w/sub/a", "/w/b"]),
            ("cd sub; bash -lc 'cd deep && rm z' && rm y", &["/w/sub/deep/z", "/w/sub/y"]),
        ] {
            assert_eq!(paths(command), written, "{command}");
        }
        assert!(touched("python3 mill.py", None).any_file);
    }

    #[test]
    fn moves_are_renames() {
        let moved = touched("git mv a.rs src/b.rs", Some("/w"));
        assert!(moved.renames.contains(&("/w/a.rs".into(), "/w/src/b.rs".into())));
    }
}
