//! Agent Trace: which lines of which files are the session's.
//!
//! Lines are those of the files as the session last knew them. Without a link to a commit there is no
//! `vcs`, because the numbers hold for no revision that anybody could look up.

use crate::context::Context;
use crate::json::CanonicalWriter;
use crate::lines::WrittenFile;
use crate::opentraces::{by_edit, model_name, range_hash, revision};
use crate::options::Options;
use uuid::Uuid;

pub(super) fn write(context: &Context<'_>, options: &Options<'_>, canon: &mut CanonicalWriter<'_>) {
    let session = context.session;
    let trace = crate::opentraces::trace_id(session, options.generation);
    let space = Uuid::parse_str(&trace).unwrap_or(Uuid::NAMESPACE_OID);
    canon.open();
    canon.key("version");
    canon.plain("0.1.0");
    canon.key("id");
    canon.plain(&Uuid::new_v5(&space, b"agent-trace").to_string());
    canon.key("timestamp");
    let time = session.ended.or(session.started).unwrap_or_default();
    canon.plain(&time.to_string());
    if let Some(revision) = revision(context) {
        canon.key("vcs");
        canon.open();
        canon.key("type");
        canon.plain("git");
        canon.key("revision");
        canon.plain(revision);
        canon.close();
    }
    canon.key("tool");
    canon.open();
    canon.key("name");
    canon.plain(session.agent.name());
    if let Some(version) = session.versions.last() {
        canon.key("version");
        canon.id(version);
    }
    canon.close();
    canon.key("files");
    canon.open_list();
    for file in context.written.files.iter().filter(|file| !file.ranges.is_empty()) {
        canon.open();
        canon.key("path");
        canon.text(&file.path);
        canon.key("conversations");
        conversations(context, file, canon);
        canon.close();
    }
    canon.close_list();
    canon.key("metadata");
    canon.open();
    canon.key("session_id");
    canon.id(&session.id);
    canon.key("writer");
    canon.plain(concat!("backstory ", env!("CARGO_PKG_VERSION")));
    canon.close();
    canon.close();
}

/// One for each edit that has lines left.
fn conversations(context: &Context<'_>, file: &WrittenFile, canon: &mut CanonicalWriter<'_>) {
    let session = Uuid::parse_str(&context.session.id).ok();
    canon.open_list();
    for group in by_edit(file) {
        let Some(edit) = group.first().and_then(|one| context.written.edits.get(one.edit)) else {
            continue;
        };
        canon.open();
        canon.key("contributor");
        canon.open();
        canon.key("type");
        canon.plain("ai");
        if let Some(model) = edit.model.as_deref().filter(|model| model.len() <= 200) {
            canon.key("model_id");
            canon.id(&model_name(model));
        }
        canon.close();
        canon.key("ranges");
        canon.open_list();
        for range in &group {
            let hash = range_hash(file, range, canon);
            canon.open();
            canon.key("start_line");
            canon.number(u64::from(range.first));
            canon.key("end_line");
            canon.number(u64::from(range.last));
            if let Some(hash) = hash {
                canon.key("content_hash");
                canon.plain(&hash);
            }
            canon.close();
        }
        canon.close_list();
        if let Some(session) = session {
            canon.key("related");
            canon.open_list();
            canon.open();
            canon.key("type");
            canon.plain("session");
            canon.key("url");
            canon.plain(&session.urn().to_string());
            canon.close();
            canon.close_list();
        }
        canon.close();
    }
    canon.close_list();
}
