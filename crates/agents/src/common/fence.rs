//! Fences of Markdown, as models write them around code.

use backstory_format::slice::Part;

/// An open fence: its mark, and how often it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: char,
    length: usize,
}

/// The marks of a line that begins with one of them, and what follows.
fn marks(line: &str) -> Option<(char, usize, &str)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.chars().take_while(|letter| *letter == mark).count();
    Some((mark, length, line.part(length..).trim()))
}

impl Fence {
    /// The fence that a line opens, and the word after it.
    pub(crate) fn opened(line: &str) -> Option<(Fence, &str)> {
        let (mark, length, rest) = marks(line).filter(|(_, length, _)| *length >= 3)?;
        Some((Fence { mark, length }, rest))
    }

    /// Whether a line closes it: the same mark, at least as often, and nothing else.
    pub(crate) fn is_closed_by(self, line: &str) -> bool {
        marks(line).is_some_and(|(mark, length, rest)| {
            mark == self.mark && length >= self.length && rest.is_empty()
        })
    }

    /// Whether a line opens another one like it: the same mark, at least as often, and a word.
    pub(crate) fn is_opened_by(self, line: &str) -> bool {
        marks(line).is_some_and(|(mark, length, rest)| {
            mark == self.mark && length >= self.length && !rest.is_empty()
        })
    }
}

/// The blocks of a text whose fence of backticks names one of `languages`.
pub(crate) fn fenced(text: &str, languages: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(Fence, Option<Vec<&str>>)> = None;
    for line in text.lines() {
        match &mut open {
            None => {
                open = Fence::opened(line)
                    .filter(|(fence, _)| fence.mark == '`')
                    .map(|(fence, language)| (fence, languages.contains(&language).then(Vec::new)));
            }
            Some((fence, block)) if fence.is_closed_by(line) => {
                found.extend(block.take().map(|lines| lines.join("\n")));
                open = None;
            }
            Some((_, Some(block))) => block.push(line),
            Some((_, None)) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_closed_by_its_own_mark() {
        let (fence, language) = Fence::opened("````python").unwrap();
        assert_eq!(language, "python");
        assert!(fence.is_closed_by("````") && fence.is_closed_by("`````  "));
        for line in ["```", "~~~~", "```` x", "``~~"] {
            assert!(!fence.is_closed_by(line), "{line}");
        }
        assert!(Fence::opened("``~").is_none());
    }

    #[test]
    fn blocks_by_language() {
        let text = "a\n```bash\nls\n```\n```\nno\n```\n````bash\n```\n````\n";
        assert_eq!(fenced(text, &["bash"]), ["ls", "```"]);
    }
}
