//! `backstory blame --porcelain`: the fields of `git blame --line-porcelain`, and ours.

use super::Answer;
use crate::error::CliError;
use crate::ui;
use backstory_text::escape::is_unsafe;
use std::io::Write;

/// What git writes for a line that is in no commit.
const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

pub(crate) fn write(answer: &Answer<'_>) -> Result<(), CliError> {
    let mut out = ui::stdout();
    let file = clean(answer.path.rsplit('/').next().unwrap_or_default());
    for line in answer.lines {
        let git = line.git.as_ref();
        let commit = git.map_or(NO_COMMIT, |git| &git.commit);
        let original = git.map_or(line.number, |git| u64::from(git.original));
        writeln!(out, "{commit} {original} {} 1", line.number)?;
        let author = git.map_or("Not Committed Yet", |git| &git.author);
        writeln!(out, "author {}", clean(author))?;
        writeln!(
            out,
            "author-mail {}",
            clean(git.map_or("<not.committed.yet>", |git| &git.author_mail))
        )?;
        let seconds = |time: Option<jiff::Timestamp>| time.map_or(0, |time| time.as_second());
        writeln!(out, "author-time {}", seconds(git.and_then(|git| git.author_time)))?;
        writeln!(out, "author-tz +0000")?;
        writeln!(out, "committer-time {}", seconds(git.and_then(|git| git.committer_time)))?;
        writeln!(out, "summary {}", clean(git.map_or("Not Committed Yet", |git| &git.summary)))?;
        writeln!(out, "filename {}", git.map_or(file.clone(), |git| clean(&git.filename)))?;
        let edit = answer.blame.edit_of(line);
        match edit {
            Some(edit) => {
                let by = &edit.edit.by;
                let mut field = |name: &str, value: Option<&str>| match value {
                    Some(value) => writeln!(out, "backstory-{name} {}", clean(value)),
                    None => Ok(()),
                };
                field("origin", Some("edit"))?;
                field("agent", Some(by.agent.name()))?;
                field("model", by.model.as_deref())?;
                field("session", Some(&by.session))?;
                field("subagent", by.subagent.as_deref())?;
                field("turn", by.turn.map(|turn| turn.to_string()).as_deref())?;
                field("call", by.call.as_deref())?;
                field("tool", Some(&by.tool))?;
                field("version", by.version.as_deref())?;
                field("time", edit.event.time.map(|time| time.to_string()).as_deref())?;
                field("confidence", Some(line.mark.confidence.name()))?;
            }
            None => writeln!(out, "backstory-origin unknown")?,
        }
        writeln!(out, "backstory-why {}", line.mark.why.text())?;
        writeln!(out, "\t{}", clean(line.text))?;
    }
    out.flush()?;
    Ok(())
}

/// One line of text without anything that a terminal would act on; tabs stay.
fn clean(text: &str) -> String {
    text.chars()
        .map(|letter| if letter != '\t' && is_unsafe(letter) { '\u{fffd}' } else { letter })
        .collect()
}
