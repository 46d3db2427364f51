//! The user's own rules and exceptions: `[redact]` of a `.backstory.toml`.

use super::config::RedactError;
use super::rules::Written;
use regex::RegexSet;
use serde::Deserialize;

/// What the user added.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) rules: Vec<Written>,
    pub(super) allowed: RegexSet,
}

#[derive(Debug, Default, Deserialize)]
struct File {
    #[serde(default)]
    redact: Section,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    #[serde(default, alias = "rules")]
    rule: Vec<Written>,
    /// Expressions; a value that one of them matches as a whole is left alone.
    #[serde(default)]
    allow: Vec<String>,
}

impl Own {
    pub(super) fn read(text: Option<&str>) -> Result<Own, RedactError> {
        let file: File = toml::from_str(text.unwrap_or_default())
            .map_err(|error| RedactError::Toml(error.to_string()))?;
        let Section { rule: rules, allow } = file.redact;
        for pattern in &allow {
            let wrong =
                |error: regex::Error| RedactError::Allow(pattern.clone(), error.to_string());
            regex::Regex::new(pattern).map_err(wrong)?;
        }
        let whole: Vec<String> = allow.iter().map(|one| format!("^(?:{one})$")).collect();
        let allowed = RegexSet::new(whole).map_err(|error| RedactError::Toml(error.to_string()))?;
        Ok(Own { rules, allowed })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, RedactError, Redactor};

    #[test]
    fn own_rules_are_added_and_exceptions_kept() {
        let own_rules = Some(
            r#"
            [redact]
            allow = ["hunter[0-9]"]
            [[redact.rule]]
            id = "acme-key"
            keywords = ["ACME-"]
            regex = 'ACME-[0-9]{6}'
            "#
            .to_owned(),
        );
        let redactor = Redactor::new(&Config { own_rules, ..Config::default() }).unwrap();
        assert_eq!(redactor.spans("id ACME-123456."), [(3..14, "acme-key")]);
        assert!(redactor.spans("password=hunter2").is_empty());
        assert!(!redactor.spans("password=hunter2x").is_empty());
        for wrong in
            ["[redact]\nallow = ['(']", "[[redact.rule]]\nid='x'\nkeywords=['ab']\nregex='('"]
        {
            let config = Config { own_rules: Some(wrong.to_owned()), ..Config::default() };
            assert!(matches!(
                Redactor::new(&config),
                Err(RedactError::Allow(..) | RedactError::Rule(..))
            ));
        }
    }
}
