//! `backstory open`

use crate::args::GlobalArguments;
use crate::commands::show::{self, ViewArguments};
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use clap::Args;

/// Open a session as a page in the browser
///
/// The page is a temporary file that only you can read. The programs in BROWSER are tried first,
/// then xdg-open or open.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory open              the newest session of this repository\n  backstory open 3f2a --full\n  backstory open --since yesterday"
)]
pub(crate) struct OpenArguments {
    /// An id or the start of one, a path, `latest` (if none is named), or `latest~2`
    session: Option<String>,

    #[command(flatten)]
    view: ViewArguments,

    #[command(flatten)]
    filters: FilterArguments,
}

pub(crate) fn run(
    arguments: &OpenArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let wanted = arguments.session.as_deref().unwrap_or("latest");
    show::open(wanted, &arguments.view, &arguments.filters.choice(global)?, global)
}
