//! Money that may be spent: what was, what may have been, and what calls in flight may still cost.

use backstory_model::Money;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The account of a run.
#[derive(Debug)]
pub struct Budget {
    limit: Option<Money>,
    account: Mutex<Account>,
    changed: Condvar,
}

/// What is in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// What was spent.
    pub spent: Money,
    /// The most that attempts cost of which nothing was heard.
    pub unsure: Money,
    /// The most that calls in flight can cost.
    pub reserved: Money,
    /// Calls in flight.
    pub in_flight: u64,
    /// Whether a call did not fit any more.
    pub exhausted: bool,
}

/// Why nothing was reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denied {
    Exhausted,
    Stopped,
}

/// What a reserved call cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charge {
    Cost(Money),
    Nothing,
    /// It may have cost all of it.
    Unsure,
}

impl Budget {
    /// A budget of which a part is spent already.
    pub fn new(limit: Option<Money>, spent: Money, unsure: Money) -> Budget {
        let account = Account { spent, unsure, ..Account::default() };
        Budget { limit, account: Mutex::new(account), changed: Condvar::new() }
    }

    /// The account at this moment.
    pub fn account(&self) -> Account {
        *self.lock()
    }

    /// The limit, if there is one.
    pub fn limit(&self) -> Option<Money> {
        self.limit
    }

    fn lock(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the most that a call can cost; waits for calls in flight where that could help.
    pub(super) fn reserve(&self, most: Money, stop: &AtomicBool) -> Result<(), Denied> {
        let mut account = self.lock();
        loop {
            if account.exhausted {
                return Err(Denied::Exhausted);
            }
            if stop.load(Ordering::Relaxed) {
                return Err(Denied::Stopped);
            }
            let after = account.spent + account.unsure + account.reserved + most;
            if self.limit.is_none_or(|limit| after <= limit) {
                account.reserved += most;
                account.in_flight += 1;
                return Ok(());
            }
            if account.in_flight == 0 {
                account.exhausted = true;
                self.changed.notify_all();
                return Err(Denied::Exhausted);
            }
            let waited = self.changed.wait_timeout(account, Duration::from_millis(200));
            account = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn book(&self, most: Money, charge: Charge) {
        let mut account = self.lock();
        account.reserved = account.reserved.less(most);
        account.in_flight = account.in_flight.saturating_sub(1);
        match charge {
            Charge::Cost(cost) => account.spent += cost,
            Charge::Unsure => account.unsure += most,
            Charge::Nothing => {}
        }
        self.changed.notify_all();
    }

    /// Adds a cost that may or may not have been charged.
    pub(super) fn add_uncertain(&self, unsure: Money) {
        self.lock().unsure += unsure;
    }

    /// Takes an uncertain cost back.
    pub(super) fn remove_uncertain(&self, unsure: Money) {
        let mut account = self.lock();
        account.unsure = account.unsure.less(unsure);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_holds_with_calls_in_flight() {
        let go = AtomicBool::new(false);
        let cents = |cents: u64| Money::from_nanos(cents * 10_000_000);
        let budget = Budget::new(Some(cents(100)), cents(50), cents(10));
        budget.reserve(cents(30), &go).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.reserve(cents(30), &go));
            budget.book(cents(30), Charge::Cost(cents(5)));
            assert_eq!(waiting.join().unwrap(), Ok(()));
        });
        budget.book(cents(30), Charge::Unsure);
        assert_eq!(budget.reserve(cents(6), &go), Err(Denied::Exhausted));
        assert_eq!(budget.reserve(cents(1), &go), Err(Denied::Exhausted));
        let account = budget.account();
        assert_eq!((account.spent, account.unsure), (cents(55), cents(40)));
        assert!(account.exhausted && account.reserved == Money::ZERO);
    }
}
