//! The bundled sample, for machines without sessions.

use crate::error::CliError;
use backstory_store::Scratch;
use include_dir::{Dir, include_dir};

static SAMPLE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../testdata/sample");

/// The sample, unpacked for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Sample(Scratch);

impl Sample {
    pub(crate) fn unpack() -> Result<Sample, CliError> {
        let folder = Scratch::new()
            .map_err(|error| CliError::new(format!("unpacking the bundled sample: {error}")))?;
        SAMPLE
            .extract(folder.path())
            .map_err(|error| CliError::new(format!("unpacking the bundled sample: {error}")))?;
        Ok(Sample(folder))
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.0.path()
    }
}
