//! The text of a hook with our lines in it, and without.
//!
//! They are right after the first line of a shell script, because many hooks end with `exit`
//! or `exec`. Nothing else of the script is changed.

const BEGIN: &str = "# >>> backstory link";
/// Behind the first mark where the file is ours alone.
const OWN: &str = ", which made this file";
const END: &str = "# <<< backstory link";
const SHELL: &str = "#!/bin/sh\n";

/// Why a hook cannot take our lines.
#[allow(missing_docs, reason = "the messages say what the fields are")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    #[error("the existing hook is not a shell script")]
    NotShell,
    #[error("the lines of backstory in the hook have no end")]
    Torn,
}

/// Whether our lines are there.
pub fn has_hook(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(BEGIN))
}

/// The hook with `command` in it, which can neither stop nor delay a commit by failing.
pub fn with_hook(text: &str, command: &str) -> Result<String, HookError> {
    let text = without_hook(text)?;
    let own = if text.is_empty() { OWN } else { "" };
    let text = if text.is_empty() { SHELL.to_owned() } else { text };
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let program = first.strip_prefix("#!").unwrap_or_default();
    let mut words = program.split_whitespace();
    let mut name = words.next().unwrap_or_default();
    if name.ends_with("/env") {
        name = words.next().unwrap_or_default();
    }
    let name = name.rsplit('/').next().unwrap_or_default();
    if !matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh") {
        return Err(HookError::NotShell);
    }
    let lines = format!("{BEGIN}{own}\n{command} </dev/null >/dev/null 2>&1 || true\n{END}\n");
    Ok(format!("{first}\n{lines}{rest}"))
}

/// The hook without our lines; empty if nothing else is in it.
pub fn without_hook(text: &str) -> Result<String, HookError> {
    let mut kept = String::new();
    let mut ours = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with(BEGIN) {
            ours = true;
        } else if ours && line.starts_with(END) {
            ours = false;
        } else if !ours {
            kept.push_str(line);
        }
    }
    if ours {
        return Err(HookError::Torn);
    }
    let own = text.lines().any(|line| line.strip_prefix(BEGIN) == Some(OWN));
    Ok(if own && kept == SHELL { String::new() } else { kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_in_and_out_again() {
        for hook in
            ["", "#!/bin/sh\necho hi\nexit 0\n", "#!/usr/bin/env bash\nexec other", "#!/bin/sh"]
        {
            let with = with_hook(hook, "backstory link").unwrap();
            assert!(has_hook(&with) && with.starts_with("#!"), "{with}");
            assert_eq!(with_hook(&with, "backstory link").unwrap(), with, "twice is once");
            assert_eq!(without_hook(&with).unwrap().trim_end(), hook.trim_end());
        }
        assert_eq!(without_hook("#!/bin/sh\n").unwrap(), "#!/bin/sh\n", "not ours to empty");
    }

    #[test]
    fn other_programs_are_left_alone() {
        for hook in ["#!/usr/bin/env python3\nprint()\n", "echo no first line\n", "\u{7f}ELF"] {
            assert_eq!(with_hook(hook, "x"), Err(HookError::NotShell), "{hook}");
        }
        assert_eq!(without_hook("#!/bin/sh\n# >>> backstory link\nx\n"), Err(HookError::Torn));
    }
}
