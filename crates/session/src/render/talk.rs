//! Calls that are a part of the conversation, made ready to be shown.

use backstory_model::{Call, CallOutcome, Dialogue, Plan, Question, Todo, TodoState, Todos};
use backstory_text::figures::counted;
use hashbrown::HashMap;

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

/// What a call did to the list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TodoList {
    /// Which lines there are: the whole list, or the one that the call is about.
    pub(super) extent: Extent,
    pub(super) lines: Vec<TodoLine>,
    /// Of the whole list.
    done: usize,
    all: usize,
}

/// How much of a list is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    One,
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
        match (self.done, self.all) {
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
pub(super) struct KnownTodos {
    items: Vec<Todo>,
    /// Where items with an id are.
    places: HashMap<String, usize>,
    done: usize,
}

impl KnownTodos {
    fn update(&mut self, todos: Todos) -> TodoList {
        match todos {
            Todos::Whole(list) => self.replace(list),
            Todos::One(todo) => self.change(todo),
        }
    }

    fn replace(&mut self, list: Vec<Todo>) -> TodoList {
        let old = std::mem::replace(&mut self.items, list);
        let old: HashMap<Option<String>, TodoState> =
            old.into_iter().map(|todo| (todo.text, todo.state.unwrap_or_default())).collect();
        let ids = self.items.iter().enumerate();
        self.places = ids.filter_map(|(at, todo)| Some((todo.id.clone()?, at))).collect();
        self.done = self.items.iter().filter(|todo| is_done(todo)).count();
        let line = |todo: &Todo| {
            let state = todo.state.unwrap_or_default();
            line_of(todo, old.get(&todo.text).is_none_or(|old| *old != state))
        };
        let lines = self.items.iter().map(line).collect();
        TodoList { extent: Extent::Whole, lines, done: self.done, all: self.items.len() }
    }

    fn change(&mut self, todo: Todo) -> TodoList {
        let known = todo.id.as_ref().and_then(|id| self.places.get(id).copied());
        let line = match known.and_then(|at| self.items.get_mut(at)) {
            Some(known) => {
                self.done -= usize::from(is_done(known));
                known.text = todo.text.or_else(|| known.text.take());
                known.state = todo.state.or(known.state);
                self.done += usize::from(is_done(known));
                line_of(known, true)
            }
            None => {
                let line = line_of(&todo, true);
                self.done += usize::from(is_done(&todo));
                self.places.extend(todo.id.clone().map(|id| (id, self.items.len())));
                self.items.push(todo);
                line
            }
        };
        let (done, all) = (self.done, self.items.len());
        TodoList { extent: Extent::One, lines: vec![line], done, all }
    }
}

fn is_done(todo: &Todo) -> bool {
    todo.state == Some(TodoState::Done)
}

fn line_of(todo: &Todo, changed: bool) -> TodoLine {
    let id = || todo.id.as_ref().map(|id| format!("item {id}"));
    TodoLine {
        text: todo.text.clone().or_else(id).unwrap_or_else(|| "(no text)".to_owned()),
        state: todo.state.unwrap_or_default(),
        changed,
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
        assert_eq!(list.words(), "1 of 3 done");
    }

    #[test]
    fn a_new_list_says_what_changed() {
        let item =
            |text: &str, state| Todo { id: None, text: Some(text.into()), state: Some(state) };
        let mut known = KnownTodos::default();
        let first = vec![item("a", TodoState::Active), item("b", TodoState::Open)];
        assert_eq!(known.update(Todos::Whole(first)).changed().count(), 2);
        let second = vec![item("a", TodoState::Done), item("b", TodoState::Open)];
        let list = known.update(Todos::Whole(second));
        let changed: Vec<_> = list.changed().map(|line| line.text.as_str()).collect();
        assert_eq!((changed, list.words().as_str()), (vec!["a"], "1 of 2 done"));
    }
}
