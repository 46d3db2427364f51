//! `--preview`: exactly what would be sent.

use super::plan::Plan;
use crate::error::CliError;
use crate::ui;
use backstory_redact::Redactor;
use backstory_replay::estimate::Estimator;
use backstory_replay::states::StatesFile;
use backstory_replay::teacher::Teacher;
use backstory_store::{Access, Destination, write_file};
use backstory_text::figures::counted;
use serde_json::json;
use std::io::Write;

/// Writes a line for each request: where it goes, and its body as it is sent.
pub(super) fn write(
    to: &Destination,
    plan: &Plan,
    teachers: &[Teacher],
    file: &StatesFile,
    redactor: &Redactor,
) -> Result<(), CliError> {
    let mut requests = 0;
    write_file::<CliError>(to, Access::Private, |out| {
        for (conversation, place) in file.places().iter().enumerate() {
            let loaded = file.load(*place, redactor)?;
            let mut estimator = Estimator::new(&loaded);
            for (at, state) in loaded.get().states.iter().enumerate() {
                if !plan.wants(conversation, at) {
                    continue;
                }
                for teacher in teachers {
                    let Some(request) = estimator.request(at, teacher) else { continue };
                    let head = json!({"state_id": state.state_id, "teacher_id": teacher.id,
                        "prompt_hash": request.hash, "url": teacher.url()})
                    .to_string();
                    let head = head.strip_suffix('}').unwrap_or(&head);
                    writeln!(out, "{head},\"body\":{}}}", request.body)?;
                    requests += 1;
                }
            }
        }
        Ok(())
    })?;
    ui::say(&format!("{} in `{}`", counted(requests, "request", "requests"), to.shown().display()));
    Ok(())
}
