//! What a call says to the person, and what the person says to it.
//!
//! Readers make these when somebody asks, from the call and its result. Texts are copies: they are
//! as short as people write.

/// A call that is a part of the conversation between the person and the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dialogue {
    /// The model asks; one call can ask several questions.
    Questions(Vec<Question>),
    /// The model proposes what to do.
    Plan(Plan),
    /// The model keeps a list of what is to be done.
    Todos(Todos),
    /// The person refused the call, or what came of it, in these words.
    Objection(String),
}

/// A question with its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// A word or two above it.
    pub header: Option<String>,
    /// The question itself.
    pub text: String,
    /// What can be chosen.
    pub options: Vec<Choice>,
    /// Words of the person that are none of the options.
    pub own_words: Option<String>,
}

impl Question {
    /// Whether the person answered.
    pub fn is_answered(&self) -> bool {
        self.own_words.is_some() || self.options.iter().any(|option| option.chosen)
    }

    /// Marks the options that an answer names; anything else in it is the person's own words.
    pub fn answer(&mut self, answer: &str) {
        let answer = answer.trim();
        if let Some(same) = self.options.iter_mut().find(|option| option.label.trim() == answer) {
            same.chosen = true;
            return;
        }
        // Several labels come as one text, with commas between them. Labels have commas too, so the
        // longest one that fits is taken first.
        let mut rest = answer;
        let mut words: Vec<&str> = Vec::new();
        while !rest.is_empty() {
            let named = self.options.iter_mut().filter(|option| {
                let label = option.label.trim();
                let after = rest.strip_prefix(label).filter(|_| !label.is_empty());
                after.is_some_and(|after| after.is_empty() || after.starts_with(", "))
            });
            match named.max_by_key(|option| option.label.len()) {
                Some(option) => {
                    option.chosen = true;
                    let after = rest.strip_prefix(option.label.trim()).unwrap_or_default();
                    rest = after.trim_start_matches(", ");
                }
                None => {
                    let (word, after) = rest.split_once(", ").unwrap_or((rest, ""));
                    words.push(word);
                    rest = after;
                }
            }
        }
        if !words.is_empty() {
            self.add_words(&words.join(", "));
        }
    }

    /// Adds words of the person.
    pub fn add_words(&mut self, words: &str) {
        self.own_words = Some(match self.own_words.take() {
            Some(known) => format!("{known}\n{}", words.trim()),
            None => words.trim().to_owned(),
        });
    }
}

/// An answer that the model offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// What it is called.
    pub label: String,
    /// What it means.
    pub description: Option<String>,
    /// Whether the person took it.
    pub chosen: bool,
}

/// A plan and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What is to be done, as Markdown; none if the session does not have it.
    pub text: Option<String>,
    /// What the person said of it.
    pub verdict: Verdict,
}

/// What the person said of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is to be carried out; in the person's words, if there are any.
    Approved(Option<String>),
    /// It is not; in the person's words, if there are any.
    Rejected(Option<String>),
    /// The session ends before it, or does not say.
    Unknown,
}

impl Verdict {
    /// `approved`, `rejected`, or that there was no answer.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Approved(_) => "approved",
            Verdict::Rejected(_) => "rejected",
            Verdict::Unknown => "not answered",
        }
    }

    /// Words of the person.
    pub fn words(&self) -> Option<&str> {
        match self {
            Verdict::Approved(words) | Verdict::Rejected(words) => words.as_deref(),
            Verdict::Unknown => None,
        }
    }
}

/// What a call does to the list of what is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Todos {
    /// This is the whole list.
    Whole(Vec<Todo>),
    /// One more item, or another state of one.
    One(Todo),
}

/// Something to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Todo {
    /// By which later calls name it.
    pub id: Option<String>,
    /// What is to be done; none if the call names it by its id alone.
    pub text: Option<String>,
    /// How far it is; none if the call does not say.
    pub state: Option<TodoState>,
}

/// How far something is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TodoState {
    /// Not begun.
    #[default]
    Open,
    /// Being done.
    Active,
    /// Done.
    Done,
    /// It will not be done.
    Dropped,
}

impl TodoState {
    /// A state by the words that agents use for it.
    pub fn of(word: &str) -> Option<TodoState> {
        match word.to_ascii_lowercase().replace(['-', ' '], "_").as_str() {
            "pending" | "todo" | "open" | "not_started" => Some(TodoState::Open),
            "in_progress" | "active" | "doing" => Some(TodoState::Active),
            "completed" | "complete" | "done" | "finished" => Some(TodoState::Done),
            "cancelled" | "canceled" | "deleted" | "dropped" | "skipped" => {
                Some(TodoState::Dropped)
            }
            _ => None,
        }
    }

    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            TodoState::Open => "open",
            TodoState::Active => "in progress",
            TodoState::Done => "done",
            TodoState::Dropped => "dropped",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(labels: &[&str]) -> Question {
        let option = |label: &&str| Choice { label: (*label).to_owned(), ..Choice::default() };
        Question { options: labels.iter().map(option).collect(), ..Question::default() }
    }

    fn chosen(question: &Question) -> Vec<&str> {
        let options = question.options.iter().filter(|option| option.chosen);
        options.map(|option| option.label.as_str()).collect()
    }

    #[test]
    fn answers_are_options_or_own_words() {
        let mut one = question(&["Red", "Red, dark", "Blue"]);
        one.answer("Red, dark");
        assert_eq!((chosen(&one), one.own_words.as_deref()), (vec!["Red, dark"], None));
        let mut several = question(&["Red", "Red, dark", "Blue"]);
        several.answer("Blue, Red, dark, and a bit of green");
        assert_eq!(chosen(&several), ["Red, dark", "Blue"]);
        assert_eq!(several.own_words.as_deref(), Some("and a bit of green"));
        let mut own = question(&["Red"]);
        assert!(!own.is_answered());
        own.answer("Redder, please");
        assert_eq!((chosen(&own), own.own_words.as_deref()), (vec![], Some("Redder, please")));
        assert!(own.is_answered());
    }
}
