//! The user's own rules and exceptions: `[redact]` of a `.backstory.toml`.

use crate::config::{Class, Exceptions, OwnRules, RedactError};
use crate::detect::engine::UserRules;
use crate::detect::rules::Written;
use regex::RegexSet;
use serde::Deserialize;

/// What a file says about redaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnSettings {
    /// Names of rules.
    pub rules: Vec<String>,
    /// Expressions of values that are to be left alone.
    pub allow: Vec<String>,
}

/// Reads what a file of settings says about redaction.
pub fn own_settings(text: &str) -> Result<OwnSettings, RedactError> {
    let Section { rule, allow, .. } = section(text)?;
    Ok(OwnSettings { rules: rule.into_iter().map(|rule| rule.id).collect(), allow })
}

fn section(text: &str) -> Result<Section, RedactError> {
    let file: File = toml::from_str(text).map_err(|error| RedactError::Toml(error.to_string()))?;
    Ok(file.redact)
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
    /// What is redacted by default, which the program reads.
    #[serde(default, rename = "classes")]
    _classes: serde::de::IgnoredAny,
}

/// Reads the rules and exceptions of files of settings.
pub(crate) fn read(files: &[OwnRules]) -> Result<UserRules, RedactError> {
    let (mut rules, mut foreign, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    // What a rule needs is read off its expression, whatever the file says.
    let measured = |rule: Written| Written { long_word: None, holds: None, ..rule };
    for file in files {
        let Section { rule, allow, .. } = section(&file.text)?;
        match file.exceptions {
            Exceptions::Used => rules.extend(rule.into_iter().map(measured)),
            Exceptions::Ignored => {
                // What they take out is a secret, and stands as a placeholder like others.
                let strict = |rule| Written { class: Class::Secrets, replace: None, ..rule };
                foreign.extend(rule.into_iter().map(measured).map(strict));
                continue;
            }
        }
        for pattern in allow {
            if let Err(error) = regex::Regex::new(&pattern) {
                return Err(RedactError::Allow(pattern, error.to_string()));
            }
            whole.push(format!("^(?:{pattern})$"));
        }
    }
    let allowed = RegexSet::new(whole).map_err(|error| RedactError::Toml(error.to_string()))?;
    Ok(UserRules { rules, foreign, allowed })
}

#[cfg(test)]
mod tests {
    use crate::{Classes, Config, Exceptions, OwnRules, RedactError, Redactor};

    fn redactor(text: &str, exceptions: Exceptions) -> Result<Redactor, RedactError> {
        let own_rules = vec![OwnRules { text: text.to_owned(), exceptions }];
        Redactor::new(&Config { own_rules, classes: Classes::ALL, ..Config::default() })
    }

    #[test]
    fn own_rules_are_added_and_exceptions_kept() {
        let text = r#"
            [redact]
            allow = ["hunter[0-9]"]
            [[redact.rule]]
            id = "acme-key"
            keywords = ["ACME-"]
            regex = 'ACME-[0-9]{6}'
            "#;
        let redactor = redactor(text, Exceptions::Used).unwrap();
        assert_eq!(redactor.spans("id ACME-123456."), [(3..14, "acme-key")]);
        assert!(redactor.spans("password=hunter2").is_empty());
        assert!(!redactor.spans("password=hunter2x").is_empty());
        for wrong in
            ["[redact]\nallow = ['(']", "[[redact.rule]]\nid='x'\nkeywords=['ab']\nregex='('"]
        {
            assert!(matches!(
                self::redactor(wrong, Exceptions::Used),
                Err(RedactError::Allow(..) | RedactError::Rule(..))
            ));
        }
    }

    /// Written in parts, so that nobody takes them for real ones.
    fn tokens() -> Vec<String> {
        let mut tokens = vec![
            format!("{}{}", "sk-ant-api03-", "Zx8".repeat(31) + "AA"),
            format!("{}{}", "ghp_", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"),
            format!("{}{}", "AKIA", "QWERTYUIOPASDFGH"),
        ];
        let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7".repeat(4);
        let word = "PRIVATE KEY";
        tokens.push(format!("-----BEGIN {word}-----\n{key}\n-----END {word}-----"));
        tokens
    }

    #[test]
    fn exceptions_never_cover_tokens_and_private_keys() {
        let all = redactor("[redact]\nallow = ['(?s).*']", Exceptions::Used).unwrap();
        assert!(all.spans("password=hunter2").is_empty(), "the user may say so");
        for token in tokens() {
            assert!(!all.spans(&format!("key: {token} end")).is_empty(), "{token}");
        }
    }

    #[test]
    fn user_rules_of_others_redact_more_and_never_less() {
        let text = r#"
            [redact]
            allow = ['(?s).*']
            [[redact.rule]]
            id = "wide"
            class = "people"
            keywords = ["password"]
            regex = '(?s)password.*'
            replace = "nothing"
            [[redact.rule]]
            id = "acme-key"
            keywords = ["ACME-"]
            regex = 'ACME-[0-9]{6}'
            "#;
        let foreign = redactor(text, Exceptions::Ignored).unwrap();
        let plain = Redactor::new(&Config { classes: Classes::ALL, ..Config::default() }).unwrap();
        let line = "password=hunter2x and ACME-123456 and more";
        let found = foreign.spans(line);
        for span in plain.spans(line) {
            assert!(found.contains(&span), "{span:?} in {found:?}");
        }
        let covered = |word: &str| {
            let at = line.find(word).unwrap();
            (at..at + word.len()).all(|at| found.iter().any(|(range, _)| range.contains(&at)))
        };
        assert!(covered("hunter2x") && covered("ACME-123456"), "{found:?}");
    }
}
