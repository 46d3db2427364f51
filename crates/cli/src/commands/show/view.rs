//! What `show` shows and how: options that single sessions and whole projects share.

use crate::config;
use crate::error::CliError;
use crate::prices;
use crate::redaction;
use crate::ui;
use backstory_model::Session;
use backstory_redact::{Class, Raw, Redactor};
use backstory_session::render::{self, DEFAULT_RESULT, Look, Parts, TurnRange, View};
use backstory_session::wire::SessionJson;
use backstory_text::escape::JsonWriter;
use backstory_text::excerpt::Keep;
use backstory_text::figures;
use clap::{Args, ValueEnum};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Args)]
pub(crate) struct ViewArguments {
    /// Output format
    #[arg(long, short, value_name = "FORMAT")]
    format: Option<Format>,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Show all of results, thinking, long edits and client messages
    #[arg(long)]
    pub(crate) full: bool,

    /// Also show the client's own messages: hooks, reminders, caveats
    #[arg(long)]
    noise: bool,

    /// Only these: prompts, text, tools, results, thinking, edits, subagents
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    select: Vec<String>,

    /// Only these turns: 3, 3..7, 3.., ..7
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    turns: Option<String>,

    /// Bytes of each tool result to keep, half from each end (with K, M), or `all`
    #[arg(long, value_name = "SIZE", hide_short_help = true)]
    max_result: Option<String>,

    /// Redact secrets, home folders and user names, for sharing
    #[arg(long)]
    pub(crate) share: bool,

    /// Redact secrets, and what else is named: paths, people
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', num_args = 0..=1, default_missing_value = "secrets", require_equals = true)]
    redact: Vec<String>,

    /// With --share: redact nothing
    #[arg(long, requires = "share", conflicts_with = "redact")]
    raw: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Coloured, wrapped, paged
    Terminal,
    /// The same without colours, for pipes and files
    Text,
    /// A document with links between calls and subagents
    Md,
    /// One page that needs nothing else
    Html,
    /// The whole model, documented and versioned
    Json,
}

impl Format {
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Format::Terminal | Format::Text => "txt",
            Format::Md => "md",
            Format::Html => "html",
            Format::Json => "json",
        }
    }

    /// The format that a file's name asks for.
    pub(crate) fn by_name(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "md" | "markdown" => Some(Format::Md),
            "html" | "htm" => Some(Format::Html),
            "json" => Some(Format::Json),
            "txt" => Some(Format::Text),
            _ => None,
        }
    }
}

impl ViewArguments {
    /// The format that was asked for.
    pub(crate) fn format(&self) -> Option<Format> {
        self.json.then_some(Format::Json).or(self.format)
    }

    pub(crate) fn view(&self) -> Result<View, CliError> {
        let mut view = View::new(config::zone());
        view.prices = Some(Arc::new(prices::read(None)?));
        if !self.select.is_empty() {
            let names = self.select.iter().map(|name| name.trim());
            view.parts = Parts::only(names).map_err(|unknown| {
                CliError::new(format!("--select `{unknown}`: no such part"))
                    .hint(format!("the parts are {}", Parts::NAMES.join(", ")))
            })?;
        }
        if let Some(range) = &self.turns {
            view.turns = TurnRange::parse(range).ok_or_else(|| {
                CliError::new(format!("--turns `{range}`: not a range of turns"))
                    .hint("use 3, 3..7, 3.. or ..7; the first turn is 1")
            })?;
        }
        view.full = self.full;
        view.noise = self.noise || self.full;
        view.result = match self.max_result.as_deref() {
            None if self.full => Keep::Everything,
            None => Keep::Ends(DEFAULT_RESULT),
            Some("all") => Keep::Everything,
            Some(size) => {
                let size = crate::args::parse_size(size).map_err(|cause| {
                    CliError::new(format!("--max-result `{size}`: {cause}"))
                        .hint("use a number of bytes such as 4K, or `all`")
                })?;
                Keep::Ends(usize::try_from(size).unwrap_or(usize::MAX))
            }
        };
        Ok(view)
    }

    /// Refuses what a format has no use for.
    pub(crate) fn check(&self, format: Format) -> Result<(), CliError> {
        let given = [
            ("--select", !self.select.is_empty()),
            ("--turns", self.turns.is_some()),
            ("--max-result", self.max_result.is_some()),
        ];
        match given.iter().find(|(_, given)| *given && format == Format::Json) {
            Some((option, _)) => {
                Err(CliError::new(format!("{option}: JSON holds the whole session"))
                    .hint("choose from it, as with `| jq '.turns[2]'`, or use another --format"))
            }
            None => Ok(()),
        }
    }

    /// Refuses turns that the session does not have.
    pub(crate) fn check_turns(&self, session: &Session, view: &View) -> Result<(), CliError> {
        match &self.turns {
            Some(range) if !view.turns.meets(session.turns.len()) => {
                let turns = figures::counted(session.turns.len() as u64, "turn", "turns");
                Err(CliError::new(format!("--turns `{range}`: the session has {turns}")))
            }
            _ => Ok(()),
        }
    }

    /// What takes secrets out, if that is wanted.
    pub(crate) fn redactor(&self) -> Result<Option<Redactor>, CliError> {
        if self.raw {
            let _ = Raw::requested_by_user();
            ui::warn("--raw: the output holds whatever the session holds, secrets included");
            return Ok(None);
        }
        if !self.share && self.redact.is_empty() {
            return Ok(None);
        }
        let mut classes = redaction::classes(&self.redact)?;
        if self.share {
            classes = classes.and(Class::Paths);
        }
        redaction::redactor(classes).map(Some)
    }

    /// What the output depends on besides the session.
    pub(crate) fn fingerprint(&self, format: Format) -> String {
        format!(
            "{} {} full={} noise={} select={} turns={} max-result={} zone={} share={} raw={} redact={}",
            env!("CARGO_PKG_VERSION"),
            format.extension(),
            self.full,
            self.noise,
            self.select.join(","),
            self.turns.as_deref().unwrap_or_default(),
            self.max_result.as_deref().unwrap_or_default(),
            config::zone().iana_name().unwrap_or_default(),
            self.share,
            self.raw,
            self.redact.join(","),
        )
    }

    /// The format for this destination.
    pub(crate) fn format_for(&self, out: Option<&Path>) -> Format {
        let named = self.format().or_else(|| Format::by_name(out?));
        named.unwrap_or_else(|| {
            if out.is_none() && std::io::stdout().is_terminal() {
                Format::Terminal
            } else {
                Format::Text
            }
        })
    }
}

/// Lines on a terminal wider than this are hard to read.
const WIDEST: usize = 120;
const USUAL_WIDTH: usize = 100;

pub(crate) fn write_session(
    session: &Session,
    view: &View,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    match format {
        Format::Md => render::markdown(session, view, out)?,
        Format::Html => render::html(session, view, out)?,
        Format::Text => {
            render::terminal(session, view, Look { width: None, colour: false }, out)?;
        }
        Format::Terminal => {
            let width = ui::width().map_or(USUAL_WIDTH, |width| width.min(WIDEST));
            let look = Look { width: Some(width), colour: ui::has_colour() };
            render::terminal(session, view, look, out)?;
        }
        Format::Json => {
            let mut out = JsonWriter::new(out);
            serde_json::to_writer(&mut out, &SessionJson(session))?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
    }
    Ok(())
}
