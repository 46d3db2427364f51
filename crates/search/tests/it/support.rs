//! Asking queries of sessions in tests.

use backstory_search::{Hit, Matcher, Search, compile, parse, search, search_in_order};
use backstory_session::discover::Found;
use backstory_session::select::SessionRef;
use backstory_store::Store;
use jiff::Timestamp;

pub(crate) fn matcher(query: &str) -> Matcher {
    let time = |text: &str| text.parse::<Timestamp>().map_err(|error| error.to_string());
    compile(&parse(query).unwrap(), &time).unwrap()
}

pub(crate) fn references(found: &Found) -> Vec<SessionRef<'_>> {
    let sessions = found.sessions.iter().map(SessionRef::Session);
    sessions.chain(found.stray_agents.iter().map(SessionRef::Agent)).collect()
}

fn plain<'m>(matcher: &'m Matcher, store: &'m Store) -> Search<'m> {
    Search { matcher, store, context: None, redactor: None }
}

/// Every message once.
pub(crate) fn hits(found: &Found, query: &str) -> Vec<Hit> {
    let matcher = matcher(query);
    let searched = search(&references(found), &plain(&matcher, &found.store), &());
    assert_eq!(searched.notices, [], "{query}");
    searched.hits
}

/// Every message in every session.
pub(crate) fn all_hits(sessions: &[SessionRef<'_>], query: &str) -> Vec<Hit> {
    let matcher = matcher(query);
    let mut hits = Vec::new();
    search_in_order(sessions, &plain(&matcher, &Store::default()), |found| {
        hits.extend(found.hits);
        true
    });
    hits
}
