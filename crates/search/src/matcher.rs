//! A query, ready to be asked of sessions.

use crate::literal::Literals;
use crate::query::{At, Condition, Fields, Property, Qualifier, Query, QueryError};
use crate::raw::Finder;
use crate::term::{self, Term};
use backstory_agents as agents;
use backstory_model::Agent;
use jiff::Timestamp;
use regex::Regex;

/// Letters that a file is searched for before it is read, at most this many of those that must
/// occur.
const FINDERS: usize = 2;

/// How times that a user types are read.
pub type ReadTime<'a> = &'a dyn Fn(&str) -> Result<Timestamp, String>;

/// A query, ready to be asked of sessions.
#[derive(Debug)]
pub struct Matcher {
    pub(crate) fields: Fields,
    pub(crate) terms: Vec<Term>,
    pub(crate) node: Node,
    /// Each must be found in a file for a unit of it to match.
    pub(crate) finders: Vec<Finder>,
    /// Terms that are not negated.
    pub(crate) positive: Vec<usize>,
    /// All words in the order in which they were typed, one after the other.
    pub(crate) phrase: Option<Regex>,
    pub(crate) whole_words: Option<Regex>,
}

/// A condition with its values read.
#[derive(Debug)]
pub(crate) enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    /// A term by its number.
    Term(usize),
    Is(Property),
    Project(String),
    Agent(Agent),
    Model(String),
    Tool(Regex),
    File(String),
    Branch(Regex),
    After(Timestamp),
    Before(Timestamp),
    Session(String),
    Commit(String),
}

/// Reads the values in a query: expressions, times, names.
pub fn compile(query: &Query, time: ReadTime<'_>) -> Result<Matcher, QueryError> {
    let mut compiler = Compiler { time, terms: Vec::new(), positive: Vec::new() };
    let node = compiler.node(&query.condition, false)?;
    let Compiler { terms, positive, .. } = compiler;
    let mut required = required(&node, &terms);
    required.sort_by_key(|(literals, _)| std::cmp::Reverse(literals.weight()));
    let finders = required
        .iter()
        .take(FINDERS)
        .filter_map(|(literals, ignore_case)| Finder::new(literals, *ignore_case))
        .collect();
    let words: Option<Vec<&str>> =
        positive.iter().map(|at| terms.get(*at).and_then(|term| term.text.as_deref())).collect();
    let joined = words.filter(|words| !words.is_empty()).map(|words| words.join(" "));
    let spaced = joined.as_ref().map(|joined| term::spaced(joined));
    let ignore_case = joined.as_ref().is_some_and(|text| !text.chars().any(char::is_uppercase));
    let compile = |pattern: &str| term::compile(pattern, ignore_case).ok();
    Ok(Matcher {
        fields: query.fields.unwrap_or_default(),
        phrase: spaced.as_deref().and_then(compile),
        whole_words: spaced.and_then(|spaced| compile(&whole(&spaced, joined.as_deref()?))),
        terms,
        node,
        finders,
        positive,
    })
}

/// The same where no letter goes on before or after it.
fn whole(spaced: &str, text: &str) -> String {
    let boundary = |letter: Option<char>| {
        if letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
            r"\b"
        } else {
            ""
        }
    };
    format!("{}{spaced}{}", boundary(text.chars().next()), boundary(text.chars().next_back()))
}

struct Compiler<'a> {
    time: ReadTime<'a>,
    terms: Vec<Term>,
    positive: Vec<usize>,
}

impl Compiler<'_> {
    fn node(&mut self, condition: &Condition, negated: bool) -> Result<Node, QueryError> {
        Ok(match condition {
            Condition::All(parts) => {
                let mut parts = self.nodes(parts, negated)?;
                // Texts are read only where everything else is met.
                parts.sort_by_key(Node::cost);
                Node::All(parts)
            }
            Condition::Any(parts) => {
                let mut parts = self.nodes(parts, negated)?;
                parts.sort_by_key(Node::cost);
                Node::Any(parts)
            }
            Condition::Not(inner) => Node::Not(Box::new(self.node(inner, !negated)?)),
            Condition::Text(text, at) => self.term(Term::text(text, at)?, negated),
            Condition::Regex(pattern, at) => self.term(Term::regex(pattern, at)?, negated),
            Condition::Is(property, _) => Node::Is(*property),
            Condition::Has(qualifier, value, at) => self.has(*qualifier, value, at)?,
        })
    }

    fn nodes(&mut self, parts: &[Condition], negated: bool) -> Result<Vec<Node>, QueryError> {
        parts.iter().map(|part| self.node(part, negated)).collect()
    }

    fn term(&mut self, term: Term, negated: bool) -> Node {
        let number = self.terms.len();
        self.terms.push(term);
        if !negated {
            self.positive.push(number);
        }
        Node::Term(number)
    }

    fn has(&self, qualifier: Qualifier, value: &str, at: &At) -> Result<Node, QueryError> {
        let time = || {
            (self.time)(value).map_err(|cause| {
                QueryError::new(format!("`{value}`: {cause}"), &at.0).hint(
                    "give a day (2026-01-31, today, yesterday), a time (2026-01-31T09:30) or an \
                     age (3d, 12h, 2w)",
                )
            })
        };
        let pattern = || {
            let parts: Vec<String> = value.split('*').map(regex::escape).collect();
            term::compile(&format!("^(?s:{})$", parts.join(".*")), true)
                .map_err(|_| QueryError::new("this value is too long", &at.0))
        };
        let lower = || value.to_lowercase();
        Ok(match qualifier {
            Qualifier::Project => Node::Project(lower()),
            Qualifier::Agent => Node::Agent(agents::named(value).ok_or_else(|| {
                let names: Vec<&str> = agents::all().map(Agent::name).collect();
                QueryError::new(format!("`agent:{value}`: no such agent"), &at.0)
                    .hint(format!("the agents are {}", names.join(", ")))
            })?),
            Qualifier::Model => Node::Model(lower()),
            Qualifier::Tool => Node::Tool(pattern()?),
            Qualifier::File => Node::File(lower()),
            Qualifier::Branch => Node::Branch(pattern()?),
            Qualifier::After => Node::After(time()?),
            Qualifier::Before => Node::Before(time()?),
            Qualifier::Session => Node::Session(value.to_owned()),
            Qualifier::Commit => Node::Commit(lower()),
        })
    }
}

impl Node {
    /// How much it takes to know.
    fn cost(&self) -> u8 {
        match self {
            Node::All(parts) | Node::Any(parts) => {
                parts.iter().map(Node::cost).max().unwrap_or_default()
            }
            Node::Not(inner) => inner.cost(),
            Node::Term(_) => 3,
            Node::File(_) => 2,
            Node::Commit(_) => 1,
            _ => 0,
        }
    }
}

/// Letters of which each set must occur in a unit that meets the condition, and whether their case
/// matters.
fn required<'t>(node: &Node, terms: &'t [Term]) -> Vec<(Literals, bool)> {
    match node {
        Node::Term(number) => {
            let term: Option<&'t Term> = terms.get(*number);
            let literals = term.and_then(|term| Some((term.literals.clone()?, term.ignore_case)));
            literals.into_iter().collect()
        }
        Node::All(parts) => parts.iter().flat_map(|part| required(part, terms)).collect(),
        Node::Any(parts) => {
            let best = |part| {
                let found: Vec<(Literals, bool)> = required(part, terms);
                found.into_iter().max_by_key(|(literals, _)| literals.weight())
            };
            let mut parts = parts.iter().map(best);
            let Some(Some(first)) = parts.next() else { return Vec::new() };
            let either = parts.try_fold(first, |(all, ignore), part| {
                let (literals, ignores) = part?;
                Some((all.or(literals)?, ignore || ignores))
            });
            either.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

impl Matcher {
    /// The texts that are searched.
    pub fn fields(&self) -> Fields {
        self.fields
    }

    /// What every unit must be of, by the name of the agent and the id of the session.
    pub(crate) fn may_be_of(&self, agent: Agent, ids: &[&str], id_is_known: bool) -> bool {
        let met = |node: &Node| match node {
            Node::Agent(wanted) => *wanted == agent,
            Node::Session(start) => !id_is_known || ids.iter().any(|id| id.starts_with(start)),
            _ => true,
        };
        match &self.node {
            Node::All(parts) => parts.iter().all(met),
            node => met(node),
        }
    }
}
