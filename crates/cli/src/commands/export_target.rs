//! Formats of `backstory export` by name and version.

use crate::error::CliError;
use backstory_session::export::{AtifSchema, Format, OpenTracesSchema};
use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Target {
    /// OpenTraces TraceRecord, for datasets
    Opentraces,
    /// Agent Trajectory Interchange Format of Harbor
    Atif,
    /// Agent Trace: which lines of which files are the session's
    AgentTrace,
    /// What the model saw before each of its messages, and what it did: for training
    TraceState,
    /// Conversations as trainers load them
    Sft,
}

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

    pub(super) fn extension(self) -> &'static str {
        match self {
            Target::Opentraces | Target::TraceState | Target::Sft => "jsonl",
            Target::Atif | Target::AgentTrace => "json",
        }
    }
}
