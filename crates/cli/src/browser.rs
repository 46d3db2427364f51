//! A page for the moment: written where only the user can read it, and opened in the browser.

use crate::child::{self, Ended};
use crate::environment;
use crate::error::CliError;
use crate::ui;
use backstory_store::{Scratch, StoreError};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

/// Writes a page and opens it. It stays until the system clears its temporary files.
pub(crate) fn open(
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let failed = |cause| StoreError::Io { path: std::env::temp_dir(), cause };
    let folder = Scratch::page().map_err(failed)?;
    let page = folder.write::<CliError>(Path::new(name), |out| write(out))?;
    folder.keep();
    ui::say(&format!("wrote: {}", page.display()));
    for browser in environment::browsers() {
        let mut words: Vec<OsString> = browser.split_whitespace().map(Into::into).collect();
        let place = words.iter().position(|word| word == "%s");
        match place.and_then(|at| words.get_mut(at)) {
            Some(word) => *word = page.clone().into_os_string(),
            None => words.push(page.clone().into_os_string()),
        }
        if matches!(child::run(&words, Path::new(".")), Ended::Status(status) if status.success()) {
            return Ok(());
        }
    }
    Err(CliError::new("no program opened the page")
        .hint(format!("open {} yourself, or name a program in BROWSER", page.display())))
}
