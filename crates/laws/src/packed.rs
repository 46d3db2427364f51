//! What must hold for packed files: a trace that was packed, in one frame or in several, is read as
//! the plain one is; one that was cut or damaged is read or refused, and everything that is cited
//! of it can be fetched.

use crate::agents;
use backstory_agents::read;
use backstory_session::discover::{Root, discover};
use backstory_store::{ReadContext, Store};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

const NAME: &str = "rollout-2026-01-31T09-30-00-11111111-aaaa-4bbb-8ccc-000000000001.jsonl";

/// Reads the data as a packed rollout; the first two bytes say what is done to it.
pub fn packed(data: &[u8]) {
    let Some((&[how, place], content)) = data.split_first_chunk() else { return };
    let pack = |plain: &[u8]| compress_to_vec(plain, CompressionLevel::Fastest);
    let at = |length: usize| usize::from(place) * length / 256;
    match how % 5 {
        0 => same(content, &pack(content)),
        1 => {
            let (first, second) = content.split_at(at(content.len()));
            same(content, &[pack(first), pack(second)].concat());
        }
        2 => {
            let packed = pack(content);
            texts(&packed[..at(packed.len())], ".zst");
        }
        3 => {
            let mut damaged = pack(content);
            let at = at(damaged.len());
            damaged[at] ^= how;
            texts(&damaged, ".zst");
        }
        _ => drop(texts(&[&[0x28, 0xB5, 0x2F, 0xFD], content].concat(), ".zst")),
    }
}

fn same(plain: &[u8], packed: &[u8]) {
    let packed = texts(packed, ".zst");
    // A plain file that is no rollout may be another agent's.
    assert!(packed.is_empty() || packed == texts(plain, ""), "{packed:?} {:?}", texts(plain, ""));
}

/// Everything that the sessions of a file hold.
fn texts(bytes: &[u8], end: &str) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join(format!("{NAME}{end}")), bytes).expect("a file");
    let found = discover(&[Root { path: folder.path().to_path_buf() }], &Store::default());
    let sessions = found.sessions.iter();
    let sessions = sessions.filter_map(|one| read(one, &mut ReadContext::default()).ok());
    sessions.map(|(session, _)| agents::texts(&session)).collect()
}
