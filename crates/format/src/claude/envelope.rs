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
    pub flags: Flags,
    pub uuid: Option<Value<'a>>,
    pub parent: Option<Value<'a>>,
    pub logical_parent: Option<Value<'a>>,
    pub session: Option<Value<'a>>,
    pub timestamp: Option<Value<'a>>,
    pub cwd: Option<Value<'a>>,
    pub version: Option<Value<'a>>,
    pub git_branch: Option<Value<'a>>,
    pub entrypoint: Option<Value<'a>>,
    pub agent: Option<Value<'a>>,
    pub team: Option<Value<'a>>,
    pub request: Option<Value<'a>>,
    pub request_ref: Option<Value<'a>>,
    pub prompt: Option<Value<'a>>,
    pub prompt_source: Option<Value<'a>>,
    pub permission_mode: Option<Value<'a>>,
    pub origin: Option<Value<'a>>,
    pub subtype: Option<Value<'a>>,
    pub error: Option<Value<'a>>,
    pub source_assistant: Option<Value<'a>>,
    /// The call whose tool put this record into the conversation.
    pub source_call: Option<Value<'a>>,
    pub denial: Option<Value<'a>>,
    pub permission_decision: Option<Value<'a>>,
    pub message: Option<Value<'a>>,
    pub attachment: Option<Value<'a>>,
    pub data: Option<Value<'a>>,
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
    /// also written when nobody could be asked; newest clients add the decision itself.
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
