//! Taking secrets out of what leaves the machine.
//!
//! A [`Redactor`] holds compiled rules and is shared by all threads; a [`Scrubber`] holds what one
//! session taught. First every text of the session is [learnt](Scrubber::learn) from, then every
//! text is [scrubbed](Scrubber::scrub): what the rules find, and every other encoding of what they
//! found anywhere in the session. Scrub before cutting a text: half a secret is not recognised.
//!
//! Not here: reading or writing files. Surprising on purpose: whole texts are decoded before they
//! are searched, because a rule that looks at escaped bytes misses what an escape hides.

mod cleared;
mod config;
mod engine;
mod placeholder;
mod report;
mod rules;
mod scrubber;
mod structural;

pub use cleared::{Cleared, Raw};
pub use config::{Class, Classes, Config, RedactError};
pub use engine::Redactor;
pub use report::{Level, Report, Sensitivity};
pub use scrubber::Scrubber;
pub use structural::StructuralPaths;
