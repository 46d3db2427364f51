//! States for a run: from files of states or from sessions, cleared, in one file.

use super::ReplayArguments;
use crate::args::GlobalArguments;
use crate::commands::export::states::system_prompt;
use crate::commands::export::stopped;
use crate::error::CliError;
use crate::guard::guard;
use crate::input_sessions::InputSessions;
use crate::prices;
use crate::ui;
use backstory_export::{
    Document, Export, Format, Layout, OnUnknown, Options, Put, Repositories, Secrets, Skipped,
    StateOptions, SystemPrompt,
};
use backstory_model::Notice;
use backstory_redact::Redactor;
use backstory_replay::states::{
    Conversation, Gatherer, StatesError, StatesFile, clear, looks_like_states,
};
use backstory_session::select::SessionRef;
use backstory_store::{
    Access, Destination, Guard, Scratch, StoreError, open_file, remove_file, write_file,
};
use backstory_text::figures::counted;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// What the user named.
pub(super) struct Sources {
    files: Vec<PathBuf>,
    inputs: Option<InputSessions>,
}

/// States ready to be asked about.
pub(super) struct Prepared {
    pub(super) file: StatesFile,
    /// What could not be read.
    pub(super) notices: Vec<Notice>,
    /// Holds the file of a dry run, which goes with it.
    _temporary: Option<Scratch>,
}

/// The file of a dry run.
const STATES: &str = "states.jsonl";

/// The first line of a session is shorter than this, and so is that of most files of states.
const LONGEST_FIRST_LINE: u64 = 1 << 30;

/// What a run writes.
pub(super) struct Outputs {
    pub(super) journal: Destination,
    pub(super) states: Destination,
    pub(super) preview: Option<Destination>,
}

/// `NAME.states.jsonl` beside `NAME.jsonl`.
pub(super) fn states_path(journal: &Path) -> PathBuf {
    let name = journal.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".jsonl").unwrap_or(&name);
    journal.with_file_name(format!("{stem}.states.jsonl"))
}

/// Takes a journal away again into which nothing was written, and the states file if that is empty.
pub(super) fn discard_empty(outputs: &Outputs) {
    for to in [&outputs.journal, &outputs.states] {
        if std::fs::metadata(to.place()).is_ok_and(|there| there.is_file() && there.len() == 0) {
            let _ = remove_file(to);
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
            if holds_states(Path::new(name)) {
                files.push(PathBuf::from(name));
            } else {
                sessions.push(name.clone());
            }
        }
        let inputs =
            if sessions.is_empty() { None } else { Some(InputSessions::named(&sessions, global)?) };
        Ok(Sources { files, inputs })
    }

    /// Where everything goes: never over what is read, or where agents keep their sessions.
    pub(super) fn outputs(
        &self,
        arguments: &ReplayArguments,
        global: &GlobalArguments,
    ) -> Result<Outputs, CliError> {
        let chosen = self.inputs.as_ref().map(InputSessions::chosen).unwrap_or_default();
        let roots = self.inputs.as_ref().map(|inputs| inputs.roots.as_slice()).unwrap_or_default();
        let mut guard: Guard = guard(global, roots, &chosen);
        let given = [&arguments.prices, &arguments.teachers_from];
        self.files.iter().chain(given.into_iter().flatten()).for_each(|file| guard.reads(file));
        if let Some(file) = arguments.system_prompt.strip_prefix('@') {
            guard.reads(Path::new(file));
        }
        let journal = guard.file(&arguments.journal)?;
        let states = guard.file(&states_path(&arguments.journal))?;
        let preview = arguments.preview.as_deref();
        let preview = preview.map(|path| guard.file(path)).transpose()?;
        Ok(Outputs { journal, states, preview })
    }

    /// Makes the states file: beside the journal if it is to be sent, else one that goes again.
    pub(super) fn prepare(
        &self,
        arguments: &ReplayArguments,
        global: &GlobalArguments,
        outputs: &Outputs,
        redactor: &Redactor,
    ) -> Result<Prepared, CliError> {
        let mut notices: Vec<Notice> = Vec::new();
        let temporary = if arguments.send { None } else { Some(Scratch::new()?) };
        let path = match &temporary {
            None => outputs.states.place().to_path_buf(),
            Some(scratch) => scratch.path().join(STATES),
        };
        let mut skipped = Vec::new();
        let mut file = StatesFile::new(&path);
        let earlier = if arguments.send { open_file(&path).ok().map(BufReader::new) } else { None };
        let write = |out: &mut BufWriter<File>| {
            for source in &self.files {
                read_states(source, redactor, &mut file, out, &mut notices)?;
            }
            if let Some(inputs) = &self.inputs {
                notices.extend(inputs.notices.iter().cloned());
                skipped = read_sessions(inputs, arguments, redactor, &mut file, out, &mut notices)?;
            }
            if let Some(mut earlier) = earlier {
                file.keep(&mut earlier, out)?;
            }
            Ok::<_, CliError>(())
        };
        match &temporary {
            None => drop(write_file(&outputs.states, Access::Private, write)?),
            Some(scratch) => drop(scratch.write(Path::new(STATES), write)?),
        }
        if !global.quiet {
            ui::notices(&notices);
            for (why, count) in skipped.into_iter().filter(|(_, count)| *count > 0) {
                let count = counted(count, "message", "messages");
                ui::say(&format!("left out: {count} {}", why.words()));
            }
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
    let Some(file) = open_file(path).ok() else { return false };
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
        open_file(source).map_err(|cause| StoreError::Io { path: source.to_path_buf(), cause })?;
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

/// Also tells how many messages are no states because of where they stand.
fn read_sessions(
    inputs: &InputSessions,
    arguments: &ReplayArguments,
    redactor: &Redactor,
    file: &mut StatesFile,
    out: &mut (impl Write + Send),
    notices: &mut Vec<Notice>,
) -> Result<Vec<(Skipped, u64)>, CliError> {
    let prices = prices::read(None)?;
    let text = match arguments.system_prompt.strip_prefix('@') {
        Some(path) => Some(system_prompt(path)?),
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
    let chosen = inputs.chosen();
    let export = Export {
        sessions: &chosen,
        store: &inputs.store,
        options: Options {
            format: Format::TraceState(states),
            generation: 0,
            max_observation: None,
            repositories: Repositories::Leave,
            prices: &prices,
        },
        secrets: Secrets::TakenOut(redactor),
        on_unknown: OnUnknown::Ignore,
    };
    let put = |_: SessionRef<'_>, document: &mut Document| {
        let mut lines = Vec::new();
        document.copy_to(&mut lines)?;
        for line in String::from_utf8_lossy(&lines).lines() {
            let conversation = Conversation::parse(line)
                .map_err(|cause| CliError::new(format!("states: {cause}")))?;
            put(conversation, redactor, file, out)?;
        }
        Ok(Put::Written)
    };
    let (totals, failed) = export.each(&ui::Bar::new("exporting"), put).map_err(stopped)?;
    notices.extend(failed);
    Ok([Skipped::ClientRun, Skipped::NoPrompt].map(|why| (why, totals.skipped(why))).to_vec())
}
