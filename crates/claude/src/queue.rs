//! Prompts that waited in the queue while the model worked.
//!
//! Up to about 2.1.97 a prompt typed mid-turn exists only as `enqueue` and `remove`; later it is
//! an attachment as well. A `dequeue` becomes an ordinary user record, and headless runs send
//! even their first prompt through the queue.

use crate::rows::{Detail, Operation, QueueOperation, Queued, Rows};
use backstory_model::{Content, Interjection, InterjectionSource};
use hashbrown::HashSet;
use std::collections::VecDeque;

/// What became of queued prompts.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Typed while the model worked, and handed to it mid-turn.
    pub(super) interjections: Vec<Interjection>,
    /// Line of the enqueue, line of the dequeue, hash of the text.
    dequeued: Vec<(u32, u32, u64)>,
}

impl Queue {
    pub(super) fn new(rows: &Rows) -> Queue {
        let mut queue = Queue::default();
        let mut waiting = VecDeque::new();
        let mut removed: Vec<(&QueueOperation, u32)> = Vec::new();
        for operation in &rows.queue {
            match operation.operation {
                Operation::Enqueue => waiting.push_back(operation),
                Operation::Dequeue => {
                    if let Some(entry) = waiting.pop_front() {
                        let hash = entry.content.map_or(0, |content| content.hash);
                        queue.dequeued.push((entry.line, operation.line, hash));
                    }
                }
                Operation::Remove => {
                    let same = |content: &Queued| {
                        let wanted = content.hash;
                        waiting.iter().position(|entry| {
                            entry.content.is_some_and(|known| known.hash == wanted)
                        })
                    };
                    let at = operation.content.as_ref().map_or(Some(0), same);
                    let entry = at.and_then(|at| waiting.remove(at));
                    removed.extend(entry.map(|entry| (entry, operation.line)));
                }
                Operation::PopAll => waiting.clear(),
                Operation::Other => {}
            }
        }
        let mut known = read_attached(rows, &mut queue.interjections);
        // The `remove` stands where the model got to see it; the `enqueue` may stand earlier.
        for (entry, line) in removed {
            let Some(content) = entry.content.filter(|content| !content.notification) else {
                continue;
            };
            if let Some(text) = content.text
                && known.insert(content.hash)
            {
                queue.interjections.push(Interjection {
                    text: Content::Text(text),
                    timestamp: entry.timestamp,
                    line: u64::from(line),
                    source: InterjectionSource::QueueOperation,
                });
            }
        }
        queue.interjections.sort_by_key(|interjection| interjection.line);
        queue
    }

    /// Whether the prompt at `line` waited while the model worked.
    pub(super) fn waited(&self, rows: &Rows, line: u32, hash: u64) -> bool {
        self.dequeued.iter().any(|(enqueued, dequeued, text)| {
            *text == hash && *dequeued < line && worked_between(rows, *enqueued, *dequeued)
        })
    }
}

fn worked_between(rows: &Rows, from: u32, to: u32) -> bool {
    let start = rows.rows.partition_point(|row| row.line <= from);
    rows.rows.get(start).is_some_and(|row| row.line < to)
}

/// Collects the attachments that hold mid-turn prompts; gives the texts that need no other source.
fn read_attached(rows: &Rows, interjections: &mut Vec<Interjection>) -> HashSet<u64> {
    let mut known = HashSet::new();
    for row in rows.rows.iter().filter(|row| !row.repeated) {
        match row.detail {
            Detail::Message(_) => {
                let prompt = rows.message(row).map(|part| part.text_hash);
                known.extend(prompt.filter(|hash| *hash != 0));
            }
            Detail::Attachment(_) => {
                let queued = rows.attachment(row).and_then(|part| part.queued);
                let Some(queued) = queued.filter(|queued| !queued.notification) else { continue };
                known.insert(queued.hash);
                interjections.extend(queued.text.map(|text| Interjection {
                    text: Content::Text(text),
                    timestamp: row.timestamp,
                    line: u64::from(row.line),
                    source: InterjectionSource::Attachment,
                }));
            }
            _ => {}
        }
    }
    known
}
