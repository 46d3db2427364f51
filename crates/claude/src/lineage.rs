//! Resumes and forks: sessions that begin with another session's records.
//!
//! Some clients keep the old session id on copied records, which is enough. Others rewrite
//! it (1.0 on every resume, the newest on a fork) and leave only the equal uuids, or, up to 1.0.60,
//! only the equal ids of the model's messages.

use crate::facts;
use crate::rows::Rows;
use backstory_format::{Limits, read_all};
use backstory_model::Session;
use backstory_model::SessionFiles;
use backstory_store::read_range;
use std::cmp::Ordering;

/// How much of a sibling is looked at.
const HEAD: u64 = 64 << 10;

/// Looks through the other sessions of the same folder for one that starts with the same record
/// or the same message.
/// The one that was begun first is the original: a copy's file starts later, even where the
/// copied records keep their times.
pub fn relate(session: &mut Session, siblings: &[SessionFiles]) {
    let own = session.source.path().to_path_buf();
    for sibling in
        siblings.iter().filter(|files| files.path != own && files.path.parent() == own.parent())
    {
        let Ok((head, _)) = read_range(&sibling.path, 0, HEAD) else { continue };
        let mut rows = Rows::default();
        read_all(&head, Limits::default(), &mut rows);
        let record = rows.rows.first().and_then(|row| rows.names.text(row.uuid));
        let message = facts::first_message(&rows);
        let shared = record.is_some() && record == session.first_record
            || message.is_some() && message == session.first_message;
        let id: Box<str> = sibling.id.as_str().into();
        if !shared || session.continues.contains(&id) {
            continue;
        }
        match rows.started.cmp(&session.started) {
            Ordering::Less => session.continues.push(id),
            Ordering::Equal => session.shares_history.push(id),
            Ordering::Greater => {}
        }
    }
}
