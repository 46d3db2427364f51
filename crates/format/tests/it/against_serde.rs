//! The scanner against serde_json: same verdict on valid text, same strings, same structure.

use backstory_format::json::{Kind, Tape, Value, scan};
use proptest::prelude::*;

fn to_serde(value: Value<'_>) -> serde_json::Value {
    match value.kind() {
        Kind::Object => value
            .fields()
            .map(|(key, value)| (key.text().into_owned(), to_serde(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Kind::Array => value.items().map(to_serde).collect::<Vec<_>>().into(),
        Kind::String => value.text().unwrap().into_owned().into(),
        Kind::Number => serde_json::from_slice(value.raw()).unwrap(),
        Kind::True => true.into(),
        Kind::False => false.into(),
        Kind::Null => serde_json::Value::Null,
    }
}

fn ours(text: &[u8]) -> Option<serde_json::Value> {
    let mut tape = Tape::new();
    let end = scan(text, 0, 120, &mut tape).ok()?;
    text[end..].trim_ascii().is_empty().then(|| to_serde(tape.root(text).unwrap()))
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn reads_what_serde_writes(value in json()) {
        prop_assert_eq!(ours(value.to_string().as_bytes()), Some(value.clone()));
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(ours(pretty.as_bytes()), Some(value));
    }

    #[test]
    fn damaged_text_gets_the_same_verdict(value in json(), at in any::<prop::sample::Index>(), byte in 0u8..128) {
        let mut text = value.to_string().into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        // Lone surrogates and numbers out of range are accepted here and refused there; neither
        // can come from changing one ASCII byte of this text except through `\u` escapes.
        prop_assume!(std::str::from_utf8(&text).is_ok() && !text.windows(2).any(|pair| pair == b"\\u"));
        let theirs = serde_json::from_slice::<serde_json::Value>(&text);
        let out_of_range = theirs.as_ref().is_err_and(|error| error.to_string().contains("out of range"));
        prop_assume!(!out_of_range);
        prop_assert_eq!(ours(&text).is_some(), theirs.is_ok());
    }
}
