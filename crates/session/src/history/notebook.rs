//! Cells of a notebook, found in the lines of its file.
//!
//! A notebook is JSON: the source of a cell stands there as one string or as a list with one string
//! per line. Only text that stands there as a whole and once is found.

use std::ops::Range;

/// The lines that hold a cell with this source.
pub(super) fn find_cell(lines: &[&str], source: &str) -> Option<Range<usize>> {
    if source.chars().filter(|letter| letter.is_alphanumeric()).count() < 4 {
        return None;
    }
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let whole = format!("\"source\": {}", quoted(source));
    let parts: Vec<String> = source.split_inclusive('\n').map(quoted).collect();
    let bare = |line: &str| line.trim().trim_end_matches(',').to_owned();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if bare(line) == whole {
            found.push(at..at + 1);
        }
        let block = lines.get(at..at + parts.len()).unwrap_or_default();
        if !block.is_empty() && block.iter().zip(&parts).all(|(line, part)| bare(line) == *part) {
            found.push(at..at + parts.len());
        }
    }
    match found.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    }
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
}
