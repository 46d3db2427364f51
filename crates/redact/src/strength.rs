//! How sure the name of a value makes us that it is a secret.

/// How sure a name makes us that its value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// It speaks of a secret, but names something about it: `token_type`, `key_file`.
    Meta,
    /// `key`, `auth`, `signature`, or a service: mostly no secret.
    Weak,
    /// `access_token`, `jwt`
    Token,
    /// `client_secret`, `api_key`, `private_key`
    Secret,
    /// `password`: even a word may be one.
    Password,
}

impl Strength {
    pub(crate) const ALL: [Strength; 5] =
        [Strength::Meta, Strength::Weak, Strength::Token, Strength::Secret, Strength::Password];

    /// The rule that stands in placeholders and reports.
    pub(crate) fn rule(self) -> &'static str {
        match self {
            Strength::Meta => "named-value",
            Strength::Weak => "key",
            Strength::Token => "token",
            Strength::Secret => "secret",
            Strength::Password => "password",
        }
    }
}
