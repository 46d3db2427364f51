//! The way into the library: the sessions on this machine or below some folders.

use crate::blame::{
    BlamedFile, FileHistory, FileText, FileTextError, NameSources, blame as blame_lines,
};
use crate::discover::{Found, ProjectScope, Root, discover};
use crate::environment::default_roots;
use crate::select::{Filter, ResolveError, SessionRef};
use crate::stats::{self, Dimension, Period, Prices, PricesError, Report};
use backstory_agents as agents;
use backstory_model::{Notice, Session};
use backstory_store::{Git, GitError, ReadContext, Store, StoreError};
use jiff::tz::TimeZone;
use std::path::{Path, PathBuf};

/// The sessions below some folders.
///
/// ```
/// use backstory_session::Sessions;
///
/// let sessions = Sessions::open(["../../testdata/sample"])?;
/// for one in sessions.iter() {
///     let (session, notices) = sessions.read(one)?;
///     println!("{} {} turns: {}", session.id, session.counts.turns, one.path().display());
///     assert!(notices.is_empty());
/// }
/// # assert!(sessions.iter().count() > 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Sessions {
    found: Found,
}

/// Why there are no sessions to look at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The home folder is unknown, and no variable names an agent's folder.
    #[error("the home folder is unknown")]
    NoHome,
    /// This file or folder does not exist.
    #[error("`{}`: no such file or folder", .0.display())]
    Missing(PathBuf),
}

/// Why the lines of a file have no origins.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlameError {
    /// The file could not be read, or is not text.
    #[error(transparent)]
    Text(#[from] FileTextError),
    /// Git could not be asked.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Sessions {
    /// The sessions of this user, of all agents, where the agents keep them.
    ///
    /// This reads the environment ([`environment`](crate::environment)). No sessions are not an
    /// error.
    ///
    /// ```no_run
    /// let sessions = backstory_session::Sessions::open_default()?;
    /// let latest = sessions.get("latest").ok();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_default() -> Result<Sessions, OpenError> {
        let roots = default_roots();
        if roots.is_empty() {
            return Err(OpenError::NoHome);
        }
        // The first is there even if no agent was ever used.
        let existing: Vec<Root> = roots.into_iter().filter(|root| root.path.exists()).collect();
        Ok(Sessions { found: discover(&existing, &Store::default()) })
    }

    /// The sessions in these files and folders. A folder is an agent's own (`~/.claude`), or any
    /// other with session files at any depth.
    pub fn open<P: AsRef<Path>>(roots: impl IntoIterator<Item = P>) -> Result<Sessions, OpenError> {
        Sessions::open_with(roots, &Store::default())
    }

    /// The same, read through this store: with other limits, or with tables.
    ///
    /// ```
    /// use backstory_session::Sessions;
    /// use backstory_format::Limits;
    /// use backstory_store::Store;
    ///
    /// let limits = Limits { max_record: 1 << 20, ..Limits::default() };
    /// let store = Store::default().with_limits(limits);
    /// let sessions = Sessions::open_with(["../../testdata/sample"], &store)?;
    /// # assert!(sessions.iter().count() > 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_with<P: AsRef<Path>>(
        roots: impl IntoIterator<Item = P>,
        store: &Store,
    ) -> Result<Sessions, OpenError> {
        let root = |path: P| Root { path: path.as_ref().to_path_buf() };
        let roots: Vec<Root> = roots.into_iter().map(root).collect();
        match roots.iter().find(|root| !root.path.exists()) {
            Some(missing) => Err(OpenError::Missing(missing.path.clone())),
            None => Ok(Sessions { found: discover(&roots, store) }),
        }
    }

    /// Every session in order of paths, then subagents whose session is gone.
    pub fn iter(&self) -> impl Iterator<Item = SessionRef<'_>> {
        let sessions = self.found.sessions.iter().map(SessionRef::Session);
        sessions.chain(self.found.stray_agents.iter().map(SessionRef::Agent))
    }

    /// The session with this id, `latest`, or `latest~N`. The start of an id is enough.
    ///
    /// ```
    /// # let sessions = backstory_session::Sessions::open(["../../testdata/sample"])?;
    /// let one = sessions.get("59aba946").map_err(|_| "no such session")?;
    /// assert_eq!(one.id(), "59aba946-bbf3-47b2-a1c0-a3bbe8bbaa64");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get(&self, name: &str) -> Result<SessionRef<'_>, ResolveError<'_>> {
        self.found.resolve(name, &Filter::default())
    }

    /// The sessions that worked in a folder, or in another worktree of its repository.
    pub fn worked_in(&self, folder: &Path) -> impl Iterator<Item = SessionRef<'_>> {
        let sessions = self.found.worked_in(&[ProjectScope::new(folder)]);
        sessions.into_iter().map(SessionRef::Session)
    }

    /// The sessions that meet the conditions of a filter. Those that cannot be read become notices.
    pub fn matching(&self, filter: &Filter) -> (Vec<SessionRef<'_>>, Vec<Notice>) {
        let (sessions, notices) = self.found.matching(filter);
        (sessions.into_iter().map(SessionRef::Session).collect(), notices)
    }

    /// Reads a session with its subagents. A subagent that cannot be read becomes a notice.
    pub fn read(&self, one: SessionRef<'_>) -> Result<(Session, Vec<Notice>), StoreError> {
        let context = &mut ReadContext::new(&self.found.store);
        let (session, failures) = match one {
            SessionRef::Session(files) => agents::read(files, context)?,
            SessionRef::Agent(file) => (agents::read_stray(file, context)?, Vec::new()),
        };
        Ok((session, failures.iter().map(Notice::from).collect()))
    }

    /// Finds out which session, model and prompt wrote each line of a file.
    ///
    /// Set [`NameSources::recorded_as`] if the project was in another folder when it was worked on.
    ///
    /// ```
    /// use backstory_session::Sessions;
    /// use backstory_session::blame::NameSources;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("heater_sim.py");
    /// # let (sessions, recorded_as) = ("../../testdata/sample", ["/home/dev/greenhouse".to_owned()]);
    /// # let made = Sessions::open([sessions])?;
    /// # let (session, _) = made.read(made.get("8ea9873d").unwrap())?;
    /// # let write = backstory_session::conversation(&session)?.map(Result::unwrap).find_map(|part| {
    /// #     let input: serde_json::Value = serde_json::from_str(&part.text).ok()?;
    /// #     Some(input.get("content")?.as_str()?.to_owned())
    /// # });
    /// # std::fs::write(&path, write.unwrap())?;
    /// let sessions = Sessions::open([sessions])?;
    /// let sources = NameSources { recorded_as: &recorded_as, ..NameSources::default() };
    /// let blame = sessions.blame(&path, sources)?;
    /// for line in &blame.lines {
    ///     let model = line.edit.as_ref().and_then(|edit| edit.by.model.as_deref());
    ///     println!("{:>4} {:20} {}", line.number, model.unwrap_or("-"), line.text);
    /// }
    /// # assert!(blame.lines[0].edit.is_some(), "{blame:?}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blame(&self, path: &Path, sources: NameSources<'_>) -> Result<BlamedFile, BlameError> {
        let text = FileText::on_disk(path)?;
        let mut history = FileHistory::read(path, &self.found, sources, &());
        let git = Git::holding(path, &self.found.store);
        if let Some(git) = &git {
            history.look_into_commits(git, &text);
        }
        let blamed = blame_lines(&history, &text, git.as_ref())?;
        Ok(BlamedFile::of(&blamed))
    }

    /// Tokens and costs of some sessions at the bundled prices, each message once. Days begin in
    /// UTC. Files that could not be read become notices.
    ///
    /// ```
    /// use backstory_session::Sessions;
    /// use backstory_session::stats::Dimension;
    ///
    /// let sessions = Sessions::open(["../../testdata/sample"])?;
    /// let one = sessions.get("59aba946").map_err(|_| "no such session")?;
    /// let (report, _notices) = sessions.stats([one], Dimension::Model)?;
    /// for row in &report.rows {
    ///     println!("{:?}: {} tokens", row.key, row.figures.tokens());
    /// }
    /// # assert!(report.total.tokens() > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats<'r>(
        &self,
        chosen: impl IntoIterator<Item = SessionRef<'r>>,
        by: Dimension,
    ) -> Result<(Report, Vec<Notice>), PricesError> {
        let (mut sessions, mut strays) = (Vec::new(), Vec::new());
        for one in chosen {
            match one {
                SessionRef::Session(files) => sessions.push(files.clone()),
                SessionRef::Agent(file) => strays.push(file.clone()),
            }
        }
        let prices = Prices::bundled()?;
        let period = Period { since: None, until: None, zone: TimeZone::UTC };
        let ledger = stats::gather(&sessions, &strays, by, &self.found.store, |_| {});
        let types = match by {
            Dimension::Subagent | Dimension::AgentType => {
                stats::agent_types(&ledger, &sessions, &self.found.store)
            }
            _ => Default::default(),
        };
        let report = stats::report(&ledger, by, &prices, &period, &types);
        Ok((report, ledger.failures.iter().map(Notice::from).collect()))
    }

    /// What was found, for the modules that take it: sessions, empty files, notices.
    pub fn found(&self) -> &Found {
        &self.found
    }
}
