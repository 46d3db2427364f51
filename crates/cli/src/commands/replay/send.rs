//! Sending: the first states are measured, then the rest is asked.

use super::plan::Plan;
use super::prepare::states_path;
use super::progress::{Progress, dollars};
use super::{Choice, ReplayArguments, report};
use crate::args::GlobalArguments;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::ui;
use backstory_export::normalise::{Action, Normal};
use backstory_redact::Redactor;
use backstory_replay::Money;
use backstory_replay::journal::{Entry, Journal, Known, Run as RunLine, TeacherNote};
use backstory_replay::run::{Budget, Ended, FailedCalls, Run, Setting as RunSetting, Tiers};
use backstory_replay::states::{State, StatesFile};
use backstory_replay::teacher::Teacher;
use backstory_text::figures::{counted, grouped};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// So many states are measured before the rest is asked.
const MEASURED: usize = 5;

/// What a run is made of.
pub(super) struct Setting<'s> {
    pub(super) arguments: &'s ReplayArguments,
    pub(super) journal: &'s Journal,
    pub(super) known: &'s Known,
    pub(super) states: &'s StatesFile,
    pub(super) redactor: &'s Redactor,
    pub(super) plan: &'s Plan,
}

pub(super) fn run(
    setting: &Setting<'_>,
    teachers: Vec<Teacher>,
    keys: Vec<Option<String>>,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let Setting { arguments, journal, known, plan, .. } = *setting;
    let begin = Entry::Run(line(arguments, &teachers));
    journal.add_and_wait(&begin).map_err(super::teachers::of_journal)?;
    let budget = Budget::new(arguments.budget, known.spent, known.unsure);
    let calls = plan.estimates.iter().map(|estimate| estimate.calls).sum();
    let progress = Progress::new(calls, &budget);
    let stop = interrupts();
    let agrees = |state: &State, action: &str| {
        let folder = state.meta.get("cwd").and_then(|folder| folder.as_str());
        let normal = |text: &str| Normal::of(&Action::parse(text), folder);
        normal(&state.student_action).same(&normal(action), arguments.agree)
    };
    let run = Run::new(
        RunSetting {
            states: setting.states,
            redactor: setting.redactor,
            journal,
            known,
            budget: &budget,
            observer: &progress,
            clock: &environment::now,
            stop: &stop,
            retries: arguments.retries,
            failed: if arguments.retry_failed { FailedCalls::AskAgain } else { FailedCalls::Leave },
            tiers: plan.first.map(|first| Tiers { first, agrees: &agrees }),
        },
        teachers.iter().cloned().zip(keys).collect(),
    );
    for one in plan.scored.iter().filter(|one| !one.picked) {
        run.skip(&one.state_id, "gate").map_err(super::teachers::of_journal)?;
    }
    let measured: HashSet<(usize, usize)> = plan.first_states(MEASURED).into_iter().collect();
    let mut projected = None;
    let mut ended = Ended::Done;
    // What the gate picked fits by its estimate; there the hard stop is enough.
    let measures = arguments.select.is_none() && plan.states > MEASURED as u64;
    let measures = measures && arguments.budget.is_some();
    if let Some(limit) = arguments.budget.filter(|_| measures) {
        ended = run.go(&|conversation, state| measured.contains(&(conversation, state)));
        if ended == Ended::Done {
            let total = projection(&run, plan, &budget);
            projected = (total > limit && !arguments.spend_all).then_some(total);
        }
    }
    let done = |conversation, state| measures && measured.contains(&(conversation, state));
    if ended == Ended::Done && projected.is_none() {
        ended = run.go(&|conversation, state| {
            plan.wants(conversation, state) && !done(conversation, state)
        });
    }
    progress.finish();
    let account = budget.account();
    report::results(&teachers, &run.tallies(), &account, arguments)?;
    let refused = refusals(&run, &teachers);
    if let Some(total) = projected {
        return Err(over_budget(total, arguments, plan));
    }
    let failed: u64 = run.tallies().iter().map(|tally| tally.failed).sum();
    if failed > 0 && !global.quiet {
        let count = counted(failed, "call", "calls");
        ui::warn(&format!("{count} failed in the end; --retry-failed asks them again"));
    }
    match ended {
        Ended::Fault(cause) => Err(CliError::new(cause)
            .hint("run the same command again; the journal holds all answers so far")),
        Ended::Budget => {
            ui::warn(&format!(
                "the next call did not fit into --budget {}; the remaining calls were not made",
                dollars(arguments.budget.unwrap_or_default())
            ));
            Ok(Outcome::Findings)
        }
        Ended::Stopped => {
            ui::warn("stopped; calls in flight were finished, the same command goes on");
            Ok(Outcome::Code(130))
        }
        Ended::Done if refused > 0 => Ok(Outcome::Incomplete),
        Ended::Done if failed > 0 => Ok(Outcome::Findings),
        Ended::Done => Ok(Outcome::Fine),
    }
}

/// The first line of this start; never a key.
fn line(arguments: &ReplayArguments, teachers: &[Teacher]) -> RunLine {
    let states = states_path(&arguments.journal);
    RunLine {
        v: 1,
        id: uuid::Uuid::new_v4().to_string(),
        at: environment::now().to_string(),
        program: format!("backstory {}", env!("CARGO_PKG_VERSION")),
        states: states.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        teachers: teachers
            .iter()
            .map(|teacher| TeacherNote {
                id: teacher.id.clone(),
                model: teacher.model.clone(),
                api: teacher.api.name().to_owned(),
                price: teacher.price.per_million(),
            })
            .collect(),
        budget_usd: arguments.budget,
        limit: arguments.limit,
        gate: arguments.select.map(|Choice::WorthAsking| "voi".to_owned()),
    }
}

/// What the whole run will cost, by what the first states cost.
fn projection(run: &Run<'_>, plan: &Plan, budget: &Budget) -> Money {
    let tallies = run.tallies();
    let made = |at: usize| tallies.get(at).map_or(0, |tally| tally.answered + tally.failed);
    // Of the teachers that wait for another, as many calls as in the measured states.
    let share = plan.first.map(|first| {
        let others = (0..tallies.len()).filter(|at| *at != first);
        let most = others.map(made).max().unwrap_or(0);
        most as f64 / made(first).max(1) as f64
    });
    let mut more = 0.0;
    for (at, (estimate, tally)) in plan.estimates.iter().zip(&tallies).enumerate() {
        let expected = estimate.cached.unwrap_or_default();
        let ratio = match tally.expected.dollars() {
            expected if expected > 0.0 => tally.spent.dollars() / expected,
            _ => 1.0,
        };
        let share = share.filter(|_| plan.first != Some(at)).unwrap_or(1.0);
        more += expected.less(tally.expected).dollars() * ratio * share;
    }
    let account = budget.account();
    account.spent + account.unsure + Money::from_dollars(more).unwrap_or_default()
}

fn over_budget(total: Money, arguments: &ReplayArguments, plan: &Plan) -> CliError {
    let budget = arguments.budget.unwrap_or_default();
    let mut error = CliError::new(format!(
        "--budget {}: by the first {MEASURED} states, all {} would cost {}",
        dollars(budget),
        grouped(plan.states),
        dollars(total)
    ));
    let share = (100.0 * budget.dollars() / total.dollars()).floor();
    error = error.hint(format!(
        "--select worth-asking picks what is worth most for {share:.0}% of that; --select-report shows what it buys"
    ));
    error.hint("--spend-all goes on until the budget is spent; --limit N asks about fewer states")
}

/// Says which teachers were given up; how many.
fn refusals(run: &Run<'_>, teachers: &[Teacher]) -> usize {
    let mut count = 0;
    for (teacher, cause) in teachers.iter().zip(run.refused()) {
        if let Some(cause) = cause {
            ui::warn(&format!("teacher `{}` is not asked any more: {cause}", teacher.id));
            count += 1;
        }
    }
    count
}

/// Set when the user presses Ctrl-C; a second time ends the program at once.
fn interrupts() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        use signal_hook::flag;
        let again = flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop));
        let first = flag::register(signal, Arc::clone(&stop));
        if again.and(first).is_err() {
            ui::warn("Ctrl-C will end the run at once");
        }
    }
    stop
}
