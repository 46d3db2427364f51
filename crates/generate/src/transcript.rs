//! A session file being written: its envelope, its chain of parents, its clock and its truth.
//!
//! Knows how a record is framed, not what a session is about; the modules beside it add the kinds of
//! records, `session` puts them in order.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

use crate::clock::Clock;
use crate::disk;
use crate::era::{Era, UsageRegime, is_gateway};
use crate::identifier::Uuid;
use crate::json::Line;
use crate::pools::Pools;
use crate::random::Random;
use crate::source_file::SourceFile;
use crate::truth::{Counts, FileTruth, Usage};

/// Where a session was worked on.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    /// Folder name below `projects/`.
    pub(crate) key: String,
    /// Working directory, escaped for JSON (it needs no escaping on this side).
    pub(crate) path: String,
    /// Branch, `""` outside git.
    pub(crate) branch: String,
}

/// Which part of the tree of records is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// The branch that ends in the newest leaf.
    Story,
    /// A branch that will be left.
    Abandoned,
    /// A subagent inside the main file (1.0).
    Sidechain,
}

/// The state a copy of a session continues from.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint {
    /// Bytes of the file that are copied.
    pub(crate) offset: u64,
    /// Its counts so far.
    pub(crate) truth: FileTruth,
    /// The record the next one hangs from.
    pub(crate) parent: Option<Uuid>,
    /// When it was made.
    pub(crate) clock: Clock,
}

/// A line kept for compaction copies.
pub(crate) struct KeptLine {
    pub(crate) kind: &'static str,
    pub(crate) uuid: Uuid,
    pub(crate) bytes: Vec<u8>,
}

/// One `.jsonl` file.
pub(crate) struct Transcript<'p> {
    pub(crate) root: &'p Path,
    pub(crate) pools: &'p Pools,
    pub(crate) random: Random,
    pub(crate) era: Era,
    pub(crate) project: &'p Project,
    pub(crate) session: Uuid,
    pub(crate) agent: Option<String>,
    pub(crate) model: &'static str,
    pub(crate) clock: Clock,
    pub(crate) parent: Option<Uuid>,
    pub(crate) prompt_id: Option<Uuid>,
    pub(crate) lane: Lane,
    /// Tokens in the model's context.
    pub(crate) context: u64,
    pub(crate) sources: Vec<SourceFile>,
    pub(crate) largest_image: usize,
    pub(crate) kept: Vec<KeptLine>,
    kept_bytes: usize,
    envelope: Vec<u8>,
    line: Line,
    out: BufWriter<File>,
    /// What was written so far.
    pub(crate) truth: FileTruth,
    /// Lengths of the lines written, copies included.
    pub(crate) line_lengths: Vec<u32>,
    /// Messages that are not copies of another file's.
    pub(crate) own_usage: Usage,
    /// Subagent files that are finished.
    pub(crate) finished: Vec<Closed>,
}

impl std::fmt::Debug for Transcript<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Transcript").field("path", &self.truth.path).finish_non_exhaustive()
    }
}

/// What a new file is about.
#[derive(Debug)]
pub(crate) struct Opening<'p> {
    /// Where it was worked on.
    pub(crate) project: &'p Project,
    /// Client version.
    pub(crate) era: Era,
    /// Session id; for a subagent, the id of the session that owns it.
    pub(crate) session: Uuid,
    /// Agent id, for subagents.
    pub(crate) agent: Option<String>,
    /// `session`, or the kind of subagent.
    pub(crate) kind: &'static str,
    /// When it begins.
    pub(crate) clock: Clock,
    /// Path below the output folder.
    pub(crate) path: String,
}

impl<'p> Transcript<'p> {
    /// Creates the file.
    ///
    /// # Errors
    /// When the folder or the file cannot be made, or the file is there already.
    pub(crate) fn create(
        root: &'p Path,
        pools: &'p Pools,
        mut random: Random,
        opening: Opening<'p>,
        model: &'static str,
    ) -> Result<Self> {
        let file = disk::create(&root.join(&opening.path))?;
        let mut envelope = Line::default();
        envelope.begin();
        envelope.text("userType", "external");
        if opening.era.from(2, 1, 81) {
            envelope.text("entrypoint", random.pick(&["cli", "cli", "claude-vscode", "sdk-cli"]));
        }
        envelope.text("cwd", &opening.project.path);
        envelope.text("sessionId", opening.session);
        if opening.era.from(2, 1, 207) {
            envelope.text("session_id", opening.session);
        }
        envelope.text("version", opening.era.version);
        if opening.era.from(1, 0, 55) {
            envelope.text("gitBranch", &opening.project.branch);
        }
        if opening.era.from(2, 0, 64) && !opening.era.from(2, 1, 149) {
            envelope.text(
                "slug",
                random.pick(&["brave-amber-otter", "quiet-sorting-maple", "lucid-humming-comet"]),
            );
        }
        let envelope = envelope.finish();
        let envelope = envelope[1..envelope.len() - 2].to_vec();
        let context = random.between(12_000, 25_000);
        Ok(Self {
            root,
            pools,
            era: opening.era,
            project: opening.project,
            session: opening.session,
            model,
            clock: opening.clock,
            parent: None,
            prompt_id: None,
            lane: Lane::Story,
            context,
            sources: Vec::new(),
            largest_image: 0,
            kept: Vec::new(),
            kept_bytes: 0,
            envelope,
            line: Line::default(),
            out: BufWriter::with_capacity(1 << 18, file),
            truth: FileTruth {
                id: opening.agent.clone().unwrap_or_else(|| opening.session.text().to_owned()),
                parent: opening.agent.as_ref().map(|_| opening.session.text().to_owned()),
                path: opening.path,
                kind: opening.kind,
                project: (opening.project.key.clone(), opening.project.path.clone()),
                version: opening.era.version,
                ..FileTruth::default()
            },
            agent: opening.agent,
            line_lengths: Vec::new(),
            own_usage: Usage::default(),
            finished: Vec::new(),
            random,
        })
    }

    /// The counts of the lane being written.
    pub(crate) fn counts(&mut self) -> &mut Counts {
        match self.lane {
            Lane::Story => &mut self.truth.story,
            Lane::Abandoned => &mut self.truth.abandoned,
            Lane::Sidechain => &mut self.truth.sidechains,
        }
    }

    /// How complete the usage of this file is.
    pub(crate) fn regime(&self) -> UsageRegime {
        if self.agent.is_some() { self.era.agent_usage() } else { self.era.usage() }
    }

    /// True when the model sits behind a third-party gateway.
    pub(crate) fn gateway(&self) -> bool {
        is_gateway(self.model)
    }

    /// Writes a record that is part of the chain and makes it the parent of the next one.
    pub(crate) fn record(
        &mut self,
        kind: &'static str,
        body: impl FnOnce(&mut Line, &mut Random),
    ) -> Result<Uuid> {
        let parent = self.parent;
        let uuid = Uuid::new(&mut self.random);
        self.record_under(kind, parent, uuid, body)?;
        self.parent = Some(uuid);
        Ok(uuid)
    }

    /// Writes a record under a chosen parent, leaving the chain as it is.
    pub(crate) fn record_under(
        &mut self,
        kind: &'static str,
        parent: Option<Uuid>,
        uuid: Uuid,
        body: impl FnOnce(&mut Line, &mut Random),
    ) -> Result<()> {
        let step = self.random.between(15, 2400) as i64;
        self.clock.advance(step);
        let newer = self.era.from(2, 1, 100);
        let line = &mut self.line;
        line.begin();
        match &parent {
            Some(parent) => line.text("parentUuid", parent),
            None => line.null("parentUuid"),
        }
        line.flag("isSidechain", self.agent.is_some() || self.lane == Lane::Sidechain);
        if !newer {
            line.members(&self.envelope);
        }
        if let Some(agent) = &self.agent {
            line.text("agentId", agent);
        }
        if let (Some(prompt), "user") = (&self.prompt_id, kind) {
            line.text("promptId", prompt);
        }
        body(line, &mut self.random);
        line.text("type", kind);
        line.text("uuid", uuid);
        line.text("timestamp", self.clock.text());
        if newer {
            line.members(&self.envelope);
        }
        self.emit(kind, Some(uuid))
    }

    /// Writes a record without uuid and parent.
    pub(crate) fn metadata(
        &mut self,
        kind: &'static str,
        body: impl FnOnce(&mut Line, &mut Random),
    ) -> Result<()> {
        self.line.begin();
        self.line.text("type", kind);
        body(&mut self.line, &mut self.random);
        self.emit(kind, None)
    }

    /// Writes the line under construction.
    fn emit(&mut self, kind: &'static str, uuid: Option<Uuid>) -> Result<()> {
        let bytes = self.line.finish();
        self.out.write_all(bytes).context("cannot write")?;
        self.truth.line(kind);
        self.truth.bytes += bytes.len() as u64;
        self.line_lengths.push(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        if let Some(uuid) = uuid
            && self.agent.is_none()
            && self.lane == Lane::Story
            && self.kept_bytes + bytes.len() < 96 << 10
        {
            self.kept_bytes += bytes.len();
            self.kept.push(KeptLine { kind, uuid, bytes: bytes.to_vec() });
        }
        Ok(())
    }

    /// Writes a line copied from another file.
    pub(crate) fn copy(&mut self, kind: &'static str, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).context("cannot write")?;
        self.truth.line(kind);
        self.truth.bytes += bytes.len() as u64;
        self.line_lengths.push(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        Ok(())
    }

    /// Writes lines copied from another session whose counts are known.
    pub(crate) fn copy_prefix(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).context("cannot write")?;
        self.line_lengths
            .extend(bytes.split_inclusive(|&byte| byte == b'\n').map(|line| line.len() as u32));
        Ok(())
    }

    /// Forgets the lines kept for compaction copies.
    pub(crate) fn forget_kept(&mut self) {
        self.kept.clear();
        self.kept_bytes = 0;
    }

    /// The state from here on, for a copy that continues differently.
    #[must_use]
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            offset: self.truth.bytes,
            truth: self.truth.clone(),
            parent: self.parent,
            clock: self.clock,
        }
    }

    /// Takes over the state at which a copied prefix ends.
    pub(crate) fn continue_from(&mut self, checkpoint: &Checkpoint, original: Uuid) {
        let own = std::mem::take(&mut self.truth);
        self.truth = FileTruth {
            id: own.id,
            path: own.path,
            copied_from: Some(original.text().to_owned()),
            links: Vec::new(),
            ..checkpoint.truth.clone()
        };
        (self.parent, self.clock) = (checkpoint.parent, checkpoint.clock);
    }

    /// Finishes the file and gives it the time of its last record.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub(crate) fn close(mut self) -> Result<Closed> {
        self.out.flush().context("cannot write")?;
        let file = self.out.into_inner().context("cannot write")?;
        if self.truth.open_end && self.truth.bytes > 0 {
            self.truth.bytes -= 1;
            file.set_len(self.truth.bytes).context("cannot cut the last newline")?;
            if let Some(last) = self.line_lengths.last_mut() {
                *last -= 1;
            }
        }
        file.set_modified(self.clock.system_time()).context("cannot set the time of a file")?;
        Ok(Closed {
            truth: self.truth,
            line_lengths: self.line_lengths,
            own_usage: self.own_usage,
            subagents: self.finished,
        })
    }
}

/// A finished file.
#[derive(Debug)]
pub(crate) struct Closed {
    /// What is in it.
    pub(crate) truth: FileTruth,
    /// Lengths of its lines.
    pub(crate) line_lengths: Vec<u32>,
    /// Messages that are not copies.
    pub(crate) own_usage: Usage,
    /// The files of its subagents.
    pub(crate) subagents: Vec<Closed>,
}
