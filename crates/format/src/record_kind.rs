//! The record types that are known, as a closed list.
//!
//! A new type in a file is [`RecordKind::Other`]: kept, counted, passed through.

macro_rules! record_kinds {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// The `type` of a record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RecordKind {
            $($(#[doc = $doc])+ $variant,)+
            /// A `type` this version does not know.
            Other,
            /// No `type`, or one that is not a string.
            Missing,
        }

        impl RecordKind {
            /// Every known kind.
            pub const KNOWN: &'static [RecordKind] = &[$(RecordKind::$variant,)+];

            /// The kind with this `type`.
            pub fn from_name(name: &str) -> RecordKind {
                match name { $($name => RecordKind::$variant,)+ _ => RecordKind::Other }
            }

            /// The `type` as written; `None` for [`Other`](Self::Other) and [`Missing`](Self::Missing).
            pub fn name(self) -> Option<&'static str> {
                match self { $(RecordKind::$variant => Some($name),)+ _ => None }
            }
        }
    };
}

record_kinds! {
    /// A prompt, a tool result, or text the client injected.
    User = "user";
    /// One content block of a model's answer (all versions).
    Assistant = "assistant";
    /// Notices of the client: compaction, errors, hooks, durations.
    System = "system";
    /// State of running tools, hooks and agents; 2.1.9 to 2.1.83.
    Progress = "progress";
    /// Context added to a prompt; from 2.1.90.
    Attachment = "attachment";
    /// Backups of files before a prompt; from 2.0.
    FileHistorySnapshot = "file-history-snapshot";
    /// One more backup for a snapshot; from 2.1.22x.
    FileHistoryDelta = "file-history-delta";
    /// Prompts waiting while the model works; from 2.0.
    QueueOperation = "queue-operation";
    /// The newest prompt, repeated for listing; from 2.1.8x.
    LastPrompt = "last-prompt";
    /// The permission mode in force; from 2.1.9x.
    PermissionMode = "permission-mode";
    /// The input mode; from 2.1.16x.
    Mode = "mode";
    /// A title made by a model; from 2.1.9x.
    AiTitle = "ai-title";
    /// A title given by the user.
    CustomTitle = "custom-title";
    /// A title, often of another session; 1.0 to 2.1.2x.
    Summary = "summary";
    /// The name of a named agent.
    AgentName = "agent-name";
    /// The colour of a named agent.
    AgentColor = "agent-color";
    /// Settings of an agent.
    AgentSetting = "agent-setting";
    /// Link to a session in the web client.
    BridgeSession = "bridge-session";
    /// A pull request the session made.
    PrLink = "pr-link";
    /// A published artefact; 2.1.228.
    FrameLink = "frame-link";
    /// Where a fork agent's context comes from; 2.1.22x.
    ForkContextRef = "fork-context-ref";
    /// The remote session this one continues.
    TeleportedFrom = "teleported-from";
    /// A tag set by the user.
    Tag = "tag";
    /// Tool results whose content was replaced.
    ContentReplacement = "content-replacement";
    /// The worktree the session works in.
    WorktreeState = "worktree-state";
    /// Who wrote which part of a file, as the client sees it.
    AttributionSnapshot = "attribution-snapshot";
    /// Summary of a background task.
    TaskSummary = "task-summary";
    /// An experiment's commit marker.
    MarbleOrigamiCommit = "marble-origami-commit";
    /// An experiment's snapshot marker.
    MarbleOrigamiSnapshot = "marble-origami-snapshot";
    /// A request to the API, by reference to blobs; newest clients.
    ApiRequest = "api-request";
    /// System prompt and tool definitions of requests; newest clients.
    ApiRequestShape = "api-request-shape";
    /// A message of a request; newest clients.
    ApiRequestBlob = "api-request-blob";
    /// Names of the tools used so far; newest clients.
    ToolsUsed = "tools-used";
    /// Running totals of cost; newest clients.
    CostState = "cost-state";
    /// A switch of the client; newest clients.
    AtisLatch = "atis-latch";
}

/// Whether records of this kind form the conversation tree (they carry `uuid` and `parentUuid`).
pub fn is_transcript(kind: RecordKind) -> bool {
    matches!(
        kind,
        RecordKind::User
            | RecordKind::Assistant
            | RecordKind::System
            | RecordKind::Progress
            | RecordKind::Attachment
    )
}
