//! Who takes part in a session: the session itself and its subagents, numbered.

use super::call::AgentLink;
use super::heading;
use super::view::View;
use backstory_model::Session;
use hashbrown::HashMap;

/// The session (number zero) and its subagents, parents first. What the client ran for itself is
/// not among them.
#[derive(Debug)]
pub(super) struct Participants<'a> {
    members: Vec<Member<'a>>,
    by_id: HashMap<(usize, &'a str), usize>,
}

#[derive(Debug)]
struct Member<'a> {
    session: &'a Session,
    children: Vec<usize>,
    link: AgentLink,
}

impl<'a> Participants<'a> {
    pub(super) fn of(session: &'a Session, view: &View) -> Participants<'a> {
        let member = |session: &'a Session, number: usize| Member {
            session,
            children: Vec::new(),
            link: AgentLink { number, title: name(session), shown: view.parts.subagents },
        };
        let mut members = vec![member(session, 0)];
        let mut by_id = HashMap::new();
        let mut at = 0;
        while let Some(parent) = members.get(at).map(|member| member.session) {
            for child in parent.subagents.iter().filter(|child| !child.kind.is_housekeeping()) {
                let number = members.len();
                members.push(member(child, number));
                by_id.entry((at, child.id.as_str())).or_insert(number);
                if let Some(parent) = members.get_mut(at) {
                    parent.children.push(number);
                }
            }
            at += 1;
        }
        Participants { members, by_id }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    pub(super) fn session(&self, number: usize) -> Option<&'a Session> {
        self.members.get(number).map(|member| member.session)
    }

    pub(super) fn link(&self, number: usize) -> Option<&AgentLink> {
        self.members.get(number).map(|member| &member.link)
    }

    /// All subagents.
    pub(super) fn links(&self) -> impl Iterator<Item = &AgentLink> {
        self.members.iter().skip(1).map(|member| &member.link)
    }

    pub(super) fn children(&self, number: usize) -> &[usize] {
        self.members.get(number).map_or(&[], |member| &member.children)
    }

    pub(super) fn child(&self, parent: usize, id: &'a str) -> Option<usize> {
        self.by_id.get(&(parent, id)).copied()
    }
}

fn name(session: &Session) -> String {
    let meta = session.meta.as_ref();
    let description = meta.and_then(|meta| meta.description.clone());
    let title = description.unwrap_or_else(|| heading::title(session));
    match meta.and_then(|meta| meta.agent_type.as_ref()) {
        Some(kind) => format!("{kind}: {title}"),
        None => title,
    }
}
