//! What a format returns in addition to what it wrote.

use super::figures::{Disposition, StateFigures};
use crate::rows::Rows;

/// What a format returns in addition to what it wrote.
#[derive(Debug, Default)]
pub(crate) struct WriteOutput {
    pub(crate) states: StateFigures,
    /// Of each item of the timeline.
    pub(crate) fates: Vec<Disposition>,
    pub(crate) rows: Option<Rows>,
}
