//! Whether a unit meets a query, and where.

use crate::matcher::{Matcher, Node};
use crate::query::Property;
use crate::text::{self, Segment};
use crate::unit::{Member, Unit};
use backstory_agents as agents;
use backstory_model::{ActionKind, Session};
use backstory_session::link::announced_commits;
use backstory_store::{SourceReader, StoreError};
use std::cell::OnceCell;

/// A session that is searched.
#[derive(Debug)]
pub(crate) struct Judge<'s> {
    pub(crate) matcher: &'s Matcher,
    pub(crate) root: &'s Session,
    commits: OnceCell<Vec<String>>,
}

impl<'s> Judge<'s> {
    pub(crate) fn new(matcher: &'s Matcher, root: &'s Session) -> Judge<'s> {
        Judge { matcher, root, commits: OnceCell::new() }
    }

    /// The texts of a unit that meets the query.
    pub(crate) fn judge(
        &self,
        member: Member<'s>,
        unit: &Unit<'s>,
        reader: &mut SourceReader,
    ) -> Result<Option<Vec<Segment>>, StoreError> {
        let fields = self.matcher.fields;
        for finder in &self.matcher.finders {
            if !text::may_contain(unit, fields, finder, reader)? {
                return Ok(None);
            }
        }
        let mut asked = Asked { judge: self, member, unit, reader, segments: None };
        if !asked.meets(&self.matcher.node)? {
            return Ok(None);
        }
        // Without a text there is nothing to find.
        asked.segments()?;
        Ok(asked.segments.filter(|segments| !segments.is_empty()))
    }
}

struct Asked<'a, 's> {
    judge: &'a Judge<'s>,
    member: Member<'s>,
    unit: &'a Unit<'s>,
    reader: &'a mut SourceReader,
    segments: Option<Vec<Segment>>,
}

impl Asked<'_, '_> {
    fn segments(&mut self) -> Result<&[Segment], StoreError> {
        if self.segments.is_none() {
            let (fields, agent) = (self.judge.matcher.fields, self.member.session.agent);
            self.segments = Some(text::segments(self.unit, fields, agent, self.reader)?);
        }
        Ok(self.segments.as_deref().unwrap_or_default())
    }

    fn meets(&mut self, node: &Node) -> Result<bool, StoreError> {
        let (unit, session, root) = (self.unit, self.member.session, self.judge.root);
        let agent = session.agent;
        let contains = |text: &str, part: &str| text.to_lowercase().contains(part);
        Ok(match node {
            Node::All(parts) => {
                for part in parts {
                    if !self.meets(part)? {
                        return Ok(false);
                    }
                }
                true
            }
            Node::Any(parts) => {
                for part in parts {
                    if self.meets(part)? {
                        return Ok(true);
                    }
                }
                false
            }
            Node::Not(inner) => !self.meets(inner)?,
            Node::Term(number) => {
                let Some(term) = self.judge.matcher.terms.get(*number) else { return Ok(false) };
                self.segments()?.iter().any(|segment| term.regex.is_match(&segment.text))
            }
            Node::Is(Property::Error) => unit.is_error,
            Node::Is(Property::Subagent) => self.member.is_subagent,
            Node::Is(Property::Compaction) => unit.is_compaction,
            Node::Is(Property::Edit) => {
                unit.call.is_some_and(|call| agents::does(agent, call, ActionKind::Edit))
            }
            Node::Project(part) => {
                let folders = session.cwds.iter().chain(&root.cwds).map(AsRef::as_ref);
                folders.chain(root.project_key.as_deref()).any(|folder| contains(folder, part))
            }
            Node::Agent(wanted) => agent == *wanted,
            Node::Model(part) => unit.models().any(|model| contains(model, part)),
            Node::Tool(name) => {
                let tool = unit.call.and_then(|call| call.name.as_deref());
                tool.is_some_and(|tool| name.is_match(tool))
            }
            Node::File(part) => match unit.call {
                Some(call) => {
                    let paths = text::paths(call, agent, self.reader)?;
                    paths.iter().any(|path| contains(path, part))
                }
                None => false,
            },
            Node::Branch(name) => {
                let branches = session.git_branches.iter().chain(&root.git_branches);
                branches.chain(&root.last_branch).any(|branch| name.is_match(branch))
            }
            Node::After(time) => unit.time.is_some_and(|own| own >= *time),
            Node::Before(time) => unit.time.is_some_and(|own| own < *time),
            Node::Session(start) => root.id.starts_with(start) || session.id.starts_with(start),
            Node::Commit(id) => {
                let commits = self.judge.commits.get_or_init(|| announced_commits(root));
                commits.iter().any(|known| known.starts_with(id) || id.starts_with(known.as_str()))
            }
        })
    }
}
