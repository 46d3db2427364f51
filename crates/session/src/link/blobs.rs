//! Files as the session left them, by the id git would give them.

use crate::history::EditState;
use jiff::Timestamp;

/// A file after one edit.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) path: String,
    /// Ids of its content, with either line ending.
    pub(super) blobs: Vec<String>,
    pub(super) time: Option<Timestamp>,
    /// Line of the session's file that records the edit, and the call.
    pub(super) line: u64,
    pub(super) call: Option<Box<str>>,
    /// No later edit of the session is known.
    pub(super) last: bool,
    /// Letters and digits, as far as they are counted.
    pub(super) letters: u64,
}

/// Letters and digits below which content is too common to be evidence.
const TELLING: usize = 20;
/// More are not counted.
const MOST: usize = 400;

pub(super) fn states(path: &str, edits: &[EditState<'_>]) -> Vec<State> {
    let mut states = Vec::new();
    for (at, edit) in edits.iter().enumerate() {
        let Some(after) = &edit.after else { continue };
        let letters = after.chars().filter(|letter| letter.is_alphanumeric()).take(MOST).count();
        if letters < TELLING {
            continue;
        }
        let mut blobs = vec![blob_id(after.as_bytes())];
        if after.contains('\n') && !after.contains('\r') {
            blobs.push(blob_id(after.replace('\n', "\r\n").as_bytes()));
        }
        states.push(State {
            path: path.to_owned(),
            blobs,
            time: edit.event.time,
            line: edit.edit.by.line,
            call: edit.edit.by.call.clone(),
            last: at + 1 == edits.len(),
            letters: letters as u64,
        });
    }
    states
}

fn blob_id(content: &[u8]) -> String {
    let mut hash = sha1_smol::Sha1::new();
    hash.update(format!("blob {}\0", content.len()).as_bytes());
    hash.update(content);
    hash.digest().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_gits() {
        assert_eq!(blob_id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob_id(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
    }
}
