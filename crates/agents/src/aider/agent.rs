//! What is asked of the reader of chat histories.

use super::read;
use super::sessions::{before_date, headings};
use crate::common::{self, copy_name};
use crate::file_head::FileHead;
use crate::place::{Home, Kept, Surroundings};
use crate::reader::{AgentReader, Recognised};
use crate::split::{self, Layout, Part};
use backstory_format::json::IdPaths;
use backstory_model::{Agent, AgentInfo, Session, SessionFiles};
use backstory_store::{ReadContext, Store, StoreError};
use memchr::memmem;
use std::path::Path;
use std::sync::LazyLock;

pub(crate) const AGENT: Agent = Agent::new(&AgentInfo {
    name: "aider",
    title: "Aider",
    place: 6,
    unread: &[
        "time zone",
        "times of messages",
        "system prompt and files in the chat",
        "thinking",
        "exact tokens (rounded in newer releases)",
        "edits whose blocks do not name their file for certain",
    ],
});

/// How each session begins.
pub(super) const HEADING: &str = "# aider chat started at ";

/// How its files' names end.
const HISTORY: &str = ".aider.chat.history.md";

/// Markdown has no fields.
static IDS: LazyLock<IdPaths> = LazyLock::new(IdPaths::default);

/// Reads chat histories.
#[derive(Debug)]
pub(crate) struct Aider;

impl AgentReader for Aider {
    fn agent(&self) -> Agent {
        AGENT
    }

    /// The current folder, or the top of its repository.
    fn homes(&self, around: &Surroundings<'_>) -> Vec<Home> {
        let here = around.here;
        let is_top = |folder: &&Path| folder.join(".git").exists();
        let top = here.and_then(|here| here.ancestors().find(is_top));
        let places = [here, top].into_iter().flatten().map(|folder| folder.join(HISTORY));
        let named = around.named("AIDER_CHAT_HISTORY_FILE");
        let history = named.into_iter().chain(places).find(|path| path.is_file());
        history.map(Home::whole).into_iter().collect()
    }

    fn kept(&self) -> Kept {
        Kept::InProject
    }

    fn endings(&self) -> &'static [&'static str] {
        &[".md"]
    }

    /// By a heading; the rest of a history before its first one, by its name and a prompt.
    fn recognise(&self, file: &FileHead<'_>) -> Recognised {
        let begins = |line: &str| {
            file.bytes().starts_with(line.as_bytes())
                || memmem::find(file.bytes(), format!("\n{line}").as_bytes()).is_some()
        };
        let is_history =
            begins(HEADING) || file.name().ends_with(HISTORY) && (begins("#### ") || begins("> "));
        if is_history { Recognised::Yes(Layout::Own) } else { Recognised::No }
    }

    /// By the project's folder; a copy of one session is named after it.
    fn id(&self, path: &Path) -> String {
        let name = common::text(path.file_name());
        let folder = common::text(path.parent().and_then(Path::file_name));
        match (name.strip_suffix(HISTORY), folder.as_str()) {
            (Some(copy), _) if !copy.is_empty() => before_date(copy).to_owned(),
            (_, "") => "aider".to_owned(),
            (_, folder) => format!("aider-{folder}"),
        }
    }

    fn sessions(&self, path: &Path, _: Layout, store: &Store) -> Vec<Part> {
        let name = self.id(path);
        let file = common::text(path.file_name());
        let copy = file.strip_suffix(HISTORY).filter(|stem| !stem.is_empty());
        match store.load(path, None) {
            Ok(loaded) => {
                split::named(headings(&loaded.bytes, &name), &name, copy.unwrap_or(&name))
            }
            Err(_) => split::whole(&name),
        }
    }

    fn read_alone(
        &self,
        files: &SessionFiles,
        context: &mut ReadContext,
    ) -> Result<Session, StoreError> {
        read(files, &context.store)
    }

    fn id_fields(&self) -> &'static IdPaths {
        &IDS
    }

    fn copy_name(&self, own: &Path, name: &str) -> Option<String> {
        copy_name(own, name, Some(HISTORY.trim_start_matches('.')))
    }
}
