//! What became of the states of a journal, and who agreed with whom: for people and as
//! `backstory.pairs/1`.

use crate::error::CliError;
use crate::output::write_report;
use crate::ui;
use backstory_export::normalise::Level;
use backstory_replay::pairs::{Counts, Figures, PairOptions, Reason};
use backstory_store::Destination;
use backstory_text::figures;
use serde_json::{Map, Value, json};

/// A few lines on standard error.
pub(super) fn say(figures: &Figures, options: &PairOptions<'_>) {
    ui::say(&format!(
        "pairs: {} of {}, level {}; {} that teachers agree with; {} written",
        figures::grouped(figures.pairs),
        figures::counted(figures.states, "state", "states"),
        options.level,
        figures::counted(figures.sft_rows, "row", "rows"),
        figures::counted(figures.rows, "row", "rows"),
    ));
    let others: Vec<String> = Reason::ALL
        .into_iter()
        .filter(|reason| figures.reason(*reason) > 0)
        .map(|reason| {
            let words = reason.name().replace('_', " ");
            format!("{} {words}", figures::grouped(figures.reason(reason)))
        })
        .collect();
    if !others.is_empty() {
        ui::say(&format!("no pair: {}", others.join(", ")));
    }
    for teacher in &figures.agreement.teachers {
        let errors = match teacher.errors + teacher.cut {
            0 => String::new(),
            errors => format!("; {} without answer", figures::grouped(errors)),
        };
        ui::say(&format!("{}: {}{errors}", teacher.id, shares(&teacher.counts)));
    }
    ui::say_left_out(&[
        (
            figures.journal.unreadable,
            "unreadable line of the journal",
            "unreadable lines of the journal",
        ),
        (
            figures.unreadable_lines,
            "unreadable line of the states",
            "unreadable lines of the states",
        ),
        (figures.repeated_states, "repeated state", "repeated states"),
        (figures.journal.unknown_states, "call about no state", "calls about no state"),
        (
            figures.left_out_words,
            "call without the words before it",
            "calls without the words before them",
        ),
    ]);
}

/// How many answers are the student's action, by level.
fn shares(counts: &Counts) -> String {
    let answers = figures::counted(counts.answers, "answer", "answers");
    let same: Vec<String> = Level::ALL
        .iter()
        .filter_map(|level| {
            let same = counts.same_as_student.get(level.name())?;
            let share = (100 * same).checked_div(counts.answers).unwrap_or(0);
            Some(format!("{} {share}%", level.name()))
        })
        .collect();
    format!("{answers}, as the student: {}", same.join(", "))
}

pub(super) fn write_stats(
    path: &Destination,
    figures: &Figures,
    options: &PairOptions<'_>,
) -> Result<(), CliError> {
    let counted = |reasons: &std::collections::BTreeMap<Reason, u64>| {
        let all = Reason::ALL.into_iter();
        let counts = all.map(|reason| {
            let count = reasons.get(&reason).copied().unwrap_or(0);
            (reason.name().to_owned(), Value::from(count))
        });
        Value::Object(counts.collect::<Map<_, _>>())
    };
    let tools: Vec<Value> = figures
        .agreement
        .tools
        .iter()
        .map(|(tool, counts)| {
            json!({"tool": tool, "answers": counts.answers, "same_as_student": counts.same_as_student})
        })
        .collect();
    let report = json!({
        "schema": "backstory.pairs/1",
        "level": options.level.to_string(),
        "min_agree": options.min_agree,
        "journal": figures.journal,
        "states": figures.states,
        "pairs": figures.pairs,
        "no_pair": counted(&figures.reasons),
        "sft": {"rows": figures.sft_rows, "no_row": counted(&figures.sft_reasons)},
        "kto": {"rows": figures.kto_rows},
        "rows_written": figures.rows,
        "left_out_words": figures.left_out_words,
        "unreadable_lines": figures.unreadable_lines,
        "repeated_states": figures.repeated_states,
        "calls_checked": figures.checked_calls,
        "calls_without_schema": figures.calls_without_schema,
        "teachers": figures.agreement.teachers,
        "tools": tools,
        "levels": figures.agreement.levels,
    });
    write_report(path, &report)
}
