//! How a teacher behaves.

use crate::replies::Reply;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What answers to a request: its model and its body.
pub type ReplyFn = Arc<dyn Fn(&str, &Value) -> Reply + Send + Sync>;

/// How a teacher behaves.
#[derive(Clone)]
pub struct Script {
    pub latency: Duration,
    pub faults: Faults,
    pub idempotency: Idempotency,
    /// Picodollars for one token of a model: read, written, read from the cache, written to it.
    pub prices: HashMap<String, [u64; 4]>,
    /// Whether answers say what they cost.
    pub tells_cost: bool,
    /// The key that is wanted.
    pub key: Option<String>,
    /// What it answers; by the prompt's hash if there is nothing.
    pub reply: Option<ReplyFn>,
    /// Whether whole requests are kept.
    pub keeps_bodies: bool,
    pub seed: u64,
}

impl fmt::Debug for Script {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Script").field("faults", &self.faults).finish_non_exhaustive()
    }
}

impl Default for Script {
    fn default() -> Script {
        Script {
            latency: Duration::ZERO,
            faults: Faults::default(),
            idempotency: Idempotency::Honoured,
            prices: HashMap::new(),
            tells_cost: false,
            key: None,
            reply: None,
            keeps_bodies: false,
            seed: 1,
        }
    }
}

/// What is done about a call that was answered before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotency {
    /// The same answer again, without charge.
    Honoured,
    Ignored,
}

/// How many of a thousand requests go wrong, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// 429 with `Retry-After`, in seconds or as a date.
    pub too_many: u32,
    /// 500, 502, 503, 529.
    pub broken: u32,
    /// The connection is closed before anything is done.
    pub closed: u32,
    /// The answer breaks off.
    pub torn: u32,
    /// The answer comes a byte at a time.
    pub drip: u32,
    /// The answer is no JSON.
    pub garbled: u32,
    /// Status 200 with an error inside.
    pub hidden_error: u32,
}

/// What goes wrong with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    TooMany,
    Broken,
    Closed,
    Torn,
    Drip,
    Garbled,
    HiddenError,
}

impl Faults {
    /// A few of each.
    pub fn some() -> Faults {
        let few = 8;
        Faults {
            too_many: few,
            broken: few,
            closed: few,
            torn: few,
            drip: 2,
            garbled: few,
            hidden_error: few,
        }
    }

    /// What goes wrong at a number from 0 to 999.
    pub(crate) fn at(&self, number: u32) -> Option<Fault> {
        let mut upto = 0;
        for (share, fault) in [
            (self.too_many, Fault::TooMany),
            (self.broken, Fault::Broken),
            (self.closed, Fault::Closed),
            (self.torn, Fault::Torn),
            (self.drip, Fault::Drip),
            (self.garbled, Fault::Garbled),
            (self.hidden_error, Fault::HiddenError),
        ] {
            upto += share;
            if number < upto {
                return Some(fault);
            }
        }
        None
    }
}
