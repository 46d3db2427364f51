//! Every format holds the whole session and nothing that breaks out of its place: the output is
//! parsed back with parsers of others and counted against the model.

use backstory_laws::human;
use backstory_laws::render::{
    check_hostile, expected, first_foreign_control, html, live_parts, markdown, session_with,
    structure, terminal, view,
};
use backstory_model::Session;
use backstory_session::render::{self, Look, View};
use backstory_testkit::{agent_sessions, edits, sessions, testdata};
use backstory_text::escape::is_unsafe;
use scraper::{Html, Selector};
use std::collections::HashSet;
use std::path::Path;

/// The bundled sessions, and real ones where the machine has some.
fn all_sessions() -> Vec<Session> {
    let mut all = backstory_testkit::all_sessions();
    if let Ok(folder) = std::env::var("BACKSTORY_SESSIONS") {
        let real = sessions(Path::new(&folder));
        assert!(!real.is_empty(), "{folder} holds no session");
        all.extend(real);
    }
    all
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn markdown_parses_back_into_what_it_was_made_of() {
    for session in all_sessions() {
        let expected = expected(&session);
        let text = markdown(&session, &view());
        let path = session.source.path().display();
        let found = structure(&text);
        let anchors = |start: &str| found.anchors.iter().filter(|id| id.starts_with(start)).count();
        let turns = found.anchors.iter().filter(|id| id.contains("turn-")).count();
        assert_eq!(turns, expected.turns, "{path}: turns");
        assert_eq!(anchors("call-"), expected.calls, "{path}: calls");
        let agents = found
            .anchors
            .iter()
            .filter(|id| id.strip_prefix("agent-").is_some_and(|rest| rest.parse::<u32>().is_ok()));
        assert_eq!(agents.count(), expected.agents, "{path}: subagents");
        assert_eq!(found.headings.iter().filter(|level| **level == 3).count(), expected.turns);
        assert_eq!(found.headings.iter().filter(|level| **level == 1).count(), 1, "{path}");
        assert!(found.headings.iter().all(|level| *level <= 3), "{path}: {:?}", found.headings);
        assert_eq!(found.foreign_html, Vec::<String>::new(), "{path}");
        assert_eq!(found.images, 0, "{path}");
        assert_eq!(found.diffs, expected.diffs, "{path}: changes of files");
        for link in found.links.iter().filter_map(|link| link.strip_prefix('#')) {
            assert!(found.anchors.contains(link), "{path}: no target for {link}");
        }
        assert!(text.lines().all(|line| !line.contains('\u{1b}')), "{path}");
    }
}

#[test]
fn pages_parse_back_into_what_they_were_made_of() {
    for session in all_sessions() {
        let expected = expected(&session);
        let path = session.source.path().display();
        let page = Html::parse_document(&html(&session, &view()));
        let select = |css: &str| page.select(&Selector::parse(css).unwrap()).count();
        assert_eq!(select("section.turn"), expected.turns, "{path}: turns");
        assert_eq!(select(".call"), expected.calls, "{path}: calls");
        assert_eq!(select("section.chapter[id^=agent-]"), expected.agents, "{path}: subagents");
        assert_eq!(select("pre.diff"), expected.diffs, "{path}: changes of files");
        assert_eq!(live_parts(&page), Vec::<String>::new(), "{path}");
        let ids: HashSet<String> = page
            .select(&Selector::parse("[id]").unwrap())
            .map(|node| node.value().attr("id").unwrap().to_owned())
            .collect();
        for link in page.select(&Selector::parse("a[href^='#']").unwrap()) {
            let target = &link.value().attr("href").unwrap()[1..];
            assert!(ids.contains(target), "{path}: no target for {target}");
        }
    }
}

#[test]
fn terminals_get_every_turn_and_call_and_no_control_characters() {
    for session in all_sessions() {
        let expected = expected(&session);
        let path = session.source.path().display();
        for full in [false, true] {
            let view = View { full, ..view() };
            let text = terminal(&session, &view, Look { width: None, colour: false });
            let marks = |starts: &[&str]| {
                let bare = |line: &str| line.trim_start_matches([' ', '│']).to_owned();
                let lines = text.lines().map(bare);
                lines.filter(|line| starts.iter().any(|start| line.starts_with(start))).count()
            };
            // A folded run is one line: `● 5 reads, 2 searches`.
            let lines = text.lines().map(|line| line.trim_start_matches([' ', '│']));
            let runs = lines.filter_map(|line| line.strip_prefix("● ")).map(run_of);
            let folded: usize = runs.map(|calls| calls.saturating_sub(1)).sum();
            assert_eq!(marks(&["── turn "]), expected.turns, "{path}: turns");
            assert!(marks(&["● ", "✗ "]) + folded >= expected.calls, "{path}: calls");
            let bad = text.chars().find(|one| is_unsafe(*one) && *one != '\n');
            assert_eq!(bad, None, "{path}");
            let look = Look { width: Some(40), colour: true };
            let coloured = terminal(&session, &view, look);
            assert_eq!(first_foreign_control(&coloured), None, "{path}");
        }
    }
}

/// How many calls a line of a folded run counts; none for any other line.
fn run_of(line: &str) -> usize {
    let words = line.split("  ").next().unwrap_or_default();
    let counts = words.split(", ").map(|part| {
        let (count, kind) = part.split_once(' ')?;
        matches!(kind, "read" | "reads" | "search" | "searches").then(|| count.parse().ok())?
    });
    counts.collect::<Option<Vec<usize>>>().map_or(0, |counts| counts.iter().sum())
}

/// Every word that a person wrote is in each format as theirs, and nothing else is.
#[test]
fn people_and_machines_are_told_apart() {
    let (mut people, mut machines) = (0, 0);
    for session in all_sessions() {
        let (typed, written) = human::check(&session);
        (people, machines) = (people + typed, machines + written);
    }
    assert!(people > 200 && machines > 20, "{people} {machines}");
}

#[test]
fn dialogues_are_shown_as_they_were_held() {
    let session = sessions(&testdata("sessions/dialogue.jsonl")).remove(0);
    let page = Html::parse_document(&html(&session, &view()));
    let texts = |css: &str| -> Vec<String> {
        let nodes = Selector::parse(css).unwrap();
        let text = |node: scraper::ElementRef<'_>| node.text().collect::<String>();
        page.select(&nodes).map(|node| text(node).trim().to_owned()).collect()
    };
    assert_eq!(texts(".chosen b"), ["Low (Recommended)", "Door open", "Too hot"]);
    assert_eq!(texts(".verdict"), ["rejected", "approved"]);
    assert_eq!(texts(".group > summary"), ["2 reads, 1 search"]);
    assert_eq!(texts(".noise > summary").len(), 1);
    assert_eq!(texts("#summary .files li").len(), 2, "a file and a commit");
    assert_eq!(texts(".c2"), ["2 passed"]);
    let text = terminal(&session, &view(), Look { width: None, colour: false });
    assert!(text.ends_with("\n3 client messages hidden; --noise shows them\n"), "{text}");
    let noisy = View { noise: true, ..view() };
    let all = terminal(&session, &noisy, Look { width: None, colour: false });
    for machine in ["The reminder that nobody typed", "hook that nobody asked", "Caveat:"] {
        assert_eq!((count(&text, machine), count(&all, machine)), (0, 1), "{machine}");
    }
    let mut only = view();
    only.parts = render::Parts::only(["prompts"]).unwrap();
    let words = terminal(&session, &only, Look { width: None, colour: false });
    for said in ["✓ Door open", "> and at noon", "> Name the constant", "> and commit it"] {
        assert!(words.contains(said), "{said}: {words}");
    }
    assert!(!words.contains("pytest"));
}

const PAYLOADS: [&str; 18] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg/onload=alert(1)>",
    "<!-- <textarea><style>",
    "javascript:alert(1)",
    "[x](javascript:alert(1)) ![y](http://e.com/b.png) <javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    "```\n# out\n````\n<b>x</b>\n```````",
    "# a\n\n## b\n\nc\n===\n\nd\n---\n\n### e",
    "~~~\nnever closed",
    "<div>\n```\n</div>\n\n```\n<img src=x onerror=y>\n```",
    "\t<b>code by tab</b>\n\n1.\t<i>x</i>\n\n-\t\t<u>y</u>",
    "text\n    <b>lazy</b>\n\n    <b>code</b>",
    "> > quote\n<b>lazy</b>\n***\n| a | b |\n|---|---|\n| <b> | `|` |",
    "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}abc\u{2066}\r\noverprint\rx",
    "&lt;script&gt; &#60;b&#62; &amp;lt;",
    "../../../../tmp/escape\0.html",
    "</pre></details></section></main></body></html><script>x</script>",
];

#[test]
fn hostile_text_in_every_position_stays_text() {
    let folder = tempfile::tempdir().unwrap();
    for payload in PAYLOADS {
        let session = session_with(payload, folder.path());
        check_hostile(&session, payload);
    }
}

/// A list of thousands of payloads, where the machine has one.
#[test]
fn a_list_of_payloads_stays_text() {
    let Ok(list) = std::env::var("BACKSTORY_PAYLOADS") else { return };
    let text = String::from_utf8_lossy(&std::fs::read(list).unwrap()).into_owned();
    let folder = tempfile::tempdir().unwrap();
    let payloads: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    assert!(!payloads.is_empty(), "the list is empty");
    for payload in payloads {
        check_hostile(&session_with(payload, folder.path()), payload);
    }
}

#[test]
fn parts_and_turns_can_be_left_out() {
    let session = sessions(&testdata("sample")).into_iter().find(|one| one.turns.len() > 1);
    let session = session.unwrap();
    let mut only = view();
    only.parts = render::Parts::only(["prompts"]).unwrap();
    let text = markdown(&session, &only);
    assert_eq!((count(&text, "**Prompt**"), count(&text, "**Tool call")), (session.turns.len(), 0));
    let mut last = view();
    last.turns = render::TurnRange::parse("2..").unwrap();
    let text = markdown(&session, &last);
    assert!(!text.contains("### <a id=\"turn-1\"") && text.contains("### <a id=\"turn-2\""));
    assert!(text.contains("- **Left out:** 1 turn\n"));
    let none = View { result: backstory_text::excerpt::Keep::Ends(0), ..view() };
    assert!(markdown(&session, &none).len() < markdown(&session, &view()).len());
}

/// What other agents did to files is there when nothing else is.
#[test]
fn edits_alone_are_the_edits_of_every_agent() {
    let (mut edited, mut sessions) = (0, 0);
    for session in agent_sessions() {
        let path = session.source.path().display();
        let mut only = view();
        only.parts = render::Parts::only(["edits"]).unwrap();
        let expected = edits(&session).len();
        let page = Html::parse_document(&html(&session, &only));
        let select = |css: &str| page.select(&Selector::parse(css).unwrap()).count();
        assert_eq!((select("details.call"), select("pre.diff")), (expected, expected), "{path}");
        let look = Look { width: None, colour: false };
        let text = terminal(&session, &only, look);
        let changed = text.lines().filter(|line| line.contains("+speed = 120  # gezähmt")).count();
        assert_eq!(changed, usize::from(expected > 0), "{path}: {text}");
        edited += expected;
        sessions += usize::from(expected > 0);
    }
    assert!(sessions >= 12 && edited >= 24, "{sessions} {edited}");
}

#[test]
fn subagents_and_their_calls_are_linked_both_ways() {
    let session = all_sessions().into_iter().find(|session| {
        let calls = session.turns.iter().flat_map(|turn| turn.calls());
        calls.into_iter().any(|call| call.subagent.is_some())
    });
    let session = session.unwrap();
    let text = markdown(&session, &view());
    assert!(text.contains("[subagent 1](#agent-1)") && text.contains("started by [tool call "));
    let page = html(&session, &view());
    assert!(
        page.contains("<a href=\"#agent-1\">Subagent 1") && page.contains("started by <a href=")
    );
}
