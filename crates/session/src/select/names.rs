//! Names of sessions, for people and for files.

use super::SessionRef;
use backstory_format::slice::Part;
use backstory_store::plain_name;
use std::collections::HashMap;
use std::path::Path;

/// The start of each id that no other has: at least eight letters, all of it where ids are equal.
pub fn short_ids<'r>(ids: impl Iterator<Item = &'r str>) -> HashMap<&'r str, &'r str> {
    const LEAST: usize = 8;
    let mut sorted: Vec<&str> = ids.collect();
    sorted.sort_unstable();
    sorted.dedup();
    let common = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let own = |at: usize, id: &str| {
        let before = at.checked_sub(1).and_then(|at| sorted.get(at));
        let around = before.into_iter().chain(sorted.get(at + 1));
        around.map(|other| common(id, other) + 1).max().unwrap_or(0).max(LEAST)
    };
    let short = |(at, id): (usize, &&'r str)| {
        let end = id.char_indices().nth(own(at, id)).map_or(id.len(), |(end, _)| end);
        (*id, id.part(..end))
    };
    sorted.iter().enumerate().map(short).collect()
}

/// A name for a file made of each, all different: by its id, or by its path where ids are equal.
pub fn distinct_names(chosen: &[SessionRef<'_>]) -> Vec<String> {
    // Some systems ignore case.
    let by_id = |chosen: &SessionRef<'_>| plain_name(chosen.id()).to_ascii_lowercase();
    let mut uses: HashMap<String, u64> = HashMap::new();
    for chosen in chosen {
        *uses.entry(by_id(chosen)).or_default() += 1;
    }
    let name = |chosen: &SessionRef<'_>| match uses.get(&by_id(chosen)) {
        Some(2..) => chosen.own_name(),
        _ => plain_name(chosen.id()),
    };
    chosen.iter().map(name).collect()
}

/// Whether what names a session is the path of a file and not an id.
pub fn looks_like_path(name: &str) -> bool {
    let path = Path::new(name);
    let is_written_like_one =
        name.contains(['/', '\\']) || path.extension().is_some_and(|end| end == "jsonl");
    is_written_like_one || path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_differ() {
        let ids = ["aaaaaaaa-1111", "aaaaaaaa-2222", "bbbbbbbb-0000", "c"];
        let short = short_ids(ids.into_iter());
        let of = |id: &str| short.get(id).copied();
        assert_eq!(of("aaaaaaaa-1111"), Some("aaaaaaaa-1"));
        assert_eq!(of("bbbbbbbb-0000"), Some("bbbbbbbb"));
        assert_eq!(of("c"), Some("c"));
    }
}
