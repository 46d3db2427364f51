//! Random scripts are split as a shell splits them.
//!
//! Each runs in a real shell, with a function as its only command. What the shell hands to that
//! function (its words and its input) must be what the splitter says.

use backstory_model::shell::{Script, Word};
use proptest::prelude::*;
use std::process::{Command, Stdio};

/// Shells of this machine. A machine without one proves nothing, which is said aloud.
fn shells() -> Vec<&'static str> {
    let answers = |shell: &&str| {
        let run = Command::new(shell).args(["-c", "exit 7"]).status();
        run.is_ok_and(|status| status.code() == Some(7))
    };
    let found: Vec<&str> = ["sh", "bash"].into_iter().filter(answers).collect();
    if found.is_empty() {
        eprintln!("SKIPPED: no shell to compare with");
    }
    found
}

/// Reports its words, then its input, in one write each.
const REPORT: &str = "\
set -f
c() { input=$(cat; echo .); printf 'call\\0' >&3; printf '%s\\0' \"$@\" >&3; printf 'input\\0%s\\0' \"${input%.}\" >&3; }
exec 3>&1 </dev/null
";

/// What a shell hands to the function, one after the other.
fn words_of(shell: &str, script: &str) -> Vec<String> {
    let run = Command::new(shell)
        .args(["-c", &format!("{REPORT}{script}\n")])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let words = String::from_utf8(run.stdout).unwrap();
    words.split_terminator('\0').map(str::to_owned).collect()
}

/// The same by the splitter.
fn split(script: &str) -> Vec<String> {
    let split = Script::split(script);
    let mut found = Vec::new();
    for command in &split.commands {
        let [Word { text: name, .. }, words @ ..] = command.words.as_slice() else { continue };
        if name != "c" {
            continue;
        }
        found.push("call".to_owned());
        // `printf` without words prints one that is empty.
        let words: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        found.extend(if words.is_empty() { vec![String::new()] } else { words });
        let input = command.documents().last().map(|document| split.lines_of(document));
        found.extend(["input".to_owned(), input.unwrap_or_default().to_owned()]);
    }
    found
}

fn piece() -> impl Strategy<Value = String> {
    let plain = prop::sample::select(vec![
        "a", "B", "7", "é", "-x", "=", "a#b", "{", "}", "%", "!", "^", "]",
    ]);
    let special = prop::sample::select(vec![
        " ", "'", "\"", "\\", "$", "`", "#", ";", "&", "|", ">", "<", "(", "\n", "*", "~",
    ]);
    let inside = prop::collection::vec(
        prop::sample::select(vec![
            "a", " ", "\n", ";", "#", "|", ">", "<<E", "(", ")", "&", "*", "\\a", "\\ ",
        ]),
        0..5,
    );
    prop_oneof![
        4 => plain.prop_map(str::to_owned),
        2 => special.prop_map(|letter| format!("\\{letter}")),
        2 => inside.clone().prop_map(|parts| format!("'{}\"'", parts.concat())),
        2 => inside.prop_map(|parts| format!("\"{}'\\\"\\$\\`\\\\\"", parts.concat())),
    ]
}

fn word() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 1..4).prop_map(|pieces| pieces.concat())
}

fn blank() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![" ", "  ", "\t", " \\\n", " \\\n\t"])
}

/// One command, the lines that follow the one it is on, and whether it names its input.
fn command() -> impl Strategy<Value = (String, String, bool)> {
    let words = prop::collection::vec((blank(), word()), 0..4);
    let redirection =
        prop::sample::select(vec!["", " 2>&1", " 2>/dev/null", " </dev/null", "2>>/dev/null "]);
    let lines = prop::collection::vec(
        prop::sample::select(vec!["c x\n", "it's\n", " E\n", "\n", "EE\n", "\"\n", "# <<F\n"]),
        0..4,
    );
    let document = prop_oneof![
        3 => Just(None),
        1 => lines.clone().prop_map(|lines| Some((" <<'E'", lines.concat() + "E\n"))),
        1 => lines.prop_map(|lines| Some((" <<\\E", lines.concat() + "E\n"))),
    ];
    (words, redirection, document).prop_map(|(words, redirection, document)| {
        let words: String =
            words.into_iter().map(|(blank, word)| format!("{blank}{word}")).collect();
        let (announced, lines) = document.unwrap_or_default();
        let named = redirection.contains('<') || !announced.is_empty();
        (format!("c{words} {redirection}{announced}"), lines, named)
    })
}

fn script() -> impl Strategy<Value = String> {
    let between = prop::sample::select(vec![
        "; ",
        " && ",
        ";\n",
        "\n",
        " # it's > x\n",
        " &&\n",
        " | ",
        "|\n",
    ]);
    prop::collection::vec((command(), between), 1..5).prop_map(|commands| {
        let mut script = String::new();
        let mut waiting = String::new();
        let last = commands.len() - 1;
        let named: Vec<bool> = commands.iter().map(|((_, _, named), _)| *named).collect();
        for (at, ((command, lines, _), between)) in commands.into_iter().enumerate() {
            // Only one that reads what the other prints surely runs after it.
            let waits = named.get(at + 1) == Some(&false);
            let between = if waits || !between.contains('|') { between } else { "; " };
            script.push_str(&command);
            waiting.push_str(&lines);
            let between = if at == last { "\n" } else { between };
            script.push_str(between);
            if between.ends_with('\n') {
                script.push_str(&std::mem::take(&mut waiting));
            }
        }
        script
    })
}

#[test]
fn words_and_documents_are_those_of_a_shell() {
    for shell in shells() {
        let mut config = ProptestConfig::with_cases(120);
        config.failure_persistence = None;
        proptest!(config, |(script in script())| {
            prop_assert_eq!(split(&script), words_of(shell, &script), "{}: {:?}", shell, script);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    /// Any text can be split, and spans are where words are written.
    #[test]
    fn any_text_can_be_split(text in "[ab \\\\\"'`$(){}<>&|;#=0-9E\n-]{0,60}") {
        let split = Script::split(&text);
        let mut end = 0;
        for command in &split.commands {
            prop_assert!(command.span.start >= end && command.span.end <= command.link_at);
            prop_assert!(command.link_at <= text.len());
            for word in &command.words {
                prop_assert!(text.get(word.span.clone()).is_some_and(|word| !word.is_empty()));
            }
            end = command.span.end;
        }
        for gap in &split.gaps {
            let bare = text[gap.clone()].replace("\\\n", "");
            prop_assert!(bare.trim().is_empty());
        }
    }
}
