//! Aider's chat histories.

use crate::support::{figures, tokens};
use backstory_model::{Change, Content, Effect};
use backstory_testkit::{Sample, agent, one_session, texts};

pub(crate) fn aider() -> Sample {
    let history = "\n# aider chat started at 2026-01-31 09:30:00\n\n> Aider v0.86.0  \n> Model: model-z with diff edit format  \n> Git repo: .git with 3 files  \n\n#### Please change it  \n#### and say so  \n\nSure:\n\na.py\n```python\n# not a heading\n> not the program\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```\n\n> Tokens: 1.2k sent, 60 received. Cost: $0.02 message, $0.02 session.  \n> Applied edit to a.py  \n> Commit abc1234 Change it  \n\n# aider chat started at 2026-01-31 10:00:00\n\n#### /exit  \n";
    Sample {
        agent: agent("aider"),
        files: vec![("project/.aider.chat.history.md", history.as_bytes().to_vec())],
    }
}

#[test]
fn aider_with_its_losses() {
    let (_folder, sessions) = aider().sessions();
    let [first, second] = sessions.as_slice() else { panic!("{}", sessions.len()) };
    assert_eq!(figures(first), [1, 1, 1, 1, 0]);
    assert_eq!(tokens(first), [1200, 60, 0]);
    assert_eq!(first.reported_cost, Some(0.02));
    assert_eq!(first.versions[0].as_ref(), "0.86.0");
    assert_eq!(first.models[0].as_ref(), "model-z");
    assert_eq!(first.id, "aider-project-2026-01-31T09:30:00");
    let shown = texts(first);
    assert_eq!(shown[0], "user: Please change it\nand say so");
    assert!(shown[1].contains("> not the program"), "a fence hides what looks like a mark");
    assert_eq!(second.counts.steps, 0);
}

/// What the program says may take several lines, of which only the first is marked.
#[test]
fn aider_when_the_program_says_more() {
    let history = "\n# aider chat started at 2026-01-31 09:30:00\n\n> Aider v0.86.2  \n\n#### Change it  \n\nSure:\n\na.py\n```\n<<<<<<< SEARCH\nz\n=======\ny\n>>>>>>> REPLACE\n```\n\n> Tokens: 10 sent, 2 received.  \n> # 1 SEARCH/REPLACE block failed to match!\n\n## No match in a.py\n<<<<<<< SEARCH\nz\n=======\ny\n>>>>>>> REPLACE\n\nThe SEARCH section must exactly match  \n\nAs they say:\n\n> measure twice\n\na.py\n<source>\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n</source>\n\n> Tokens: 20 sent, 3 received.  \n> Applied edit to a.py  \n> Commit abc1234 Change it\n\nBecause.  \n";
    let read = |history: &str| {
        let files = vec![("project/.aider.chat.history.md", history.as_bytes().to_vec())];
        let (folder, mut sessions) = Sample { agent: agent("aider"), files }.sessions();
        (folder, sessions.remove(0))
    };
    let (_folder, session) = read(history);
    assert_eq!(figures(&session), [1, 2, 1, 1, 0], "an error of the program is no answer");
    assert_eq!(tokens(&session), [30, 5, 0]);
    let shown = texts(&session);
    assert!(shown[2].contains("> measure twice") && shown[2].contains("</source>"), "{shown:?}");
    assert_eq!(session.turns[0].events.len(), 1, "the commit with all of its message");
    // Without spaces at the ends of lines every mark counts for its line.
    let (_folder, bare) = read(&history.replace("  \n", "\n"));
    assert_eq!(bare.versions[0].as_ref(), "0.86.2");
    assert_eq!(tokens(&bare), [30, 5, 0]);
}

fn read(history: &str) -> (tempfile::TempDir, backstory_model::Session) {
    let history = format!("\n# aider chat started at 2026-01-31 09:30:00\n\n{history}");
    one_session(agent("aider"), vec![("project/.aider.chat.history.md", history.into_bytes())])
}

#[test]
fn aider_heading_in_an_answer_is_not_a_prompt() {
    let (_folder, session) = read("#### Explain  \n\nSure.\n\n##### A heading\n\nMore.\n");
    assert_eq!(session.turns.len(), 1);
    assert_eq!(texts(&session)[1], "Sure.\n\n##### A heading\n\nMore.");
}

#[test]
fn fences_of_two_marks() {
    let answer = "~~~\n```\n#### not asked\n~~~\n";
    let (_folder, session) = read(&format!("#### Explain  \n\n{answer}\n#### And?  \n"));
    assert_eq!(session.turns.len(), 2, "{:?}", texts(&session));
}

#[test]
fn a_heading_inside_of_a_block() {
    let block = "<<<<<<< SEARCH\nTitle\n==========\n=======\nName\n==========\n>>>>>>> REPLACE";
    let history = format!(
        "#### Change it  \n\na.md\n```\n{block}\n```\n\n> Tokens: 10 sent, 2 received.  \n> Applied edit to a.md  \n"
    );
    let (_folder, session) = read(&history);
    let effect = &session.turns[0].calls().next().unwrap().effects[0];
    let Effect::Edit(edit) = effect else { panic!() };
    let Change::Replace(list) = &edit.change else { panic!() };
    assert_eq!(list[0].old, Content::Owned("Title\n==========\n".into()));
}

#[test]
fn aider_reads_the_folder_from_the_root() {
    let (folder, session) = read("#### Go  \n");
    let expected = std::fs::canonicalize(folder.path().join("project")).unwrap();
    assert_eq!(session.cwds[0].as_ref(), expected.to_str().unwrap());
    let files =
        vec![(".aider.chat.history.md", b"# aider chat started at 2026-01-31 09:30:00\n".to_vec())];
    let (folder, _) = one_session(agent("aider"), files);
    // As it is typed: from where one stands.
    let here = std::env::current_dir().unwrap();
    let up: std::path::PathBuf = here.components().skip(1).map(|_| "..").collect();
    let path = up.join(folder.path().strip_prefix("/").unwrap());
    let sessions = backstory_testkit::sessions(&path);
    let expected = std::fs::canonicalize(folder.path()).unwrap();
    assert_eq!(sessions[0].cwds[0].as_ref(), expected.to_str().unwrap());
}

const ANSWERED: &str = "> Tokens: 10 sent, 2 received.  \n";

#[test]
fn a_fence_that_is_never_closed_ends_with_the_answer() {
    let cut = "Sure:\n\n```python\nx = 1\n";
    let asks = |words: &str, answer: &str| format!("#### {words}  \n\n{answer}\n{ANSWERED}\n");
    for later in [
        // Nothing else has a fence, the next one says what is in it, it does not.
        asks("Again", "Yes.\n"),
        asks("Again", "Yes:\n\n```python\ny = 2\n```\n"),
        asks("Again", "Yes:\n\n```\ny = 2\n```\n"),
        asks("Again", "Yes:\n\n```\ny = 2\n```\n\nand\n\n```\nz\n```\n"),
    ] {
        let history = [asks("Write it", cut), later, asks("And now", "Done.\n")].concat();
        let (_folder, session) = read(&history);
        assert_eq!(figures(&session), [3, 3, 0, 0, 0], "{history}");
        assert_eq!(tokens(&session), [30, 6, 0], "{history}");
        assert_eq!(texts(&session)[1], cut.trim_end());
        assert_eq!(texts(&session)[5], "Done.");
    }
    // An answer that was interrupted: no count of tokens follows it.
    let (_folder, session) = read(&format!("#### Write it  \n\n{cut}\n\n#### Go on  \n\nDone.\n"));
    assert_eq!(texts(&session), ["user: Write it", cut.trim_end(), "user: Go on", "Done."]);
    // What the program says before its count is its own, too.
    let (_folder, session) = read(&format!("#### Write it  \n\n{cut}\n> Too long  \n{ANSWERED}"));
    assert_eq!(texts(&session), ["user: Write it", cut.trim_end()]);
}

#[test]
fn a_fence_may_quote_the_program() {
    let quote = format!(
        "It reads:\n\n```\n\n#### Old prompt  \n\nYes.\n\n{ANSWERED}> Applied edit to a.py  \n```\n\nAs said.\n"
    );
    for later in [
        "#### Thanks  \n\nGladly.\n",
        "#### Thanks  \n\n```python\nx\n```\n",
        "#### Thanks  \n\n```\nx\n```\n\n> Tokens: 1 sent, 1 received.  \n",
        "",
    ] {
        let history = format!("#### Show it  \n\n{quote}\n{ANSWERED}\n{later}");
        let (_folder, session) = read(&history);
        assert_eq!(texts(&session)[1], quote.trim_end(), "{history}");
        assert_eq!(session.turns.len(), 1 + usize::from(!later.is_empty()), "{history}");
    }
}

#[test]
fn a_history_that_begins_in_the_middle_of_a_session() {
    let text = "and so on.\n\n> Tokens: 10 sent, 2 received.  \n\n#### Go  \n\nDone.\n";
    let (_folder, session) = one_session(
        agent("aider"),
        vec![("project/.aider.chat.history.md", text.as_bytes().to_vec())],
    );
    assert_eq!((session.id.as_str(), session.counts.turns), ("aider-project-start", 2));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.md"), text).unwrap();
    assert!(backstory_testkit::sessions(folder.path()).is_empty(), "any other file");
}
