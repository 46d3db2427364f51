//! The law on the files of other agents: a secret in whatever place of whatever form.

use super::{exported, formats, outputs, redactor, secrets, traces};
use backstory_agents as agents;
use backstory_export::Secrets;
use backstory_model::SessionFiles;
use backstory_redact::Raw;
use backstory_session::render::{self, View};
use backstory_store::ReadContext;
use backstory_testkit::planted::form;
use backstory_testkit::{agent_forms, discover_at, files_below, or_slow, testdata};
use proptest::prelude::*;
use proptest::sample::select;
use std::path::Path;

/// Words of the files, each in one sort of place.
const MARKS: [&str; 7] = [
    "prompt-mark",
    "system-mark",
    "thinking-mark",
    "command-mark",
    "output-mark",
    "file-mark",
    "answer-mark",
];

/// Forms of a secret that can be in any of these files, whatever they quote.
const FORMS: [&str; 6] = ["raw", "url", "base64 0", "base64 1", "base64 2", "hex"];

/// The marks that the files of a form hold.
fn marks(folder: &Path) -> Vec<&'static str> {
    let texts: String =
        files_below(folder).iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    MARKS.into_iter().filter(|mark| texts.contains(mark)).collect()
}

/// Copies a form with something at some of its marks.
fn plant(form: &Path, folder: &Path, planted: &dyn Fn(&str) -> Option<String>) -> SessionFiles {
    for path in files_below(form) {
        let mut text = std::fs::read_to_string(&path).unwrap();
        for mark in MARKS {
            if let Some(planted) = planted(mark) {
                text = text.replace(mark, &planted);
            }
        }
        let to = folder.join(path.strip_prefix(form).unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, text).unwrap();
    }
    let found = discover_at(folder);
    assert_eq!(found.sessions.len(), 1, "{}", form.display());
    found.sessions[0].clone()
}

#[test]
fn every_mark_reaches_some_output_when_nothing_is_taken_out() {
    for form in agent_forms().into_iter().map(|form| form.folder) {
        let folder = tempfile::tempdir().unwrap();
        let files = plant(&form, folder.path(), &|_| None);
        let open: String = formats()
            .into_iter()
            .map(|format| exported(&files, format, Secrets::Kept(Raw::requested_by_user())))
            .collect();
        // What is not a message is in no export.
        let read = agents::read(&files, &mut ReadContext::default()).unwrap().0;
        let mut shown = Vec::new();
        let mut view = View::new(jiff::tz::TimeZone::UTC);
        view.noise = true;
        render::markdown(&read, &view, &mut shown).unwrap();
        let open = open + &String::from_utf8(shown).unwrap();
        let marks = marks(&form);
        assert!(marks.len() >= 4, "{}: {marks:?}", form.display());
        for mark in marks {
            assert!(open.contains(mark), "{}: {mark}", form.display());
        }
    }
}

fn forms() -> Vec<String> {
    agent_forms().iter().map(|form| form.path().to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: or_slow(32, 128), max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn no_output_holds_a_secret_of_another_agents_session(
        (secret, shown) in secrets().prop_filter("a quote would end a text", |(_, shown)| !shown.contains('"')),
        name in select(forms()),
        clear in any::<prop::sample::Index>(),
        others in prop::collection::vec((any::<prop::sample::Index>(), select(FORMS.to_vec())), 2..4),
    ) {
        let from = testdata("agents").join(&name);
        let marks = marks(&from);
        let clear = *clear.get(&marks);
        let others: Vec<(&str, &str)> =
            others.iter().map(|(mark, shape)| (*mark.get(&marks), *shape)).collect();
        let folder = tempfile::tempdir().unwrap();
        let planted = |mark: &str| {
            let other = others.iter().find(|(other, _)| *other == mark);
            match (mark == clear, other) {
                (true, _) => Some(format!("see {shown} there")),
                (false, Some((_, shape))) => Some(format!("it is {} here", form(&secret, shape))),
                (false, None) => None,
            }
        };
        let files = plant(&from, folder.path(), &planted);
        for (output, text) in outputs(&files, redactor()) {
            for trace in traces(&secret, &secret) {
                prop_assert!(!text.contains(&trace), "{name}: {} holds {} of {}:\n{}", output, trace, secret, text);
            }
        }
    }
}
