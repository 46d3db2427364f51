//! Names of tools and ids of calls as servers accept them.

use std::collections::{BTreeMap, HashMap};

/// The longest name of a tool.
const LONGEST: usize = 64;

/// What was renamed, and back.
#[derive(Debug, Default)]
pub struct Names {
    fitted: HashMap<String, String>,
    /// Names as the session has them, by those that are sent.
    original: BTreeMap<String, String>,
    ids: HashMap<String, usize>,
}

impl Names {
    /// A name of letters, digits, `_` and `-`, different for different tools.
    pub(super) fn fit(&mut self, name: &str) -> String {
        if let Some(known) = self.fitted.get(name) {
            return known.clone();
        }
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        let letters = name.chars().map(|letter| if fits(letter) { letter } else { '_' });
        let plain: String = letters.take(LONGEST).collect();
        let plain = if plain.is_empty() { "unknown".to_owned() } else { plain };
        let mut fitting = plain.clone();
        let mut number = 1;
        while self.original.contains_key(&fitting) {
            number += 1;
            let end = format!("_{number}");
            let front: String = plain.chars().take(LONGEST - end.len()).collect();
            fitting = front + &end;
        }
        self.original.insert(fitting.clone(), name.to_owned());
        self.fitted.insert(name.to_owned(), fitting.clone());
        fitting
    }

    /// The name that the session has for a tool.
    pub(crate) fn original<'n>(&'n self, name: &'n str) -> &'n str {
        self.original.get(name).map_or(name, String::as_str)
    }

    /// A short id for a call.
    pub(super) fn call(&mut self, id: &str) -> String {
        let next = self.ids.len() + 1;
        format!("call_{}", self.ids.entry(id.to_owned()).or_insert(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_and_come_back() {
        let mut names = Names::default();
        let long = "x".repeat(90);
        for name in ["Read", "a.b", "a b", "", &long, &format!("{long}y")] {
            let fitted = names.fit(name);
            assert!(!fitted.is_empty() && fitted.len() <= LONGEST, "{fitted}");
            assert_eq!(names.original(&fitted), name);
            assert_eq!(names.fit(name), fitted);
        }
        assert_eq!(names.call("toolu_1"), "call_1");
        assert_eq!(names.call("toolu_2"), "call_2");
        assert_eq!(names.call("toolu_1"), "call_1");
    }
}
