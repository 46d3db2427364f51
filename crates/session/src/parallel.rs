//! Work on many files at once.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// The same where each item has an outcome of its own; they come in the order of the items. Each
/// thread has a buffer for its work.
pub fn map<T: Sync, R: Send>(
    items: &[T],
    size: impl Fn(&T) -> u64,
    work: impl Fn(&mut Vec<u8>, &T) -> R + Sync,
) -> Vec<R> {
    let numbered: Vec<(usize, &T)> = items.iter().enumerate().collect();
    let states = fold(
        &numbered,
        |(_, item)| size(item),
        || (Vec::new(), Vec::new()),
        |(buffer, done): &mut (Vec<u8>, Vec<(usize, R)>), (at, item)| {
            done.push((*at, work(buffer, item)));
        },
    );
    let mut done: Vec<(usize, R)> = states.into_iter().flat_map(|(_, done)| done).collect();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once() {
        let items: Vec<u64> = (0..1_000).collect();
        assert_eq!(map(&items, |item| *item % 7, |_, item| *item), items);
        assert_eq!(map(&[] as &[u64], |_| 0, |_, item| *item), [0; 0]);
    }
}
