//! The plan of a tree: which projects, how many files, how large, of which version.
//!
//! Sizes are handed out from what is left of the budget, largest first, so that the total comes out
//! right although a session cannot stop in the middle of a record.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::agents::AgentPlan;
use crate::clock::Clock;
use crate::disk;
use crate::era::{ERAS, Era};
use crate::identifier::Uuid;
use crate::pools::Pools;
use crate::project_key::project_key;
use crate::random::{Random, Spread};
use crate::transcript::{Checkpoint, Closed, Opening, Project, Transcript};
use crate::truth::Truth;

const SESSION_WEIGHT: Spread = &[(0, 20), (500, 300), (900, 1_800), (990, 8_000), (1000, 16_000)];
const AGENT_WEIGHT: Spread = &[(0, 20), (500, 90), (900, 350), (1000, 1_200)];

/// What to generate.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Folder that will hold `projects/` and `truth.json`.
    pub out: PathBuf,
    /// Size of all session files together.
    pub bytes: u64,
    /// Number of `.jsonl` files.
    pub files: usize,
    /// Number of project folders.
    pub projects: usize,
    /// Same seed, same tree.
    pub seed: u64,
}

struct Planned {
    project: usize,
    era: Era,
    weight: u64,
    agents: Vec<u64>,
}

struct Forkable {
    path: String,
    session: Uuid,
    project: usize,
    era: Era,
    checkpoint: Checkpoint,
}

/// Writes the tree and its `truth.json`.
///
/// # Errors
/// When the output folder holds sessions already, or something cannot be written.
pub fn generate(plan: &Plan) -> Result<Truth> {
    let projects_folder = plan.out.join("projects");
    if projects_folder.exists() {
        bail!("`{}` exists already: choose an empty folder", projects_folder.display());
    }
    if plan.files == 0 || plan.projects == 0 {
        bail!("at least one file and one project are needed");
    }
    let mut random = Random::new(plan.seed);
    let pools = Pools::new(&mut random.fork());
    let projects = projects(plan.projects, &mut random.fork());
    let forks = plan.files * 3 / 100;
    let agents = plan.files * 30 / 100;
    let mut sessions = sessions(plan.files - forks - agents, agents, &projects, &mut random.fork());
    sessions.sort_by_key(|session| std::cmp::Reverse(session.weight));

    let mut truth = Truth::default();
    let mut forkable = Vec::new();
    let mut weight_left: u64 =
        sessions.iter().map(Planned::total).sum::<u64>() + forks as u64 * 100;
    for planned in &sessions {
        let share = |weight: u64, left: u64| {
            u64::try_from(u128::from(left) * u128::from(weight) / u128::from(weight_left.max(1)))
                .unwrap_or(u64::MAX)
        };
        let left = plan.bytes.saturating_sub(truth.bytes);
        let mut plans: Vec<AgentPlan> =
            planned.agents.iter().map(|&weight| AgentPlan { bytes: share(weight, left) }).collect();
        let bytes = share(planned.weight, left);
        weight_left -= planned.total();

        let mut random = random.fork();
        let session = Uuid::new(&mut random);
        let mut transcript =
            open(&plan.out, &pools, &projects[planned.project], planned.era, session, random)?;
        transcript.largest_image =
            if bytes > 150_000 { (bytes / 3).min(2_600_000) as usize } else { 0 };
        let checkpoint = transcript.session(bytes, &mut plans)?;
        let path = transcript.truth.path.clone();
        collect(&mut truth, transcript.close()?);
        if let Some(checkpoint) = checkpoint
            && planned.era.from(2, 1, 98)
        {
            forkable.push(Forkable {
                path,
                session,
                project: planned.project,
                era: planned.era,
                checkpoint,
            });
        }
    }
    for number in 0..forks {
        let left = plan.bytes.saturating_sub(truth.bytes) / (forks - number) as u64;
        fork(plan, &pools, &projects, &forkable, &mut random, left, &mut truth)?;
    }
    write_truth(plan, &truth)?;
    Ok(truth)
}

impl Planned {
    fn total(&self) -> u64 {
        self.weight + self.agents.iter().sum::<u64>()
    }
}

fn projects(count: usize, random: &mut Random) -> Vec<Project> {
    let long = format!("/home/dev/{}/kiln", ["a-rather-long-folder-name"; 8].join("/"));
    let odd = [
        "/home/dev/my_app.v2",
        "/home/dev/with space",
        "/home/dev/窯業",
        "/home/dev/kiln/.claude/worktrees/fix",
        long.as_str(),
    ];
    (0..count)
        .map(|number| {
            // Odd names come late, so that a small tree is an ordinary one.
            let path = number.checked_sub(6).and_then(|number| odd.get(number)).map_or_else(
                || format!("/home/dev/project-{number:02}"),
                |path| (*path).to_owned(),
            );
            Project {
                key: project_key(&path),
                branch: (random.pick(&["main", "main", "master", "feat/parser", ""])).to_owned(),
                path,
            }
        })
        .collect()
}

fn sessions(
    count: usize,
    agents: usize,
    projects: &[Project],
    random: &mut Random,
) -> Vec<Planned> {
    let mut sessions: Vec<Planned> = (0..count)
        .map(|number| Planned {
            // Squared, so that the first projects have most of the sessions.
            project: random.below(projects.len()) * random.below(projects.len()) / projects.len(),
            era: ERAS[(number * 8 + 20) % ERAS.len()],
            weight: random.size(SESSION_WEIGHT) as u64,
            agents: Vec::new(),
        })
        .collect();
    let able: Vec<usize> =
        (0..count).filter(|&number| !sessions[number].era.sidechains_inside()).collect();
    for _ in 0..agents {
        // Larger sessions have more subagents: the larger of two candidates wins.
        let (one, two) = (random.pick(&able), random.pick(&able));
        let chosen = if sessions[one].weight > sessions[two].weight { one } else { two };
        sessions[chosen].agents.push(random.size(AGENT_WEIGHT) as u64);
    }
    sessions
}

fn open<'p>(
    root: &'p Path,
    pools: &'p Pools,
    project: &'p Project,
    era: Era,
    session: Uuid,
    mut random: Random,
) -> Result<Transcript<'p>> {
    let clock =
        Clock::at(era.day + random.below(20) as i64, random.between(25_000_000, 70_000_000) as i64);
    let path = format!("projects/{}/{}.jsonl", project.key, session.text());
    let model = era.model(&mut random);
    let opening = Opening { project, era, session, agent: None, kind: "session", clock, path };
    Transcript::create(root, pools, random, opening, model)
}

/// A session that repeats the beginning of another one under a new id and goes on differently.
fn fork(
    plan: &Plan,
    pools: &Pools,
    projects: &[Project],
    forkable: &[Forkable],
    random: &mut Random,
    bytes: u64,
    truth: &mut Truth,
) -> Result<()> {
    let mut random = random.fork();
    let session = Uuid::new(&mut random);
    if forkable.is_empty() {
        let mut transcript =
            open(&plan.out, pools, &projects[0], ERAS[ERAS.len() - 1], session, random)?;
        transcript.session(bytes, &mut Vec::new())?;
        collect(truth, transcript.close()?);
        return Ok(());
    }
    let source = &forkable[random.below(forkable.len())];
    let path = plan.out.join(&source.path);
    let original = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut copied = original[..source.checkpoint.offset as usize].to_vec();
    replace_all(&mut copied, source.session.as_ref(), session.as_ref());

    let mut transcript =
        open(&plan.out, pools, &projects[source.project], source.era, session, random)?;
    transcript.copy_prefix(&copied)?;
    transcript.continue_from(&source.checkpoint, source.session);
    transcript.turns(bytes.max(source.checkpoint.offset + 1), &mut Vec::new())?;
    transcript.closing()?;
    collect(truth, transcript.close()?);
    Ok(())
}

fn replace_all(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(from.len()).position(|window| window == from) {
        at += found;
        bytes[at..at + to.len()].copy_from_slice(to);
        at += to.len();
    }
}

fn collect(truth: &mut Truth, closed: Closed) {
    truth.line_lengths.extend(closed.line_lengths);
    truth.unique.add(&closed.own_usage);
    truth.bytes += closed.truth.bytes;
    truth.files.push(closed.truth);
    for subagent in closed.subagents {
        collect(truth, subagent);
    }
}

fn write_truth(plan: &Plan, truth: &Truth) -> Result<()> {
    let path = plan.out.join("truth.json");
    let arguments = json!({"bytes": plan.bytes, "files": plan.files, "projects": plan.projects, "seed": plan.seed});
    let mut text = serde_json::to_vec_pretty(&truth.json(&arguments))
        .context("cannot write the truth as JSON")?;
    text.push(b'\n');
    disk::write(&path, text)
}
