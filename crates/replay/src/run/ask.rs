//! One call: attempts until there is an answer, with its lines in the journal.

use super::Run;
use super::budget::{Charge, Denied};
use super::http::Ended;
use super::pace::{Waited, backoff, retry_after, sleep};
use super::teacher_state::TeacherState;
use crate::journal::{Call, Dropped, Entry, Failure, JournalError, Key, Sent};
use crate::teacher::Repeats;
use crate::wire::{Answer, Names, NoAnswer, Request, error_text, read_answer};
use backstory_export::digest;
use backstory_model::Money;
use serde_json::Value;
use std::fmt::Write as _;
use std::time::Instant;

/// Why no more calls are made.
#[derive(Debug)]
pub(super) enum Halt {
    Budget,
    Stopped,
    /// This teacher is not asked any more.
    Teacher,
    Journal(JournalError),
}

/// What one attempt brought.
enum Attempt {
    Answer(Answer),
    /// No answer, and no cost.
    Refused {
        failure: Failure,
        again: Retry,
    },
    /// No answer, and perhaps a cost.
    Unsure(Failure),
}

#[derive(PartialEq)]
enum Retry {
    Yes(Option<std::time::Duration>),
    No,
    /// This teacher is not asked any more.
    Never,
}

/// A call that is to be made.
pub(super) struct Question<'q> {
    pub(super) key: Key,
    pub(super) request: Request,
    pub(super) names: &'q Names,
    /// What it may have cost already.
    pub(super) lost: Money,
    /// How often it was made before.
    pub(super) times: u32,
    /// What it is expected to cost.
    pub(super) expected: Money,
}

impl Run<'_> {
    pub(super) fn ask(
        &self,
        teacher_state: &TeacherState,
        question: &Question<'_>,
    ) -> Result<Call, Halt> {
        let teacher = &teacher_state.teacher;
        let free = teacher.repeats == Repeats::Free;
        let mut unsure = question.lost;
        let idempotency_key = idempotency_key(question);
        let mut attempt = 0;
        loop {
            attempt += 1;
            let dropped = |halt: Halt, why: &str| match attempt {
                // Nothing was sent in this run.
                1 => halt,
                _ => self.drop_call(question, unsure, why).err().unwrap_or(halt),
            };
            if teacher_state.refused().is_some() {
                return Err(dropped(Halt::Teacher, "teacher"));
            }
            if teacher_state.pace.wait(self.stop) == Waited::Stopped {
                return Err(dropped(Halt::Stopped, "stopped"));
            }
            let tokens = teacher_state.most_tokens(question.request.body.len());
            let reserved = teacher.price.most(tokens, teacher.max_tokens);
            let most = reserved.unwrap_or_default();
            match self.budget.reserve(most, self.stop) {
                Ok(()) => {}
                Err(Denied::Exhausted) => return Err(dropped(Halt::Budget, "budget")),
                Err(Denied::Stopped) => return Err(dropped(Halt::Stopped, "stopped")),
            }
            // Where a repeated call is free, what was reserved is all that it can cost.
            let covered = if free { unsure } else { Money::ZERO };
            self.budget.remove_uncertain(covered);
            let sent = Entry::Sent(Sent {
                state_id: question.key.state_id.clone(),
                teacher_id: question.key.teacher_id.clone(),
                prompt_hash: question.key.prompt_hash.clone(),
                attempt,
                reserved_usd: reserved,
                unsure_usd: unsure.less(covered),
                at: self.at(),
            });
            if let Err(error) = self.journal.add(&sent) {
                self.budget.book(most, Charge::Nothing);
                self.budget.add_uncertain(covered);
                return Err(Halt::Journal(error));
            }
            let start = Instant::now();
            let ended = teacher_state.client.post(&question.request.body, &idempotency_key);
            let latency = start.elapsed();
            let (failure, again) = match self.judge(teacher_state, ended, question.names) {
                Attempt::Answer(answer) => {
                    let cost = answer.cost.or_else(|| teacher.price.cost(&answer.usage?));
                    // An answer that does not say what it took may have taken everything.
                    self.budget.book(most, cost.map_or(Charge::Unsure, Charge::Cost));
                    unsure = unsure.less(covered);
                    if cost.is_none() {
                        unsure += most;
                    }
                    if let Some(usage) = &answer.usage {
                        teacher_state.learn(question.request.body.len(), usage.prompt_tokens);
                    }
                    let latency_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
                    let call = self.answered(
                        question,
                        teacher_state,
                        answer,
                        cost,
                        unsure,
                        latency_ms,
                        attempt,
                    );
                    return self.finish(teacher_state, question, call);
                }
                Attempt::Refused { failure, again } => {
                    self.budget.book(most, Charge::Nothing);
                    self.budget.add_uncertain(covered);
                    (failure, again)
                }
                Attempt::Unsure(failure) => {
                    self.budget.book(most, Charge::Unsure);
                    unsure = unsure.less(covered) + most;
                    (failure, Retry::Yes(None))
                }
            };
            if again == Retry::Never {
                teacher_state.refuse(failure.message.clone());
                self.drop_call(question, unsure, "teacher")?;
                return Err(Halt::Teacher);
            }
            let wait = match again {
                Retry::Yes(wait) if attempt <= self.retries => wait,
                _ => {
                    teacher_state.failed(&failure.message);
                    let call = self.failed(question, teacher_state, failure, unsure, attempt);
                    return self.finish(teacher_state, question, call);
                }
            };
            teacher_state.count(|tally| tally.retries += 1);
            if let Some(time) = wait {
                teacher_state.pace.pause(time);
            }
            if sleep(backoff(teacher.backoff, attempt), self.stop) == Waited::Stopped {
                self.drop_call(question, unsure, "stopped")?;
                return Err(Halt::Stopped);
            }
        }
    }

    fn judge(&self, teacher_state: &TeacherState, ended: Ended, names: &Names) -> Attempt {
        let failure = |what: &str, status: Option<u16>, message: String| Failure {
            what: what.to_owned(),
            status,
            message: teacher_state.without_key(message),
        };
        match ended {
            Ended::NotSent(cause) => Attempt::Refused {
                failure: failure("connection", None, cause),
                again: Retry::Yes(None),
            },
            Ended::Lost { timeout, cause } => {
                let what = if timeout { "timeout" } else { "connection" };
                Attempt::Unsure(failure(what, None, cause))
            }
            Ended::Response { status: 200..=299, body, .. } => {
                match read_answer(&body, teacher_state.teacher.api, names) {
                    Ok(answer) => Attempt::Answer(answer),
                    Err(NoAnswer::Unreadable(cause)) => {
                        Attempt::Unsure(failure("unreadable", None, cause))
                    }
                    Err(NoAnswer::Refused(status, cause)) => Attempt::Refused {
                        again: again(status.unwrap_or(500), None),
                        failure: failure("http", status, cause),
                    },
                }
            }
            Ended::Response { status, retry_after: header, body } => {
                let wait = header.and_then(|value| retry_after(&value, (self.clock)()));
                let said = match serde_json::from_slice::<Value>(&body) {
                    Ok(value) => error_text(value.get("error").unwrap_or(&value)),
                    Err(_) => String::from_utf8_lossy(&body).chars().take(500).collect(),
                };
                let message = match said.trim() {
                    "" => format!("status {status}"),
                    said => format!("status {status}: {said}"),
                };
                Attempt::Refused {
                    failure: failure("http", Some(status), message),
                    again: again(status, wait),
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is a field of the line")]
    fn answered(
        &self,
        question: &Question<'_>,
        teacher_state: &TeacherState,
        answer: Answer,
        cost: Option<Money>,
        unsure: Money,
        latency_ms: u64,
        attempts: u32,
    ) -> Call {
        teacher_state.works();
        let error = answer.action.is_empty().then(|| Failure {
            what: "no_answer".to_owned(),
            status: None,
            message: "neither words nor calls".to_owned(),
        });
        Call {
            action: error.is_none().then_some(answer.action),
            raw: answer.raw,
            finish_reason: answer.finish_reason,
            usage: answer.usage,
            cost_usd: cost,
            unsure_usd: unsure,
            latency_ms,
            attempts,
            error,
            ..self.empty_call(question, teacher_state)
        }
    }

    fn failed(
        &self,
        question: &Question<'_>,
        teacher_state: &TeacherState,
        failure: Failure,
        unsure: Money,
        attempts: u32,
    ) -> Call {
        let (unsure_usd, error) = (unsure, Some(failure));
        Call {
            unsure_usd,
            attempts,
            error,
            cost_usd: Some(Money::ZERO),
            ..self.empty_call(question, teacher_state)
        }
    }

    fn empty_call(&self, question: &Question<'_>, teacher_state: &TeacherState) -> Call {
        Call {
            state_id: question.key.state_id.clone(),
            teacher_id: question.key.teacher_id.clone(),
            model: teacher_state.teacher.model.clone(),
            prompt_hash: question.key.prompt_hash.clone(),
            action: None,
            raw: Value::Null,
            finish_reason: None,
            usage: None,
            cost_usd: None,
            unsure_usd: Money::ZERO,
            latency_ms: 0,
            attempts: 1,
            error: None,
            at: self.at(),
        }
    }

    /// Writes the line of a call that is over, and counts it.
    fn finish(
        &self,
        teacher_state: &TeacherState,
        question: &Question<'_>,
        call: Call,
    ) -> Result<Call, Halt> {
        let call = teacher_state.clean(call);
        let entry = Entry::Call(call);
        self.journal.add(&entry).map_err(Halt::Journal)?;
        let Entry::Call(call) = entry else { return Err(Halt::Stopped) };
        let usage = call.usage.unwrap_or_default();
        teacher_state.count(|tally| {
            match call.action {
                Some(_) => tally.answered += 1,
                None => tally.failed += 1,
            }
            tally.prompt_tokens += usage.prompt_tokens;
            tally.cached_tokens += usage.cached_tokens;
            tally.completion_tokens += usage.completion_tokens;
            tally.unsure += call.unsure_usd;
            tally.milliseconds += call.latency_ms;
            match (call.cost_usd, &call.usage) {
                (Some(cost), Some(_)) => {
                    tally.spent += cost;
                    tally.expected += question.expected;
                }
                (Some(_), None) => {}
                (None, _) => tally.unpriced += 1,
            }
        });
        self.observer.call(&call);
        Ok(call)
    }

    /// The call is not over; the journal says that no attempt of it is in flight any more.
    fn drop_call(&self, question: &Question<'_>, unsure: Money, why: &str) -> Result<(), Halt> {
        let entry = Entry::Dropped(Dropped {
            state_id: question.key.state_id.clone(),
            teacher_id: question.key.teacher_id.clone(),
            prompt_hash: question.key.prompt_hash.clone(),
            unsure_usd: unsure,
            why: why.to_owned(),
            at: self.at(),
        });
        self.journal.add(&entry).map_err(Halt::Journal)
    }
}

/// Whether a call with this status is made again.
fn again(status: u16, wait: Option<std::time::Duration>) -> Retry {
    match status {
        401..=404 => Retry::Never,
        408 | 409 | 425 | 429 | 500..=599 => Retry::Yes(wait),
        _ => Retry::No,
    }
}

/// The same for all attempts of a call, in all runs.
fn idempotency_key(question: &Question<'_>) -> String {
    let Key { state_id, teacher_id, prompt_hash } = &question.key;
    let times = question.times.to_string();
    let parts = [state_id, teacher_id, prompt_hash, &times].map(|part| part.as_bytes());
    let [state, teacher, prompt, times] = parts;
    let hash = digest(&[state, b"\0", teacher, b"\0", prompt, b"\0", times]);
    hash.iter().take(16).fold("backstory-".to_owned(), |mut key, byte| {
        let _ = write!(key, "{byte:02x}");
        key
    })
}
