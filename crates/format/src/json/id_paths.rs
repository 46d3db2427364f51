//! Fields that hold ids of the format: never changed, whatever they look like.
//!
//! They are known by path and not by shape: a uuid in a tool's output may be a secret, the uuid of
//! a record is not.

use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Paths of fields that are left alone. A path is names joined by dots; lists are stepped into
/// without a name, `*` is any one name, and `**` in front means at any depth.
#[derive(Debug, Clone, Default)]
pub struct IdPaths {
    nodes: Vec<Node>,
    anywhere: Vec<Box<str>>,
}

#[derive(Debug, Clone, Default)]
struct Node {
    children: HashMap<Box<str>, usize, RandomState>,
    any: Option<usize>,
    ends: bool,
}

/// A place in a document while it is walked: the nodes it may be. Where it may be more of them than
/// there is room for, the others are forgotten, and what they hold is text like any other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IdPlace {
    nodes: [u16; 6],
    count: u8,
}

impl IdPlace {
    fn add(&mut self, node: usize) {
        let (Some(slot), Ok(node)) =
            (self.nodes.get_mut(usize::from(self.count)), u16::try_from(node))
        else {
            return;
        };
        *slot = node;
        self.count += 1;
    }

    fn nodes(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().take(usize::from(self.count)).map(|node| usize::from(*node))
    }
}

impl IdPaths {
    /// The paths named, such as `message.content.tool_use_id`.
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> IdPaths {
        let mut all = IdPaths { nodes: vec![Node::default()], anywhere: Vec::new() };
        for path in paths {
            match path.strip_prefix("**.") {
                Some(name) => all.anywhere.push(name.into()),
                None => all.add(path),
            }
        }
        all
    }

    fn add(&mut self, path: &str) {
        let mut at = 0;
        for name in path.split('.') {
            let fresh = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            let next = match name {
                "*" => *node.any.get_or_insert(fresh),
                name => *node.children.entry(name.into()).or_insert(fresh),
            };
            if next == fresh {
                self.nodes.push(Node::default());
            }
            at = next;
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.ends = true;
        }
    }

    /// Where the fields of a whole record are looked up.
    pub fn root(&self) -> IdPlace {
        let mut place = IdPlace::default();
        place.add(0);
        place
    }

    /// The place of the field `name` of the object at `place`.
    pub fn field(&self, place: &IdPlace, name: &str) -> IdPlace {
        let mut next = IdPlace::default();
        for node in place.nodes().filter_map(|at| self.nodes.get(at)) {
            let named = node.children.get(name).copied();
            named.into_iter().chain(node.any).for_each(|node| next.add(node));
        }
        next
    }

    /// Whether the field `name`, which is at `place`, is an id.
    pub fn holds(&self, place: &IdPlace, name: &str) -> bool {
        place.nodes().any(|at| self.nodes.get(at).is_some_and(|node| node.ends))
            || self.anywhere.iter().any(|one| one.as_ref() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_followed() {
        let paths = IdPaths::new(["uuid", "message.*.id", "**.signature"]);
        let root = paths.root();
        let holds = |names: &[&str]| {
            let place = names.iter().fold(root, |place, name| paths.field(&place, name));
            paths.holds(&place, names.last().copied().unwrap_or_default())
        };
        assert!(holds(&["uuid"]));
        assert!(!holds(&["input", "uuid"]));
        assert!(holds(&["message", "content", "id"]));
        assert!(!holds(&["message", "id"]));
        assert!(holds(&["a", "b", "signature"]));
        assert!(!holds(&["id"]));
    }
}
