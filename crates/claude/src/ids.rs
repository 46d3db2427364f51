//! Where Claude Code's records hold ids and opaque data: what redaction leaves alone.

use backstory_format::json::IdPaths;

/// Paths of fields that link records, calls and files, and of signatures and images.
pub fn structural_paths() -> IdPaths {
    // A message's own fields, wherever a message is.
    const MESSAGE: [&str; 8] = [
        "id",
        "model",
        "content.id",
        "content.tool_use_id",
        "content.signature",
        "content.data",
        "content.source.data",
        "content.content.source.data",
    ];
    const RECORD: [&str; 47] = [
        "type",
        "uuid",
        "parentUuid",
        "logicalParentUuid",
        "sessionId",
        "session_id",
        "leafUuid",
        "messageId",
        "snapshotMessageId",
        "requestId",
        "promptId",
        "agentId",
        "version",
        "timestamp",
        "toolUseID",
        "parentToolUseID",
        "sourceToolUseID",
        "sourceToolAssistantUUID",
        "interruptedMessageId",
        "requestRef",
        "serverClassifierRequest",
        "summarizedTurnPromptUuids",
        "commandUuid",
        "deliveryId",
        "action_id",
        "id",
        "base",
        "snapshot.messageId",
        "forkedFrom.sessionId",
        "forkedFrom.messageUuid",
        "compactMetadata.*.uuids",
        "compactMetadata.*.allUuids",
        "compactMetadata.*.headUuid",
        "compactMetadata.*.anchorUuid",
        "compactMetadata.*.tailUuid",
        "attachment.toolUseID",
        "attachment.digests",
        "attachment.source_uuid",
        "attachment.delivery_id",
        "data.agentId",
        "toolUseResult.agentId",
        "toolUseResult.harnessSectionHash",
        "toolUseResult.results.tool_use_id",
        "toolUseResult.file.base64",
        "toolUseResult.source.data",
        "content.source.data",
        "toolUseId",
    ];
    let mut paths: Vec<String> = RECORD.iter().map(ToString::to_string).collect();
    for holder in
        ["message", "data.message.message", "data.normalizedMessages.message", "body.messages"]
    {
        paths.extend(MESSAGE.iter().map(|name| format!("{holder}.{name}")));
    }
    for holder in ["data.message", "data.normalizedMessages"] {
        paths.extend(["uuid", "requestId"].iter().map(|name| format!("{holder}.{name}")));
    }
    IdPaths::new(paths.iter().map(String::as_str))
}
