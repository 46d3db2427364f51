//! Which lines of which files the session wrote, and the patches that did it.

use super::model_name;
use crate::commits::{Anchor, time};
use crate::context::Context;
use crate::json::{CanonicalWriter, sha256};
use crate::lines::{WrittenEdit, WrittenFile, WrittenRange};
use crate::murmur;
use crate::timeline::Entry;
use backstory_session::history::Confidence;

/// The record's `attribution`; null where no line is the session's.
pub(super) fn write(context: &Context<'_>, trace: &str, canon: &mut CanonicalWriter<'_>) {
    let files = &context.written.files;
    let mut files = files.iter().filter(|file| !file.ranges.is_empty()).peekable();
    if files.peek().is_none() {
        canon.null();
        return;
    }
    let mut ranges = context.written.files.iter().flat_map(|file| &file.ranges);
    let certain = ranges.all(|range| range.confidence == Confidence::Exact);
    canon.open();
    canon.key("experimental");
    canon.bool(!certain);
    canon.key("files");
    canon.open_list();
    for file in files {
        canon.open();
        canon.key("conversations");
        conversations(context, file, trace, canon);
        canon.key("path");
        canon.text(&file.path);
        canon.close();
    }
    canon.close_list();
    canon.key("revision");
    match revision(context) {
        Some(revision) => {
            canon.open();
            canon.key("revision");
            canon.plain(revision);
            canon.key("vcs_type");
            canon.plain("git");
            canon.close();
        }
        None => canon.null(),
    }
    canon.key("unaccounted_files");
    canon.null();
    canon.close();
}

/// The commit that the line numbers hold for.
pub(crate) fn revision<'p>(context: &'p Context<'_>) -> Option<&'p str> {
    let files = context.written.files.iter().filter(|file| !file.ranges.is_empty());
    let recorded: Vec<&str> = files.map(|file| &*file.recorded).collect();
    context.commits.revision(&recorded)
}

/// One for each edit that has lines left.
fn conversations(
    context: &Context<'_>,
    file: &WrittenFile,
    trace: &str,
    canon: &mut CanonicalWriter<'_>,
) {
    canon.open_list();
    for group in by_edit(file) {
        let Some(edit) = group.first().and_then(|one| context.written.edits.get(one.edit)) else {
            continue;
        };
        canon.open();
        canon.key("contributor");
        canon.open();
        if let Some(model) = &edit.model {
            canon.key("model_id");
            canon.id(&model_name(model));
        }
        canon.key("type");
        canon.plain("ai");
        canon.close();
        canon.key("ids");
        let item = edit.item.and_then(|item| context.timeline.items.get(item));
        let message = item.and_then(|item| match item.what {
            Entry::Step(step) => step.message_id.as_deref(),
            _ => None,
        });
        match message.filter(|_| edit.model.as_deref().is_some_and(|m| m.starts_with("claude-"))) {
            Some(message) => {
                canon.open();
                canon.key("anthropic");
                canon.id(message);
                canon.close();
            }
            None => canon.null(),
        }
        canon.key("ranges");
        canon.open_list();
        for range in &group {
            write_range(file, range, edit.removed, canon);
        }
        canon.close_list();
        canon.key("related");
        canon.null();
        canon.key("url");
        let step = edit.item.map(Context::number);
        let url = step.map(|step| format!("opentraces://{trace}/step_{step}"));
        canon.plain_or_null(url.as_deref());
        canon.close();
    }
    canon.close_list();
}

/// Ranges of a file by the edit that wrote them, in order of the edits.
pub(crate) fn by_edit(file: &WrittenFile) -> Vec<Vec<&WrittenRange>> {
    let mut ranges: Vec<&WrittenRange> = file.ranges.iter().collect();
    ranges.sort_by_key(|range| (range.edit, range.first));
    let groups = ranges.chunk_by(|one, other| one.edit == other.edit);
    groups.map(<[_]>::to_vec).collect()
}

/// The hash of a range's text; none where the text was redacted, since a hash invites guessing.
pub(crate) fn range_hash(
    file: &WrittenFile,
    range: &WrittenRange,
    canon: &CanonicalWriter<'_>,
) -> Option<String> {
    let text = file.text.get(range.bytes.clone())?;
    (canon.clear(text) == text).then(|| murmur::named(text))
}

fn write_range(
    file: &WrittenFile,
    range: &WrittenRange,
    removed: u64,
    canon: &mut CanonicalWriter<'_>,
) {
    let hash = range_hash(file, range, canon);
    canon.open();
    canon.key("change_type");
    canon.plain(if removed > 0 { "modification" } else { "addition" });
    canon.key("confidence");
    canon.plain(match range.confidence {
        Confidence::Exact => "high",
        Confidence::Moved | Confidence::Reformatted => "medium",
        Confidence::Inferred => "low",
    });
    canon.key("content_hash");
    canon.plain_or_null(hash.as_deref());
    canon.key("contributor");
    canon.null();
    canon.key("end_line");
    canon.number(u64::from(range.last));
    canon.key("original");
    canon.null();
    canon.key("start_line");
    canon.number(u64::from(range.first));
    canon.close();
}

/// The record's `patches`: every edit, also those of which nothing is left.
pub(super) fn patches(context: &Context<'_>, canon: &mut CanonicalWriter<'_>) {
    canon.open_list();
    for (at, edit) in context.written.edits.iter().enumerate() {
        let id = patch_id(context, at, edit, canon);
        canon.open();
        canon.key("anchor");
        match context.commits.anchor(edit.call.as_deref(), &edit.recorded) {
            Some(anchor) => write_anchor(&anchor, canon),
            None => canon.null(),
        }
        canon.key("capture_method");
        canon.plain_list(["session_trace"]);
        canon.key("file_path");
        canon.text(&edit.path);
        canon.key("limitations");
        canon.open_list();
        if !edit.placed {
            canon.plain("place_not_recorded");
        }
        if edit.item.is_none() {
            canon.plain("on_left_branch");
        }
        canon.close_list();
        canon.key("patch_id");
        canon.plain(&id);
        canon.key("snapshot_after_id");
        canon.null();
        canon.key("snapshot_before_id");
        canon.null();
        canon.key("step_index");
        canon.number_or_null(edit.item.map(Context::number));
        canon.key("superseded_by");
        canon.empty_list();
        canon.key("tool_call_id");
        canon.id_or_null(edit.call.as_deref().filter(|_| edit.item.is_some()));
        canon.close();
    }
    canon.close_list();
}

fn write_anchor(anchor: &Anchor<'_>, canon: &mut CanonicalWriter<'_>) {
    canon.open();
    canon.key("blob_sha");
    canon.plain_or_null(anchor.blob);
    canon.key("commit_sha");
    canon.plain(&anchor.link.commit.id);
    canon.key("evidence_firmness");
    canon.plain(anchor.firmness);
    canon.key("evidence_tier");
    canon.plain(anchor.tier);
    canon.key("found");
    canon.bool(true);
    canon.key("git_patch_id");
    canon.null();
    canon.key("last_searched_at");
    canon.plain(&time(anchor.link).to_string());
    canon.key("path");
    canon.text(anchor.path);
    canon.close();
}

/// Named by session, call and file as they are exported, and by which edit of the call it is; never
/// by the text, of which some may have been taken out.
fn patch_id(
    context: &Context<'_>,
    at: usize,
    edit: &WrittenEdit,
    canon: &CanonicalWriter<'_>,
) -> String {
    let call = edit.call.as_deref();
    let own = call.and_then(|call| context.edit_of.get(call));
    let number = own.and_then(|own| own.iter().position(|one| *one == at)).unwrap_or(at);
    let path = canon.clear(&edit.path);
    let call = call.unwrap_or_default();
    sha256(&format!("{}\0{call}\0{path}\0{number}", context.session.id))
}
