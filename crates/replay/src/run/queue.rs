//! Conversations that wait for a teacher.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// States of one conversation.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) place: usize,
    pub(super) states: Arc<[usize]>,
}

/// What waits for one teacher.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    items: VecDeque<Item>,
    closed: bool,
    workers: usize,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, item: Item) {
        self.lock().items.push_back(item);
        self.changed.notify_one();
    }

    /// Nothing is added any more.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// How many threads take from it.
    pub(super) fn workers(&self, count: usize) {
        self.lock().workers = count;
    }

    /// A thread takes no more; true for the last one.
    pub(super) fn leave(&self) -> bool {
        let mut waiting = self.lock();
        waiting.workers = waiting.workers.saturating_sub(1);
        waiting.workers == 0
    }

    /// The next item, as soon as there is one; none when there will be no more.
    pub(super) fn next(&self, stop: &AtomicBool) -> Option<Item> {
        let mut waiting = self.lock();
        loop {
            if let Some(item) = waiting.items.pop_front() {
                return Some(item);
            }
            if waiting.closed || stop.load(Ordering::Relaxed) {
                return None;
            }
            let waited = self.changed.wait_timeout(waiting, Duration::from_millis(200));
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
