//! Languages and packages, by the file names and the words of commands.

use backstory_model::shell::{Script, unwrapped};

/// The language of a file by its extension.
pub(super) fn language(path: &str) -> Option<&'static str> {
    let name = path.rsplit(['/', '\\']).next()?;
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "py" | "pyi" | "ipynb" => "python",
        "ts" | "tsx" | "mts" | "cts" => "typescript",
        "js" | "jsx" | "mjs" | "cjs" => "javascript",
        "rs" => "rust",
        "go" => "go",
        "java" => "java",
        "kt" | "kts" => "kotlin",
        "rb" => "ruby",
        "php" => "php",
        "c" | "h" => "c",
        "cc" | "cpp" | "cxx" | "hpp" | "hh" => "cpp",
        "cs" => "csharp",
        "swift" => "swift",
        "scala" => "scala",
        "ex" | "exs" => "elixir",
        "hs" => "haskell",
        "lua" => "lua",
        "dart" => "dart",
        "zig" => "zig",
        "r" => "r",
        "sh" | "bash" | "zsh" => "shell",
        "sql" => "sql",
        "html" | "htm" => "html",
        "css" | "scss" | "sass" | "less" => "css",
        "vue" => "vue",
        "svelte" => "svelte",
        "md" | "markdown" => "markdown",
        "json" | "jsonl" => "json",
        "yaml" | "yml" => "yaml",
        "toml" => "toml",
        "xml" => "xml",
        _ => return None,
    })
}

/// Whether programs are written in it.
pub(super) fn is_programming(language: &str) -> bool {
    !matches!(language, "markdown" | "json" | "yaml" | "toml" | "xml" | "html" | "css" | "sql")
}

/// Scripts in scripts that are searched.
const DEEPEST: u32 = 4;

/// Packages that a shell command installs by name.
pub(super) fn installed(command: &str) -> Vec<String> {
    let mut packages = Vec::new();
    add_installed(command, DEEPEST, &mut packages);
    packages
}

/// One of these is in every command that installs something.
const VERBS: [&str; 5] = ["install", "add", "require", "get", " i "];

fn add_installed(command: &str, depth: u32, packages: &mut Vec<String>) {
    if !VERBS.iter().any(|verb| command.contains(verb)) {
        return;
    }
    for command in Script::split(command).all() {
        let words = command.texts();
        let words = match words.as_slice() {
            ["sudo", rest @ ..] => rest,
            words => words,
        };
        if let Some(inner) = unwrapped(words).filter(|_| depth > 0) {
            add_installed(inner, depth - 1, packages);
        }
        let named = match words {
            ["pip" | "pip3", "install", rest @ ..]
            | ["python" | "python3", "-m", "pip", "install", rest @ ..]
            | ["uv", "pip", "install", rest @ ..]
            | ["uv" | "poetry" | "cargo" | "pnpm" | "yarn" | "bun", "add", rest @ ..]
            | ["npm" | "pnpm", "install" | "i" | "add", rest @ ..]
            | ["gem", "install", rest @ ..]
            | ["composer", "require", rest @ ..]
            | ["go", "get", rest @ ..] => rest,
            _ => continue,
        };
        let mut skip = false;
        for word in named {
            if std::mem::take(&mut skip) {
                continue;
            }
            if word.starts_with('-') {
                // These take a word that is no package.
                skip = matches!(
                    *word,
                    "-r" | "-c"
                        | "-e"
                        | "-t"
                        | "--index-url"
                        | "-i"
                        | "--target"
                        | "--prefix"
                        | "--features"
                        | "-F"
                        | "-p"
                        | "--package"
                        | "--group"
                        | "-G"
                );
                continue;
            }
            packages.extend(package(word));
        }
    }
}

/// The name alone, without version and extras; none for paths, variables and addresses.
fn package(word: &str) -> Option<String> {
    let (scope, rest) = match word.strip_prefix('@') {
        Some(rest) => ("@", rest),
        None => ("", word),
    };
    let end = rest.find(['=', '<', '>', '~', '!', '[', '@', '^', '#', ',']).unwrap_or(rest.len());
    let name = rest.get(..end)?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    let sound = name.chars().next().is_some_and(|letter| letter.is_ascii_alphanumeric())
        && name.chars().all(plain)
        && (scope.is_empty() || name.contains('/'))
        && !name.ends_with(['/', '.'])
        && !word.contains("://");
    sound.then(|| format!("{scope}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_without_their_versions() {
        assert_eq!(
            installed("cd x && pip install 'stripe==2.0' requests[socks]>=2 -r r.txt ./local -q"),
            ["stripe", "requests"]
        );
        assert_eq!(
            installed("npm i -D @types/node@20 next; cargo add serde --features derive"),
            ["@types/node", "next", "serde"]
        );
        assert_eq!(installed("bash -lc 'cd x; pip install numpy'"), ["numpy"]);
        let written = "cat > Dockerfile <<E\nRUN x && pip install numpy\nE\n";
        assert_eq!(installed(written), [] as [&str; 0]);
        assert_eq!(installed("go get github.com/a/b@v1"), ["github.com/a/b"]);
        assert_eq!(installed("npm install && echo pip install $X"), [] as [&str; 0]);
        assert_eq!(language("/a/b.test.TSX"), Some("typescript"));
        assert_eq!(language("Makefile"), None);
    }
}
