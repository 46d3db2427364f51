//! The program that wrote a session.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// What is known of an agent, whatever it wrote. Its reader defines it.
#[derive(Debug)]
pub struct AgentInfo {
    /// The word used in output and on the command line.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its place in lists of agents, which no other has.
    pub place: u16,
    /// Information that its files do not record, for people who would look for it.
    pub unread: &'static [&'static str],
}

/// The program that wrote a session: one of those that have a reader.
#[derive(Clone, Copy)]
pub struct Agent(&'static AgentInfo);

impl Agent {
    /// The agent of which this is known.
    pub const fn new(info: &'static AgentInfo) -> Agent {
        Agent(info)
    }

    /// What people call it.
    pub const fn title(self) -> &'static str {
        self.0.title
    }

    /// The word used in output and on the command line.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Information that its files do not record.
    pub const fn unread(self) -> &'static [&'static str] {
        self.0.unread
    }

    /// Its place in lists.
    pub const fn place(self) -> u16 {
        self.0.place
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.name)
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Agent) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Agent {}

impl Hash for Agent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl PartialOrd for Agent {
    fn partial_cmp(&self, other: &Agent) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Agent {
    fn cmp(&self, other: &Agent) -> Ordering {
        (self.0.place, self.0.name).cmp(&(other.0.place, other.0.name))
    }
}
