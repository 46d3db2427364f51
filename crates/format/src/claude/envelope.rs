//! The fields around a message: who, when, where, and how it is linked.

use super::RecordKind;
use crate::json::{Kind, Value};
use crate::record::Record;
use crate::{Problem, ProblemId};
use std::borrow::Cow;

/// Yes-or-no fields; absent means no.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// Written by a subagent.
    pub sidechain: bool,
    /// Injected by the client.
    pub meta: bool,
    /// The summary a compaction left.
    pub compact_summary: bool,
    /// An error of the API, shown as an answer.
    pub api_error: bool,
}

/// Top-level fields of a record, read in one pass. A field of the wrong type is `None`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Envelope<'a> {
    /// The fields that are true or false.
    pub flags: Flags,
    /// Names this record in the file; absent on bookkeeping records.
    pub uuid: Option<Value<'a>>,
    /// `parentUuid`: the record before it in the conversation, null for the first.
    pub parent: Option<Value<'a>>,
    /// `logicalParentUuid`: what came before a compaction boundary.
    pub logical_parent: Option<Value<'a>>,
    /// `sessionId`; a copied record keeps that of its original in old clients.
    pub session: Option<Value<'a>>,
    /// When the record was made, as the client wrote it.
    pub timestamp: Option<Value<'a>>,
    /// The folder that the client worked in at that time.
    pub cwd: Option<Value<'a>>,
    /// The release of the client.
    pub version: Option<Value<'a>>,
    /// `gitBranch`; empty outside a repository.
    pub git_branch: Option<Value<'a>>,
    /// How the client was started, such as `cli`.
    pub entrypoint: Option<Value<'a>>,
    /// `agentId` of a subagent's record.
    pub agent: Option<Value<'a>>,
    /// `teamName` of a member of a team.
    pub team: Option<Value<'a>>,
    /// `requestId`: the API call that the message answers.
    pub request: Option<Value<'a>>,
    /// `requestRef`: the record that says what the request was made of.
    pub request_ref: Option<Value<'a>>,
    /// `promptId`, shared by all records that one prompt led to.
    pub prompt: Option<Value<'a>>,
    /// `promptSource`: how the prompt came in, such as `queued`.
    pub prompt_source: Option<Value<'a>>,
    /// What the client was allowed to do without asking.
    pub permission_mode: Option<Value<'a>>,
    /// `origin`: an object that says what entered the prompt, if not a person.
    pub origin: Option<Value<'a>>,
    /// What sort of `system` record it is.
    pub subtype: Option<Value<'a>>,
    /// The class of an API error.
    pub error: Option<Value<'a>>,
    /// The record of the message whose call a result answers.
    pub source_assistant: Option<Value<'a>>,
    /// The call whose tool put this record into the conversation.
    pub source_call: Option<Value<'a>>,
    /// `toolDenialKind`: present where the user or a rule denied the call.
    pub denial: Option<Value<'a>>,
    /// `permissionDecision`: an object with the `decision` about the call.
    pub permission_decision: Option<Value<'a>>,
    /// The message in the shape of the API; see [`Message`](super::Message).
    pub message: Option<Value<'a>>,
    /// What the client attached to a prompt.
    pub attachment: Option<Value<'a>>,
    /// What a `progress` record reports.
    pub data: Option<Value<'a>>,
    /// The session and record that a fork copied.
    pub forked_from: Option<Value<'a>>,
    /// Any shape: an object, a list or a plain string.
    pub tool_use_result: Option<Value<'a>>,
}

impl<'a> Envelope<'a> {
    /// Reads the envelope of `record`, handing a problem to `report` for each wrong shape.
    pub fn read(record: &Record<'a>, mut report: impl FnMut(Problem)) -> Envelope<'a> {
        let mut envelope = Envelope::default();
        let transcript = super::is_transcript(record.kind());
        for (key, value) in record.value().fields() {
            let name = key.name();
            let expected = envelope.take(&name, value, record.kind(), transcript);
            if expected == Shape::Wrong {
                report(Problem {
                    id: ProblemId::WrongShape,
                    line: record.line,
                    offset: record.offset_of(&value),
                    length: value.raw().len() as u64,
                    detail: Cow::Owned(String::from_utf8_lossy(&name).into_owned()),
                });
            }
        }
        envelope
    }

    /// Whether the record says that a call was refused. `toolDenialKind` names who refused but is
    /// also written when the user could not be asked; newest clients add the decision itself.
    pub fn denied(&self) -> bool {
        let decision = self.permission_decision.and_then(|object| object.get("decision"));
        self.denial.is_some() || decision.is_some_and(|decision| decision.is_text("reject"))
    }

    fn take(&mut self, name: &[u8], value: Value<'a>, kind: RecordKind, transcript: bool) -> Shape {
        match name {
            b"isSidechain" => return flag(&mut self.flags.sidechain, value),
            b"isMeta" => return flag(&mut self.flags.meta, value),
            b"isCompactSummary" => return flag(&mut self.flags.compact_summary, value),
            b"isApiErrorMessage" => return flag(&mut self.flags.api_error, value),
            b"toolUseResult" => {
                self.tool_use_result = Some(value);
                return Shape::Right;
            }
            _ => {}
        }
        let (slot, wanted) = match name {
            b"uuid" => (&mut self.uuid, Kind::String),
            b"parentUuid" => (&mut self.parent, Kind::String),
            b"logicalParentUuid" => (&mut self.logical_parent, Kind::String),
            b"sessionId" => (&mut self.session, Kind::String),
            b"timestamp" => (&mut self.timestamp, Kind::String),
            b"cwd" => (&mut self.cwd, Kind::String),
            b"version" => (&mut self.version, Kind::String),
            b"gitBranch" => (&mut self.git_branch, Kind::String),
            b"entrypoint" => (&mut self.entrypoint, Kind::String),
            b"agentId" => (&mut self.agent, Kind::String),
            b"teamName" => (&mut self.team, Kind::String),
            b"requestId" => (&mut self.request, Kind::String),
            b"requestRef" => (&mut self.request_ref, Kind::String),
            b"promptId" => (&mut self.prompt, Kind::String),
            b"promptSource" => (&mut self.prompt_source, Kind::String),
            b"permissionMode" => (&mut self.permission_mode, Kind::String),
            b"sourceToolAssistantUUID" => (&mut self.source_assistant, Kind::String),
            b"sourceToolUseID" => (&mut self.source_call, Kind::String),
            b"toolDenialKind" => (&mut self.denial, Kind::String),
            b"permissionDecision" => (&mut self.permission_decision, Kind::Object),
            b"forkedFrom" => (&mut self.forked_from, Kind::Object),
            b"origin" => (&mut self.origin, Kind::Object),
            b"subtype" if kind == RecordKind::System => (&mut self.subtype, Kind::String),
            b"error" if kind == RecordKind::Assistant => (&mut self.error, Kind::String),
            b"message" if transcript => (&mut self.message, Kind::Object),
            b"attachment" if kind == RecordKind::Attachment => (&mut self.attachment, Kind::Object),
            b"data" if kind == RecordKind::Progress => (&mut self.data, Kind::Object),
            _ => return Shape::Right,
        };
        if value.kind() == wanted {
            *slot = Some(value);
            Shape::Right
        } else {
            *slot = None;
            // `null` is how the client writes "none" in several of these.
            if value.is_null() { Shape::Right } else { Shape::Wrong }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Right,
    Wrong,
}

fn flag(slot: &mut bool, value: Value<'_>) -> Shape {
    *slot = value.boolean().unwrap_or(false);
    if value.boolean().is_some() || value.is_null() { Shape::Right } else { Shape::Wrong }
}
