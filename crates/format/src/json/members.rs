//! Taking members out of objects and lists, and putting fields into objects.
//!
//! Separators go with what is removed: a removed member takes the comma before it, or, where no
//! member before it stays, everything up to the next one.

use super::splice::Splice;
use super::tape::{Key, Kind, Value};
use std::ops::Range;

/// Splices that remove the fields of an object for which `gone` says so.
pub fn without_fields(
    object: Value<'_>,
    gone: impl Fn(&Key<'_>, &Value<'_>) -> bool,
) -> Vec<Splice> {
    let members = object.fields().map(|(key, value)| {
        let range = key.span().start..value.span().end;
        (range, gone(&key, &value))
    });
    without(&members.collect::<Vec<_>>())
}

/// Splices that remove the items of a list for which `gone` says so, by their place in it.
pub fn without_items(list: Value<'_>, gone: impl Fn(usize, &Value<'_>) -> bool) -> Vec<Splice> {
    let members = list.items().enumerate().map(|(at, value)| (value.span(), gone(at, &value)));
    without(&members.collect::<Vec<_>>())
}

fn without(members: &[(Range<usize>, bool)]) -> Vec<Splice> {
    let mut splices: Vec<Splice> = Vec::new();
    let mut kept_before = false;
    let mut previous_end = 0;
    for (at, (range, gone)) in members.iter().enumerate() {
        if *gone {
            let next = members.get(at + 1).map(|(next, _)| next.start);
            let cut = match (kept_before, next) {
                (true, _) => previous_end..range.end,
                (false, Some(next)) => range.start..next,
                (false, None) => range.clone(),
            };
            match splices.last_mut().filter(|last| last.range.end == cut.start) {
                Some(last) => last.range.end = cut.end,
                None => splices.push(Splice { range: cut, with: Vec::new() }),
            }
        } else {
            kept_before = true;
        }
        previous_end = range.end;
    }
    splices
}

/// A splice that adds a field after the last one of an object; `value` is JSON already. `empty`
/// says that no field will be left before it.
pub fn insert_field(object: Value<'_>, name: &str, value: &[u8], empty: bool) -> Option<Splice> {
    if object.kind() != Kind::Object {
        return None;
    }
    let at = object.span().end - 1;
    let mut with = Vec::with_capacity(name.len() + value.len() + 4);
    if !empty {
        with.push(b',');
    }
    with.push(b'"');
    super::text::encode_into(name, &mut with);
    with.extend_from_slice(b"\":");
    with.extend_from_slice(value);
    Some(Splice { range: at..at, with })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Tape, scan, splice};

    fn root<'a>(bytes: &'a [u8], tape: &'a mut Tape) -> Value<'a> {
        scan(bytes, 0, 64, tape).unwrap();
        tape.root(bytes).unwrap()
    }

    #[test]
    fn what_stays_is_valid_and_unchanged() {
        let bytes = b"[ 0 , 1,2 ,3 , 4]";
        for pattern in 0..32usize {
            let mut tape = Tape::new();
            let list = root(bytes, &mut tape);
            let splices = without_items(list, |at, _| pattern & (1 << at) != 0);
            let out = splice(bytes, &splices).unwrap();
            let left: Vec<u64> = serde_json::from_slice(&out).unwrap();
            let expected: Vec<u64> = (0..5).filter(|at| pattern & (1 << at) == 0).collect();
            assert_eq!(left, expected, "{}", String::from_utf8_lossy(&out));
        }
    }

    #[test]
    fn fields_go_and_come() {
        let bytes = br#"{"a":1, "b" : {"c":[]} ,"d":null}"#;
        let mut tape = Tape::new();
        let object = root(bytes, &mut tape);
        let mut splices = without_fields(object, |key, _| key.is("b") || key.is("d"));
        splices.extend(insert_field(object, "e", b"true", false));
        assert_eq!(splice(bytes, &splices).unwrap(), br#"{"a":1,"e":true}"#);
    }
}
