//! `backstory link install`, `uninstall`, `status`

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::guard::agents_guard;
use crate::quote::quoted;
use crate::settings::LARGEST_SETTINGS;
use crate::ui;
use backstory_session::link::{HookError, has_hook, with_hook, without_hook};
use backstory_session::render::difference;
use backstory_store::{
    Access, Git, StoreError, create_folder_of, open_file, remove_file, resolve, write_file,
};
use backstory_text::escape;
use clap::Args;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct HookArguments {
    /// The repository (default: that of the current folder)
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn install(
    arguments: &HookArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let git = super::repository(&arguments.repo, &global.store)?;
    let program = environment::this_program()
        .ok_or_else(|| CliError::new("the path of this program is unknown"))?;
    let roots: String = global
        .root
        .iter()
        .map(|root| format!(" --root {}", quoted(resolve(root).as_os_str())))
        .collect();
    let program = quoted(program.as_os_str());
    let command = format!("{program} --quiet{roots} link --commit HEAD --note");
    let file = hook_file(&git)?;
    let own = resolve(&git.common_folder()?);
    let tree = resolve(git.top());
    if file.starts_with(&tree) && !file.starts_with(&own) {
        return Err(CliError::new(format!(
            "`{}`: hooks of this repository are files of its tree, which is not changed",
            file.display()
        ))
        .hint(format!("add this line to your post-commit hook: {command} || true")));
    }
    if !file.starts_with(&own) {
        ui::warn(&format!(
            "core.hooksPath: `{}` may serve other repositories, too",
            file.display()
        ));
    }
    let before = read(&file)?;
    let after = with_hook(&before, &command).map_err(|error| odd(&file, error, &command))?;
    if before == after {
        ui::say(&format!("already there: {}", file.display()));
        return Ok(Outcome::Fine);
    }
    change(&file, &before, &after, arguments.yes)
}

pub(super) fn uninstall(
    arguments: &HookArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let file = hook_file(&super::repository(&arguments.repo, &global.store)?)?;
    let before = read(&file)?;
    if !has_hook(&before) {
        ui::say(&format!("no hook of backstory in {}", file.display()));
        return Ok(Outcome::Nothing);
    }
    let after = without_hook(&before).map_err(|error| odd(&file, error, ""))?;
    change(&file, &before, &after, arguments.yes)
}

pub(super) fn status(
    arguments: &HookArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let file = hook_file(&super::repository(&arguments.repo, &global.store)?)?;
    let name = ui::short_path(&file.to_string_lossy());
    let there = has_hook(&read(&file)?);
    let mut out = ui::stdout();
    writeln!(out, "{}installed in {name}", if there { "" } else { "not " })?;
    out.flush()?;
    Ok(if there { Outcome::Fine } else { Outcome::Nothing })
}

fn hook_file(git: &Git) -> Result<PathBuf, CliError> {
    let folder = git.hooks_folder()?;
    Ok(resolve(&folder.join("post-commit")))
}

fn read(file: &Path) -> Result<String, CliError> {
    match open_file(file).and_then(|file| {
        let mut bytes = Vec::new();
        file.take(LARGEST_SETTINGS).read_to_end(&mut bytes).map(|_| bytes)
    }) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| {
            CliError::new(format!("`{}`: the existing hook is not a shell script", file.display()))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(CliError::new(format!("`{}`: {error}", file.display()))),
    }
}

fn odd(file: &Path, error: HookError, command: &str) -> CliError {
    let plain = CliError::new(format!("`{}`: {error}, so nothing was changed", file.display()));
    match error {
        HookError::NotShell => plain.hint(format!("let it run: {command}")),
        HookError::Torn => plain.hint("remove the lines of backstory by hand"),
    }
}

/// Shows the change, asks, and makes it.
fn change(file: &Path, before: &str, after: &str, yes: bool) -> Result<Outcome, CliError> {
    let mut out = ui::stdout();
    writeln!(out, "{}", ui::short_path(&file.to_string_lossy()))?;
    for line in difference(before, after).iter().flat_map(|hunk| hunk.lines.lines()) {
        writeln!(out, "  {}", escape::lines(line))?;
    }
    out.flush()?;
    if !yes && !ui::confirm("Change the hook?") {
        return Err(CliError::new("nothing was changed").hint("answer yes, or give --yes"));
    }
    if read(file)? != before {
        return Err(
            CliError::new(format!("`{}`: changed meanwhile", file.display())).hint("try again")
        );
    }
    let to = agents_guard().file(file)?;
    if after.is_empty() {
        remove_file(&to)?;
        return Ok(Outcome::Fine);
    }
    create_folder_of(&to, Access::Usual)?;
    let access = if before.is_empty() { Access::Program } else { Access::AsBefore };
    write_file::<StoreError>(&to, access, |out| {
        out.write_all(after.as_bytes())
            .map_err(|cause| StoreError::Io { path: file.to_path_buf(), cause })
    })?;
    Ok(Outcome::Fine)
}
