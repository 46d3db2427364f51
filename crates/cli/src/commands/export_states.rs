//! Options of `backstory export --to trace-state`.

use crate::error::CliError;
use backstory_session::export::{
    Granularity, Layout, MessageStyle, StateOptions, StateView, Subagents, Synthetic, SystemPrompt,
    Thinking,
};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(next_help_heading = "Options of trace-state")]
pub(super) struct StateArguments {
    /// A state for each message of the model, or for each of its calls
    #[arg(long, value_name = "UNIT", default_value = "step", hide_short_help = true)]
    granularity: Unit,

    /// How messages look
    #[arg(long, value_name = "STYLE", default_value = "openai", hide_short_help = true)]
    messages: StyleChoice,

    /// `auto` (the real one where the trace holds it), `none`, a text, or @FILE
    #[arg(long, value_name = "TEXT", default_value = "auto", hide_short_help = true)]
    system_prompt: String,

    /// Leave subagents out, put them after the session, or after the message that started them
    #[arg(long, value_name = "HOW", default_value = "skip", hide_short_help = true)]
    subagents: AgentChoice,

    /// Keep thinking in histories
    #[arg(long, hide_short_help = true)]
    keep_thinking: bool,

    /// Drop whole turns from the front of longer histories (four characters are a token)
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_history_tokens: Option<u64>,

    /// No states for shorter actions
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    min_action_chars: usize,

    /// States for messages that the client made itself, too
    #[arg(long, hide_short_help = true)]
    include_synthetic: bool,

    /// One line per conversation; states say which of its messages are theirs
    #[arg(long, hide_short_help = true)]
    compact: bool,

    /// Add the fields `teacher_id`, `reward` and `hint_text`, all null
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

impl StateArguments {
    /// The text of a system prompt that the user gives.
    pub(super) fn system_prompt(&self) -> Result<Option<String>, CliError> {
        match self.system_prompt.strip_prefix('@') {
            Some(path) => std::fs::read_to_string(path)
                .map(Some)
                .map_err(|error| CliError::new(format!("--system-prompt `{path}`: {error}"))),
            None => Ok(None),
        }
    }

    pub(super) fn options<'o>(&'o self, file: &'o Option<String>) -> StateOptions<'o> {
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
            system: match (file, self.system_prompt.as_str()) {
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
            thinking: if self.keep_thinking { Thinking::Keep } else { Thinking::Strip },
            max_history_tokens: self.max_history_tokens,
            min_action_chars: self.min_action_chars,
            synthetic: match self.include_synthetic {
                true => Synthetic::Include,
                false => Synthetic::Skip,
            },
            layout: if self.compact { Layout::Compact } else { Layout::Full },
            view: if self.examples { StateView::Example } else { StateView::State },
        }
    }
}
