//! Records next to the conversation: progress, attachments, system notices. They carry uuids and are
//! links or branches of the chain, but contain no messages.

use anyhow::Result;

use crate::identifier::Uuid;
use crate::json::Line;
use crate::transcript::Transcript;

/// Attachment sub-types without a place of their own in the story.
const ATTACHMENTS: &[&str] = &[
    "total_tokens_reminder",
    "total_tokens_reminder",
    "total_tokens_reminder",
    "task_reminder",
    "task_reminder",
    "todo_reminder",
    "skill_listing",
    "nested_memory",
    "deferred_tools_delta",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "edited_text_file",
    "file",
    "mcp_instructions_delta",
    "command_permissions",
    "hook_additional_context",
    "hook_system_message",
    "date_change",
    "agent_listing_delta",
    "companion_intro",
    "compact_file_reference",
    "hook_non_blocking_error",
    "plan_file_reference",
    "invoked_skills",
    "opened_file_in_ide",
    "hook_cancelled",
    "dynamic_skill",
    "directory",
    "read_truncation_notice",
    "output_style",
    "auto_mode",
    "structured_output",
    "task_status",
];

impl Transcript<'_> {
    pub(crate) fn attachment(&mut self, kind: &str, body: impl FnOnce(&mut Line)) -> Result<Uuid> {
        self.record("attachment", |line, _| {
            line.object("attachment", |line| {
                line.text("type", kind);
                body(line);
            });
        })
    }

    /// Some attachments, where the version writes them.
    pub(crate) fn attachments(&mut self) -> Result<()> {
        if !self.era.from(2, 1, 90) {
            return Ok(());
        }
        for _ in 0..self.random.below(3) {
            let kind = self.random.pick(ATTACHMENTS);
            let length = self.random.between(40, 2_000) as usize;
            let text = self.pools.prose.take(&mut self.random, length);
            self.attachment(kind, |line| line.text("content", text))?;
        }
        Ok(())
    }

    /// The hook that runs when a session starts; it becomes the root of the chain.
    pub(crate) fn start_hook(&mut self) -> Result<()> {
        let (id, text) =
            (Uuid::new(&mut self.random), self.pools.prose.take(&mut self.random, 200));
        if self.era.from(2, 1, 90) {
            self.attachment("hook_success", |line| {
                line.text("hookName", "SessionStart:startup");
                line.text("hookEvent", "SessionStart");
                line.text("toolUseID", id);
                line.text("content", text);
                line.number("exitCode", 0);
            })?;
        } else if self.era.within(9, 83) {
            self.progress("hook_progress", self.parent, id.text(), id.text(), |line| {
                line.text("hookEvent", "SessionStart");
                line.text("hookName", "SessionStart:startup");
                line.text("command", "./hooks/start");
            })
            .map(|uuid| self.parent = Some(uuid))?;
        }
        Ok(())
    }

    /// A progress record under `parent`; the caller decides whether the chain goes on from it.
    pub(crate) fn progress(
        &mut self,
        kind: &str,
        parent: Option<Uuid>,
        tool: &str,
        call: &str,
        body: impl FnOnce(&mut Line),
    ) -> Result<Uuid> {
        let uuid = Uuid::new(&mut self.random);
        self.record_under("progress", parent, uuid, |line, _| {
            line.object("data", |line| {
                line.text("type", kind);
                body(line);
            });
            line.text("toolUseID", tool);
            line.text("parentToolUseID", call);
        })?;
        Ok(uuid)
    }

    /// The output of a running command, as a branch below its call.
    pub(crate) fn running(&mut self, call: &str, call_record: Uuid) -> Result<()> {
        if !self.era.within(9, 83) {
            return Ok(());
        }
        let mut parent = Some(call_record);
        for number in 0..self.random.between(1, 4) {
            let length = self.random.between(40, 2_000) as usize;
            let text = self.pools.terminal.take(&mut self.random, length);
            let kind = self.random.pick(&[
                "bash_progress",
                "bash_progress",
                "mcp_progress",
                "query_update",
                "search_results_received",
                "waiting_for_task",
            ]);
            let uuid =
                self.progress(kind, parent, &format!("bash-progress-{number}"), call, |line| {
                    line.text("output", text);
                    line.text("fullOutput", text);
                    line.number("elapsedTimeSeconds", 2 + number);
                    line.number("totalLines", number);
                })?;
            parent = Some(uuid);
        }
        Ok(())
    }

    /// A hook after a tool, as a link of the chain.
    pub(crate) fn tool_hook(&mut self, call: &str) -> Result<()> {
        if self.era.within(9, 83) {
            let uuid = self.progress("hook_progress", self.parent, call, call, |line| {
                line.text("hookEvent", "PostToolUse");
                line.text("command", "./hooks/format");
            })?;
            self.parent = Some(uuid);
        }
        Ok(())
    }

    fn system(&mut self, subtype: &str, body: impl FnOnce(&mut Line)) -> Result<()> {
        self.record("system", |line, _| {
            line.text("subtype", subtype);
            line.flag("isMeta", false);
            body(line);
        })?;
        Ok(())
    }

    /// Notices at the end of a turn.
    pub(crate) fn after_turn(&mut self, millis: i64) -> Result<()> {
        if self.era.from(2, 0, 28) && self.random.permille(400) {
            self.system("stop_hook_summary", |line| {
                line.number("hookCount", 1);
                line.raw("hookInfos", "[{\"command\":\"./hooks/stop\"}]");
                line.raw("hookErrors", "[]");
                line.flag("preventedContinuation", false);
            })?;
        }
        if self.era.from(2, 1, 1) && self.random.permille(500) {
            self.system("turn_duration", |line| line.number("durationMs", millis.unsigned_abs()))?;
        }
        if self.era.from(2, 1, 100) && self.random.permille(80) {
            let kind = self.random.pick(&[
                "away_summary",
                "bridge_status",
                "informational",
                "scheduled_task_fire",
            ]);
            let text = self.pools.prose.take(&mut self.random, 120);
            self.system(kind, |line| line.text("content", text))?;
        }
        if self.era.from(2, 1, 12) && self.random.permille(40) {
            self.system("local_command", |line| {
                line.text("content", "<command-name>/context</command-name>");
            })?;
        }
        Ok(())
    }

    /// A failed request that will be tried again.
    pub(crate) fn retry_notice(&mut self) -> Result<()> {
        if !self.era.from(2, 0, 28) {
            return Ok(());
        }
        self.system("api_error", |line| {
            line.text("level", "error");
            line.raw("error", "{\"status\":529,\"error\":{\"type\":\"overloaded_error\"}}");
            line.number("retryInMs", 600);
            line.number("retryAttempt", 1);
            line.number("maxRetries", 10);
        })
    }

    /// Old tool results are dropped from the context; nothing is cut from the chain.
    pub(crate) fn micro_compact(&mut self) -> Result<()> {
        if !self.era.within(12, 41) {
            return Ok(());
        }
        self.truth.compactions += 1;
        let tokens = self.context;
        self.system("microcompact_boundary", |line| {
            line.text("content", "Context microcompacted");
            line.object("microcompactMetadata", |line| {
                line.text("trigger", "auto");
                line.number("preTokens", tokens);
                line.number("tokensSaved", tokens / 3);
                line.raw("compactedToolIds", "[]");
            });
        })
    }
}
