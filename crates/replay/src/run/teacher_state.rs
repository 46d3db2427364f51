//! One teacher during a run: its server, its pace, and how it does.

use super::http::Client;
use super::pace::Pace;
use crate::journal::Call;
use crate::teacher::Teacher;
use backstory_model::Money;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many calls in a row may fail before a teacher is not asked any more.
const MOST_FAILURES: u32 = 10;
/// Bytes of a token, at the least: text and code have about four.
const BYTES: u64 = 3;

/// One teacher during a run.
#[derive(Debug)]
pub(super) struct TeacherState {
    pub(super) teacher: Teacher,
    pub(super) client: Client,
    pub(super) pace: Pace,
    key: Option<String>,
    failures: AtomicU32,
    /// Why it is not asked any more.
    refused: Mutex<Option<String>>,
    /// Tokens that prompts had, in thousandths of what their bytes let expect; the most so far.
    heaviest: AtomicU64,
    tally: Mutex<Tally>,
}

/// What a teacher did in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Answers that were there already.
    pub known: u64,
    /// Calls with an answer.
    pub answered: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    /// Tokens of the prompts.
    pub prompt_tokens: u64,
    /// Prompt tokens read from a cache.
    pub cached_tokens: u64,
    /// Tokens of the answers.
    pub completion_tokens: u64,
    /// What it cost.
    pub spent: Money,
    /// What was expected of the calls that have a price.
    pub expected: Money,
    /// What may have been charged besides.
    pub unsure: Money,
    /// Answers whose price is not known.
    pub unpriced: u64,
    /// Time of all answers.
    pub milliseconds: u64,
}

impl TeacherState {
    pub(super) fn new(teacher: Teacher, key: Option<String>, client: Client) -> TeacherState {
        TeacherState {
            pace: Pace::new(teacher.rpm),
            teacher,
            client,
            key,
            failures: AtomicU32::new(0),
            refused: Mutex::new(None),
            heaviest: AtomicU64::new(1_000),
            tally: Mutex::new(Tally::default()),
        }
    }

    pub(super) fn tally(&self) -> Tally {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Tokens that a prompt has at most, judging by this teacher's answers.
    pub(super) fn most_tokens(&self, bytes: usize) -> u64 {
        let tokens = (bytes as u64).div_ceil(BYTES);
        tokens.saturating_mul(self.heaviest.load(Ordering::Relaxed)).div_ceil(1_000)
    }

    /// Learns from an answer how many tokens its prompt had.
    pub(super) fn learn(&self, bytes: usize, prompt_tokens: u64) {
        let expected = (bytes as u64).div_ceil(BYTES).max(1);
        let share = prompt_tokens.saturating_mul(1_000).div_ceil(expected);
        self.heaviest.fetch_max(share, Ordering::Relaxed);
    }

    /// A call went well.
    pub(super) fn works(&self) {
        self.failures.store(0, Ordering::Relaxed);
    }

    /// A call failed for good; too many in a row are enough.
    pub(super) fn failed(&self, cause: &str) {
        if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_FAILURES {
            self.refuse(format!("{MOST_FAILURES} calls in a row failed: {cause}"));
        }
    }

    pub(super) fn refuse(&self, cause: String) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
    }

    pub(super) fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A text of the server without the key, should it repeat that.
    pub(super) fn without_key(&self, text: String) -> String {
        match &self.key {
            Some(key) if key.len() >= 4 && text.contains(key.as_str()) => {
                text.replace(key, "[key]")
            }
            _ => text,
        }
    }

    /// The same for a value.
    pub(super) fn clean(&self, call: Call) -> Call {
        let Some(key) = self.key.as_deref().filter(|key| key.len() >= 4) else { return call };
        let text = call.raw.to_string();
        let action = call.action.map(|action| action.replace(key, "[key]"));
        let raw = if text.contains(key) {
            serde_json::from_str(&text.replace(key, "[key]")).unwrap_or_default()
        } else {
            call.raw
        };
        Call { raw, action, ..call }
    }
}
