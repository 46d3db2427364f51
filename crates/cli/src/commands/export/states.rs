//! Options of `backstory export --to trace-state` and `--to sft`.

use crate::error::CliError;
use crate::tokens::TokenizerChoice;
use backstory_export::{
    Chain, Granularity, Layout, MessageStyle, OnUnknown, Records, StateOptions, StateView,
    Subagents, Synthetic, SystemPrompt, Thinking, ToolErrors, VersionRange,
};
use backstory_store::read_small_text;
use clap::{ArgAction, Args, ValueEnum};
use std::path::Path;

#[derive(Debug, Args)]
#[command(next_help_heading = "Options of trace-state and sft")]
pub(crate) struct StateArguments {
    /// A state for each message of the model, or for each of its calls (trace-state)
    #[arg(long, value_name = "UNIT", default_value = "step", hide_short_help = true)]
    granularity: Unit,

    /// How messages look (trace-state)
    #[arg(long, value_name = "STYLE", default_value = "openai", hide_short_help = true)]
    messages: StyleChoice,

    /// `auto` (the real one where the trace holds it), `none`, a text, or @FILE
    #[arg(long, value_name = "TEXT", default_value = "auto", hide_short_help = true)]
    system_prompt: String,

    /// Leave subagents out, put them after the session, or after the message that started them
    #[arg(long, value_name = "HOW", default_value = "skip", hide_short_help = true)]
    subagents: AgentChoice,

    /// Leave thinking out of histories; `false` is --keep-thinking
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = true,
        default_missing_value = "true",
        action = ArgAction::Set,
        hide_short_help = true
    )]
    strip_thinking: bool,

    /// Keep thinking in histories
    #[arg(long, hide_short_help = true, conflicts_with = "strip_thinking")]
    keep_thinking: bool,

    /// Drop the front of longer histories: whole turns, then oldest steps with their results
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_history_tokens: Option<u64>,

    /// What counts tokens
    #[arg(long, value_name = "NAME", default_value = "estimate", hide_short_help = true)]
    tokenizer: TokenizerChoice,

    /// No states for shorter actions
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    min_action_chars: usize,

    /// Versions of the client that are known to be fine: `2.1.x`, `>=2.0.70,<2.2`, `2.0..2.2`
    #[arg(long, value_name = "RANGE", hide_short_help = true)]
    versions: Option<String>,

    /// What to do about messages of other versions: say so, give up, nothing, or no states
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "warn",
        requires = "versions",
        hide_short_help = true
    )]
    on_unknown: UnknownChoice,

    /// States for messages that the client made itself, too
    #[arg(long, hide_short_help = true)]
    include_synthetic: bool,

    /// Only the messages that a resume would send, or also those before a compaction
    #[arg(long, value_name = "WHICH", default_value = "active", hide_short_help = true)]
    history: ChainChoice,

    /// Mark states after a call that failed, in `meta.tool_error` (trace-state)
    #[arg(long, value_name = "HOW", default_value = "mark", hide_short_help = true)]
    tool_errors: ErrorChoice,

    /// One line per conversation; states say which of its messages are theirs (trace-state)
    #[arg(long, hide_short_help = true)]
    compact: bool,

    /// Add the fields `teacher_id`, `reward` and `hint_text`, all null (trace-state)
    #[arg(long, hide_short_help = true)]
    examples: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unit {
    Step,
    ToolUse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StyleChoice {
    Openai,
    Anthropic,
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AgentChoice {
    Skip,
    Separate,
    Inline,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UnknownChoice {
    Warn,
    Fail,
    Ignore,
    Skip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ChainChoice {
    Active,
    Story,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ErrorChoice {
    Mark,
    Ignore,
}

/// What options refer to.
#[derive(Debug)]
pub(crate) struct StateInput {
    system: Option<String>,
    versions: Option<VersionRange>,
}

/// The system prompt that stands in a file.
pub(crate) fn system_prompt(path: &str) -> Result<String, CliError> {
    const LARGEST: u64 = 64 << 20;
    read_small_text(Path::new(path), LARGEST)
        .map_err(|error| CliError::new(format!("--system-prompt {error}")))
}

impl StateArguments {
    /// The file that the options name, if one does.
    pub(crate) fn file_read(&self) -> Option<&Path> {
        self.system_prompt.strip_prefix('@').map(Path::new)
    }

    /// Reads what the options name.
    pub(crate) fn input(&self) -> Result<StateInput, CliError> {
        let system = match self.system_prompt.strip_prefix('@') {
            Some(path) => Some(system_prompt(path)?),
            None => None,
        };
        let versions = match &self.versions {
            Some(text) => Some(VersionRange::parse(text).ok_or_else(|| {
                CliError::new(format!("--versions `{text}`: invalid version range"))
                    .hint("write 2.1.x, >=2.0.70,<2.2 or 2.0..2.2")
            })?),
            None => None,
        };
        Ok(StateInput { system, versions })
    }

    /// What is done about messages of other versions.
    pub(crate) fn on_unknown(&self) -> OnUnknown {
        match self.on_unknown {
            UnknownChoice::Warn => OnUnknown::Warn,
            UnknownChoice::Fail => OnUnknown::Fail,
            UnknownChoice::Ignore => OnUnknown::Ignore,
            UnknownChoice::Skip => OnUnknown::Skip,
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        if self.compact { Layout::Compact } else { Layout::Full }
    }

    pub(crate) fn tokenizer(&self) -> &'static str {
        match self.tokenizer {
            TokenizerChoice::Estimate => "estimate",
            TokenizerChoice::Cl100k => "cl100k",
            TokenizerChoice::O200k => "o200k",
        }
    }

    pub(crate) fn options<'o>(
        &'o self,
        input: &'o StateInput,
        count_records: bool,
    ) -> StateOptions<'o> {
        StateOptions {
            granularity: match self.granularity {
                Unit::Step => Granularity::Step,
                Unit::ToolUse => Granularity::ToolUse,
            },
            messages: match self.messages {
                StyleChoice::Openai => MessageStyle::OpenAi,
                StyleChoice::Anthropic => MessageStyle::Anthropic,
                StyleChoice::Text => MessageStyle::Text,
            },
            system: match (&input.system, self.system_prompt.as_str()) {
                (Some(text), _) => SystemPrompt::Text(text),
                (None, "auto") => SystemPrompt::Auto,
                (None, "none") => SystemPrompt::None,
                (None, text) => SystemPrompt::Text(text),
            },
            subagents: match self.subagents {
                AgentChoice::Skip => Subagents::Skip,
                AgentChoice::Separate => Subagents::Separate,
                AgentChoice::Inline => Subagents::Inline,
            },
            thinking: if self.strip_thinking && !self.keep_thinking {
                Thinking::Strip
            } else {
                Thinking::Keep
            },
            max_history_tokens: self.max_history_tokens,
            tokenizer: self.tokenizer.tokenizer(),
            min_action_chars: self.min_action_chars,
            synthetic: if self.include_synthetic { Synthetic::Include } else { Synthetic::Skip },
            chain: match self.history {
                ChainChoice::Active => Chain::Active,
                ChainChoice::Story => Chain::Story,
            },
            versions: input.versions.as_ref().map(|range| (range, self.on_unknown())),
            tool_errors: match self.tool_errors {
                ErrorChoice::Mark => ToolErrors::Mark,
                ErrorChoice::Ignore => ToolErrors::Ignore,
            },
            layout: self.layout(),
            view: if self.examples { StateView::Example } else { StateView::State },
            records: if count_records { Records::Count } else { Records::Leave },
        }
    }
}
