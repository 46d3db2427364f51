//! Calls that are a part of the conversation: questions, plans, lists of what is to be done, and
//! what the person said when refusing a call.
//!
//! The client asks, and writes the answer into the result: as an object, and as words for the model.
//! Old clients wrote the words alone.

use super::{kind, with_object};
use backstory_format::json::{Kind, Value};
use backstory_model::{
    ActionKind, Call, CallOutcome, CallResult, Choice, Dialogue, Plan, Question, Todo, TodoState,
    Todos, Verdict,
};
use backstory_store::{SourceReader, StoreError};

/// In front of the person's words in the result of a refused call.
const SAID: &str = "user said:";
/// The client's own words after those of the person.
const NOTE: &str = "\n\nNote: The user's next message";
/// The client's own words where the person would rather talk than choose.
const CLARIFY: &str = "The user wants to clarify these questions.";
/// In front of a plan that the person changed or took as it was.
const APPROVED: &str = "## Approved Plan";

/// What a call says to the person and the person to it.
pub fn dialogue(call: &Call, reader: &mut SourceReader) -> Result<Option<Dialogue>, StoreError> {
    let tool = call.name.as_deref().unwrap_or_default();
    let result = call.result.as_ref();
    Ok(match kind(tool) {
        ActionKind::Question => asked(call, reader)?.map(Dialogue::Questions),
        ActionKind::Plan => Some(Dialogue::Plan(plan(call, reader)?)),
        ActionKind::Todos => todos(call, reader)?.map(Dialogue::Todos),
        _ => match result.filter(|result| result.outcome == CallOutcome::Rejected) {
            Some(result) => objection(&words(result, reader)?).map(Dialogue::Objection),
            None => None,
        },
    })
}

/// The result, as the model gets to read it.
fn words(result: &CallResult, reader: &mut SourceReader) -> Result<String, StoreError> {
    let mut words = String::new();
    for text in &result.text {
        words.push_str(&reader.text(text)?);
    }
    Ok(words)
}

/// What the person typed when refusing a call.
fn objection(words: &str) -> Option<String> {
    let (_, said) = words.split_once(SAID)?;
    let said = said.split(NOTE).next().unwrap_or(said).trim();
    (!said.is_empty() && !said.starts_with(CLARIFY)).then(|| said.to_owned())
}

fn asked(call: &Call, reader: &mut SourceReader) -> Result<Option<Vec<Question>>, StoreError> {
    let Some(input) = &call.input else { return Ok(None) };
    let found = with_object(input, reader, |input, _| Some(questions(&input.get("questions")?)))?;
    let Some(mut asked) = found.filter(|found| !found.is_empty()) else { return Ok(None) };
    let Some(result) = &call.result else { return Ok(Some(asked)) };
    let known = match &result.structured {
        Some(structured) => with_object(structured, reader, |told, _| {
            let answers = told.get("answers").filter(|answers| answers.kind() == Kind::Object)?;
            for question in &mut asked {
                if let Some(answer) = named(&answers, &question.text) {
                    question.answer(&answer);
                }
                let notes = told.get("annotations");
                let notes = notes.and_then(|notes| notes.get(&question.text)?.get_text("notes"));
                if let Some(notes) = notes.filter(|notes| !notes.trim().is_empty()) {
                    question.add_words(&notes);
                }
            }
            Some(())
        })?,
        None => None,
    };
    if known.is_none() {
        answer_in_words(&mut asked, &words(result, reader)?);
    }
    Ok(Some(asked))
}

/// The answer to a question: a text, or several in a list.
fn named(answers: &Value<'_>, question: &str) -> Option<String> {
    let answer = answers.get(question)?;
    if let Some(text) = answer.text() {
        return Some(text.into_owned());
    }
    let several: Vec<String> =
        answer.items().filter_map(|item| item.text().map(|text| text.into_owned())).collect();
    (!several.is_empty()).then(|| several.join(", "))
}

/// Answers in `"question"="answer", …`, or below the questions where the person wants to talk.
fn answer_in_words(asked: &mut [Question], words: &str) {
    let starts: Vec<String> =
        asked.iter().map(|question| format!("\"{}\"=\"", question.text)).collect();
    let mut found = false;
    for (question, start) in asked.iter_mut().zip(&starts) {
        let answer = match words.split_once(start.as_str()) {
            Some((_, rest)) => {
                let others = starts.iter().map(|other| format!("\", {other}"));
                let ends = others.chain(["\". You can now".to_owned()]);
                let end = ends.filter_map(|end| rest.find(&end)).min();
                end.and_then(|end| rest.get(..end)).or_else(|| rest.split('"').next())
            }
            None => {
                let asked = words.split_once(&format!("- \"{}\"\n", question.text));
                let answer = asked.and_then(|(_, rest)| rest.trim_start().strip_prefix("Answer: "));
                answer.and_then(|answer| answer.lines().next())
            }
        };
        if let Some(answer) = answer.filter(|answer| !answer.trim().is_empty()) {
            question.answer(answer);
            found = true;
        }
    }
    if let (false, Some(said), Some(first)) = (found, objection(words), asked.first_mut()) {
        first.add_words(&said);
    }
}

/// Questions in the shape that clients have in common: a list with `question`, `header` and
/// `options`, which are labels or objects with one.
pub fn questions(list: &Value<'_>) -> Vec<Question> {
    let text = |value: &Value<'_>, names: &[&str]| {
        names.iter().find_map(|name| value.get_text(name)).map(|text| text.into_owned())
    };
    let option = |value: Value<'_>| match value.text() {
        Some(label) => Some(Choice { label: label.into_owned(), ..Choice::default() }),
        None => Some(Choice {
            label: text(&value, &["label", "answer", "text"])?,
            description: text(&value, &["description"]),
            chosen: false,
        }),
    };
    let question = |value: Value<'_>| {
        let options = value.get("options");
        Some(Question {
            header: text(&value, &["header"]),
            text: text(&value, &["question", "text"])?,
            options: options.iter().flat_map(|list| list.items()).filter_map(option).collect(),
            own_words: None,
        })
    };
    list.items().filter_map(question).collect()
}

fn plan(call: &Call, reader: &mut SourceReader) -> Result<Plan, StoreError> {
    let field = |content, reader: &mut SourceReader| {
        with_object(content, reader, |value, _| {
            value.get_text("plan").map(|text| text.into_owned())
        })
    };
    let result = call.result.as_ref();
    let structured = result.and_then(|result| result.structured.as_ref());
    // The result has what the person made of it.
    let mut text = match structured {
        Some(structured) => field(structured, reader)?,
        None => None,
    };
    if let (None, Some(input)) = (&text, &call.input) {
        text = field(input, reader)?;
    }
    let words = result.map(|result| words(result, reader)).transpose()?.unwrap_or_default();
    let text = text.or_else(|| {
        let (_, rest) = words.split_once(APPROVED)?;
        rest.split_once('\n').map(|(_, plan)| plan.trim().to_owned())
    });
    let verdict = match result.map(|result| result.outcome) {
        Some(CallOutcome::Ok) => Verdict::Approved(None),
        Some(CallOutcome::Rejected) => Verdict::Rejected(objection(&words)),
        _ => Verdict::Unknown,
    };
    Ok(Plan { text: text.filter(|text| !text.trim().is_empty()), verdict })
}

fn todos(call: &Call, reader: &mut SourceReader) -> Result<Option<Todos>, StoreError> {
    let Some(input) = &call.input else { return Ok(None) };
    let todos = with_object(input, reader, |input, _| match input.get("todos") {
        Some(list) => Some(Todos::Whole(items(&list, &["content"]))),
        None => {
            let text = input.get_text("subject").map(|text| text.into_owned());
            let state = input.get_text("status").and_then(|state| TodoState::of(&state));
            let id = input.get_text("taskId").map(|id| id.into_owned());
            Some(Todos::One(Todo { id, text, state }))
        }
    })?;
    let structured = call.result.as_ref().and_then(|result| result.structured.as_ref());
    match (todos, structured) {
        // Whoever adds an item gets its id.
        (Some(Todos::One(Todo { id: None, text, state })), Some(structured)) => {
            let id = with_object(structured, reader, |told, _| {
                told.get("task")?.get_text("id").map(|id| id.into_owned())
            })?;
            Ok(Some(Todos::One(Todo { id, text, state })))
        }
        (todos, _) => Ok(todos),
    }
}

/// Items of a list of what is to be done: objects with a text under one of `names` and a `status`.
pub fn items(list: &Value<'_>, names: &[&str]) -> Vec<Todo> {
    let item = |value: Value<'_>| Todo {
        id: value.get_text("id").map(|id| id.into_owned()),
        text: match value.text() {
            Some(text) => Some(text.into_owned()),
            None => {
                names.iter().find_map(|name| value.get_text(name)).map(|text| text.into_owned())
            }
        },
        state: value.get_text("status").and_then(|state| TodoState::of(&state)),
    };
    list.items().map(item).collect()
}
