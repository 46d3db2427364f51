//! From answers to rows, one state after the other.

use super::agreement::Agreement;
use super::consensus::{Verdict, decide};
use super::filter::{Rows, Seen};
use super::format::{Kind, Place};
use super::schema::{Fit, Schemas};
use super::turns::{Done, History};
use super::votes::{Answer, Vote, Votes};
use super::{Figures, PairOptions, Reason};
use crate::states::{Conversation, State};
use backstory_export::canonical_json;
use backstory_export::normalise::{Action, Normal};
use backstory_format::slice::Part;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};

pub(super) struct Maker<'m> {
    votes: Votes,
    options: &'m PairOptions<'m>,
    out: &'m mut dyn Write,
    figures: Figures,
    agreement: Agreement,
    schemas: Schemas,
    known: HashSet<String>,
    pairs: Rows,
    wanted: Rows,
}

/// A conversation, and what is known of its messages.
struct ScannedConversation {
    conversation: Conversation,
    /// Whether a message holds a secret, once somebody looked.
    secret: Vec<Option<bool>>,
    secret_system: Option<bool>,
}

/// What teachers came to at a state.
struct Decided<'s> {
    state: &'s State,
    votes: Vec<(usize, String)>,
    group: Vec<usize>,
}

impl<'m> Maker<'m> {
    pub(super) fn new(
        votes: Votes,
        options: &'m PairOptions<'m>,
        out: &'m mut dyn Write,
    ) -> Maker<'m> {
        let agreement = Agreement::new(&votes.teachers, options.level);
        Maker {
            votes,
            options,
            out,
            figures: Figures::default(),
            agreement,
            schemas: Schemas::default(),
            known: HashSet::new(),
            pairs: Rows::default(),
            wanted: Rows::default(),
        }
    }

    /// Goes through a line of the states file.
    pub(super) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let text = std::str::from_utf8(line).ok();
        let Some(mut conversation) = text.and_then(|text| Conversation::parse(text).ok()) else {
            self.figures.unreadable_lines += 1;
            return Ok(());
        };
        let states = std::mem::take(&mut conversation.states);
        let secret = vec![None; conversation.messages.len()];
        let mut scanned = ScannedConversation { conversation, secret, secret_system: None };
        for state in &states {
            if !self.known.insert(state.state_id.clone()) {
                self.figures.repeated_states += 1;
                continue;
            }
            self.figures.states += 1;
            match self.state(state, &mut scanned)? {
                Ok(()) => self.figures.pairs += 1,
                Err(reason) => *self.figures.reasons.entry(reason).or_default() += 1,
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Figures {
        let unknown = self.votes.by_state.values().map(|votes| votes.len() as u64).sum();
        self.votes.figures.unknown_states = unknown;
        self.figures.journal = self.votes.figures;
        self.figures.kto_rows = 2 * self.figures.pairs + self.figures.sft_rows;
        self.figures.checked_calls = self.schemas.checked;
        self.figures.calls_without_schema = self.schemas.without_schema;
        self.figures.agreement = self.agreement;
        self.figures
    }

    /// Makes a pair of a state, or says why not.
    fn state(
        &mut self,
        state: &State,
        scanned: &mut ScannedConversation,
    ) -> io::Result<Result<(), Reason>> {
        let Some(votes) = self.votes.by_state.remove(&state.state_id) else {
            let gated = self.votes.gated.contains(&state.state_id);
            return Ok(Err(if gated { Reason::Gated } else { Reason::NotAsked }));
        };
        let votes = self.answers(votes);
        let folder = state.meta.get("cwd").and_then(Value::as_str);
        let normal = |action: &str| Normal::of(&Action::parse(action), folder);
        let student = normal(&state.student_action);
        let answers: Vec<Normal> = votes.iter().map(|(_, action)| normal(action)).collect();
        let verdict = decide(&answers, &student, self.options.level, self.options.min_agree);
        let of: Vec<usize> = votes.iter().map(|(teacher, _)| *teacher).collect();
        self.agreement.note(&of, &answers, &student, self.options.min_agree, &verdict);
        Ok(match verdict {
            Verdict::NoAnswers => Err(Reason::AllErrors),
            Verdict::TooFew => Err(Reason::TooFewAnswers),
            Verdict::NoConsensus => Err(Reason::NoConsensus),
            Verdict::Agrees(group) => {
                match self.wanted(&Decided { state, votes, group }, scanned)? {
                    Ok(()) => self.figures.sft_rows += 1,
                    Err(reason) => *self.figures.sft_reasons.entry(reason).or_default() += 1,
                }
                Err(Reason::AgreeWithStudent)
            }
            Verdict::Differs(group) => self.pair(&Decided { state, votes, group }, scanned)?,
        })
    }

    /// Answers that count, failures noted.
    fn answers(&mut self, votes: Vec<Vote>) -> Vec<(usize, String)> {
        let mut answers = Vec::new();
        for vote in votes {
            let counts = self.agreement.teachers.get_mut(vote.teacher);
            match (vote.answer, counts) {
                (Answer::Action(action), _) => answers.push((vote.teacher, action)),
                (Answer::Error, Some(counts)) => counts.errors += 1,
                (Answer::Cut, Some(counts)) => counts.cut += 1,
                (_, None) => {}
            }
        }
        answers
    }

    fn pair(
        &mut self,
        decided: &Decided<'_>,
        scanned: &mut ScannedConversation,
    ) -> io::Result<Result<(), Reason>> {
        let tools = available(&scanned.conversation, decided.state);
        // The first of the group that the tools allow.
        let (mut chosen, mut fault) = (None, Reason::InvalidTool);
        for (at, vote) in decided.group.iter().enumerate() {
            let Some((teacher, action)) = decided.votes.get(*vote) else { continue };
            let done = Done::parse(action);
            match self.schemas.check(&done.calls, &tools) {
                Fit::Fits => {
                    chosen = Some((*teacher, action.as_str(), done));
                    break;
                }
                fit if at == 0 && fit == Fit::InvalidArguments => fault = Reason::InvalidArguments,
                _ => {}
            }
        }
        let Some((teacher, action, done)) = chosen else { return Ok(Err(fault)) };
        let rejected = Done::parse(&decided.state.student_action);
        let actions = [action, decided.state.student_action.as_str()];
        let place = match self.place(decided, scanned, teacher, &actions, Learnt::Pairs) {
            Ok(place) => place,
            Err(reason) => return Ok(Err(reason)),
        };
        let (format, style) = (self.options.format, self.options.format.style());
        match format.kind() {
            Kind::Preference => {
                let lost = [&done, &rejected].into_iter().filter(|done| done.loses_words(style));
                self.figures.left_out_words += lost.count() as u64;
                self.write(&place.preference(format, &done, &rejected))?;
            }
            Kind::Judged => {
                self.write(&place.clone().single(&done, Some(true)))?;
                self.write(&place.single(&rejected, Some(false)))?;
            }
            Kind::Wanted => {}
        }
        Ok(Ok(()))
    }

    /// A row of what the student did and teachers would have done.
    fn wanted(
        &mut self,
        decided: &Decided<'_>,
        scanned: &mut ScannedConversation,
    ) -> io::Result<Result<(), Reason>> {
        let action = decided.state.student_action.as_str();
        let teacher = decided.group.first().and_then(|at| decided.votes.get(*at));
        let teacher = teacher.map_or(0, |(teacher, _)| *teacher);
        let place = match self.place(decided, scanned, teacher, &[action], Learnt::Wanted) {
            Ok(place) => place,
            Err(reason) => return Ok(Err(reason)),
        };
        let done = Done::parse(action);
        match self.options.format.kind() {
            Kind::Preference => {}
            Kind::Judged => self.write(&place.single(&done, Some(true)))?,
            Kind::Wanted => self.write(&place.single(&done, None))?,
        }
        Ok(Ok(()))
    }

    fn write(&mut self, row: &str) -> io::Result<()> {
        self.figures.rows += 1;
        self.out.write_all(row.as_bytes())
    }

    /// History, tools and origin of a row, unless something keeps it out.
    fn place<'t>(
        &mut self,
        decided: &Decided<'t>,
        scanned: &'t mut ScannedConversation,
        teacher: usize,
        actions: &[&str],
        learnt: Learnt,
    ) -> Result<Place<'t>, Reason> {
        let bounds = self.options.bounds;
        let lengths = actions.iter().map(|action| action.chars().count());
        let (shortest, longest) = (lengths.clone().min().unwrap_or(0), lengths.max().unwrap_or(0));
        if shortest < bounds.min_action {
            return Err(Reason::TooShort);
        }
        if bounds.max_action.is_some_and(|most| longest > most) {
            return Err(Reason::TooLong);
        }
        let state = decided.state;
        let scan = |value: &Value| {
            let mut scrubber = self.options.redactor.session();
            scrubber.learn_json(value);
            !scrubber.report().is_empty()
        };
        let has_secret =
            |action: &&str| scan(&serde_json::from_str(action).unwrap_or_else(|_| json!(action)));
        if actions.iter().any(has_secret) || scanned.has_secret(state, scan) {
            return Err(Reason::Secret);
        }
        let conversation = &scanned.conversation;
        let range = conversation.messages.part(state.from..state.upto);
        let kept = state.kept.iter().filter_map(|at| conversation.messages.get(*at));
        let messages: Vec<&Value> = conversation.system.iter().chain(kept).chain(range).collect();
        let history = History::of(&messages, self.options.format.style());
        let Some(history) = history else { return Err(Reason::NoPrompt) };
        let whole: String = messages.iter().map(|message| canonical_json(message)).collect();
        if bounds.max_prompt.is_some_and(|most| whole.chars().count() > most) {
            return Err(Reason::TooLong);
        }
        let role = |message: &&&Value| message.get("role").is_none_or(|role| role != "assistant");
        let news: String =
            messages.iter().rev().take_while(role).map(|one| canonical_json(one)).collect();
        let rows = match learnt {
            Learnt::Pairs => &mut self.pairs,
            Learnt::Wanted => &mut self.wanted,
        };
        match rows.look_up(self.options.dedup, whole.as_bytes(), &news, actions) {
            Seen::New => {}
            Seen::Same => return Err(Reason::Duplicate),
            Seen::Near => return Err(Reason::NearDuplicate),
        }
        let teachers: BTreeMap<usize, &str> = decided
            .group
            .iter()
            .filter_map(|at| decided.votes.get(*at))
            .filter_map(|(teacher, _)| {
                Some((*teacher, self.votes.teachers.get(*teacher)?.0.as_str()))
            })
            .collect();
        let by = self.votes.teachers.get(teacher).map(|(id, _)| id.as_str());
        let agreeing = decided.group.len() as u64;
        let mut meta = json!({
            "state_id": state.state_id, "session_id": conversation.session_id,
            "student_model": state.meta.get("model"), "teachers": teachers.values().collect::<Vec<_>>(),
            "n_teachers_agreeing": agreeing, "n_teachers_answering": decided.votes.len(),
            "level": self.options.level.to_string(),
        });
        if let (Value::Object(fields), [chosen, rejected]) = (&mut meta, actions) {
            fields.insert("chosen_by".to_owned(), by.into());
            fields.insert("chosen_action".to_owned(), (*chosen).into());
            fields.insert("rejected_action".to_owned(), (*rejected).into());
        }
        let tools = available(conversation, state);
        Ok(Place { state_id: &state.state_id, history, tools, agreeing, meta })
    }
}

/// Rows are compared with those of their kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Learnt {
    Pairs,
    Wanted,
}

impl ScannedConversation {
    fn has_secret(&mut self, state: &State, scan: impl Fn(&Value) -> bool) -> bool {
        let system = &self.conversation.system;
        let in_system = *self.secret_system.get_or_insert_with(|| system.iter().any(&scan));
        let mut places = state.kept.iter().copied().chain(state.from..state.upto);
        in_system
            || places.any(|at| {
                let (Some(slot), Some(message)) =
                    (self.secret.get_mut(at), self.conversation.messages.get(at))
                else {
                    return false;
                };
                *slot.get_or_insert_with(|| scan(message))
            })
    }
}

/// Definitions of the tools that the student could use at a state, where the trace holds them.
fn available<'c>(conversation: &'c Conversation, state: &State) -> Vec<&'c Value> {
    let names = state.meta.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let named = |tool: &&Value| {
        let name = tool.get("function").unwrap_or(tool).get("name");
        name.is_some_and(|name| names.contains(name))
    };
    conversation.tools.iter().filter(named).collect()
}
