//! What each edit of a file left behind.

use super::chain::Chain;
use super::diff::added_lines;
use super::edit::{Edit, Event, EventKind};
use super::lines::split_lines;
use super::replay::{Known, certain_lines, replay_edits};
use backstory_model::Change;

/// An edit and what is known of the file after it.
#[derive(Debug, Clone)]
pub struct EditState<'c> {
    pub event: &'c Event,
    pub edit: &'c Edit,
    /// The whole file after it.
    pub after: Option<String>,
    /// Lines it added, as far as they are known for certain.
    pub added: Vec<String>,
}

/// The edits of one path in order.
pub fn edit_states(chain: &Chain) -> Vec<EditState<'_>> {
    let steps = replay_edits(chain);
    let mut states = Vec::new();
    for step in &steps {
        let EventKind::Edit(edit) = &step.event.kind else { continue };
        let after = step.after().map(|text| text.to_string());
        let added = match &step.what {
            Known::Placed(placed) if !placed.doubtful => {
                added_lines(&placed.before, placed.after()).into_iter().map(str::to_owned).collect()
            }
            Known::Overwrite(text) => {
                let lines: Vec<&str> = split_lines(text).collect();
                let numbers = edit.added_lines();
                let line = |number: u32| lines.get((number as usize).checked_sub(1)?).copied();
                numbers.filter_map(line).map(str::to_owned).collect()
            }
            _ => match &edit.change {
                Change::Cell { source: Some(source) } => {
                    split_lines(source).map(str::to_owned).collect()
                }
                _ => certain_lines(edit),
            },
        };
        states.push(EditState { event: step.event, edit, after, added });
    }
    states
}
