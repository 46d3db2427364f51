//! Patches inside of shell commands: `apply_patch` as one of the commands that a script runs.
//!
//! This is no shell. Commands are told apart by what separates them on a line, and what a heredoc
//! holds is data of the command it stands behind: a patch that `cat` writes to a file changes
//! nothing but that file.

use super::patch;
use backstory_format::slice::Part;
use backstory_model::{Content, Effect};
use hashbrown::HashSet;

/// Names by which the client's own program is run.
pub(super) const NAMES: [&str; 2] = ["apply_patch", "applypatch"];

/// Edits of every patch that a script applies, and its other commands as words for the shell.
/// `folder` is where it starts. Where nothing tells which folder it went to, nothing is claimed.
pub(super) fn effects(script: &str, folder: &str) -> Vec<Effect> {
    let words: HashSet<&str> = script.lines().map(str::trim).collect();
    let mut edits = Vec::new();
    let mut folder = Some(folder.to_owned());
    let mut others = Others::Nothing;
    let mut rest = String::new();
    let mut lines = script.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let mut at = 0;
        let mut kept = line.len();
        for part in line.split_inclusive([';', '|', '&', '(', ')', '{', '}']) {
            let command = part.trim_matches([';', '|', '&', '(', ')', '{', '}']).trim();
            let (name, arguments) =
                command.split_once(char::is_whitespace).unwrap_or((command, ""));
            if name == "cd" {
                folder = folder.and_then(|folder| entered(&folder, arguments));
            } else if NAMES.contains(&name) {
                let behind = line.part(at..);
                let body = match heredoc(behind) {
                    Some(end) => body(&mut lines, end),
                    None => quoted(behind, &mut lines),
                };
                let Some(folder) = &folder else { return whole(script) };
                edits.extend(patch::effects(&body, folder));
                kept = at;
                break;
            } else if !unquoted(command).is_empty() {
                others = Others::Some;
            }
            at += part.len();
        }
        let before = line.part(..kept);
        if kept == line.len() {
            rest.push_str(before);
        } else if !before.trim().is_empty() {
            rest.push_str(before.trim_end_matches([';', '&', '|', ' ']));
            rest.push('\n');
        }
        if let Some(end) = heredoc(line).filter(|end| kept == line.len() && words.contains(end)) {
            rest.push_str(&body(&mut lines, end));
            rest.push_str(&format!("{end}\n"));
        }
    }
    if edits.is_empty() {
        return whole(script);
    }
    if others == Others::Some {
        edits.push(Effect::Shell { command: Content::Owned(rest.trim_end().into()) });
    }
    edits
}

/// The command as it stands, for the shell.
fn whole(script: &str) -> Vec<Effect> {
    vec![Effect::Shell { command: Content::Owned(script.into()) }]
}

/// Where `cd` leads; none where only the shell knows.
fn entered(folder: &str, arguments: &str) -> Option<String> {
    let to = unquoted(arguments.trim());
    let is_plain =
        !to.is_empty() && !to.starts_with('-') && !to.contains(['$', '~', '*', '`', '?']);
    is_plain.then(|| patch::joined(folder, to))
}

/// Whether there are commands beside patches and changes of the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    Nothing,
    Some,
}

/// The word that ends the heredoc which a line opens.
fn heredoc(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("<<")?;
    if after.starts_with('<') {
        return None;
    }
    let word = after.strip_prefix('-').unwrap_or(after).trim_start();
    let word = word.split([' ', '\t', '\n', ';', '|', '&', ')', '>']).next()?;
    Some(unquoted(word)).filter(|word| !word.is_empty())
}

/// The lines up to the word that ends them.
fn body<'a>(lines: &mut impl Iterator<Item = &'a str>, end: &str) -> String {
    lines.take_while(|line| line.trim() != end).collect()
}

/// A patch as an argument in quotes: up to its last line.
fn quoted<'a>(first: &str, lines: &mut impl Iterator<Item = &'a str>) -> String {
    let Some((_, first)) = first.split_once("*** Begin Patch") else { return String::new() };
    let mut body = format!("*** Begin Patch{first}");
    for line in lines {
        if line.starts_with("*** End Patch") {
            break;
        }
        body.push_str(line);
    }
    body
}

fn unquoted(word: &str) -> &str {
    word.trim_matches(['"', '\'', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch\n";

    fn told(script: &str, folder: &str) -> Vec<String> {
        let effects = effects(script, folder);
        let words = effects.iter().map(|effect| match effect {
            Effect::Edit(edit) => edit.path.to_string(),
            Effect::Shell { command: Content::Owned(command) } => format!("$ {command}"),
            _ => String::new(),
        });
        words.collect()
    }

    #[test]
    fn a_patch_is_applied_where_the_command_runs() {
        let patch = format!("apply_patch <<'EOF'\n{PATCH}EOF\n");
        assert_eq!(told(&patch, ""), ["a.py"]);
        assert_eq!(told(&patch, "/w/sub"), ["/w/sub/a.py"]);
        assert_eq!(told(&format!("cd sub && {patch}"), "/w"), ["/w/sub/a.py"]);
        assert_eq!(told(&format!("cd /x && {patch}"), "/w"), ["/x/a.py"]);
        assert_eq!(told(&format!("apply_patch \"{PATCH}\""), ""), ["a.py"]);
    }

    #[test]
    fn a_patch_that_is_only_written_down_changes_nothing() {
        let script = format!("cat > p.diff <<EOF\n{PATCH}EOF\n");
        assert_eq!(told(&script, ""), [format!("$ {script}")]);
        assert_eq!(told("echo apply_patch", ""), ["$ echo apply_patch"]);
    }

    #[test]
    fn every_patch_and_every_other_command_counts() {
        let other = PATCH.replace("a.py", "b.py");
        let script =
            format!("touch c && apply_patch <<'A'\n{PATCH}A\ntouch d\napplypatch <<B\n{other}B\n");
        assert_eq!(told(&script, ""), ["a.py", "b.py", "$ touch c\ntouch d"]);
    }

    #[test]
    fn a_folder_that_only_the_shell_knows_is_not_guessed() {
        let script = format!("cd \"$HOME\" && apply_patch <<E\n{PATCH}E\n");
        assert_eq!(told(&script, "/w"), [format!("$ {script}")]);
    }
}
