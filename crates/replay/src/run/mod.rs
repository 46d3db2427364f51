//! Asking all teachers about all states: who asks what, and in which order.
//!
//! A conversation is asked by one thread for each teacher, state after state, because each prompt begins
//! with the one before it and prompt caches want that; conversations go side by side. No runtime: a
//! thread that waits for a server costs nothing that matters at a few hundred of them.

mod ask;
mod budget;
mod http;
mod pace;
mod queue;
mod teacher_state;

pub use budget::{Account, Budget};
pub use teacher_state::Tally;

use crate::estimate::expected_cost;
use crate::journal::{Call, CallState, Entry, Journal, JournalError, Key, Known, Skip};
use crate::states::{Conversation, State, StatesFile};
use crate::teacher::{Api, Teacher};
use crate::wire::Wire;
use ask::{Halt, Question};
use backstory_redact::{Cleared, Redactor};
use jiff::Timestamp;
use queue::{Item, Queue};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use teacher_state::TeacherState;

/// Who wants to know how it goes.
pub trait Observer: Sync {
    /// A call is over.
    fn call(&self, call: &Call);
}

/// Which states are asked about: conversation by its place in the file, and state.
pub type Wanted<'w> = &'w (dyn Fn(usize, usize) -> bool + Sync);

/// Whether what a teacher did is what the student did at a state.
pub type Agrees<'a> = &'a (dyn Fn(&State, &str) -> bool + Sync);

/// The cheap teacher comes first, the others where it does not agree with the student.
#[derive(Clone, Copy)]
pub struct Tiers<'t> {
    /// Which teacher is asked everything.
    pub first: usize,
    pub agrees: Agrees<'t>,
}

/// What a run needs.
#[derive(Clone, Copy)]
pub struct Setting<'r> {
    pub states: &'r StatesFile,
    pub redactor: &'r Redactor,
    pub journal: &'r Journal,
    pub known: &'r Known,
    pub budget: &'r Budget,
    pub observer: &'r dyn Observer,
    /// What time it is.
    pub clock: &'r (dyn Fn() -> Timestamp + Sync),
    /// Set from outside: calls in flight are finished, no others are made.
    pub stop: &'r AtomicBool,
    pub retries: u32,
    pub failed: FailedCalls,
    pub tiers: Option<Tiers<'r>>,
}

/// What is done about calls that failed in an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedCalls {
    Leave,
    AskAgain,
}

impl std::fmt::Debug for Tiers<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Tiers").field("first", &self.first).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Setting<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Setting").field("states", &self.states).finish_non_exhaustive()
    }
}

/// A run.
pub struct Run<'r> {
    setting: Setting<'r>,
    teacher_states: Vec<TeacherState>,
    loaded: Mutex<HashMap<usize, Weak<Loaded>>>,
    /// Stop, whatever the reason.
    halt: AtomicBool,
    fault: Mutex<Option<String>>,
}

impl<'r> std::ops::Deref for Run<'r> {
    type Target = Setting<'r>;

    fn deref(&self) -> &Setting<'r> {
        &self.setting
    }
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Run")
            .field("teacher_states", &self.teacher_states)
            .finish_non_exhaustive()
    }
}

/// A conversation in memory, shared by those who ask about it.
#[derive(Debug)]
struct Loaded {
    conversation: Cleared<Conversation>,
    openai: OnceLock<Wire>,
    anthropic: OnceLock<Wire>,
}

impl Loaded {
    fn wire(&self, api: Api) -> &Wire {
        let slot = match api {
            Api::OpenAi => &self.openai,
            Api::Anthropic => &self.anthropic,
        };
        slot.get_or_init(|| Wire::new(&self.conversation, api))
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Done,
    /// The next call did not fit.
    Budget,
    Stopped,
    /// Something else than a teacher failed.
    Fault(String),
}

impl<'r> Run<'r> {
    /// `teachers` come with the values of their keys.
    pub fn new(setting: Setting<'r>, teachers: Vec<(Teacher, Option<String>)>) -> Run<'r> {
        let trusted = http::trusted();
        let teacher_states = teachers
            .into_iter()
            .map(|(teacher, key)| {
                let client = http::Client::new(&teacher, key.as_deref(), &trusted);
                TeacherState::new(teacher, key, client)
            })
            .collect();
        let (halt, fault) = (AtomicBool::new(false), Mutex::new(None));
        Run { setting, teacher_states, loaded: Mutex::default(), halt, fault }
    }

    fn at(&self) -> String {
        (self.clock)().to_string()
    }

    /// What each teacher did so far.
    pub fn tallies(&self) -> Vec<Tally> {
        self.teacher_states.iter().map(TeacherState::tally).collect()
    }

    /// Why teachers are not asked any more.
    pub fn refused(&self) -> Vec<Option<String>> {
        self.teacher_states.iter().map(TeacherState::refused).collect()
    }

    /// Asks about the states that are wanted.
    pub fn go(&self, wanted: Wanted<'_>) -> Ended {
        let queues: Vec<Queue> = self.teacher_states.iter().map(|_| Queue::default()).collect();
        let mut work: Vec<(usize, Vec<usize>)> = Vec::new();
        for (at, place) in self.states.places().iter().enumerate() {
            let states: Vec<usize> = (0..place.states).filter(|state| wanted(at, *state)).collect();
            if !states.is_empty() {
                work.push((at, states));
            }
        }
        // Long conversations first, so that none is left alone at the end.
        work.sort_by_key(|(_, states)| std::cmp::Reverse(states.len()));
        let conversations = work.len();
        let first = self.tiers.map(|tiers| tiers.first);
        for (place, states) in work {
            let item = Item { place, states: states.into() };
            match first {
                Some(first) => queues.get(first).into_iter().for_each(|one| one.add(item.clone())),
                None => queues.iter().for_each(|queue| queue.add(item.clone())),
            }
        }
        match first {
            Some(first) => queues.get(first).into_iter().for_each(Queue::close),
            None => queues.iter().for_each(Queue::close),
        }
        std::thread::scope(|scope| {
            for (at, teacher_state) in self.teacher_states.iter().enumerate() {
                let threads = teacher_state.teacher.concurrency.min(conversations);
                if let Some(queue) = queues.get(at) {
                    queue.workers(threads);
                }
                for _ in 0..threads {
                    let queues = &queues;
                    let worker = std::thread::Builder::new().stack_size(1 << 20);
                    let spawned =
                        worker.spawn_scoped(scope, move || self.work(at, teacher_state, queues));
                    if let Err(error) = spawned {
                        self.fault(format!("no thread: {error}"));
                        if let Some(queue) = queues.get(at) {
                            queue.leave();
                        }
                    }
                }
            }
        });
        if let Err(error) = self.journal.flush() {
            self.fault(error.to_string());
        }
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match fault {
            Some(fault) => Ended::Fault(fault),
            None if self.budget.account().exhausted => Ended::Budget,
            None if self.stop.load(Ordering::Relaxed) => Ended::Stopped,
            None => Ended::Done,
        }
    }

    fn fault(&self, cause: String) {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
        self.halt.store(true, Ordering::Relaxed);
    }

    /// One thread: conversation after conversation for one teacher.
    fn work(&self, at: usize, teacher_state: &TeacherState, queues: &[Queue]) {
        let is_first = self.tiers.is_some_and(|tiers| tiers.first == at);
        let Some(queue) = queues.get(at) else { return };
        while let Some(item) = queue.next(self.stop) {
            if self.halt.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed) {
                break;
            }
            let open = match self.converse(teacher_state, &item, is_first) {
                Ok(open) => open,
                // Without the first teacher nobody knows what the others are worth asking.
                Err(Halt::Teacher | Halt::Stopped) => break,
                Err(Halt::Budget) => {
                    self.halt.store(true, Ordering::Relaxed);
                    break;
                }
                Err(Halt::Journal(error)) => {
                    self.fault(error.to_string());
                    break;
                }
            };
            if is_first && !open.is_empty() {
                let item = Item { place: item.place, states: open.into() };
                let others = queues.iter().enumerate().filter(|(other, _)| *other != at);
                others.for_each(|(_, queue)| queue.add(item.clone()));
            }
        }
        if queue.leave() && is_first {
            queues.iter().for_each(Queue::close);
        }
    }

    /// Asks a teacher about states of one conversation, in order; gives those in which it does not
    /// agree with the student, if that is wanted.
    fn converse(
        &self,
        teacher_state: &TeacherState,
        item: &Item,
        is_first: bool,
    ) -> Result<Vec<usize>, Halt> {
        let mut open = Vec::new();
        let loaded = match self.load(item.place) {
            Ok(loaded) => loaded,
            Err(error) => {
                self.fault(format!("states file: {error}"));
                return Err(Halt::Stopped);
            }
        };
        let teacher = &teacher_state.teacher;
        let wire = loaded.wire(teacher.api);
        let states = &loaded.conversation.get().states;
        let mut before = None;
        for at in item.states.iter() {
            if self.halt.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed) {
                return Err(Halt::Stopped);
            }
            let Some(state) = states.get(*at) else { continue };
            let Some(request) = wire.request(states, *at, teacher) else { continue };
            let key = Key::new(&state.state_id, &teacher.id, &request.hash);
            let call_state = self.known.state(&key);
            let (lost, times) = match (call_state, self.failed) {
                (CallState::Answered, _) | (CallState::Failed { .. }, FailedCalls::Leave) => {
                    teacher_state.count(|tally| tally.known += 1);
                    if is_first {
                        let known = self.known.call(&key);
                        let action = known.ok().flatten().and_then(|call| call.action);
                        self.compare(state, *at, action.as_deref(), &mut open)?;
                    }
                    before = Some(state);
                    continue;
                }
                (CallState::Failed { times }, FailedCalls::AskAgain) => (Default::default(), times),
                (CallState::Open { lost, times }, _) => (lost, times),
            };
            let expected = expected_cost(wire, state, before, teacher).unwrap_or_default();
            let names = &wire.names;
            let question = Question { key, request, names, lost, times, expected };
            let call = self.ask(teacher_state, &question)?;
            if is_first {
                self.compare(state, *at, call.action.as_deref(), &mut open)?;
            }
            before = Some(state);
        }
        Ok(open)
    }

    /// Notes a state in which the first teacher does not agree with the student, or says in the
    /// journal that nobody else is asked.
    fn compare(
        &self,
        state: &State,
        at: usize,
        action: Option<&str>,
        open: &mut Vec<usize>,
    ) -> Result<(), Halt> {
        let Some(tiers) = self.tiers else { return Ok(()) };
        if !action.is_some_and(|action| (tiers.agrees)(state, action)) {
            open.push(at);
            return Ok(());
        }
        self.skip(&state.state_id, "tier").map_err(Halt::Journal)
    }

    /// Says in the journal, once, that teachers are not asked about a state.
    pub fn skip(&self, state_id: &str, why: &str) -> Result<(), JournalError> {
        if self.known.skipped(state_id, None, why) {
            return Ok(());
        }
        self.journal.add(&Entry::Skip(Skip {
            state_id: state_id.to_owned(),
            teacher_id: None,
            why: why.to_owned(),
            at: self.at(),
        }))
    }

    fn load(&self, place: usize) -> std::io::Result<Arc<Loaded>> {
        let known = |loaded: &HashMap<usize, Weak<Loaded>>| loaded.get(&place)?.upgrade();
        if let Some(loaded) = known(&self.loaded.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(loaded);
        }
        let Some(found) = self.states.places().get(place) else {
            return Err(std::io::Error::other("no such conversation"));
        };
        let conversation = self.states.load(*found, self.redactor)?;
        let fresh =
            Arc::new(Loaded { conversation, openai: OnceLock::new(), anthropic: OnceLock::new() });
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(theirs) = known(&loaded) {
            return Ok(theirs);
        }
        loaded.retain(|_, one| one.strong_count() > 0);
        loaded.insert(place, Arc::downgrade(&fresh));
        Ok(fresh)
    }
}
