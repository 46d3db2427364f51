//! The law of everything that leaves: a secret of the session, in whatever place and form it stands,
//! is in no output of any exporter or renderer.

mod agents_files;
mod encodings;
mod matrix;

use crate::support::rows_of_trainers;
use backstory_agents as agents;
use backstory_export::{
    AtifSchema, Format, Input, Layout, MessageStyle, OpenTracesSchema, Options, Repositories,
    Secrets, StateOptions, Subagents, Thinking,
};
use backstory_model::SessionFiles;
use backstory_redact::{Classes, Config, Raw, Redactor};
use backstory_session::clear::ClearedCopy;
use backstory_session::render::{self, Look, View};
use backstory_session::stats::Prices;
use backstory_session::wire::SessionJson;
use backstory_store::{ReadContext, Store};
use backstory_testkit::planted::{FORMS, PLACES, form, write_session};
use backstory_testkit::{base64, or_slow};
use proptest::prelude::*;
use proptest::sample::select;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Every format with everything in it that the format can hold.
fn formats() -> Vec<Format<'static>> {
    let states = StateOptions {
        thinking: Thinking::Keep,
        subagents: Subagents::Separate,
        ..StateOptions::default()
    };
    let rows = rows_of_trainers(states).map(Format::Sft);
    let fixed = [
        Format::OpenTraces(OpenTracesSchema::V0_9),
        Format::OpenTraces(OpenTracesSchema::V0_3),
        Format::Atif(AtifSchema::V1_7),
        Format::Atif(AtifSchema::V1_8),
        Format::AgentTrace,
        Format::TraceState(states),
        Format::TraceState(StateOptions { layout: Layout::Compact, ..states }),
        Format::TraceState(StateOptions { messages: MessageStyle::Text, ..states }),
        Format::TraceState(StateOptions { messages: MessageStyle::Anthropic, ..states }),
    ];
    fixed.into_iter().chain(rows).collect()
}

fn exported(files: &SessionFiles, format: Format<'_>, secrets: Secrets<'_>) -> String {
    let prices = Prices::bundled().unwrap();
    let repositories = Repositories::Leave;
    let (generation, max_observation) = (0, None);
    let options = Options { format, generation, max_observation, repositories, prices: &prices };
    let (mut material, failures) =
        Input::read(files, format, secrets, &mut ReadContext::default()).unwrap();
    assert!(failures.is_empty());
    let mut out = Vec::new();
    material.export(&options, secrets).unwrap().copy_to(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Everything that leaves, by name.
fn outputs(files: &SessionFiles, redactor: &Redactor) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for format in formats() {
        let text = exported(files, format, Secrets::TakenOut(redactor));
        all.push((format!("{format:?}"), text));
    }
    let copy = ClearedCopy::of(files, redactor, &Store::default()).unwrap();
    let cleared = copy.session().unwrap().into_inner().clone();
    let (mut session, _) = agents::read(&cleared, &mut ReadContext::default()).unwrap();
    copy.name_origins(&mut session);
    let view = View { full: true, ..View::new(jiff::tz::TimeZone::UTC) };
    let plain = Look { width: None, colour: false };
    let mut add = |name: &str, write: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&mut out);
        all.push((name.to_owned(), String::from_utf8_lossy(&out).into_owned()));
    };
    add("show --format md", &|out| render::markdown(&session, &view, out).unwrap());
    add("show --format html", &|out| render::html(&session, &view, out).unwrap());
    add("show --format text", &|out| render::terminal(&session, &view, plain, out).unwrap());
    add("show --format json", &|out| serde_json::to_writer(out, &SessionJson(&session)).unwrap());
    let agents = cleared.agents.iter();
    let beside = agents.flat_map(|agent| agent.meta.iter().chain([&agent.path]));
    let mut copied: Vec<PathBuf> = beside.chain([&cleared.path]).cloned().collect();
    // A conversation may be a folder, or several files.
    copied.extend(copy.files().into_inner().into_iter().map(|(path, _)| path));
    for path in copied.iter().filter(|path| path.is_file()) {
        add("redact", &|out| out.extend(std::fs::read(path).unwrap()));
    }
    all.push(("report".to_owned(), format!("{:?}", copy.report())));
    all
}

/// What of a form would give the secret away, in whatever way the output itself writes its text.
fn traces(secret: &str, planted: &str) -> Vec<String> {
    let mut all = vec![secret.to_owned(), planted.to_owned()];
    // The ends of base64 depend on what stands beside the secret.
    all.extend((0..3).map(|phase| {
        let whole = base64(format!("{}{secret}", &"xyz"[..phase]).as_bytes());
        let sure = whole.trim_end_matches('=');
        sure[if phase == 0 { 0 } else { 4 }..sure.len() - 2].to_owned()
    }));
    all.push(form(secret, "hex"));
    all.push(form(secret, "url"));
    let quoted: Vec<String> = all
        .iter()
        .flat_map(|text| {
            let once = serde_json::to_string(text).unwrap();
            let once = once[1..once.len() - 1].to_owned();
            let page = text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
            [once, page]
        })
        .collect();
    all.extend(quoted);
    all
}

fn redactor() -> &'static Redactor {
    static REDACTOR: OnceLock<Redactor> = OnceLock::new();
    REDACTOR.get_or_init(|| {
        let config = Config { classes: Classes::ALL, salt: b"salt".to_vec(), ..Config::default() };
        Redactor::new(&config).unwrap()
    })
}

/// Secrets with a form of their own, and secrets that only a name tells.
fn secrets() -> impl Strategy<Value = (String, String)> {
    let own = prop_oneof![
        "ghp_[A-Z][0-9][a-z][A-Za-z0-9]{33}",
        "sk-ant-api03-[A-Z][0-9][a-z][A-Za-z0-9]{40}",
        "AKIA[A-Z2-7]{12}[2-7]{2}[A-Z]{2}",
        "npm_[A-Z][0-9][a-z][A-Za-z0-9]{33}",
        "glpat-[A-Z][0-9][a-z][A-Za-z0-9]{17}",
    ]
    .prop_map(|secret| (secret.clone(), secret));
    let named = "[a-z][A-Za-z0-9]{5}[0-9][A-Za-z0-9]{4}[/+.~]?[A-Z][0-9][a-z0-9]{6}[0-9]";
    let names = vec![("API_TOKEN=", ""), ("\"client_secret\": \"", "\""), ("password: ", "")];
    let named = (select(names), named)
        .prop_map(|((name, end), secret)| (secret.clone(), format!("{name}{secret}{end}")));
    prop_oneof![own, named]
}

#[test]
fn every_place_reaches_some_output_when_nothing_is_taken_out() {
    // The test itself: a place that no output shows would prove nothing.
    let folder = tempfile::tempdir().unwrap();
    let files = write_session(folder.path(), &|place| Some(format!("mark {place} mark")));
    let mut open: String = formats()
        .into_iter()
        .map(|format| exported(&files, format, Secrets::Kept(Raw::requested_by_user())))
        .collect();
    for path in files.agents.iter().flat_map(|agent| agent.meta.iter().chain([&agent.path])) {
        open += &std::fs::read_to_string(path).unwrap();
    }
    open += &std::fs::read_to_string(&files.path).unwrap();
    for place in PLACES {
        assert!(open.contains(&format!("mark {place} mark")), "{place}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: or_slow(48, 192), max_shrink_iters: 60, ..ProptestConfig::default() })]

    /// One place shows the secret so that it can be told, two others hold it in other forms.
    #[test]
    fn no_output_holds_a_secret_of_the_session(
        (secret, shown) in secrets(),
        clear in select(PLACES.to_vec()),
        others in prop::collection::vec((select(PLACES.to_vec()), select(FORMS.to_vec())), 2..5),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let planted = |place: &str| {
            let other = others.iter().find(|(other, _)| *other == place);
            match (place == clear, other) {
                // A key or a name of a tool is text too.
                (true, _) => Some(format!("see {shown} there")),
                (false, Some((_, shape))) => Some(format!("it is {} here", form(&secret, shape))),
                (false, None) => None,
            }
        };
        let files = write_session(folder.path(), &planted);
        for (name, text) in outputs(&files, redactor()) {
            for trace in traces(&secret, &secret) {
                prop_assert!(!text.contains(&trace), "{} holds {} of {}:\n{}", name, trace, secret, text);
            }
            for (place, shape) in &others {
                let planted = form(&secret, shape);
                prop_assert!(!text.contains(&planted), "{}: {} at {}:\n{}", name, shape, place, text);
            }
        }
    }
}
