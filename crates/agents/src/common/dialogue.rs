//! Questions, plans and lists of what is to be done, in the shapes that most agents use for them.
//!
//! A reader names its tools. An answer counts only in a form that the agent's client writes: any
//! other result is the machine's.

use backstory_claude::actions::{items, questions};
use backstory_format::Limits;
use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_model::{
    ActionKind, Call, CallOutcome, Choice, Content, Dialogue, Plan, Question, Todos, Verdict,
};
use backstory_store::{SourceReader, StoreError};

/// Tools of an agent that are known by their names alone.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NamedTools {
    /// They ask the person.
    pub(crate) questions: &'static [&'static str],
    /// They propose a plan.
    pub(crate) plans: &'static [&'static str],
    /// They write the list of what is to be done.
    pub(crate) todos: &'static [&'static str],
    /// They look for files, or in files.
    pub(crate) searches: &'static [&'static str],
}

impl NamedTools {
    /// Whether a call does something of this kind, by its name or its effects.
    pub(crate) fn does(&self, call: &Call, kind: ActionKind) -> bool {
        let names = match kind {
            ActionKind::Question => self.questions,
            ActionKind::Plan => self.plans,
            ActionKind::Todos => self.todos,
            ActionKind::Search => self.searches,
            _ => return call.effects.iter().any(|effect| ActionKind::of(effect) == kind),
        };
        call.name.as_deref().is_some_and(|name| names.contains(&name))
    }

    /// What such a call says to the person and the person to it.
    pub(crate) fn dialogue(
        &self,
        call: &Call,
        reader: &mut SourceReader,
    ) -> Result<Option<Dialogue>, StoreError> {
        let kinds = [ActionKind::Question, ActionKind::Plan, ActionKind::Todos];
        let Some(kind) = kinds.into_iter().find(|kind| self.does(call, *kind)) else {
            return Ok(None);
        };
        let input = match &call.input {
            Some(Content::Json(span)) => reader.bytes(*span)?.to_vec(),
            Some(Content::Owned(text)) => text.as_bytes().to_vec(),
            _ => return Ok(None),
        };
        let mut said = String::new();
        for text in call.result.iter().flat_map(|result| &result.text) {
            said.push_str(&reader.text(text)?);
        }
        let outcome = call.result.as_ref().map(|result| result.outcome);
        let mut tape = Tape::new();
        let is_json = scan(&input, 0, Limits::DEPTH, &mut tape).is_ok();
        let Some(input) = tape.root(&input).filter(|_| is_json) else { return Ok(None) };
        Ok(match kind {
            ActionKind::Question => asked(&input, &said).map(Dialogue::Questions),
            ActionKind::Plan => Some(Dialogue::Plan(plan(&input, &said, outcome))),
            _ => todos(&input).map(Dialogue::Todos),
        })
    }
}

fn asked(input: &Value<'_>, said: &str) -> Option<Vec<Question>> {
    if let Some(list) = input.get("questions") {
        let ids: Vec<Option<String>> =
            list.items().map(|one| one.get_text("id").map(|id| id.into_owned())).collect();
        let mut asked = questions(&list);
        let mut tape = Tape::new();
        let is_json = scan(said.as_bytes(), 0, Limits::DEPTH, &mut tape).is_ok();
        let answers = tape.root(said.as_bytes()).filter(|_| is_json);
        let answers = answers.and_then(|answers| answers.get("answers"));
        for (at, question) in asked.iter_mut().enumerate() {
            let id = ids.get(at).cloned().flatten();
            let place = at.to_string();
            let names = [id.as_deref(), Some(place.as_str()), Some(question.text.as_str())];
            let answer = answers
                .and_then(|answers| names.into_iter().flatten().find_map(|name| answers.get(name)));
            answer.into_iter().for_each(|answer| take(&answer, question));
        }
        return (!asked.is_empty()).then_some(asked);
    }
    let text = input.get_text("question").or_else(|| input.get_text("response"))?;
    let mut question = Question { text: text.into_owned(), ..Question::default() };
    if let Some(options) = input.get("options") {
        question.options = match options.text() {
            // A list written as a text.
            Some(text) => options_in_text(&text),
            None => choices(&options),
        };
    }
    let tags = [("<answer>", "</answer>"), ("<user_message>", "</user_message>")];
    let inside = tags.iter().find_map(|(open, close)| {
        let (_, rest) = said.split_once(open)?;
        rest.rsplit_once(close).map(|(inside, _)| inside.trim())
    });
    if let Some(answer) = inside.filter(|answer| !answer.is_empty()) {
        question.answer(answer);
    }
    Some(vec![question])
}

fn choices(list: &Value<'_>) -> Vec<Choice> {
    let label = |value: Value<'_>| {
        let label = value.text()?.into_owned();
        Some(Choice { label, ..Choice::default() })
    };
    list.items().filter_map(label).collect()
}

fn options_in_text(text: &str) -> Vec<Choice> {
    let mut tape = Tape::new();
    if scan(text.as_bytes(), 0, Limits::DEPTH, &mut tape).is_err() {
        return Vec::new();
    }
    tape.root(text.as_bytes()).map(|list| choices(&list)).unwrap_or_default()
}

/// An answer: a text, a list of texts, or an object with one under `answers`. Notes of the person
/// are marked as such.
fn take(answer: &Value<'_>, question: &mut Question) {
    match answer.kind() {
        Kind::Object => answer.get("answers").iter().for_each(|answer| take(answer, question)),
        Kind::Array => answer.items().for_each(|answer| take(&answer, question)),
        _ => {
            let Some(text) = answer.text() else { return };
            match text.strip_prefix("user_note: ") {
                Some(note) => question.add_words(note),
                None if text.trim().is_empty() => {}
                None => question.answer(&text),
            }
        }
    }
}

fn plan(input: &Value<'_>, said: &str, outcome: Option<CallOutcome>) -> Plan {
    let text = input.get_text("plan").map(|text| text.into_owned());
    let verdict = if let Some((_, rest)) = said.split_once("Plan rejected. User feedback: ") {
        let words = rest.split("\n\nThe plan is stored at: ").next().unwrap_or(rest).trim();
        let words =
            words.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(words);
        Verdict::Rejected((!words.is_empty()).then(|| words.to_owned()))
    } else if said.contains("Plan rejected") || outcome == Some(CallOutcome::Rejected) {
        Verdict::Rejected(None)
    } else if said.contains("Plan approved") {
        Verdict::Approved(None)
    } else {
        Verdict::Unknown
    };
    Plan { text: text.filter(|text| !text.trim().is_empty()), verdict }
}

fn todos(input: &Value<'_>) -> Option<Todos> {
    let list = ["plan", "todos", "task_list"].iter().find_map(|name| input.get(name))?;
    let names = ["step", "description", "title", "content"];
    let items = items(&list, &names);
    (!items.is_empty()).then_some(Todos::Whole(items))
}
