//! Measures of a generated tree, for comparing it with real ones.

use std::io::{self, Write};

use crate::truth::Truth;

/// Prints sizes, line lengths and the number of lines of each type.
///
/// # Errors
/// When `out` cannot be written to.
pub fn describe(truth: &Truth, out: &mut impl Write) -> io::Result<()> {
    let mut lengths = truth.line_lengths.clone();
    lengths.sort_unstable();
    let at = |share: usize| {
        lengths
            .get((lengths.len() * share / 1000).min(lengths.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0)
    };
    writeln!(out, "files            {}", truth.files.len())?;
    writeln!(out, "bytes            {}", truth.bytes)?;
    writeln!(out, "lines            {}", lengths.len())?;
    for (name, share) in [("p10", 100), ("median", 500), ("p90", 900), ("p99", 990), ("p99.9", 999)]
    {
        writeln!(out, "length {name:<9} {}", at(share))?;
    }
    writeln!(out, "length max       {}", lengths.last().copied().unwrap_or(0))?;
    writeln!(
        out,
        "lines over 1 MB  {}",
        lengths.iter().filter(|&&length| length > 1_000_000).count()
    )?;
    for (kind, count) in truth.lines_by_type() {
        writeln!(out, "  {kind:<24} {count}")?;
    }
    Ok(())
}
