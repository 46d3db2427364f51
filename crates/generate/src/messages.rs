//! Model messages: one record per content block, usage by the regime of the version.

use anyhow::Result;

use crate::calls::Call;
use crate::era::UsageRegime;
use crate::identifier::{Uuid, hex, prefixed};
use crate::json::Line;
use crate::random::Spread;
use crate::transcript::Transcript;
use crate::truth::Usage;

const THINKING: Spread = &[(0, 80), (500, 900), (900, 3_200), (990, 9_000), (1000, 16_000)];
const TEXT: Spread = &[(0, 40), (500, 560), (900, 1_900), (990, 4_500), (1000, 9_000)];
const ANSWER: Spread = &[(0, 40), (500, 700), (900, 2_400), (990, 6_000), (1000, 9_000)];
const SIGNATURE: Spread = &[(0, 300), (500, 1_000), (900, 2_600), (1000, 8_000)];

/// A content block of a model message.
#[derive(Debug)]
pub(crate) enum Block<'p> {
    Thinking { text: &'p [u8], signature: &'p [u8] },
    Text(&'p [u8]),
    Call(Call<'p>),
}

/// How a message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    ToolUse,
    EndTurn,
}

/// A message whose records are being written.
#[derive(Debug)]
pub(crate) struct Message {
    id: String,
    request: Option<String>,
    usage: Usage,
    placeholder: u64,
    stop: Stop,
}

impl<'p> Transcript<'p> {
    pub(crate) fn thinking(&mut self) -> Block<'p> {
        let length = self.random.size(THINKING);
        let text = if self.era.thinking_is_empty() && !self.gateway() {
            b""
        } else {
            self.pools.prose.take(&mut self.random, length)
        };
        let length = self.random.size(SIGNATURE);
        Block::Thinking {
            text,
            signature: if self.gateway() {
                b""
            } else {
                self.pools.base64(&mut self.random, length)
            },
        }
    }

    pub(crate) fn text(&mut self) -> Block<'p> {
        let length = self.random.size(TEXT);
        Block::Text(self.pools.prose.take(&mut self.random, length))
    }

    /// Begins a message and counts it.
    pub(crate) fn begin_message(&mut self, stop: Stop, output: u64) -> Message {
        let random = &mut self.random;
        let gateway = crate::era::is_gateway(self.model);
        let id = match (gateway, self.model) {
            (true, "MiniMax-M2") => hex(random, 32),
            (true, _) => Uuid::new(random).text().to_owned(),
            (false, _) => prefixed(random, "msg_01", 22),
        };
        let request = (!gateway).then(|| prefixed(random, "req_011", 21));
        let placeholder = random.between(1, 8);
        let fresh = random.between(200, 4_000) + output;
        let mut usage = if gateway {
            Usage { input: self.context, output, ..Usage::default() }
        } else {
            Usage {
                input: random.between(2, 12),
                output,
                cache_read: self.context,
                cache_write: fresh,
                ..Usage::default()
            }
        };
        self.context += fresh;
        usage.messages = 1;
        if self.regime() == UsageRegime::Placeholder {
            usage.output = placeholder;
            usage.incomplete_messages = 1;
        }
        self.own_usage.add(&usage);
        let model = self.model;
        let counts = self.counts();
        counts.steps += 1;
        counts.usage.add(&usage);
        // A sidechain's models belong to the subagent, an abandoned branch's to the file.
        if self.lane != crate::transcript::Lane::Sidechain && !self.truth.models.contains(&model) {
            self.truth.models.push(model);
        }
        Message { id, request, usage, placeholder, stop }
    }

    /// Writes one block of a message as a record of its own.
    pub(crate) fn block_record(
        &mut self,
        message: &Message,
        block: &Block<'p>,
        last: bool,
        parent: Option<Uuid>,
    ) -> Result<Uuid> {
        let (model, regime, gateway) = (self.model, self.regime(), self.gateway());
        let caller = self.era.from(2, 1, 20);
        let details = self.era.from(2, 1, 41);
        let newest = self.era.from(2, 1, 217);
        let split = self.era.from(1, 0, 90);
        let uuid = Uuid::new(&mut self.random);
        let sources = std::mem::take(&mut self.sources);
        let pools = self.pools;
        let written = self.record_under("assistant", parent, uuid, |line, _| {
            line.object("message", |line| {
                line.text("model", model);
                line.text("id", &message.id);
                line.text("type", "message");
                line.text("role", "assistant");
                line.list("content", |line| {
                    line.element(|line| block.write(line, caller, &sources, pools));
                });
                let complete = match regime {
                    UsageRegime::Placeholder => false,
                    UsageRegime::LastRecord => last,
                    UsageRegime::EveryRecord => true,
                };
                match (complete, message.stop) {
                    (false, _) => line.null("stop_reason"),
                    (true, Stop::ToolUse) => line.text("stop_reason", "tool_use"),
                    (true, Stop::EndTurn) => line.text("stop_reason", "end_turn"),
                }
                line.null("stop_sequence");
                message.write_usage(line, complete, gateway, split);
                if details {
                    line.null("stop_details");
                }
            });
            if let Some(request) = &message.request {
                line.text("requestId", request);
            }
            if newest {
                line.text("effort", "medium");
            }
        });
        self.sources = sources;
        written?;
        Ok(uuid)
    }

    /// A whole message without calls.
    pub(crate) fn say(&mut self, stop: Stop) -> Result<()> {
        let mut blocks = Vec::new();
        if self.random.permille(350) {
            blocks.push(self.thinking());
        }
        let length = self.random.size(ANSWER);
        blocks.push(Block::Text(self.pools.prose.take(&mut self.random, length)));
        let message = self.begin_message(stop, length as u64 / 4 + 20);
        let count = blocks.len();
        for (number, block) in blocks.iter().enumerate() {
            let uuid = self.block_record(&message, block, number + 1 == count, self.parent)?;
            self.parent = Some(uuid);
        }
        Ok(())
    }

    /// A message the client made itself.
    pub(crate) fn synthetic(&mut self, text: &str, error: Option<&str>) -> Result<()> {
        self.counts().steps += 1;
        let id = Uuid::new(&mut self.random);
        self.record("assistant", |line, _| {
            line.object("message", |line| {
                line.text("id", id);
                line.text("model", "<synthetic>");
                line.text("role", "assistant");
                line.text("stop_reason", "stop_sequence");
                line.text("stop_sequence", "");
                line.text("type", "message");
                line.raw("usage", "{\"input_tokens\":0,\"output_tokens\":0,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0}");
                line.list("content", |line| line.element(|line| Block::Text(text.as_bytes()).write_text(line)));
            });
            if let Some(error) = error {
                line.flag("isApiErrorMessage", true);
                line.text("error", error);
            }
        })?;
        Ok(())
    }
}

impl Message {
    /// Its token counts, as a reader should sum them.
    pub(crate) fn usage(&self) -> &Usage {
        &self.usage
    }

    fn write_usage(&self, line: &mut Line, complete: bool, gateway: bool, split: bool) {
        line.object("usage", |line| {
            let output = if complete { self.usage.output } else { self.placeholder };
            if gateway {
                // Gateways that fill usage in late leave zeros on the earlier records.
                let late = !complete && self.usage.incomplete_messages == 0;
                line.number("input_tokens", if late { 0 } else { self.usage.input });
                line.number("output_tokens", if late { 0 } else { output });
                return;
            }
            line.number("input_tokens", self.usage.input);
            line.number("cache_creation_input_tokens", self.usage.cache_write);
            line.number("cache_read_input_tokens", self.usage.cache_read);
            if split {
                line.object("cache_creation", |line| {
                    line.number("ephemeral_5m_input_tokens", self.usage.cache_write);
                    line.number("ephemeral_1h_input_tokens", 0);
                });
            }
            line.number("output_tokens", output);
            line.text("service_tier", "standard");
        });
    }
}

impl Block<'_> {
    fn write(
        &self,
        line: &mut Line,
        caller: bool,
        sources: &[crate::source_file::SourceFile],
        pools: &crate::pools::Pools,
    ) {
        match self {
            Self::Thinking { text, signature } => {
                line.text("type", "thinking");
                line.text("thinking", text);
                line.text("signature", signature);
            }
            Self::Text(_) => self.write_text(line),
            Self::Call(call) => {
                line.text("type", "tool_use");
                line.text("id", &call.id);
                line.text("name", call.name);
                line.object("input", |line| call.write_input(line, sources, pools));
                if caller {
                    line.raw("caller", "{\"type\":\"direct\"}");
                }
            }
        }
    }

    fn write_text(&self, line: &mut Line) {
        if let Self::Text(text) = self {
            line.text("type", "text");
            line.text("text", text);
        }
    }
}
