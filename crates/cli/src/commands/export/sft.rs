//! Options of `backstory export --to sft`.

use crate::error::CliError;
use backstory_export::{Arguments, Per, SftFormat, SftOptions, StateOptions, Thinking};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(next_help_heading = "Options of sft")]
pub(super) struct SftArguments {
    /// Whose rows to write
    #[arg(long, value_name = "TRAINER", default_value = "trl", hide_short_help = true)]
    format: TrainerChoice,

    /// A row for each conversation, or for each message of the model with its history
    #[arg(long, value_name = "UNIT", default_value = "session", hide_short_help = true)]
    rows_per: PerChoice,

    /// Inputs of calls as objects, or as JSON in strings
    #[arg(long, value_name = "HOW", default_value = "object", hide_short_help = true)]
    arguments: ArgumentsChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TrainerChoice {
    Trl,
    Llamafactory,
    Axolotl,
    Openai,
    Verl,
    Skyrl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PerChoice {
    Session,
    Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ArgumentsChoice {
    #[value(alias = "dict")]
    Object,
    String,
}

impl SftArguments {
    pub(super) fn format(&self) -> SftFormat {
        match self.format {
            TrainerChoice::Trl => SftFormat::Trl,
            TrainerChoice::Llamafactory => SftFormat::LlamaFactory,
            TrainerChoice::Axolotl => SftFormat::Axolotl,
            TrainerChoice::Openai => SftFormat::OpenAi,
            TrainerChoice::Verl => SftFormat::Verl,
            TrainerChoice::Skyrl => SftFormat::SkyRl,
        }
    }

    pub(super) fn options<'o>(&self, states: StateOptions<'o>) -> Result<SftOptions<'o>, CliError> {
        let format = self.format();
        if states.thinking == Thinking::Keep && !format.has_thinking() {
            return Err(CliError::new("--keep-thinking: this trainer has no place for thinking")
                .hint("leave it out, or choose --format trl, axolotl, verl or skyrl"));
        }
        let llama = format == SftFormat::LlamaFactory;
        if llama && self.arguments == ArgumentsChoice::String {
            return Err(CliError::new("--arguments string: LLaMA-Factory wants objects")
                .hint("leave it out, or choose another --format"));
        }
        Ok(SftOptions {
            format,
            per: match self.rows_per {
                PerChoice::Session => Per::Session,
                PerChoice::Step => Per::Step,
            },
            arguments: match self.arguments {
                ArgumentsChoice::Object => Arguments::Object,
                ArgumentsChoice::String => Arguments::Text,
            },
            states,
        })
    }
}
