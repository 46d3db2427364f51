//! Names of files and of fields.

use backstory_format::json::IdPaths;
use backstory_store::plain_name;
use std::ffi::OsStr;
use std::path::Path;

/// How file names end whose lines are read one by one.
pub(crate) const LINES: [&str; 3] = [".jsonl", ".jsonl.zst", ".parquet"];

/// Those, and documents.
pub(crate) const LINES_AND_DOCUMENTS: [&str; 4] = [".jsonl", ".jsonl.zst", ".parquet", ".json"];

/// Letters of an id.
const UUID: usize = 36;

/// The name of a file or folder as text; empty for none.
pub(crate) fn text(name: Option<&OsStr>) -> String {
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The name of a file without its ending.
pub(crate) fn stem(path: &Path) -> String {
    let name = text(path.file_name());
    let name = name.strip_suffix(".zst").unwrap_or(&name);
    let ends = [".messages.json", ".traj.json", ".traj", ".json", ".jsonl"];
    let end = ends.iter().find(|end| name.ends_with(*end));
    end.and_then(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
}

/// The name of a copy of the file `own`, by the session's name and the ending; one that has several
/// parts or is named after its session keeps its name.
pub(crate) fn copy_name(own: &Path, name: &str, end: Option<&str>) -> Option<String> {
    if own.iter().count() > 1 {
        return None;
    }
    let own = text(own.file_name());
    let end = end.unwrap_or_else(|| own.split_once('.').map_or("", |(_, end)| end));
    let rest = own.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    // Names of some files end with the id.
    let inside = name.len() >= UUID && own.contains(name);
    Some(if rest || inside { plain_name(&own) } else { format!("{name}.{}", plain_name(end)) })
}

/// Every name below every holder, as paths of ids; the holder `""` is the record itself.
pub(crate) fn ids_below(holders: &[&str], names: &[&str]) -> IdPaths {
    let mut paths: Vec<String> = Vec::new();
    for holder in holders {
        paths.extend(names.iter().map(|name| match *holder {
            "" => (*name).to_owned(),
            holder => format!("{holder}.{name}"),
        }));
    }
    IdPaths::new(paths.iter().map(String::as_str))
}

/// What links calls with results in messages of a chat API.
pub(crate) const MESSAGE_IDS: [&str; 4] = ["id", "tool_call_id", "tool_call_ids", "tool_calls.id"];
