//! Work on many files at once.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Follows work on many files.
pub trait Progress: Sync {
    /// Work on files of `total` bytes begins; it may begin more than once.
    fn begin(&self, total: u64);
    /// Files of this many bytes are done.
    fn add(&self, bytes: u64);
    /// All of them are done.
    fn end(&self);
}

/// For those who do not want to follow.
impl Progress for () {
    fn begin(&self, _: u64) {}
    fn add(&self, _: u64) {}
    fn end(&self) {}
}

/// Does `step` for every item on all threads, large ones first, so that no thread is left alone
/// with one at the end. Each thread has a state of its own, made by `new`; all of them are
/// returned, in no particular order.
pub fn fold<T: Sync, A: Send>(
    items: &[T],
    size: impl Fn(&T) -> u64,
    new: impl Fn() -> A + Sync,
    step: impl Fn(&mut A, &T) + Sync,
) -> Vec<A> {
    let mut order: Vec<&T> = items.iter().collect();
    order.sort_by_key(|item| Reverse(size(item)));
    let next = AtomicUsize::new(0);
    rayon::broadcast(|_| {
        let mut state = new();
        while let Some(item) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            step(&mut state, item);
        }
        state
    })
}

/// The same where each item has an outcome of its own; they come in the order of the items.
pub fn map<T: Sync, A: Send, R: Send>(
    items: &[T],
    size: impl Fn(&T) -> u64,
    new: impl Fn() -> A + Sync,
    work: impl Fn(&mut A, &T) -> R + Sync,
) -> Vec<R> {
    let numbered: Vec<(usize, &T)> = items.iter().enumerate().collect();
    let states = fold(
        &numbered,
        |(_, item)| size(item),
        || (new(), Vec::new()),
        |(state, done): &mut (A, Vec<(usize, R)>), (at, item)| {
            done.push((*at, work(state, item)));
        },
    );
    let mut done: Vec<(usize, R)> = states.into_iter().flat_map(|(_, done)| done).collect();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

/// How many bytes of finished outcomes may wait for one that is not finished.
const WAITING: u64 = 16 << 20;

/// Does `work` for every item on all threads and hands the outcomes to `take` in the order of the
/// items, each as soon as those before it are done. Each thread has a state, made by `new`. What is finished too early waits; when `size`
/// of that grows large, so do the threads, except for the one that is next. `take` says whether
/// to go on.
pub fn ordered<T: Sync, A, R: Send>(
    items: &[T],
    new: impl Fn() -> A + Sync,
    work: impl Fn(&mut A, &T) -> R + Sync,
    size: impl Fn(&R) -> u64 + Sync,
    take: impl FnMut(R) -> bool + Send,
) {
    struct Line<R, F> {
        done: BTreeMap<usize, R>,
        waiting: u64,
        next: usize,
        stopped: bool,
        take: F,
    }
    let line = Line { done: BTreeMap::new(), waiting: 0, next: 0, stopped: items.is_empty(), take };
    let (line, turn) = (Mutex::new(line), Condvar::new());
    let next = AtomicUsize::new(0);
    rayon::broadcast(|_| {
        let mut state = new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            if line.lock().unwrap_or_else(PoisonError::into_inner).stopped {
                return;
            }
            let outcome = work(&mut state, item);
            let bytes = size(&outcome);
            let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
            while at != line.next && line.waiting + bytes > WAITING && !line.stopped {
                line = turn.wait(line).unwrap_or_else(PoisonError::into_inner);
            }
            line.waiting += bytes;
            line.done.insert(at, outcome);
            let Line { done, waiting, next, stopped, take } = &mut *line;
            while let Some(outcome) = done.remove(next).filter(|_| !*stopped) {
                *waiting -= size(&outcome);
                *next += 1;
                *stopped = !take(outcome);
            }
            turn.notify_all();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once() {
        let items: Vec<u64> = (0..1_000).collect();
        assert_eq!(map(&items, |item| *item % 7, || (), |_, item| *item), items);
        assert_eq!(map(&[] as &[u64], |_| 0, || (), |_, item| *item), [0; 0]);
    }

    #[test]
    fn outcomes_come_in_order_and_few_wait() {
        let items: Vec<u64> = (0..500).collect();
        let mut taken = Vec::new();
        let work = |_: &mut (), item: &u64| {
            if item.is_multiple_of(50) {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            *item
        };
        ordered(
            &items,
            || (),
            work,
            |_| 40 << 20,
            |item| {
                taken.push(item);
                true
            },
        );
        assert_eq!(taken, items);
        let mut taken = 0;
        ordered(
            &items,
            || (),
            work,
            |_| 1,
            |_| {
                taken += 1;
                taken < 10
            },
        );
        assert_eq!(taken, 10);
    }
}
