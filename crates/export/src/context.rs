//! What all formats need to know of a session before the first byte is written.

use crate::commits::Commits;
use crate::commits::Repositories;
use crate::fetch::Fetcher;
use crate::language;
use crate::lines::{Patches, Written, shown_path};
use crate::options::{Format, OpenTracesSchema, Options};
use crate::timeline::{Entry, Item, Timeline};
use backstory_model::{
    Action, ActionKind, Call, CallOutcome, Content, Session, SessionKind, TurnKind, UsageTotal,
};
use backstory_session::history::CallCache;
use backstory_session::stats::{Cost, Prices};
use backstory_store::StoreError;
use hashbrown::{HashMap, HashSet};
use std::cell::{RefCell, RefMut};
use std::collections::BTreeSet;

/// Facts of one session.
#[derive(Debug)]
pub(super) struct Context<'s> {
    pub(super) session: &'s Session,
    pub(super) timeline: Timeline<'s>,
    pub(super) written: Written,
    /// What each member is there for: `main`, or the kind of subagent.
    pub(super) roles: Vec<String>,
    /// Over the messages of the timeline, each once; where the trace holds only the sum, that.
    pub(super) usage: UsageTotal,
    pub(super) told: CountedTokens,
    pub(super) cost: Cost,
    pub(super) commits: Commits,
    /// The folder that paths are shown from.
    base: Option<String>,
    pub(super) languages: BTreeSet<&'static str>,
    pub(super) packages: BTreeSet<String>,
    /// Messages whose tokens stand at an earlier item already.
    pub(super) repeated: HashSet<usize>,
    /// Edits by the id of their call.
    pub(super) edit_of: HashMap<Box<str>, Vec<usize>>,
    fetcher: RefCell<Fetcher<'s>>,
}

/// What a trace tells of the tokens of its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedTokens {
    /// Those of each message, at least of some.
    Each,
    /// Only their sum.
    Sum,
    /// Nothing of any.
    Nothing,
}

impl<'s> Context<'s> {
    pub(super) fn new(
        session: &'s Session,
        caches: &mut [CallCache<'_>],
        options: &Options<'_>,
    ) -> Result<Context<'s>, StoreError> {
        let timeline = Timeline::of(session);
        // Rows for training say nothing of files and commits.
        let training = matches!(options.format, Format::TraceState(_) | Format::Sft(_));
        let repositories = if training { Repositories::Leave } else { options.repositories };
        let commits = Commits::of(session, repositories);
        let first =
            session.cwds.first().map(|cwd| backstory_session::history::normal_path(cwd, None));
        let base = commits.top.clone().or(first);
        // Newer schemas have a list of edits instead.
        let patches = match options.format {
            Format::OpenTraces(OpenTracesSchema::V0_3) => Patches::Make,
            _ => Patches::Leave,
        };
        // Only these say whose lines are whose.
        let written = if options.format.needs_lines() {
            Written::of(session, caches, &timeline, base.as_deref(), patches)
        } else {
            Written::default()
        };
        let mut edit_of: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        for (at, edit) in written.edits.iter().enumerate() {
            if let Some(call) = edit.call.clone() {
                edit_of.entry(call).or_default().push(at);
            }
        }
        let mut context = Context {
            session,
            written,
            roles: Vec::new(),
            usage: UsageTotal::default(),
            told: CountedTokens::Each,
            cost: Cost::default(),
            commits,
            base,
            languages: BTreeSet::new(),
            packages: BTreeSet::new(),
            repeated: HashSet::new(),
            edit_of,
            fetcher: RefCell::new(Fetcher::new(&[])),
            timeline,
        };
        let mut fetcher = Fetcher::new(&context.timeline.members);
        if !training {
            context.roles = roles(&context.timeline, &mut fetcher)?;
            context.count(options.prices);
            context.collect_facts(&mut fetcher)?;
        }
        context.fetcher = RefCell::new(fetcher);
        Ok(context)
    }

    /// Gives content of the session; there is one for all, so that files are read once.
    pub(super) fn fetcher(&self) -> RefMut<'_, Fetcher<'s>> {
        self.fetcher.borrow_mut()
    }

    fn count(&mut self, prices: &Prices) {
        let mut seen = HashSet::new();
        let mut uncounted = false;
        for (at, item) in self.timeline.items.iter().enumerate() {
            let Entry::Step(step) = item.what else { continue };
            let new = step.message_id.as_ref().is_none_or(|id| seen.insert(id));
            match step.usage.as_ref().filter(|_| !step.synthetic) {
                Some(usage) if new => {
                    self.usage.add(usage);
                    self.cost.add(Cost::of(prices.of_message(step)));
                }
                Some(_) => {
                    self.repeated.insert(at);
                }
                None => uncounted |= new && !step.synthetic,
            }
        }
        match self.usage.messages {
            // Some agents write down only the sum over all messages.
            0 if uncounted && self.session.usage.total() > 0 => {
                (self.usage, self.told) = (self.session.usage, CountedTokens::Sum);
            }
            0 if uncounted => self.told = CountedTokens::Nothing,
            _ => self.usage.incomplete |= uncounted,
        }
    }

    /// Languages of the files that were read and written, packages that were installed.
    fn collect_facts(&mut self, fetcher: &mut Fetcher<'_>) -> Result<(), StoreError> {
        for item in &self.timeline.items {
            let Entry::Step(step) = item.what else { continue };
            for call in step.calls() {
                for action in fetcher.actions(item.member, call)? {
                    let path = match &action {
                        Action::Edit(edit) => &edit.path,
                        Action::Read { path } => path.as_ref(),
                        Action::Shell { command } => {
                            let fine = call.result.as_ref().map(|result| result.outcome);
                            if fine == Some(CallOutcome::Ok) {
                                let command = fetcher.text(item.member, command)?;
                                self.packages.extend(language::installed(&command));
                            }
                            continue;
                        }
                        Action::Subagent(_) => continue,
                    };
                    let language = language::language(path);
                    self.languages.extend(language.filter(|name| language::is_programming(name)));
                }
            }
        }
        Ok(())
    }

    /// Number of an item as formats count: from 1.
    pub(super) fn number(item: usize) -> u64 {
        item as u64 + 1
    }

    /// The first thing a person asked for, with where it stands.
    pub(super) fn task(&self) -> Option<(&Item<'s>, TurnKind)> {
        let asked = self.timeline.items.iter().filter(|item| item.member == 0);
        let mut asked = asked.filter_map(|item| match item.what {
            Entry::Prompt(turn) if turn.kind.is_standalone() || turn.kind == TurnKind::Command => {
                Some((item, turn.kind))
            }
            _ => None,
        });
        let first = asked.next();
        // A command such as /clear is no task if words follow.
        match first {
            Some((_, TurnKind::Command)) => {
                asked.find(|(_, kind)| *kind != TurnKind::Command).or(first)
            }
            first => first,
        }
    }

    /// A path as it is shown.
    pub(super) fn shown<'p>(&self, path: &'p str) -> &'p str {
        shown_path(path, self.base.as_deref())
    }

    /// Dollars, where every message has a price; else what the agent itself says it took.
    pub(super) fn dollars(&self) -> Option<f64> {
        self.cost.whole_dollars().or(self.session.reported_cost)
    }
}

/// The role of each member: the kind of agent that its metadata or its call names.
fn roles(timeline: &Timeline<'_>, fetcher: &mut Fetcher<'_>) -> Result<Vec<String>, StoreError> {
    let mut named: HashMap<&str, String> = HashMap::new();
    for item in &timeline.items {
        let Entry::Step(step) = item.what else { continue };
        for call in step.calls().filter(|call| call.subagent.is_some()) {
            let Some(id) = call.id.as_deref() else { continue };
            let actions = fetcher.actions(item.member, call)?;
            let kinds = actions.into_iter().filter_map(|action| match action {
                Action::Subagent(assignment) => assignment.kind,
                _ => None,
            });
            named.extend(kinds.map(|kind| (id, kind)));
        }
    }
    let role = |(at, member): (usize, &&Session)| {
        let call = member.parent.as_ref().and_then(|parent| parent.call.as_deref());
        let meta = member.meta.as_ref().and_then(|meta| meta.agent_type.clone());
        match meta.or_else(|| named.get(call?).cloned()) {
            Some(kind) => plain_role(&kind),
            None if at == 0 && member.kind == SessionKind::Session => "main".to_owned(),
            None => member.kind.name().to_owned(),
        }
    };
    Ok(timeline.members.iter().enumerate().map(role).collect())
}

fn plain_role(kind: &str) -> String {
    match kind {
        "general-purpose" => "general".to_owned(),
        kind => kind.to_lowercase(),
    }
}

/// Milliseconds that a call took, as its result says.
pub(super) fn duration(
    call: &Call,
    member: usize,
    fetcher: &mut Fetcher<'_>,
) -> Result<Option<u64>, StoreError> {
    let silent = [ActionKind::Read, ActionKind::Edit, ActionKind::Todos];
    let silent = silent.into_iter().any(|kind| fetcher.does(member, call, kind));
    let structured = call.result.as_ref().and_then(|result| result.structured.as_ref());
    let Some(structured @ Content::Json(_)) = structured.filter(|_| !silent) else {
        return Ok(None);
    };
    // Most results say nothing of it, and looking for the word is cheaper than reading them.
    let raw = fetcher.raw(member, structured)?.unwrap_or_default();
    if memchr::memmem::find(raw, b"uration").is_none() {
        return Ok(None);
    }
    let Some(value) = fetcher.json(member, structured)? else { return Ok(None) };
    let number = |name| value.get(name).and_then(|value| value.float());
    let milliseconds = number("durationMs")
        .or_else(|| number("totalDurationMs"))
        .or_else(|| number("durationSeconds").map(|seconds| seconds * 1000.0));
    Ok(milliseconds.filter(|value| (0.0..1e15).contains(value)).map(|value| value.round() as u64))
}
