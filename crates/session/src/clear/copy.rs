//! A session's files as a cleared copy in a private folder, to be read like any session.
//!
//! This is how everything that shows or exports sessions gets redacted: it reads the copy. So no
//! format can forget a field, and cutting a text short never cuts a secret in half.

use super::documents::{clear_document, study_documents};
use super::file::{CopyError, Studied, copy, study};
use backstory_agents::{Observed, reader};
use backstory_format::json::IdPaths;
use backstory_model::Session;
use backstory_model::{AgentFile, SessionFiles};
use backstory_redact::Cleared;
use backstory_redact::Redactor;
use backstory_redact::Report;
use backstory_redact::Scrubber;
use backstory_store::{Scratch, Store, resolve};
use jiff::Timestamp;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The files of one session, cleared. They go when this goes.
#[derive(Debug)]
pub struct ClearedCopy {
    session: Option<SessionFiles>,
    agents: Vec<AgentFile>,
    /// Of a session of documents: where each file is relative to the others.
    names: Vec<PathBuf>,
    origins: Vec<Origin>,
    report: Report,
    folder: Scratch,
}

/// What a file of the copy was made from.
#[derive(Debug)]
struct Origin {
    copy: PathBuf,
    /// The path of the original, cleared.
    shown: String,
    /// The folder it is in, as an agent that works there calls it, cleared.
    folder: String,
    modified: Option<Timestamp>,
}

impl ClearedCopy {
    /// Copies a session and its subagents.
    pub fn of(
        files: &SessionFiles,
        redactor: &Redactor,
        store: &Store,
    ) -> Result<ClearedCopy, CopyError> {
        let reader = reader(files.agent);
        let ids = reader.id_fields();
        match reader.observed() {
            Observed::Records => ClearedCopy::make(Some(files), &files.agents, redactor, ids),
            Observed::Nothing => ClearedCopy::of_documents(files, redactor, ids, store),
        }
    }

    fn of_documents(
        files: &SessionFiles,
        redactor: &Redactor,
        ids: &IdPaths,
        store: &Store,
    ) -> Result<ClearedCopy, CopyError> {
        let mut scrubber = redactor.session();
        let studied = study_documents(&mut scrubber, files, store)?;
        let folder = Scratch::new().map_err(CopyError::Write)?;
        // A folder of events keeps its name, which the session may be called by.
        let own = files.path.file_name().filter(|_| files.path.is_dir());
        let base = own.map_or_else(|| folder.path().to_path_buf(), |name| folder.path().join(name));
        for file in &studied {
            let name = own.map_or_else(|| file.name.clone(), |own| Path::new(own).join(&file.name));
            let cleared = clear_document(&scrubber, file, ids);
            folder.write(&name, |out| Ok::<_, CopyError>(out.write_all(cleared.get())?))?;
        }
        let names: Vec<PathBuf> = studied.into_iter().map(|file| file.name).collect();
        let path = match (own, names.first()) {
            (None, Some(name)) => base.join(name),
            _ => base,
        };
        let shown = scrubber.scrub(&files.path.to_string_lossy()).into_owned();
        let folder_of = files.path.parent().map(resolve).unwrap_or_default();
        let beside = scrubber.scrub(&folder_of.to_string_lossy()).into_owned();
        let origin = Origin { copy: path.clone(), shown, folder: beside, modified: files.modified };
        let key = files.project_key.as_deref();
        let project_key = key.map(|key| scrubber.scrub(key).into_owned());
        let session = SessionFiles { path, project_key, part: None, ..files.clone() };
        Ok(ClearedCopy {
            session: Some(session),
            agents: Vec::new(),
            names,
            origins: vec![origin],
            report: scrubber.report().clone(),
            folder,
        })
    }

    /// Copies a subagent's file by itself.
    pub fn of_agent(file: &AgentFile, redactor: &Redactor) -> Result<ClearedCopy, CopyError> {
        let ids = reader(file.agent).id_fields();
        ClearedCopy::make(None, std::slice::from_ref(file), redactor, ids)
    }

    fn make(
        files: Option<&SessionFiles>,
        agents: &[AgentFile],
        redactor: &Redactor,
        ids: &IdPaths,
    ) -> Result<ClearedCopy, CopyError> {
        let mut scrubber = redactor.session();
        let main = files.map(|files| study(&mut scrubber, &files.path, ids)).transpose()?;
        let mut studied = Vec::new();
        for agent in agents {
            let meta =
                agent.meta.as_deref().map(|meta| study(&mut scrubber, meta, ids)).transpose()?;
            studied.push((agent, study(&mut scrubber, &agent.path, ids)?, meta));
        }
        let folder = Scratch::new().map_err(CopyError::Write)?;
        let mut making = Making { folder: &folder, scrubber: &scrubber, ids, origins: Vec::new() };
        let session = match (files, &main) {
            (Some(files), Some(main)) => {
                let key = files.project_key.as_deref();
                let path = making.write(main, &files.path, files.modified)?;
                let project_key = key.map(|key| scrubber.scrub(key).into_owned());
                Some(SessionFiles { path, project_key, agents: Vec::new(), ..files.clone() })
            }
            _ => None,
        };
        let mut copies = Vec::new();
        for (agent, studied, meta) in studied {
            let path = making.write(&studied, &agent.path, agent.modified)?;
            let meta = meta.zip(agent.meta.as_ref());
            let meta = meta.map(|(meta, path)| making.write(&meta, path, None)).transpose()?;
            copies.push(AgentFile { path, meta, ..agent.clone() });
        }
        let session = session.map(|session| SessionFiles { agents: copies.clone(), ..session });
        let (origins, report) = (making.origins, scrubber.report().clone());
        let names = Vec::new();
        Ok(ClearedCopy { session, agents: copies, names, origins, report, folder })
    }

    /// The session's files to read instead of the originals; none for a subagent by itself.
    pub fn session(&self) -> Option<Cleared<&SessionFiles>> {
        self.session.as_ref().map(Cleared::assert_cleared)
    }

    /// The subagents' files to read instead of the originals.
    pub fn agents(&self) -> Cleared<&[AgentFile]> {
        Cleared::assert_cleared(&self.agents)
    }

    /// The files of a session of documents, its own first: where each is, and its place relative
    /// to the others.
    pub fn files(&self) -> Cleared<Vec<(PathBuf, &Path)>> {
        let folder = self.session.as_ref().map(|files| files.path.as_path());
        let base = folder.filter(|path| path.is_dir()).unwrap_or(self.folder.path());
        Cleared::assert_cleared(
            self.names.iter().map(|name| (base.join(name), name.as_path())).collect(),
        )
    }

    /// What was taken out.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Lets a session that was read from the copy speak of the originals, whose paths are cleared.
    pub fn name_origins(&self, session: &mut Session) {
        let mut waiting = vec![session];
        while let Some(one) = waiting.pop() {
            let origin = self.origins.iter().find(|origin| origin.copy == one.source.path());
            if let Some(origin) = origin {
                // For an agent that writes into the project, the folder is that of its file.
                let folder = one.source.path().parent().map(resolve);
                let folder = folder.as_deref().map(Path::to_string_lossy);
                for cwd in &mut one.cwds {
                    if folder.as_deref() == Some(&**cwd) {
                        *cwd = origin.folder.as_str().into();
                    }
                }
                one.source.show_as(&origin.shown);
                one.file.modified = origin.modified.or(one.file.modified);
            }
            waiting.extend(one.subagents.iter_mut());
        }
    }
}

struct Making<'a> {
    folder: &'a Scratch,
    scrubber: &'a Scrubber,
    ids: &'a IdPaths,
    origins: Vec<Origin>,
}

impl Making<'_> {
    fn write(
        &mut self,
        studied: &Studied,
        original: &Path,
        modified: Option<Timestamp>,
    ) -> Result<PathBuf, CopyError> {
        // Two files may have the same name; the first is the session's, whose name may be its id.
        let number = self.origins.len();
        let name = original.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let name = if number == 0 { name.into_owned() } else { format!("{number}-{name}") };
        let name = Path::new(&name);
        let copy = self.folder.write(name, |out| copy(self.scrubber, studied, self.ids, out))?;
        let shown = self.scrubber.scrub(&original.to_string_lossy()).into_owned();
        let folder = original.parent().map(resolve).unwrap_or_default();
        let folder = self.scrubber.scrub(&folder.to_string_lossy()).into_owned();
        self.origins.push(Origin { copy: copy.clone(), shown, folder, modified });
        Ok(copy)
    }
}
