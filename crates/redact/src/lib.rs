//! Taking secrets out of what leaves the machine.
//!
//! A [`Redactor`] holds compiled rules and is shared by all threads; a [`Scrubber`] holds what one
//! session taught. First every text of the session is [learnt](Scrubber::learn) from, then every
//! text is [scrubbed](Scrubber::scrub): what the rules find, and every other encoding of what they
//! found anywhere in the session. Scrub before cutting a text: half a secret is not recognised.
//!
//! This crate knows text and JSON records, and neither files nor agents. Rules are in
//! `rules/*.toml`. Surprising on purpose: whole texts are decoded before they
//! are searched, because a rule that looks at escaped bytes misses what an escape hides.

mod assign;
mod beginnings;
mod beside;
mod cleared;
mod compared;
mod config;
mod disguise;
mod encodings;
mod engine;
mod fallback;
mod guise;
mod inner;
mod keywords;
mod language;
mod long_words;
mod lookup;
mod makeup;
mod manifest;
mod memory;
mod name;
mod own;
mod pem;
mod pem_lines;
mod placeholder;
mod record;
mod repeats;
mod report;
mod rules;
mod scan;
mod scrubber;
mod search;
mod searched;
mod squeeze;
mod table;
mod template;
mod tries;
mod value;
mod walk;
mod wrapped;

pub use cleared::{Cleared, Raw};
pub use config::{Class, Classes, Config, Exceptions, OwnRules, RedactError};
pub use engine::Redactor;
pub use own::{OwnSettings, own_settings};
pub use report::{Level, Reason, Report, Sensitivity};
pub use scrubber::Scrubber;
