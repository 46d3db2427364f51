//! What happens to the file that no session records: people, formatters, git.

use super::{FOLDER, Simulation};
use crate::histories::oracle::{Author, Line};

impl Simulation {
    pub(super) fn person_edits(&mut self) {
        let mut lines = self.lines.clone();
        for _ in 0..1 + self.chance.below(3) {
            let at = self.chance.below(lines.len() + 1);
            match self.chance.below(3) {
                0 if lines.len() > 1 && at < lines.len() => {
                    lines.remove(at);
                }
                1 if at < lines.len() => lines[at] = self.line(Author::Person),
                _ => {
                    let line = self.line(Author::Person);
                    lines.insert(at, line);
                }
            }
        }
        self.outside("person edits", lines);
    }

    pub(super) fn person_moves(&mut self) {
        if let Some(lines) = self.with_moved_line() {
            self.outside("person moves", lines);
        }
    }

    /// One long line, unlike any other, somewhere else.
    pub(super) fn with_moved_line(&mut self) -> Option<Vec<Line>> {
        let mut lines = self.lines.clone();
        let all = self.text();
        let long: Vec<usize> = (0..lines.len())
            .filter(|at| !lines[*at].common() && all.matches(lines[*at].text.trim()).count() == 1)
            .collect();
        if long.is_empty() || lines.len() < 3 {
            return None;
        }
        let line = lines.remove(*self.chance.pick(&long));
        let at = self.chance.below(lines.len() + 1);
        lines.insert(at, line);
        Some(lines)
    }

    pub(super) fn formatter(&mut self) {
        let mut lines = self.lines.clone();
        let from = self.chance.below(lines.len());
        let to = from + 1 + self.chance.below(lines.len() - from);
        for line in lines[from..to].iter_mut().filter(|line| !line.text.is_empty()) {
            line.text = format!("\t{}", line.text);
            line.unknowable |= line.restored;
            line.reshaped = true;
        }
        self.outside("formatter", lines);
    }

    /// A long line is broken in two; both halves are its author's.
    pub(super) fn breaks_line(&mut self) {
        let mut lines = self.lines.clone();
        let breakable: Vec<usize> =
            (0..lines.len()).filter(|at| lines[*at].text.contains(", ")).collect();
        if breakable.is_empty() {
            return;
        }
        let at = *self.chance.pick(&breakable);
        let mut first = lines[at].clone();
        let (head, tail) = first.text.split_once(", ").unwrap();
        let mut second = first.clone();
        second.text = format!("        {tail}");
        let head = format!("{head},");
        first.text = head;
        for half in [&mut first, &mut second] {
            // Its neighbours may have changed too, and then the letters no longer agree.
            half.unknowable = true;
            half.reshaped = true;
        }
        lines.splice(at..=at, [first, second]);
        self.outside("breaks a line", lines);
    }

    pub(super) fn revert(&mut self) {
        if self.past.is_empty() {
            return;
        }
        let mut lines = self.chance.pick(&self.past).clone();
        if lines.is_empty() {
            return;
        }
        for line in &mut lines {
            // Re-indented since, so that the old text is new.
            line.unknowable |= line.reshaped || line.restored;
            line.restored |= !self.lines.iter().any(|there| there.text == line.text);
        }
        self.outside("revert", lines);
    }

    /// A line that was taken out comes back.
    pub(super) fn person_restores(&mut self) {
        let all: String = self.text().split_whitespace().collect();
        let gone: Vec<Line> = self
            .gone
            .iter()
            .filter(|line| !line.common() && !all.contains(&line.shape()))
            .cloned()
            .collect();
        if gone.is_empty() {
            return;
        }
        let mut line = self.chance.pick(&gone).clone();
        line.unknowable |= line.reshaped || line.restored;
        line.restored = true;
        let mut lines = self.lines.clone();
        let at = self.chance.below(lines.len() + 1);
        lines.insert(at, line);
        self.outside("person restores", lines);
    }

    pub(super) fn rename(&mut self) {
        if self.names.len() > 2 || self.text().len() < 200 {
            return;
        }
        // Renamed as it was known: what happened before under the old name stays connected.
        let name = format!("{FOLDER}/src/name_{}.rs", self.names.len());
        self.read();
        self.names.push(name);
        self.recorded = true;
        self.log.push("rename".into());
    }
}
