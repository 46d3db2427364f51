//! What `backstory spec` writes, and where.

use super::{Format, SpecArguments};
use crate::args::GlobalArguments;
use crate::error::CliError;
use crate::guard::agents_guard;
use crate::output::named;
use crate::ui::{self, JsonLines};
use backstory_claude::analyze::report::{self, VersionChanges};
use backstory_claude::analyze::{Difference, Version};
use backstory_session::select::SessionRef;
use backstory_store::{Access, Destination, Guard, GuardError, Store, write_file};
use backstory_text::document;
use backstory_text::document::Document;
use serde::Serialize;
use std::io::Write;

/// One difference as data: `backstory.differences/1`.
#[derive(Serialize)]
struct DifferenceJson<'a> {
    schema: &'static str,
    difference: &'static str,
    of: &'a str,
    path: &'a str,
    detail: &'a str,
    versions: Vec<&'a str>,
    count: u64,
    example: String,
}

/// What one version changed, as data: `backstory.history/1`.
#[derive(Serialize)]
struct HistoryJson<'a> {
    schema: &'static str,
    #[serde(flatten)]
    changes: &'a VersionChanges<'a>,
}

/// What is written, and where.
pub(super) struct Outputs<'a> {
    arguments: &'a SpecArguments,
    pub(super) guard: Guard,
}

impl<'a> Outputs<'a> {
    pub(super) fn new(
        arguments: &'a SpecArguments,
        global: &GlobalArguments,
    ) -> Result<Outputs<'a>, CliError> {
        let mut guard = agents_guard();
        global.root.iter().for_each(|root| guard.protect(root));
        if let Some(profile) = &arguments.profile {
            guard.reads(profile);
        }
        let outputs = Outputs { arguments, guard };
        outputs.destinations()?;
        Ok(outputs)
    }

    /// Refuses to write over these, before any of them is read.
    pub(super) fn refuse(
        &mut self,
        chosen: &[SessionRef<'_>],
        store: &Store,
    ) -> Result<(), CliError> {
        let sources = chosen.iter().flat_map(|one| one.sources(store));
        sources.for_each(|source| self.guard.reads(&source));
        self.destinations()?;
        Ok(())
    }

    /// Where the document goes, and the profile.
    fn destinations(&self) -> Result<[Option<Destination>; 2], GuardError> {
        let mut guard = self.guard.clone();
        let out = named(self.arguments.out.as_deref());
        let profile = self.arguments.save_profile.as_deref();
        Ok([
            out.map(|path| guard.file(path)).transpose()?,
            profile.map(|path| guard.file(path)).transpose()?,
        ])
    }

    pub(super) fn save_profile(&self, bytes: &[u8]) -> Result<(), CliError> {
        let [_, profile] = self.destinations()?;
        profile.map_or(Ok(()), |to| save(&to, bytes))
    }

    pub(super) fn differences(
        &self,
        title: &str,
        found: &[Difference],
        example: impl Fn(&Difference) -> String,
    ) -> Result<(), CliError> {
        if self.arguments.format() != Format::Json {
            return self.document(&report::differences(title, found, example));
        }
        self.lines(found.iter().map(|difference| DifferenceJson {
            schema: "backstory.differences/1",
            difference: difference.kind.name(),
            of: &difference.of,
            path: &difference.path,
            detail: &difference.detail,
            versions: difference.versions.iter().map(Version::as_str).collect(),
            count: difference.count,
            example: example(difference),
        }))
    }

    /// What each version of a profile changed.
    pub(super) fn history(&self, history: &[VersionChanges<'_>]) -> Result<(), CliError> {
        if self.arguments.format() != Format::Json {
            return self.document(&report::history_document(history));
        }
        self.lines(
            history.iter().map(|changes| HistoryJson { schema: "backstory.history/1", changes }),
        )
    }

    pub(super) fn document(&self, content: &Document) -> Result<(), CliError> {
        let text = match self.arguments.format() {
            Format::Html => document::html(content),
            Format::Md | Format::Json => document::markdown(content),
        };
        match self.destinations()? {
            [Some(to), _] => save(&to, text.as_bytes()),
            [None, _] => {
                let mut out = ui::stdout();
                out.write_all(text.as_bytes())?;
                Ok(out.flush()?)
            }
        }
    }

    pub(super) fn lines(
        &self,
        values: impl Iterator<Item = impl Serialize>,
    ) -> Result<(), CliError> {
        match self.destinations()? {
            [Some(to), _] => {
                let mut text = Vec::new();
                for value in values {
                    serde_json::to_writer(&mut text, &value)?;
                    text.push(b'\n');
                }
                save(&to, &text)
            }
            [None, _] => {
                let mut out = JsonLines::new();
                for value in values {
                    out.write(&value)?;
                }
                out.finish()
            }
        }
    }
}

fn save(to: &Destination, bytes: &[u8]) -> Result<(), CliError> {
    write_file(to, Access::Private, |out| Ok::<_, CliError>(out.write_all(bytes)?)).map(drop)
}
