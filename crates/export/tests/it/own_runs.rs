//! What clients run for themselves is not training data.

use backstory_export::{
    Document, Format, Options, Repositories, Secrets, Skipped, StateOptions, export,
};
use backstory_model::{Session, SessionKind};
use backstory_redact::Raw;
use backstory_session::stats::Prices;
use backstory_testkit::own_runs::{Runs, run_file, run_samples};
use serde_json::{Value, json};

fn states(session: &Session) -> Document {
    let prices = Prices::bundled().unwrap();
    let options = Options {
        format: Format::TraceState(StateOptions::default()),
        generation: 0,
        max_observation: None,
        repositories: Repositories::Leave,
        prices: &prices,
    };
    export(session, &options, Secrets::Kept(Raw::requested_by_user())).unwrap()
}

#[test]
fn states_leave_out_what_the_client_ran_for_itself() {
    let files: Vec<_> = run_samples().into_iter().map(|(name, text, _)| (name, text)).collect();
    let (mut made, mut left_out) = (0, 0);
    for session in Runs::new(&files).read() {
        let document = states(&session);
        let figures = &document.figures.states;
        assert!(figures.add_up());
        let expected = if session.kind == SessionKind::Task { 0 } else { figures.messages };
        assert_eq!(figures.skipped(Skipped::ClientRun), expected, "{}", session.id);
        assert_eq!(document.is_empty, expected > 0);
        made += figures.states;
        left_out += figures.skipped(Skipped::ClientRun);
    }
    assert_eq!((made, left_out), (3, 17));
}

#[test]
fn states_leave_out_an_answer_without_a_prompt() {
    let text = run_file(&["Count the bricks"], Value::Null, &json!({}));
    let answer: String = text.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let later = text.replace("00000000-0000", "10000000-0000").replace("msg_", "msg_later_");
    let later = later.replace("00000001-0000", "20000000-0000");
    let later = later.replacen(
        "\"parentUuid\":null",
        "\"parentUuid\":\"00000001-0000-4000-8000-000000000000\"",
        1,
    );
    let runs = Runs::new(&[("a0000007", answer + &later)]);
    let read = runs.read();
    let document = states(&read[0]);
    let figures = &document.figures.states;
    assert_eq!((figures.messages, figures.states, figures.skipped(Skipped::NoPrompt)), (2, 1, 1));
}
