//! Cells of a notebook, found in the lines of its file.
//!
//! A notebook is JSON: the source of a cell is one string or a list with one string
//! per line. Only text that is there as a whole and once is found.

use std::ops::Range;

/// The lines that hold a cell with this source.
pub(super) fn find_cell(lines: &[&str], source: &str) -> Option<Range<usize>> {
    if source.chars().filter(|letter| letter.is_alphanumeric()).count() < 4 {
        return None;
    }
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let whole = format!("\"source\": {}", quoted(source));
    let parts: Vec<String> = source.split_inclusive('\n').map(quoted).collect();
    let bare: Vec<&str> = lines.iter().map(|line| line.trim().trim_end_matches(',')).collect();
    let in_one = bare.iter().enumerate().filter(|(_, line)| **line == whole);
    let in_one = in_one.map(|(at, _)| at..at + 1);
    let in_parts = places(&bare, &parts).into_iter().map(|at| at..at + parts.len());
    let mut found = in_one.chain(in_parts);
    found.next().filter(|_| found.next().is_none())
}

/// Where a run of lines is, found in one pass (as Knuth, Morris and Pratt do it).
fn places(lines: &[&str], wanted: &[String]) -> Vec<usize> {
    // For each number of lines that fit: with how many of them a shorter run could go on.
    let mut shorter = vec![0; wanted.len() + 1];
    let fits = |fit: &mut usize, line: &str, shorter: &[usize]| {
        while *fit > 0 && wanted.get(*fit).is_none_or(|wanted| wanted != line) {
            *fit = shorter.get(*fit).copied().unwrap_or(0);
        }
        *fit += usize::from(wanted.get(*fit).is_some_and(|wanted| wanted == line));
    };
    let mut fit = 0;
    for (at, line) in wanted.iter().enumerate().skip(1) {
        fits(&mut fit, line, &shorter);
        if let Some(slot) = shorter.get_mut(at + 1) {
            *slot = fit;
        }
    }
    let mut found = Vec::new();
    fit = 0;
    for (at, line) in lines.iter().enumerate() {
        fits(&mut fit, line, &shorter);
        if fit == wanted.len() && fit > 0 {
            found.push(at + 1 - fit);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_in_both_forms() {
        let one = ["{", r#"   "source": "import os\nprint(os)""#, "}"];
        assert_eq!(find_cell(&one, "import os\nprint(os)"), Some(1..2));
        let list = ["[", r#"    "import os\n","#, r#"    "print(os)""#, "]"];
        assert_eq!(find_cell(&list, "import os\nprint(os)"), Some(1..3));
        assert_eq!(find_cell(&list, "x"), None);
    }

    #[test]
    fn runs_of_lines_are_found_wherever_they_begin() {
        let wanted = ["a", "a", "b"].map(str::to_owned);
        assert_eq!(places(&["a", "a", "a", "b", "a", "a", "b"], &wanted), [1, 4]);
        assert_eq!(places(&["a", "a", "a"], &["a", "a"].map(str::to_owned)), [0, 1]);
        assert!(places(&["a", "b"], &wanted).is_empty() && places(&["a"], &[]).is_empty());
    }
}
