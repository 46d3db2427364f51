//! Formats of `backstory export` by name and version.

use crate::error::CliError;
use backstory_export::{AtifSchema, Format, OpenTracesSchema};
use clap::{ArgMatches, ValueEnum};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Target {
    /// OpenTraces TraceRecord, for datasets
    Opentraces,
    /// Agent Trajectory Interchange Format of Harbor
    Atif,
    /// Agent Trace: which lines of which files are the session's
    AgentTrace,
    /// For training: the model's input before each of its messages, and the message
    TraceState,
    /// Conversations as trainers load them
    Sft,
}

/// Options of formats that tell a session as a record.
const RECORDS: [&str; 4] = ["generation", "max_observation", "no_git", "prices"];

/// Options of both formats for training.
const TRAINING: [&str; 11] = [
    "system_prompt",
    "subagents",
    "strip_thinking",
    "keep_thinking",
    "max_history_tokens",
    "tokenizer",
    "min_action_chars",
    "versions",
    "on_unknown",
    "include_synthetic",
    "history",
];

/// Options of trace-state alone.
const STATES: [&str; 5] = ["granularity", "messages", "tool_errors", "compact", "examples"];

/// Options of sft alone.
const ROWS: [&str; 3] = ["format", "rows_per", "arguments"];

impl Target {
    /// The format by name and version; those for training are made of `training`.
    pub(super) fn format<'o>(
        self,
        schema: Option<&str>,
        training: impl FnOnce() -> Result<Format<'o>, CliError>,
    ) -> Result<Format<'o>, CliError> {
        let given = schema.map(|schema| schema.trim_start_matches(['v', 'V']));
        let (format, known) = match (self, given) {
            (Target::Opentraces, None | Some("0.9.0" | "0.9")) => {
                (Some(Format::OpenTraces(OpenTracesSchema::V0_9)), "")
            }
            (Target::Opentraces, Some("0.3.0" | "0.3")) => {
                (Some(Format::OpenTraces(OpenTracesSchema::V0_3)), "")
            }
            (Target::Opentraces, Some(_)) => (None, "0.9.0 and 0.3.0"),
            (Target::Atif, None | Some("1.7")) => (Some(Format::Atif(AtifSchema::V1_7)), ""),
            (Target::Atif, Some("1.8")) => (Some(Format::Atif(AtifSchema::V1_8)), ""),
            (Target::Atif, Some(_)) => (None, "1.7 and 1.8"),
            (Target::AgentTrace, None | Some("0.1.0" | "0.1")) => (Some(Format::AgentTrace), ""),
            (Target::AgentTrace, Some(_)) => (None, "0.1.0"),
            (Target::TraceState | Target::Sft, None) => (Some(training()?), ""),
            (Target::TraceState | Target::Sft, Some(_)) => (None, "none: leave --schema out"),
        };
        format.ok_or_else(|| {
            let schema = schema.unwrap_or_default();
            CliError::new(format!("--schema `{schema}`: this version is not written"))
                .hint(format!("versions are {known}"))
        })
    }

    /// Refuses options of other formats: they would do nothing.
    pub(super) fn check(self, given: &ArgMatches) -> Result<(), CliError> {
        let training = matches!(self, Target::TraceState | Target::Sft);
        let others = [
            (&RECORDS[..], !training),
            (&TRAINING[..], training),
            (&STATES[..], self == Target::TraceState),
            (&ROWS[..], self == Target::Sft),
        ];
        let of_others = others.into_iter().filter(|(_, own)| !own).flat_map(|(options, _)| options);
        let named = |option: &&&str| {
            given.value_source(option) == Some(clap::parser::ValueSource::CommandLine)
        };
        match of_others.into_iter().find(named) {
            None => Ok(()),
            Some(option) => {
                let value = self.to_possible_value();
                let format = value.as_ref().map_or("this format", |value| value.get_name());
                Err(CliError::new(format!("--{}: not for {format}", option.replace('_', "-")))
                    .hint("leave it out; `backstory export --help` says which formats have it"))
            }
        }
    }

    pub(super) fn extension(self) -> &'static str {
        match self {
            Target::Opentraces | Target::TraceState | Target::Sft => "jsonl",
            Target::Atif | Target::AgentTrace => "json",
        }
    }
}
