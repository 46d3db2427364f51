//! Patches inside of shell commands: `apply_patch` as one of the commands that a script runs.
//!
//! What a here-document holds is data of its command: a patch that `cat` writes to a file changes
//! nothing but that file.

use super::patch;
use backstory_format::slice::Part;
use backstory_model::shell::{Command, Script};
use backstory_model::{Content, Effect};
use std::ops::Range;

/// Names by which the client's own program is run.
pub(super) const NAMES: [&str; 2] = ["apply_patch", "applypatch"];

/// Edits of every patch that a script applies, and its other commands as words for the shell.
/// `folder` is where it starts. Where nothing tells which folder it went to, nothing is claimed.
pub(super) fn effects(script: &str, folder: &str) -> Vec<Effect> {
    let split = Script::split(script);
    let mut edits = Vec::new();
    let mut folder = Some(folder.to_owned());
    let mut others = Others::Nothing;
    // Where patches are written.
    let mut patches: Vec<Range<usize>> = Vec::new();
    for command in &split.commands {
        let words = command.texts();
        // A brace that opens a group is a word for the splitter.
        let start = words.iter().take_while(|word| **word == "{").count();
        match words.part(start..) {
            ["cd", arguments @ ..] => {
                folder = folder.and_then(|folder| entered(&folder, arguments));
            }
            [name, arguments @ ..] if NAMES.contains(name) => {
                let Some(folder) = &folder else { return whole(script) };
                edits.extend(patch::effects(&body(&split, command, arguments), folder));
                patches.push(command.span.clone());
                patches
                    .extend(command.documents().map(|document| document.lines.start..document.end));
            }
            [] | ["}"] => {}
            _ => others = Others::Some,
        }
    }
    if edits.is_empty() {
        return whole(script);
    }
    if others == Others::Some {
        let command = Content::Owned(without(script, patches).into());
        edits.push(Effect::Shell { command });
    }
    edits
}

/// The command as it stands, for the shell.
fn whole(script: &str) -> Vec<Effect> {
    vec![Effect::Shell { command: Content::Owned(script.into()) }]
}

/// The patch that a command applies: its input, or its argument.
fn body(split: &Script<'_>, command: &Command, arguments: &[&str]) -> String {
    match command.documents().last() {
        Some(document) => split.lines_of(document).to_owned(),
        None => arguments.first().map(|patch| (*patch).to_owned()).unwrap_or_default(),
    }
}

/// A script without its patches, and without what connected them to other commands.
fn without(script: &str, mut patches: Vec<Range<usize>>) -> String {
    patches.sort_by_key(|range| range.start);
    let connects = |letter: char| matches!(letter, ';' | '&' | '|') || letter.is_whitespace();
    let starts = std::iter::once(0).chain(patches.iter().map(|range| range.end));
    let ends = patches.iter().map(|range| range.start).chain([script.len()]);
    let pieces = starts.zip(ends).map(|(start, end)| script.part(start..end.max(start)));
    let pieces: Vec<&str> = pieces.map(|piece| piece.trim_matches(connects)).collect();
    let pieces: Vec<&str> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
    pieces.join("\n")
}

/// Where `cd` leads; none where only the shell knows.
fn entered(folder: &str, arguments: &[&str]) -> Option<String> {
    let [to] = arguments else { return None };
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

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch\n";

    fn changed(script: &str, folder: &str) -> Vec<String> {
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
        assert_eq!(changed(&patch, ""), ["a.py"]);
        assert_eq!(changed(&patch, "/w/sub"), ["/w/sub/a.py"]);
        assert_eq!(changed(&format!("cd sub && {patch}"), "/w"), ["/w/sub/a.py"]);
        assert_eq!(changed(&format!("cd /x && {patch}"), "/w"), ["/x/a.py"]);
        assert_eq!(changed(&format!("apply_patch \"{PATCH}\""), ""), ["a.py"]);
    }

    #[test]
    fn a_patch_that_is_only_written_down_changes_nothing() {
        let script = format!("cat > p.diff <<EOF\n{PATCH}EOF\n");
        assert_eq!(changed(&script, ""), [format!("$ {script}")]);
        assert_eq!(changed("echo apply_patch", ""), ["$ echo apply_patch"]);
    }

    #[test]
    fn every_patch_and_every_other_command_counts() {
        let other = PATCH.replace("a.py", "b.py");
        let script =
            format!("touch c && apply_patch <<'A'\n{PATCH}A\ntouch d\napplypatch <<B\n{other}B\n");
        assert_eq!(changed(&script, ""), ["a.py", "b.py", "$ touch c\ntouch d"]);
    }

    #[test]
    fn commands_on_the_line_of_a_patch_count() {
        let script = format!("apply_patch <<'A' && cargo test # it's\n{PATCH}A\n");
        assert_eq!(changed(&script, ""), ["a.py", "$ cargo test # it's"]);
        let group = format!("{{ apply_patch <<A; }} 2>&1\n{PATCH}A\n");
        assert_eq!(changed(&group, ""), ["a.py"]);
    }

    #[test]
    fn a_folder_that_only_the_shell_knows_is_not_guessed() {
        let script = format!("cd \"$HOME\" && apply_patch <<E\n{PATCH}E\n");
        assert_eq!(changed(&script, "/w"), [format!("$ {script}")]);
    }
}
