//! Fields of a value of the session in the order in which they are written.

use backstory_format::json::Value;
use std::borrow::Cow;

/// How fields of the session's values are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    ByName,
    AsWritten,
}

type Named<'v> = (Cow<'v, str>, Value<'v>);

/// Fields by their cleared names; of equal names the last counts.
pub(super) fn ordered<'v>(
    value: Value<'v>,
    order: Order,
    clear: impl for<'t> Fn(&'t str) -> Cow<'t, str>,
) -> Vec<Named<'v>> {
    let mut fields: Vec<Named<'v>> = Vec::new();
    for (key, value) in value.fields() {
        let name = match key.text() {
            Cow::Borrowed(name) => clear(name),
            Cow::Owned(name) => Cow::Owned(clear(&name).into_owned()),
        };
        fields.push((name, value));
    }
    if order == Order::AsWritten {
        let mut places = hashbrown::HashMap::new();
        let mut kept: Vec<Named<'v>> = Vec::new();
        for (name, value) in fields {
            match places.get(&name).and_then(|at: &usize| kept.get_mut(*at)) {
                Some(slot) => slot.1 = value,
                None => {
                    places.insert(name.clone(), kept.len());
                    kept.push((name, value));
                }
            }
        }
        return kept;
    }
    fields.reverse();
    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
    fields.dedup_by(|(one, _), (other, _)| one == other);
    fields
}
