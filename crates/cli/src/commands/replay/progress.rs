//! The bar of a run: calls, money, rate, what is left.

use backstory_replay::Money;
use backstory_replay::journal::Call;
use backstory_replay::run::{Budget, Observer};
use backstory_text::figures::grouped;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) struct Progress<'p> {
    bar: ProgressBar,
    budget: &'p Budget,
    failed: AtomicU64,
}

impl<'p> Progress<'p> {
    pub(super) fn new(calls: u64, budget: &'p Budget) -> Progress<'p> {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(8)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(calls), target);
        let template = "asking {bar:24} {pos}/{len} {per_sec} {eta} {msg}";
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        Progress { bar, budget, failed: AtomicU64::new(0) }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress<'_> {
    fn call(&self, call: &Call) {
        let failed = match call.action {
            Some(_) => self.failed.load(Ordering::Relaxed),
            None => self.failed.fetch_add(1, Ordering::Relaxed) + 1,
        };
        let account = self.budget.account();
        let mut message = format!("spent {}", dollars(account.spent));
        if let Some(limit) = self.budget.limit() {
            message.push_str(&format!(" of {}", dollars(limit)));
        }
        if failed > 0 {
            message.push_str(&format!(", {} failed", grouped(failed)));
        }
        self.bar.set_message(message);
        self.bar.inc(1);
    }
}

/// `$1.23`, or `$0.0123` below a dollar.
pub(super) fn dollars(amount: Money) -> String {
    let dollars = amount.dollars();
    if dollars > 0.0 && dollars < 1.0 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
}
