//! What the messages of a session add up to.

use crate::{Branch, Session, Step, Turn, UsageTotal};
use std::sync::Arc;

impl Session {
    /// Every message of a model once, those of branches left behind included.
    pub fn messages(&self) -> impl Iterator<Item = &Step> {
        once_each(&self.turns, &self.abandoned)
    }

    /// The tokens of its messages; none where there are messages, but no count of any.
    pub fn tokens(&self) -> Option<UsageTotal> {
        let (mut messages, mut uncounted) = (0_u64, 0);
        for step in self.messages() {
            messages += 1;
            uncounted += u64::from(step.usage.is_none());
        }
        match uncounted {
            0 => Some(self.usage),
            _ if uncounted < messages => Some(UsageTotal { incomplete: true, ..self.usage }),
            // Some agents write down only the sum over all messages.
            _ => (self.usage.total() > 0).then_some(self.usage),
        }
    }
}

/// Models that answered, in order of their first word.
pub fn models(turns: &[Turn], abandoned: &[Branch]) -> Vec<Arc<str>> {
    let mut models: Vec<Arc<str>> = Vec::new();
    let mut seen = hashbrown::HashSet::new();
    for step in all(turns, abandoned).filter(|step| !step.synthetic) {
        if let Some(model) = step.model.as_ref().filter(|model| seen.insert((*model).clone())) {
            models.push(model.clone());
        }
    }
    models
}

/// Tokens of every message once.
pub fn usage(turns: &[Turn], abandoned: &[Branch]) -> UsageTotal {
    let mut total = UsageTotal::default();
    for usage in once_each(turns, abandoned).filter_map(|step| step.usage.as_ref()) {
        total.add(usage);
    }
    total
}

/// Every message of a model once; a message that went on in another branch is in both.
fn once_each<'a>(turns: &'a [Turn], abandoned: &'a [Branch]) -> impl Iterator<Item = &'a Step> {
    let mut seen = hashbrown::HashSet::new();
    all(turns, abandoned).filter(move |step| {
        step.message_id.as_ref().is_none_or(|id| seen.insert(id)) && !step.synthetic
    })
}

fn all<'a>(turns: &'a [Turn], abandoned: &'a [Branch]) -> impl Iterator<Item = &'a Step> {
    let left = abandoned.iter().flat_map(|branch| &branch.turns);
    turns.iter().chain(left).flat_map(|turn| &turn.steps)
}
