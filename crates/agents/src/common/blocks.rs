//! SEARCH/REPLACE blocks, which several agents have models write.

use backstory_model::{Content, Replacement};

/// Where the lines of a block are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Outside,
    Old,
    New,
}

/// Whose blocks they are. Each agent knows its own marks; a line that is none for it is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Five to nine of `<`, `=` and `>`.
    Aider,
    /// Three or more of `<` or `-`, `=`, and `>` or `+`.
    Cline,
}

impl Dialect {
    /// Whether a line, without the blanks at its end, has this many of one of these marks.
    fn is_run(self, text: &str, marks: &[char]) -> bool {
        let long_enough = match self {
            Dialect::Aider => (5..=9).contains(&text.len()),
            Dialect::Cline => text.len() >= 3,
        };
        long_enough && marks.iter().any(|mark| text.chars().all(|letter| letter == *mark))
    }

    fn begins(self, line: &str) -> bool {
        let line = line.strip_suffix('>').unwrap_or(line);
        line.strip_suffix(" SEARCH").is_some_and(|run| match self {
            Dialect::Aider => self.is_run(run, &['<']),
            Dialect::Cline => self.is_run(run, &['<', '-']),
        })
    }

    fn parts(self, line: &str) -> bool {
        self.is_run(line, &['='])
    }

    fn ends(self, line: &str) -> bool {
        match self {
            Dialect::Aider => {
                line.strip_suffix(" REPLACE").is_some_and(|run| self.is_run(run, &['>']))
            }
            Dialect::Cline => {
                let line = line.strip_suffix('>').unwrap_or(line);
                line.strip_suffix(" REPLACE").is_some_and(|run| self.is_run(run, &['>', '+']))
            }
        }
    }
}

/// The replacements of a text; none when a block is not whole, since then nothing is certain.
pub(crate) fn search_replace(text: &str, dialect: Dialect) -> Option<Vec<Replacement>> {
    let mut found = Vec::new();
    let mut at = At::Outside;
    let (mut old, mut new) = (String::new(), String::new());
    for line in text.split_inclusive('\n') {
        let mark = line.trim_end();
        let (begins, ends) = (dialect.begins(mark), dialect.ends(mark));
        let parts = dialect.parts(mark);
        match at {
            At::Outside if begins => at = At::Old,
            At::Outside => {}
            At::Old if parts => at = At::New,
            At::Old if begins || ends => return None,
            At::Old => old.push_str(line),
            At::New if ends => {
                let side = |text: &mut String| Content::Owned(std::mem::take(text).into());
                let (old, new) = (side(&mut old), side(&mut new));
                found.push(Replacement { old, new, all: false });
                at = At::Outside;
            }
            At::New if begins => return None,
            At::New => new.push_str(line),
        }
    }
    (at == At::Outside && !found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spellings() {
        for (open, close) in
            [("<<<<<<< SEARCH", ">>>>>>> REPLACE"), ("------- SEARCH", "+++++++ REPLACE")]
        {
            let text = format!("a.py\n{open}\nx = 1\n=======\nx = 2\ny = 3\n{close}\n");
            let found = search_replace(&text, Dialect::Cline).unwrap();
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].old, Content::Owned("x = 1\n".into()));
            assert_eq!(found[0].new, Content::Owned("x = 2\ny = 3\n".into()));
        }
        assert!(search_replace("<<<<<<< SEARCH\nx\n=======\n", Dialect::Aider).is_none());
        assert!(search_replace("nothing\n", Dialect::Aider).is_none());
    }

    #[test]
    fn a_heading_of_equal_signs_is_text() {
        let text =
            "<<<<<<< SEARCH\nTitle\n==========\n=======\nOther\n==========\n>>>>>>> REPLACE\n";
        let found = search_replace(text, Dialect::Aider).unwrap();
        assert_eq!(found[0].old, Content::Owned("Title\n==========\n".into()));
        assert_eq!(found[0].new, Content::Owned("Other\n==========\n".into()));
    }
}
