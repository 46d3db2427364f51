//! What the user wants taken out.

/// A kind of content that can be taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Keys, tokens, passwords: always taken out.
    Secrets,
    /// Home folders and the names of their users.
    Paths,
    /// E-mail addresses, host names, private network addresses.
    People,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 3] = [Class::Secrets, Class::Paths, Class::People];

    /// The word used on the command line and in output.
    pub fn name(self) -> &'static str {
        match self {
            Class::Secrets => "secrets",
            Class::Paths => "paths",
            Class::People => "people",
        }
    }
}

/// Which classes are taken out; secrets always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Classes {
    paths: bool,
    people: bool,
}

impl Classes {
    /// Secrets only.
    pub const SECRETS: Classes = Classes { paths: false, people: false };
    /// Everything there is a class for.
    pub const ALL: Classes = Classes { paths: true, people: true };

    /// These classes by name, and secrets.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Classes, String> {
        let mut classes = Classes::SECRETS;
        for name in names {
            match Class::ALL.iter().find(|class| class.name() == name) {
                Some(class) => classes = classes.and(*class),
                None => return Err(name.to_owned()),
            }
        }
        Ok(classes)
    }

    /// These and one more.
    pub fn and(self, class: Class) -> Classes {
        match class {
            Class::Secrets => self,
            Class::Paths => Classes { paths: true, ..self },
            Class::People => Classes { people: true, ..self },
        }
    }

    /// Whether `class` is taken out.
    pub fn holds(self, class: Class) -> bool {
        match class {
            Class::Secrets => true,
            Class::Paths => self.paths,
            Class::People => self.people,
        }
    }
}

/// What a [`Redactor`](super::Redactor) is made from.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Kinds of content to remove.
    pub classes: Classes,
    /// Mixed into the short ids of placeholders, so that nobody can try guesses on them. Equal
    /// secrets have equal ids wherever the salt is the same.
    pub salt: Vec<u8>,
    /// This user's home folder, whose last part is taken for the name if no other is given.
    pub home: Option<String>,
    /// This user's name, in addition to those that home folders in sessions reveal.
    pub user: Option<String>,
    /// Texts of settings, whose `[redact]` adds rules and exceptions.
    pub own_rules: Vec<OwnRules>,
}

/// The text of a file of settings.
#[derive(Debug, Clone)]
pub struct OwnRules {
    /// The file as it is, in TOML.
    pub text: String,
    /// Whether its exceptions count.
    pub exceptions: Exceptions,
}

/// Whether a file of settings may except values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceptions {
    /// The user wrote the file or trusts it.
    Used,
    /// Somebody else wrote the file: its rules take more out, and that is all.
    Ignored,
}

/// Why a redactor could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// The text is not TOML, or has other fields.
    #[error("{0}")]
    Toml(String),
    /// A rule is wrong: its name and the reason.
    #[error("rule `{0}`: {1}")]
    Rule(String, String),
    /// An exception is not a regular expression: the exception and the reason.
    #[error("allow `{0}`: {1}")]
    Allow(String, String),
}
