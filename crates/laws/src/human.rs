//! What people wrote in a session, and what machines wrote, as documents must show it: every word of
//! a person is in each format as theirs, and nothing else is.

use crate::render::{html, markdown, terminal, view};
use backstory_model::{Block, Dialogue, Event, Session, Turn, TurnKind};
use backstory_session::render::{Look, View};
use backstory_store::SourceReader;
use scraper::{ElementRef, Html, Node, Selector};

/// Words of people in a session with its subagents, and texts of machines that could be taken for
/// some.
#[derive(Debug, Default)]
pub struct Written {
    /// Prompts, interjections, answers in own words, verdicts, objections.
    pub typed: Vec<String>,
    /// Options that were chosen.
    pub chosen: Vec<String>,
    /// Notifications, summaries, tasks for subagents, messages of the client.
    pub by_machines: Vec<String>,
}

/// Everything that was written in a session.
pub fn written(session: &Session) -> Written {
    let mut all = Written::default();
    for one in session.walk().into_iter().filter(|one| !one.kind.is_housekeeping()) {
        let mut reader = one.source.open().unwrap();
        let left = one.abandoned.iter().flat_map(|branch| &branch.turns);
        for turn in one.turns.iter().chain(left) {
            all.add_turn(one, turn, &mut reader);
        }
    }
    all.typed.retain(|text| !text.trim().is_empty());
    all
}

impl Written {
    fn add_turn(&mut self, session: &Session, turn: &Turn, reader: &mut SourceReader) {
        for part in turn.prompt.blocks.iter().filter(|part| !part.context) {
            let Block::Text(text) = &part.block else { continue };
            let text = reader.text(text).unwrap().into_owned();
            match turn.kind {
                TurnKind::Human | TurnKind::Queued | TurnKind::Continuation => {
                    self.add_typed(&text);
                }
                TurnKind::Command => {
                    let name = between(&text, "<command-name>", "</command-name>");
                    let arguments = between(&text, "<command-args>", "</command-args>");
                    self.typed.push(format!(
                        "{} {}",
                        name.unwrap_or(&text),
                        arguments.unwrap_or("")
                    ));
                }
                TurnKind::Bash => {
                    let inside = between(&text, "<bash-input>", "</bash-input>");
                    self.typed.push(inside.unwrap_or(&text).to_owned());
                }
                TurnKind::Compact
                | TurnKind::TaskNotification
                | TurnKind::Teammate
                | TurnKind::Task => self.by_machines.push(text),
            }
        }
        for one in &turn.interjections {
            let text = reader.text(&one.text).unwrap().into_owned();
            self.add_typed(&text);
        }
        for event in &turn.events {
            self.add_event(event, reader);
        }
        for call in turn.calls() {
            match backstory_agents::dialogue(session.agent, call, reader).unwrap() {
                Some(Dialogue::Questions(asked)) => {
                    for question in asked {
                        let chosen = question.options.into_iter().filter(|option| option.chosen);
                        self.chosen.extend(chosen.map(|option| option.label));
                        self.typed.extend(question.own_words);
                    }
                }
                Some(Dialogue::Plan(plan)) => {
                    self.typed.extend(plan.verdict.words().map(str::to_owned));
                }
                Some(Dialogue::Objection(words)) => self.typed.push(words),
                Some(Dialogue::Todos(_)) | None => {}
            }
        }
    }

    /// A prompt without the reminders that the client put around it.
    fn add_typed(&mut self, text: &str) {
        const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");
        let mut typed = text;
        while let Some((before, rest)) = typed.rsplit_once(REMINDER.0) {
            let Some((inside, after)) = rest.split_once(REMINDER.1) else { break };
            let (left, right) = (before.trim().is_empty(), after.trim().is_empty());
            if !left && !right {
                break;
            }
            self.by_machines.push(inside.to_owned());
            typed = if right { before } else { after };
        }
        self.typed.push(typed.to_owned());
    }

    fn add_event(&mut self, event: &Event, reader: &mut SourceReader) {
        let said = ["local-command", "interrupted", "commit"];
        if said.iter().any(|kind| event.kind.starts_with(kind)) {
            return;
        }
        if let Some(text) = &event.text {
            self.by_machines.push(reader.text(text).unwrap().into_owned());
        }
    }
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inside, _)| inside.trim())
}

/// Runs of letters.
fn words(text: &str) -> Vec<&str> {
    text.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty()).collect()
}

/// Whether all words of a text are in another, in order.
fn holds(shown: &[&str], text: &str) -> bool {
    let mut shown = shown.iter();
    words(text).iter().all(|word| shown.any(|other| other == word))
}

/// The text of an element and of its attributes that were made from text.
fn text_of(element: ElementRef<'_>, out: &mut String) {
    let attributes: String = ["href", "title"]
        .iter()
        .filter_map(|name| element.attr(name))
        .collect::<Vec<_>>()
        .join(" ");
    out.push_str(&attributes);
    out.push(' ');
    for child in element.children() {
        match child.value() {
            Node::Text(text) => out.push_str(text),
            Node::Element(_) => {
                ElementRef::wrap(child).into_iter().for_each(|child| text_of(child, out));
            }
            _ => {}
        }
    }
    out.push(' ');
    out.push_str(&attributes);
}

/// Holds a session to the law. Gives the number of texts of people and of machines.
pub fn check(session: &Session) -> (usize, usize) {
    let path = session.source.path().display();
    let written = written(session);
    let page = Html::parse_document(&html(session, &view()));
    let select = |css: &str| {
        let nodes = Selector::parse(css).unwrap();
        let mut texts = Vec::new();
        for node in page.select(&nodes) {
            let mut text = String::new();
            text_of(node, &mut text);
            texts.push(text);
        }
        texts
    };
    let (prompts, chosen) = (select(".prompt"), select(".chosen b"));
    assert_eq!(prompts.len(), written.typed.len(), "{path}: {prompts:#?} {:#?}", written.typed);
    assert_eq!(chosen.len(), written.chosen.len(), "{path}: {:?}", written.chosen);
    for text in &written.typed {
        let is_shown = |prompt: &String| holds(&words(prompt), text);
        assert!(prompts.iter().any(is_shown), "{path}: page: {text:?} not in {prompts:#?}");
    }
    for (shown, label) in chosen.iter().zip(&written.chosen) {
        assert!(holds(&words(shown), label), "{path}: page: {label:?}");
    }
    let look = Look { width: None, colour: false };
    let text = terminal(session, &view(), look);
    let bare = |line: &str| line.trim_start_matches([' ', '│']).to_owned();
    let quoted = |text: &str| -> String {
        let lines = text.lines().map(bare).filter(|line| line.starts_with('>'));
        lines.map(|line| line + "\n").collect()
    };
    let document = markdown(session, &view());
    for (format, shown) in [("terminal", quoted(&text)), ("markdown", quoted(&document))] {
        let shown = words(&shown);
        for text in &written.typed {
            assert!(holds(&shown, text), "{path}: {format}: {text:?} not in {shown:?}");
        }
    }
    let ticks = |sign: &str, text: &str| {
        text.lines().map(bare).filter(|line| line.starts_with(sign)).collect::<String>()
    };
    for (format, shown) in
        [("terminal", ticks("✓ ", &text)), ("markdown", ticks("- ☑ **", &document))]
    {
        let shown = words(&shown);
        for label in &written.chosen {
            assert!(holds(&shown, label), "{path}: {format}: {label:?} not in {shown:?}");
        }
    }
    check_machines(session, &written, &prompts);
    (written.typed.len() + written.chosen.len(), written.by_machines.len())
}

/// Texts of machines are never a person's, whether or not they are shown.
fn check_machines(session: &Session, written: &Written, prompts: &[String]) {
    let path = session.source.path().display();
    let noisy = View { noise: true, ..view() };
    let look = Look { width: None, colour: false };
    let terminal = terminal(session, &noisy, look);
    let bare = |line: &str| line.trim_start_matches([' ', '│']).to_owned();
    let quoted: Vec<String> =
        terminal.lines().map(bare).filter(|line| line.starts_with("> ")).collect();
    let joined = |text: &str| words(text).join(" ");
    let typed: Vec<String> = written.typed.iter().map(|text| joined(text)).collect();
    for text in &written.by_machines {
        let machine = joined(text);
        // People quote machines, and a word or two are anybody's.
        if words(text).len() < 4 || typed.iter().any(|typed| typed.contains(&machine)) {
            continue;
        }
        for prompt in prompts {
            assert!(!joined(prompt).contains(&machine), "{path}: page: {text:?} as a person's");
        }
        assert!(
            !joined(&quoted.join("\n")).contains(&machine),
            "{path}: terminal: {text:?} as a person's"
        );
    }
}
