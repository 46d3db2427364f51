//! The file as a file: its name, its folder, its size, its end; and its token counts.

use super::sink::Sink;
use crate::check::{CheckId, Effect};
use crate::names::Name;
use crate::project_key;
use crate::rows::Rows;
use backstory_format::ProblemId;
use backstory_format::claude::RecordKind;
use backstory_format::is_uuid;
use std::ffi::OsStr;
use std::path::Path;

/// From here on clients were reported to hang when they resume.
const LARGE: u64 = 50_000_000;

/// Name, folder, size and end of a session's own file.
pub(super) fn check_file(path: &Path, rows: &Rows, sink: &mut Sink<'_>) {
    if rows.totals.bytes > LARGE {
        sink.file(CheckId::LargeSession, format!("{} MB", rows.totals.bytes / 1_000_000));
    }
    let torn = rows.problems.listed().iter().find(|problem| problem.id == ProblemId::TornTail);
    if let Some(torn) = torn {
        let mut finding = crate::check::Finding::from(torn);
        finding.id = CheckId::UnfinishedLastLine.into();
        finding.effect = Effect::Loss;
        sink.findings.push(finding);
    }
    check_place(path, rows, sink);
}

/// Only a file in the client's own folder claims to be in its place.
fn check_place(path: &Path, rows: &Rows, sink: &mut Sink<'_>) {
    let folder = path.parent();
    let above = folder.and_then(Path::parent).and_then(Path::file_name);
    if above != Some(OsStr::new("projects")) {
        return;
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if !is_uuid(&stem) {
        sink.file(CheckId::MisnamedFile, "");
        return;
    }
    let ids = rows.sessions.names();
    if !ids.is_empty() && !ids.iter().any(|id| rows.names.bytes(*id) == stem.as_bytes()) {
        sink.file(CheckId::ForeignFileName, "");
    }
    let key = folder.and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let cwds = rows.cwds.names();
    if !cwds.is_empty() && looks_derived(&key) && !cwds.iter().any(|cwd| fits(rows, *cwd, &key)) {
        sink.file(CheckId::WrongProjectFolder, "");
    }
}

/// A name that the client made from a path; others were chosen by somebody.
fn looks_derived(key: &str) -> bool {
    key.starts_with('-') || key.as_bytes().get(1..3) == Some(b"--")
}

/// Whether a folder is that of `cwd` or of a folder above it; Windows writes drives in either case.
fn fits(rows: &Rows, cwd: Name, key: &str) -> bool {
    let cwd = String::from_utf8_lossy(rows.names.bytes(cwd)).into_owned();
    let (own, key) = (project_key(&cwd).to_ascii_lowercase(), key.to_ascii_lowercase());
    // Long names end in a hash that differs between clients.
    let hashed = own.len() > 200 && key.get(..200) == own.get(..200);
    let above = own.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with('-'));
    own == key || hashed || above
}

/// Token counts that cannot be right, or are not there.
pub(super) fn check_usage(rows: &Rows, sink: &mut Sink<'_>) {
    let mut counted = hashbrown::HashMap::<Name, u64>::new();
    let mut silent = Vec::new();
    for (at, row) in rows.rows.iter().enumerate() {
        let Some(part) = rows.message(row).filter(|_| row.kind == RecordKind::Assistant) else {
            continue;
        };
        let synthetic = part.model.is_some() && rows.names.bytes(part.model) == b"<synthetic>";
        if row.repeated || synthetic || row.flags.api_error {
            continue;
        }
        let Some(usage) = &part.usage else {
            silent.push((at as u32, part.id));
            continue;
        };
        if let (Some(short), Some(long)) = (usage.cache_write_5m, usage.cache_write_1h)
            && short.saturating_add(long) != usage.cache_write
        {
            sink.at(CheckId::UsageSplit, at as u32, "");
        }
        if let Some(id) = part.id.some() {
            let most = counted.entry(id).or_default();
            if usage.output < *most {
                sink.at(CheckId::UsageFalls, at as u32, "");
            }
            *most = usage.output.max(*most);
        }
    }
    let mut seen = hashbrown::HashSet::new();
    for (at, id) in silent {
        let known = id.is_some() && (counted.contains_key(&id) || !seen.insert(id));
        if !known {
            sink.at(CheckId::UsageMissing, at, "");
        }
    }
}
