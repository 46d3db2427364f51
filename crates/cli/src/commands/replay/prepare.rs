//! States for a run: from files of states or from sessions, cleared, in one file.

use super::ReplayArguments;
use crate::args::GlobalArguments;
use crate::commands::export::{Job, Put};
use crate::commands::show::refuse_agents_folder;
use crate::environment;
use crate::error::CliError;
use crate::figures::counted;
use crate::prices;
use crate::ui;
use crate::work::Work;
use backstory_replay::states::{
    Conversation, Gatherer, StatesError, StatesFile, clear, looks_like_states,
};
use backstory_session::export::{
    Format, Layout, OnUnknown, Options, Repositories, Secrets, StateOptions, SystemPrompt,
};
use backstory_session::redact::Redactor;
use backstory_session::store::{Access, Notice, StoreError, remove_file, resolve, write_file};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// What the user named.
pub(super) struct Sources {
    files: Vec<PathBuf>,
    work: Option<Work>,
}

/// States ready to be asked about.
pub(super) struct Prepared {
    pub(super) file: StatesFile,
    /// What could not be read.
    pub(super) notices: Vec<Notice>,
    /// Holds the file of a dry run, which goes with it.
    _temporary: Option<tempfile::NamedTempFile>,
}

/// The first line of a session is shorter than this, and so is that of most files of states.
const LONGEST_FIRST_LINE: u64 = 1 << 30;

/// `NAME.states.jsonl` beside `NAME.jsonl`.
pub(super) fn states_path(journal: &Path) -> PathBuf {
    let name = journal.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".jsonl").unwrap_or(&name);
    journal.with_file_name(format!("{stem}.states.jsonl"))
}

/// Takes a journal away again into which nothing was written, and the states file if that is empty.
pub(super) fn discard_empty(journal: &Path) {
    for path in [journal, &states_path(journal)] {
        if std::fs::metadata(path).is_ok_and(|there| there.is_file() && there.len() == 0) {
            let _ = remove_file(path);
        }
    }
}

impl Sources {
    pub(super) fn find(
        arguments: &ReplayArguments,
        global: &GlobalArguments,
    ) -> Result<Sources, CliError> {
        let mut files = Vec::new();
        let mut sessions = Vec::new();
        for name in &arguments.names {
            match holds_states(Path::new(name)) {
                true => files.push(PathBuf::from(name)),
                false => sessions.push(name.clone()),
            }
        }
        let work = match sessions.is_empty() {
            true => None,
            false => Some(Work::named(&sessions, global)?),
        };
        Ok(Sources { files, work })
    }

    /// Refuses to write over what is read, or where agents keep their sessions.
    pub(super) fn refuse(&self, path: &Path) -> Result<(), CliError> {
        let roots = match &self.work {
            Some(work) if !work.roots.is_empty() => work.roots.clone(),
            _ => environment::default_roots(),
        };
        refuse_agents_folder(path, &roots)?;
        let places = [resolve(path), resolve(&states_path(path))];
        let sessions = self
            .work
            .iter()
            .flat_map(|work| work.chosen())
            .map(|one| one.path().to_path_buf())
            .collect::<Vec<_>>();
        match self.files.iter().chain(&sessions).find(|file| places.contains(&resolve(file))) {
            None => Ok(()),
            Some(file) => {
                Err(CliError::new(format!("`{}`: that is read, not written", file.display()))
                    .hint("name another journal with --journal"))
            }
        }
    }

    /// Makes the states file: beside the journal if it is to be sent, else one that goes again.
    pub(super) fn prepare(
        &self,
        arguments: &ReplayArguments,
        global: &GlobalArguments,
        redactor: &Redactor,
    ) -> Result<Prepared, CliError> {
        let mut notices: Vec<Notice> = Vec::new();
        let (path, temporary) = match arguments.send {
            true => (states_path(&arguments.journal), None),
            false => {
                let file = tempfile::NamedTempFile::new()?;
                (file.path().to_path_buf(), Some(file))
            }
        };
        let mut file = StatesFile::new(&path);
        let earlier = match arguments.send {
            true => File::open(&path).ok().map(BufReader::new),
            false => None,
        };
        write_file::<CliError>(&path, Access::Usual, |out| {
            for source in &self.files {
                read_states(source, redactor, &mut file, out, &mut notices)?;
            }
            if let Some(work) = &self.work {
                notices.extend(work.notices.iter().cloned());
                read_sessions(work, arguments, redactor, &mut file, out, &mut notices)?;
            }
            if let Some(mut earlier) = earlier {
                file.keep(&mut earlier, out)?;
            }
            Ok(())
        })?;
        if !global.quiet {
            ui::notices(&notices);
            if file.repeated > 0 {
                let count = counted(file.repeated, "state", "states");
                ui::say(&format!("{count} left out that stood there already under the same id"));
            }
        }
        Ok(Prepared { file, notices, _temporary: temporary })
    }
}

/// Whether a file's first line is a state or a conversation with states.
fn holds_states(path: &Path) -> bool {
    let Some(file) = File::open(path).ok().filter(|_| path.is_file()) else { return false };
    let mut line = String::new();
    let read = BufReader::new(file.take(LONGEST_FIRST_LINE)).read_line(&mut line);
    read.is_ok() && looks_like_states(&line)
}

fn put(
    conversation: Conversation,
    redactor: &Redactor,
    file: &mut StatesFile,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let cleared = clear(conversation, redactor)
        .map_err(|cause| CliError::new(format!("redaction: {cause}")).hint("nothing was sent"))?;
    Ok(file.add(cleared, out)?)
}

/// Why a file of states was not read to its end.
enum Broken {
    Read(StatesError),
    Write(CliError),
}

impl From<StatesError> for Broken {
    fn from(error: StatesError) -> Broken {
        Broken::Read(error)
    }
}

fn read_states(
    source: &Path,
    redactor: &Redactor,
    file: &mut StatesFile,
    out: &mut impl Write,
    notices: &mut Vec<Notice>,
) -> Result<(), CliError> {
    let note = |reason: String| Notice::failed(source, reason);
    let reader =
        File::open(source).map_err(|cause| StoreError::Io { path: source.to_path_buf(), cause })?;
    let reader = BufReader::with_capacity(256 << 10, reader);
    let mut faults = Vec::new();
    let mut kinds = Vec::new();
    let read = Gatherer::read::<Broken>(
        reader,
        |conversation| {
            if let Some(kind) = foreign(&conversation) {
                kinds.push(kind);
                return Ok(());
            }
            put(conversation, redactor, file, out).map_err(Broken::Write)
        },
        |fault| faults.push(fault.to_string()),
    );
    notices.extend(faults.into_iter().map(note));
    if !kinds.is_empty() {
        let count = counted(kinds.len() as u64, "conversation", "conversations");
        notices.push(note(format!("{count} in Anthropic's shape; export with --messages openai")));
    }
    match read {
        Ok(()) => Ok(()),
        Err(Broken::Read(error)) => {
            notices.push(note(error.to_string()));
            Ok(())
        }
        Err(Broken::Write(error)) => Err(error),
    }
}

/// Whether messages hold blocks of another protocol, which could not be told on.
fn foreign(conversation: &Conversation) -> Option<()> {
    let blocks =
        conversation.messages.iter().filter_map(|message| message.get("content")?.as_array());
    let strange = blocks.flatten().any(|block| {
        block.get("type").is_some_and(|kind| kind == "tool_use" || kind == "tool_result")
    });
    strange.then_some(())
}

fn read_sessions(
    work: &Work,
    arguments: &ReplayArguments,
    redactor: &Redactor,
    file: &mut StatesFile,
    out: &mut (impl Write + Send),
    notices: &mut Vec<Notice>,
) -> Result<(), CliError> {
    let prices = prices::read(None)?;
    let text = match arguments.system_prompt.strip_prefix('@') {
        Some(path) => Some(
            std::fs::read_to_string(path)
                .map_err(|error| CliError::new(format!("--system-prompt `{path}`: {error}")))?,
        ),
        None => None,
    };
    let states = StateOptions {
        layout: Layout::Compact,
        max_history_tokens: arguments.max_history_tokens,
        system: match (&text, arguments.system_prompt.as_str()) {
            (Some(text), _) => SystemPrompt::Text(text),
            (None, "auto") => SystemPrompt::Auto,
            (None, "none") => SystemPrompt::None,
            (None, text) => SystemPrompt::Text(text),
        },
        ..StateOptions::default()
    };
    let chosen = work.chosen();
    let job = Job {
        work,
        chosen: &chosen,
        options: Options {
            format: Format::TraceState(states),
            generation: 0,
            max_observation: None,
            repositories: Repositories::Leave,
            prices: &prices,
        },
        secrets: Secrets::TakenOut(redactor),
        table: None,
        on_unknown: OnUnknown::Ignore,
    };
    let (_, failed) = job.each(|_, document| {
        let mut lines = Vec::new();
        document.copy_to(&mut lines)?;
        for line in String::from_utf8_lossy(&lines).lines() {
            let conversation = Conversation::parse(line)
                .map_err(|cause| CliError::new(format!("states: {cause}")))?;
            put(conversation, redactor, file, out)?;
        }
        Ok(Put::Written)
    })?;
    notices.extend(failed);
    Ok(())
}
