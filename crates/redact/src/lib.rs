//! Taking secrets out of what leaves the machine.
//!
//! A [`Redactor`] holds compiled rules and is shared by all threads; a [`Scrubber`] holds what one
//! session taught. First every text of the session is [learnt](Scrubber::learn) from, then every
//! text is [scrubbed](Scrubber::scrub): what the rules find, and every other encoding of what they
//! found anywhere in the session. Scrub before cutting a text: half a secret is not recognised.
//! [`Redactor::scrub`] does both for one text.
//!
//! This crate knows text and JSON records, and neither files nor agents. Rules are in
//! `rules/*.toml`. Surprising on purpose: whole texts are decoded before they
//! are searched, because a rule that looks at escaped bytes misses what an escape hides.

mod apply;
mod config;
mod detect;
mod judge;
mod placeholder;
mod recall;
mod redactor;
mod report;
mod strength;
mod user_rules;

pub use apply::cleared::{Cleared, Raw};
pub use apply::scrubber::Scrubber;
pub use config::{Class, Classes, Config, Exceptions, OwnRules, RedactError};
pub use redactor::Redactor;
pub use report::{Level, Reason, Report, Sensitivity};
pub use user_rules::{OwnSettings, own_settings};
