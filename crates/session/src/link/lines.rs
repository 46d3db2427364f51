//! Lines of a session in what a commit added.
//!
//! A line that has fewer than six letters and digits says nothing. What a formatter did to a line
//! is seen by comparing without whitespace. How much weight a line has depends on how
//! rare it is: one that is in several files counts for a part in each, and what every project
//! writes alike (imports, licences, the heads of files) for nothing.

use hashbrown::HashMap;
use jiff::Timestamp;

/// Lines added to one file, with the first time of each.
#[derive(Debug, Default)]
pub(super) struct Added {
    exact: HashMap<Box<str>, Option<Timestamp>>,
    bare: HashMap<Box<str>, Option<Timestamp>>,
}

/// A line of the session that a commit added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Same {
    /// Without whitespace.
    pub(super) bare: String,
    letters: u64,
    exact: bool,
    common: bool,
}

/// How much of what a commit added to a file is the session's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Telling lines the commit added.
    pub(super) added: u64,
    pub(super) same: Vec<Same>,
}

const TELLING: usize = 6;
/// Letters and digits that a match must have in all to be no accident.
const ENOUGH: u64 = 40;

impl Added {
    pub(super) fn add(&mut self, lines: &[String], time: Option<Timestamp>) {
        for line in lines.iter().filter(|line| weight(line) >= TELLING) {
            self.exact.entry(line.as_str().into()).or_insert(time);
            self.bare.entry(bare(line).into()).or_insert(time);
        }
    }

    /// Looks for the lines in what a commit of `time` added.
    pub(super) fn find(&self, lines: &[String], time: Option<Timestamp>) -> Found {
        let mut found = Found::default();
        // Nothing can be committed before it is written.
        let written = |first: Option<&Option<Timestamp>>| match (first.copied().flatten(), time) {
            (Some(first), Some(time)) => super::earlier(first, super::SLACK) <= time,
            _ => false,
        };
        for line in lines {
            let letters = weight(line);
            if letters < TELLING {
                continue;
            }
            found.added += 1;
            let exact = written(self.exact.get(line.as_str()));
            let bare = bare(line);
            if exact || written(self.bare.get(bare.as_str())) {
                let common = is_common(line.trim());
                found.same.push(Same { bare, letters: letters as u64, exact, common });
            }
        }
        found
    }

    /// Whether it has a line, whitespace apart.
    pub(super) fn holds(&self, bare: &str) -> bool {
        self.bare.contains_key(bare)
    }
}

impl Found {
    pub(super) fn is_enough(&self) -> bool {
        self.same.iter().map(|same| same.letters).sum::<u64>() >= ENOUGH
    }

    pub(super) fn exact(&self) -> u64 {
        self.same.iter().filter(|same| same.exact).count() as u64
    }

    /// Letters and digits of what is rare; `files` says in how many files a line is.
    pub(super) fn rare(&self, files: impl Fn(&str) -> u64) -> u64 {
        let own = self.same.iter().filter(|same| !same.common);
        own.map(|same| same.letters / files(&same.bare).max(1)).sum()
    }
}

fn weight(line: &str) -> usize {
    line.chars().filter(|letter| letter.is_alphanumeric()).count()
}

fn bare(line: &str) -> String {
    line.chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// Whether a line is of the sort that projects have alike.
fn is_common(line: &str) -> bool {
    const BEGINNINGS: [&str; 20] = [
        "import ",
        "from ",
        "use ",
        "using ",
        "#include",
        "package ",
        "namespace ",
        "require ",
        "export * from",
        "export {",
        "#!",
        "<!doctype",
        "<html",
        "<meta",
        "<?xml",
        "# -*-",
        "// eslint",
        "# syntax=",
        "\"use ",
        "'use ",
    ];
    const WORDS: [&str; 12] = [
        "licen",
        "copyright",
        "warrant",
        "permission",
        "all rights reserved",
        "require(",
        "spdx-",
        "__main__",
        "\"as is\"",
        "merchantab",
        "liable",
        "redistribut",
    ];
    let line = line.to_lowercase();
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
        || WORDS.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_lines_weigh_most() {
        let time = Some(Timestamp::UNIX_EPOCH);
        let line = |text: &str| text.to_owned();
        let lines = [
            line("import { harbour, tide } from './harbours'"),
            line("Licensed under the Apache License, Version 2.0"),
            line("    let phase = hour / 12.42;"),
            line("}"),
        ];
        let mut added = Added::default();
        added.add(&lines, time);
        let found = added.find(&lines, time);
        assert_eq!((found.added, found.exact(), found.is_enough()), (3, 3, true));
        let letters = weight(&lines[2]) as u64;
        assert_eq!(found.rare(|_| 1), letters, "imports and licences say nothing");
        assert_eq!(found.rare(|_| 2), letters / 2, "in two files it says half");
    }
}
