//! Records without uuid that are at the head and the tail of a file: titles, modes, links, and what
//! the newest client writes about its own requests.

use anyhow::Result;

use crate::identifier::{Uuid, hex};
use crate::json::Line;
use crate::transcript::Transcript;

impl Transcript<'_> {
    fn note(&mut self, kind: &'static str, body: impl FnOnce(&mut Line)) -> Result<()> {
        let session = self.session;
        self.metadata(kind, |line, _| {
            body(line);
            line.text("sessionId", session);
        })
    }

    /// The head of a session file.
    pub(crate) fn opening(&mut self) -> Result<()> {
        if !self.era.from(2, 1, 30) && self.random.permille(300) {
            // In these versions the head has titles of other sessions of the project.
            let leaf = Uuid::new(&mut self.random);
            self.metadata("summary", |line, _| {
                line.text("summary", "Another session of this project");
                line.text("leafUuid", leaf);
            })?;
        }
        if self.era.from(2, 1, 160) {
            self.note("mode", |line| line.text("mode", "normal"))?;
            if self.random.permille(300) {
                self.note("bridge-session", |line| {
                    line.text("bridgeSessionId", "session_01Bridge");
                    line.number("lastSequenceNum", 4);
                })?;
            }
            if self.random.permille(100) {
                self.note("teleported-from", |line| {
                    line.text("remoteSessionId", "session_01Remote");
                    line.text("branch", "main");
                    line.number("messageCount", 0);
                })?;
            }
        }
        if self.era.from(2, 1, 70) {
            self.note("permission-mode", |line| line.text("permissionMode", "acceptEdits"))?;
            if self.random.permille(80) {
                self.note("agent-setting", |line| line.text("agentSetting", "default"))?;
            }
            if self.random.permille(80) {
                let path = self.project.path.clone();
                self.note("worktree-state", |line| {
                    line.object("worktreeSession", |line| line.text("originalCwd", path));
                })?;
            }
        }
        if self.random.permille(500) {
            self.start_hook()?;
        }
        Ok(())
    }

    /// The tail of a session file. Metadata is appended more than once in life, so it is here.
    pub(crate) fn closing(&mut self) -> Result<()> {
        let leaf = self.parent;
        let number = self.random.between(1, 9_999);
        if self.era.from(2, 1, 0) && !self.era.from(2, 1, 30) && self.random.permille(500) {
            let title = format!("Summary title {number}");
            if let Some(leaf) = leaf {
                self.metadata("summary", |line, _| {
                    line.text("summary", &title);
                    line.text("leafUuid", leaf);
                })?;
                self.set_title("summary", Some(title));
            }
        }
        if self.era.from(2, 1, 70) {
            for _ in 0..self.random.between(1, 3) {
                let text = self.pools.prose.take(&mut self.random, 40);
                self.note("last-prompt", |line| {
                    line.text("lastPrompt", text);
                    if let Some(leaf) = leaf {
                        line.text("leafUuid", leaf);
                    }
                })?;
            }
            self.set_title("last-prompt", None);
        }
        if self.era.from(2, 1, 90) && self.random.permille(600) {
            let title = format!("Model title {number}");
            for _ in 0..self.random.between(1, 3) {
                self.note("ai-title", |line| line.text("aiTitle", &title))?;
            }
            self.set_title("ai", Some(title));
        }
        if self.era.from(2, 1, 70) && self.random.permille(250) {
            let title = format!("Custom title {number}");
            self.note("custom-title", |line| line.text("customTitle", &title))?;
            self.note("agent-name", |line| line.text("agentName", &title))?;
            self.set_title("custom", Some(title));
        }
        self.links()?;
        if self.truth.title_source == Some("bash") {
            self.truth.title_source = None;
        }
        Ok(())
    }

    fn set_title(&mut self, source: &'static str, title: Option<String>) {
        self.truth.title_source = Some(source);
        self.truth.title = title;
    }

    fn links(&mut self) -> Result<()> {
        let time = self.clock.text();
        if self.era.within(20, 99) && self.random.permille(150) {
            self.note("pr-link", |line| {
                line.number("prNumber", 12);
                line.text("prUrl", "https://example.com/kiln/pull/12");
                line.text("prRepository", "example/kiln");
                line.text("timestamp", time);
            })?;
        }
        if self.era.from(2, 1, 228) && self.random.permille(300) {
            self.note("frame-link", |line| {
                line.text("path", "/home/dev/report.html");
                line.text("frameUrl", "https://example.com/frame/1");
            })?;
        }
        if self.era.from(2, 1, 200) {
            if self.random.permille(150) {
                self.note("tag", |line| line.text("tag", "release"))?;
            }
            if self.random.permille(150) {
                self.note("content-replacement", |line| line.raw("replacements", "[]"))?;
            }
        }
        if self.era.from(2, 1, 300) {
            let tokens = self.truth.story.usage.output;
            self.note("cost-state", |line| {
                line.raw("totalCostUSD", "0.25");
                line.number("totalAPIDuration", 41_200);
                line.object("modelUsage", |line| {
                    line.object("claude-opus-5-5", |line| line.number("outputTokens", tokens));
                });
            })?;
        }
        Ok(())
    }

    /// Where a file was before an edit, in the versions that write deltas.
    pub(crate) fn delta(&mut self, edit: Uuid) -> Result<()> {
        if !self.era.within(220, 299) {
            return Ok(());
        }
        let time = self.clock.text();
        self.metadata("file-history-delta", |line, random| {
            line.text("messageId", edit);
            line.text("snapshotMessageId", edit);
            line.text("trackingPath", "src/lib.rs");
            line.object("backup", |line| {
                line.text("backupFileName", format!("{}@v2", hex(random, 16)));
                line.number("version", 2);
                line.text("backupTime", time);
            });
            line.text("timestamp", time);
        })
    }

    /// What the newest client notes about a request before its answer.
    pub(crate) fn request_records(&mut self) -> Result<()> {
        if !self.era.from(2, 1, 300) {
            return Ok(());
        }
        let (time, version) = (self.clock.text(), self.era.version);
        let (shape, blob) = (hex(&mut self.random, 64), hex(&mut self.random, 64));
        if self.random.permille(100) {
            let text = self.pools.prose.take(&mut self.random, 6_000);
            self.note("atis-latch", |line| line.text("atis", ""))?;
            self.note("api-request-shape", |line| {
                line.text("shapeHash", &shape);
                line.text("timestamp", time);
                line.text("version", version);
                line.object("shape", |line| {
                    line.list("system", |line| {
                        line.element(|line| {
                            line.text("type", "text");
                            line.text("text", text);
                        });
                    });
                    line.raw("tools", "[]");
                });
            })?;
        }
        let length = self.random.between(100, 3_000) as usize;
        let text = self.pools.prose.take(&mut self.random, length);
        self.note("api-request-blob", |line| {
            line.text("hash", &blob);
            line.object("message", |line| {
                line.text("role", "user");
                line.text("content", text);
            });
        })?;
        let id = Uuid::new(&mut self.random);
        self.note("api-request", |line| {
            line.text("id", id);
            line.text("timestamp", time);
            line.text("version", version);
            line.text("shapeHash", &shape);
            line.list("tail", |line| line.item(&blob));
        })?;
        self.note("tools-used", |line| line.raw("tools", "[\"Bash\",\"Read\"]"))
    }
}
