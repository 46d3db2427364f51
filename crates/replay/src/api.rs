//! The protocols of teachers.

use serde::Deserialize;

/// The protocol that a teacher speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// `POST {base_url}/chat/completions`
    OpenAi,
    /// `POST {base_url}/v1/messages`
    Anthropic,
}

impl Api {
    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Api::OpenAi => "openai",
            Api::Anthropic => "anthropic",
        }
    }
}
