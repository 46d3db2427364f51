//! The table of prices that a command counts with.

use crate::config;
use crate::error::CliError;
use backstory_session::stats::Prices;
use backstory_store::read_small_text;
use std::path::Path;

/// More than any table of prices has.
const LARGEST: u64 = 64 << 20;

/// The table at `path`, else that of the settings, else the bundled one.
pub(crate) fn read(path: Option<&Path>) -> Result<Prices, CliError> {
    let configured = config::in_force().prices.as_ref().map(|prices| prices.value.as_path());
    let Some(path) = path.or(configured) else {
        return Prices::bundled().map_err(|error| CliError::new(format!("prices: {error}")));
    };
    let wrong = |cause: String| {
        CliError::new(format!("prices `{}`: {cause}", path.display()))
            .hint("docs/stats-json.md shows the form of a price table")
    };
    let text = read_small_text(path, LARGEST).map_err(|error| wrong(error.reason()))?;
    Prices::parse(&text).map_err(|error| wrong(error.to_string()))
}
