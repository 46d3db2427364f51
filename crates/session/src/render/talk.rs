//! Calls that are a part of the conversation, made ready to be shown.

use backstory_model::{Call, CallOutcome, Dialogue, Plan, Question, Todo, TodoState, Todos};
use backstory_text::figures::counted;

/// A question, a plan or a list, with what the person said.
#[derive(Debug)]
pub(super) struct Talk<'a> {
    /// The number of its call in the document, from one.
    pub(super) number: usize,
    pub(super) id: Option<&'a str>,
    pub(super) outcome: Option<CallOutcome>,
    pub(super) body: TalkBody,
}

/// What is said.
#[derive(Debug)]
pub(super) enum TalkBody {
    Questions(Vec<Question>),
    Plan(Plan),
    Todos(TodoList),
}

impl<'a> Talk<'a> {
    /// None for a call that is shown as any other.
    pub(super) fn of(
        number: usize,
        call: &'a Call,
        dialogue: Dialogue,
        known: &mut KnownTodos,
    ) -> Option<Talk<'a>> {
        let body = match dialogue {
            Dialogue::Questions(asked) => TalkBody::Questions(asked),
            Dialogue::Plan(plan) => TalkBody::Plan(plan),
            Dialogue::Todos(todos) => TalkBody::Todos(known.update(todos)),
            Dialogue::Objection(_) => return None,
        };
        let outcome = call.result.as_ref().map(|result| result.outcome);
        Some(Talk { number, id: call.id.as_deref(), outcome, body })
    }
}

/// The list as it is after a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TodoList {
    pub(super) lines: Vec<TodoLine>,
}

/// One of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TodoLine {
    pub(super) text: String,
    pub(super) state: TodoState,
    /// The call added it, or changed how far it is.
    pub(super) changed: bool,
}

impl TodoList {
    /// `2 of 5 done`
    pub(super) fn words(&self) -> String {
        let done = self.lines.iter().filter(|line| line.state == TodoState::Done).count();
        match (done, self.lines.len()) {
            (0, all) => counted(all as u64, "item", "items"),
            (done, all) => format!("{done} of {all} done"),
        }
    }

    pub(super) fn changed(&self) -> impl Iterator<Item = &TodoLine> {
        self.lines.iter().filter(|line| line.changed)
    }
}

/// The list of one conversation: calls may name items by their ids alone.
#[derive(Debug, Default)]
pub(super) struct KnownTodos(Vec<Todo>);

impl KnownTodos {
    fn update(&mut self, todos: Todos) -> TodoList {
        let before = self.0.clone();
        match todos {
            Todos::Whole(list) => self.0 = list,
            Todos::One(todo) => {
                let named = todo.id.is_some();
                match self.0.iter_mut().find(|known| named && known.id == todo.id) {
                    Some(known) => {
                        known.text = todo.text.or_else(|| known.text.take());
                        known.state = todo.state.or(known.state);
                    }
                    None => self.0.push(todo),
                }
            }
        }
        let line = |todo: &Todo| {
            let id = || todo.id.as_ref().map(|id| format!("item {id}"));
            let same = |known: &&Todo| known.text == todo.text && known.id == todo.id;
            let known = before.iter().find(same);
            TodoLine {
                text: todo.text.clone().or_else(id).unwrap_or_else(|| "(no text)".to_owned()),
                state: todo.state.unwrap_or_default(),
                changed: known.is_none_or(|known| {
                    known.state.unwrap_or_default() != todo.state.unwrap_or_default()
                }),
            }
        };
        TodoList { lines: self.0.iter().map(line).collect() }
    }
}

/// The sign in front of an item.
pub(super) fn todo_sign(state: TodoState) -> &'static str {
    match state {
        TodoState::Open => "☐",
        TodoState::Active => "▶",
        TodoState::Done => "☑",
        TodoState::Dropped => "☒",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn todo(id: &str, text: Option<&str>, state: Option<TodoState>) -> Todos {
        Todos::One(Todo { id: Some(id.to_owned()), text: text.map(str::to_owned), state })
    }

    #[test]
    fn items_are_known_by_their_ids() {
        let mut known = KnownTodos::default();
        known.update(todo("1", Some("Write"), None));
        known.update(todo("2", Some("Test"), None));
        let list = known.update(todo("1", None, Some(TodoState::Done)));
        let changed: Vec<_> = list.changed().map(|line| line.text.as_str()).collect();
        assert_eq!((list.words().as_str(), changed), ("1 of 2 done", vec!["Write"]));
        let list = known.update(todo("9", None, Some(TodoState::Active)));
        assert_eq!(list.lines.last().map(|line| line.text.as_str()), Some("item 9"));
    }
}
