//! A hit as JSON.

use backstory_search::Hit;
use backstory_session::wire::{SEARCH_SCHEMA, SearchDocument, SearchLine, SearchPlace};

pub(super) fn of(hit: &Hit, open: String) -> SearchDocument {
    let session = &hit.session;
    SearchDocument {
        schema: SEARCH_SCHEMA.to_owned(),
        session: session.id.clone(),
        agent: session.agent.name().to_owned(),
        title: session.title.clone(),
        project: session.project.clone(),
        ended: session.last,
        subagent: hit.subagent.as_deref().map(str::to_owned),
        turn: hit.turn.map(|turn| turn as u64),
        abandoned: hit.abandoned,
        who: hit.who.name().to_owned(),
        field: hit.field.name().to_owned(),
        tool: hit.tool.clone(),
        model: hit.model.clone(),
        time: hit.time,
        path: hit.path.to_string_lossy().into_owned(),
        line: hit.line,
        uuid: hit.uuid.clone(),
        call: hit.call.clone(),
        offset: hit.offset,
        length: hit.length as u64,
        matches: hit
            .matches
            .iter()
            .map(|place| SearchPlace { start: place.start as u64, end: place.end as u64 })
            .collect(),
        snippet: hit
            .snippet
            .lines
            .iter()
            .map(|line| SearchLine { number: line.number as u64, text: line.text.clone() })
            .collect(),
        also_in: hit.also_in.clone(),
        open,
    }
}
