//! SEARCH/REPLACE blocks, which several agents have models write.

use crate::model::{Content, Replacement};

/// Where the lines of a block stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Outside,
    Old,
    New,
}

/// The replacements of a text; none when a block is not whole, since then nothing is certain.
pub(in crate::agents) fn search_replace(text: &str) -> Option<Vec<Replacement>> {
    let mut found = Vec::new();
    let mut at = At::Outside;
    let (mut old, mut new) = (String::new(), String::new());
    for line in text.split_inclusive('\n') {
        let mark = line.trim_end();
        let begins = is_mark(mark, ['<', '-'], "SEARCH");
        let ends = is_mark(mark, ['>', '+'], "REPLACE");
        let parts = mark.len() >= 5 && mark.chars().all(|letter| letter == '=');
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

/// `<<<<<<< SEARCH` or `------- SEARCH`: five marks or more.
fn is_mark(line: &str, marks: [char; 2], word: &str) -> bool {
    let Some(rest) = line.strip_suffix('>').unwrap_or(line).strip_suffix(word) else {
        return false;
    };
    let rest = rest.trim_end();
    marks.iter().any(|mark| rest.len() >= 5 && rest.chars().all(|letter| letter == *mark))
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
            let found = search_replace(&text).unwrap();
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].old, Content::Owned("x = 1\n".into()));
            assert_eq!(found[0].new, Content::Owned("x = 2\ny = 3\n".into()));
        }
        assert!(search_replace("<<<<<<< SEARCH\nx\n=======\n").is_none());
        assert!(search_replace("nothing\n").is_none());
    }
}
