//! What the client runs for itself: by the name of the file, by what it asks, by what it copies.
//!
//! Such a run takes the conversation with it, so its file repeats what the session holds. Files are
//! named `agent-a<purpose>-<hex>`; agents that were given a name look the same, but they begin with a
//! prompt of their own, and newer clients write a metadata file for them.

use crate::rows::PromptShape;
use backstory_format::ProblemId;
use backstory_format::claude::{BlockKind, blocks};
use backstory_format::json::{Value, text};
use backstory_model::{Session, SessionKind};

/// Purposes that clients are known to have.
const PURPOSES: [(&str, SessionKind); 11] = [
    ("compact", SessionKind::Compaction),
    ("reactive-compact", SessionKind::Compaction),
    ("prompt_suggestion", SessionKind::PromptSuggestion),
    ("side_question", SessionKind::SideQuestion),
    ("session_memory", SessionKind::ClientRun),
    ("extract_memories", SessionKind::ClientRun),
    ("auto_dream", SessionKind::ClientRun),
    ("away_summary", SessionKind::ClientRun),
    ("agent_summary", SessionKind::ClientRun),
    ("speculation", SessionKind::ClientRun),
    ("magic_docs", SessionKind::ClientRun),
];

/// How prompts of the client begin.
const PROMPTS: [(&str, SessionKind); 4] = [
    ("[SUGGESTION MODE", SessionKind::PromptSuggestion),
    ("<system-reminder>This is a side question from the user", SessionKind::SideQuestion),
    ("Your task is to create a detailed summary of", SessionKind::Compaction),
    ("CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.", SessionKind::Compaction),
];

/// All that the client tells a subagent which it starts to fill a cache.
pub(super) const WARMUP: &str = "Warmup";

const HEAD_BYTES: usize = 200;

/// The kind of a run by the id of its agent, which is part of the file's name.
pub(crate) fn by_name(id: &str) -> Option<SessionKind> {
    let rest = id.strip_prefix('a')?;
    let names =
        |purpose: &str| rest.strip_prefix(purpose).is_some_and(|rest| rest.starts_with('-'));
    PURPOSES.iter().find(|(purpose, _)| names(purpose)).map(|(_, kind)| *kind)
}

/// The kind of a run that asks this of the model.
pub(super) fn by_prompt(shape: PromptShape, content: Option<Value<'_>>) -> Option<SessionKind> {
    if !matches!(shape, PromptShape::Prompt | PromptShape::Harness | PromptShape::Meta) {
        return None;
    }
    let texts = blocks(content).filter(|block| block.kind == BlockKind::Text);
    let mut heads = texts.filter_map(|block| {
        let raw = block.text()?.raw_text()?;
        Some(text::decode_prefix(raw, HEAD_BYTES))
    });
    heads.find_map(|head| {
        let head = head.trim_start();
        PROMPTS.iter().find(|(words, _)| head.starts_with(words)).map(|(_, kind)| *kind)
    })
}

/// Whether a file with the name of a run for some purpose, whatever that is, copies a conversation:
/// its first record answers one that is elsewhere, or it holds prompts that a person typed.
pub(super) fn copies_conversation(session: &Session) -> bool {
    let named = session.id.strip_prefix('a').and_then(|rest| rest.rsplit_once('-'));
    let named = named.is_some_and(|(purpose, digits)| {
        !purpose.is_empty()
            && digits.len() >= 6
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let continues = session.problems.counts().contains_key(&ProblemId::MissingParent);
    let typed = session
        .turns
        .iter()
        .any(|turn| turn.permission_mode.is_some() || turn.origin.as_deref() == Some("human"));
    named && session.meta.is_none() && (continues || typed)
}
