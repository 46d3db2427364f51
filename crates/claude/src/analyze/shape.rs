//! Which fields occur, how often, with which types and values: counts, never content.
//!
//! A [`Shapes`] is a set of trees, one per kind of object (a record type, a content block, a tool's
//! input). A node is a field; its children are the fields of the objects found there. Memory is
//! bounded by the number of different fields, not by the data: keys that look like data share one
//! node, and so do all keys of an object that has too many.

use super::values::{Format, Values};
use backstory_format::json::{Kind, Value};
use hashbrown::HashMap;
use std::num::NonZeroU32;

/// How many different keys an object may have before they count as data.
const MAX_KEYS: usize = 160;
/// How deep objects are followed.
const MAX_DEPTH: usize = 10;
/// How many kinds are distinguished.
const MAX_KINDS: usize = 2_000;
/// The name of all keys that are data, not names.
const ANY_KEY: &str = "*";
/// The name of kinds beyond the limit.
const MORE_KINDS: &str = "(more)";

/// JSON types as a reader of the format thinks of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number.
    Number,
    /// A text.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl Type {
    /// All types, in the order of reports.
    pub const ALL: [Type; 6] =
        [Type::Null, Type::Boolean, Type::Number, Type::String, Type::Array, Type::Object];

    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Type::Null => "null",
            Type::Boolean => "boolean",
            Type::Number => "number",
            Type::String => "string",
            Type::Array => "array",
            Type::Object => "object",
        }
    }

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|kind| kind.name() == name)
    }

    fn of(value: &Value<'_>) -> Type {
        match value.kind() {
            Kind::Null => Type::Null,
            Kind::True | Kind::False => Type::Boolean,
            Kind::Number => Type::Number,
            Kind::String => Type::String,
            Kind::Array => Type::Array,
            Kind::Object => Type::Object,
        }
    }
}

/// Where something was seen first: a file (by the caller's number) and a line in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, by its number in the analysis.
    pub file: u32,
    /// The line in the file.
    pub line: NonZeroU32,
}

impl Place {
    pub(super) fn new(file: u32, line: u64) -> Place {
        let line = u32::try_from(line).ok().and_then(NonZeroU32::new);
        Place { file, line: line.unwrap_or(NonZeroU32::MAX) }
    }
}

/// One field.
#[derive(Debug, Clone)]
pub struct Node {
    /// The field's name.
    pub key: Box<str>,
    /// How often it was there.
    pub count: u64,
    /// By [`Type`].
    pub types: [u64; 6],
    /// First place of each [`Type`].
    pub first: [Option<Place>; 6],
    /// What strings looked like, by [`Format`].
    pub formats: [u64; Format::COUNT],
    /// Values that were seen, as far as they are kept.
    pub values: Values,
    children: Vec<NodeId>,
    items: Option<NodeId>,
}

pub(super) type NodeId = u32;

impl Node {
    fn new(key: &str) -> Node {
        Node {
            key: key.into(),
            count: 0,
            types: [0; 6],
            first: [None; 6],
            formats: [0; Format::COUNT],
            values: Values::default(),
            children: Vec::new(),
            items: None,
        }
    }

    /// How many of its values had this type.
    pub fn of_type(&self, wanted: Type) -> u64 {
        self.types.get(wanted as usize).copied().unwrap_or(0)
    }

    /// Where it was seen first.
    pub fn first_place(&self) -> Option<Place> {
        self.first.iter().flatten().min().copied()
    }

    fn see(&mut self, kind: Type, place: Place) {
        self.count += 1;
        if let Some(count) = self.types.get_mut(kind as usize) {
            *count += 1;
        }
        if let Some(first) = self.first.get_mut(kind as usize) {
            first.get_or_insert(place);
        }
    }
}

/// What the walk over a record does with a value besides counting it.
pub(super) enum Route {
    /// Follow objects and lists.
    Follow,
    /// Count the value, look no further: it is opaque, or counted as a kind of its own.
    Stop,
}

/// Trees of fields, one per kind of object.
#[derive(Debug, Clone, Default)]
pub struct Shapes {
    nodes: Vec<Node>,
    kinds: HashMap<Box<str>, NodeId>,
}

impl Shapes {
    /// The root node of a kind, made if it is new.
    pub(super) fn kind(&mut self, name: &str) -> NodeId {
        if let Some(found) = self.kinds.get(name) {
            return *found;
        }
        let name = if self.kinds.len() >= MAX_KINDS { MORE_KINDS } else { name };
        if let Some(found) = self.kinds.get(name) {
            return *found;
        }
        let id = self.add(Node::new(name));
        self.kinds.insert(name.into(), id);
        id
    }

    /// Kinds by name, sorted.
    pub fn kinds(&self) -> Vec<(&str, &Node)> {
        let mut kinds: Vec<_> = self
            .kinds
            .iter()
            .filter_map(|(name, id)| Some((&**name, self.nodes.get(*id as usize)?)))
            .collect();
        kinds.sort_by_key(|(name, _)| *name);
        kinds
    }

    /// The root of a kind, if it occurs.
    pub fn find_kind(&self, name: &str) -> Option<&Node> {
        self.nodes.get(*self.kinds.get(name)? as usize)
    }

    /// Fields of an object, in the order in which they were met first.
    pub fn children<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a Node> {
        node.children.iter().filter_map(|id| self.nodes.get(*id as usize))
    }

    /// Items of the lists found in a field, as one node.
    pub fn items<'a>(&'a self, node: &'a Node) -> Option<&'a Node> {
        self.nodes.get(node.items? as usize)
    }

    /// All fields of a kind with their paths (`message.content[].text`), parents first.
    pub fn fields<'a>(&'a self, kind: &'a Node) -> Vec<Field<'a>> {
        let mut fields = Vec::new();
        let mut waiting = vec![(String::new(), kind)];
        while let Some((path, node)) = waiting.pop() {
            let objects = node.of_type(Type::Object);
            let mut below = Vec::new();
            for child in self.children(node) {
                let path = match path.as_str() {
                    "" => child.key.to_string(),
                    path => format!("{path}.{}", child.key),
                };
                fields.push(Field { path: path.clone(), node: child, of: objects });
                below.push((path, child));
            }
            if let Some(items) = self.items(node) {
                let path = format!("{path}[]");
                // A list has no fixed number of items, so presence means nothing for them.
                fields.push(Field { path: path.clone(), node: items, of: items.count });
                below.push((path, items));
            }
            waiting.extend(below.into_iter().rev());
        }
        fields.sort_by(|a, b| a.path.cmp(&b.path));
        fields
    }

    /// Counts one object of a kind. `route` decides what to follow, by depth (1 for the fields of the
    /// object itself), value and key.
    pub(super) fn object<'a>(
        &mut self,
        kind: NodeId,
        value: &Value<'a>,
        place: Place,
        route: &mut impl FnMut(usize, &Value<'a>, &str) -> Route,
    ) {
        self.value(kind, value, place, 1, route);
    }

    fn value<'a>(
        &mut self,
        id: NodeId,
        value: &Value<'a>,
        place: Place,
        depth: usize,
        route: &mut impl FnMut(usize, &Value<'a>, &str) -> Route,
    ) {
        let kind = Type::of(value);
        let Some(node) = self.nodes.get_mut(id as usize) else { return };
        node.see(kind, place);
        if depth > MAX_DEPTH {
            return;
        }
        match kind {
            Type::Object => {
                let mut next = 0;
                for (key, value) in value.fields() {
                    let name = key.name();
                    let (child, at) = self.child(id, &name, next);
                    next = at + 1;
                    match route(depth, &value, std::str::from_utf8(&name).unwrap_or_default()) {
                        Route::Follow => self.value(child, &value, place, depth + 1, route),
                        Route::Stop => {
                            if let Some(node) = self.nodes.get_mut(child as usize) {
                                node.see(Type::of(&value), place);
                            }
                        }
                    }
                }
            }
            Type::Array => {
                let mut items = value.items().peekable();
                if items.peek().is_none() {
                    return;
                }
                let child = self.items_of(id);
                for item in items {
                    self.value(child, &item, place, depth + 1, route);
                }
            }
            Type::String => {
                let raw = value.raw_text().unwrap_or_default();
                if let Some(format) = node.formats.get_mut(Format::of(raw) as usize) {
                    *format += 1;
                }
                node.values.see(&node.key, raw);
            }
            Type::Boolean => node.values.see_boolean(value.kind() == Kind::True),
            Type::Null | Type::Number => {}
        }
    }

    /// The child with this key and its place among the children; `hint` is where it is likely to
    /// be, since clients write fields in the same order each time.
    fn child(&mut self, parent: NodeId, key: &[u8], hint: usize) -> (NodeId, usize) {
        let is = |id: &NodeId| {
            self.nodes.get(*id as usize).is_some_and(|node| node.key.as_bytes() == key)
        };
        let children = self.nodes.get(parent as usize).map_or(&[][..], |node| &node.children);
        if let Some(id) = children.get(hint).filter(|id| is(id)) {
            return (*id, hint);
        }
        if let Some(at) = children.iter().position(is) {
            return (children.get(at).copied().unwrap_or(parent), at);
        }
        let full = children.len() >= MAX_KEYS;
        let parent_key = self.nodes.get(parent as usize).map_or("", |node| &node.key);
        let name = if full || is_data(parent_key, key) {
            ANY_KEY
        } else {
            std::str::from_utf8(key).unwrap_or(ANY_KEY)
        };
        if name == ANY_KEY && key != ANY_KEY.as_bytes() {
            return self.child(parent, ANY_KEY.as_bytes(), usize::MAX);
        }
        let id = self.add(Node::new(name));
        let mut at = 0;
        if let Some(node) = self.nodes.get_mut(parent as usize) {
            at = node.children.len();
            node.children.push(id);
        }
        (id, at)
    }

    fn items_of(&mut self, parent: NodeId) -> NodeId {
        if let Some(found) = self.nodes.get(parent as usize).and_then(|node| node.items) {
            return found;
        }
        // Items share their list's name, so that values are judged by it.
        let key =
            self.nodes.get(parent as usize).map_or_else(Box::default, |node| node.key.clone());
        let id = self.add(Node::new(&key));
        if let Some(node) = self.nodes.get_mut(parent as usize) {
            node.items = Some(id);
        }
        id
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() as NodeId - 1
    }

    /// Adds the counts of `other`; `place` translates its places.
    pub(super) fn merge(&mut self, other: &Shapes, place: &impl Fn(Place) -> Place) {
        for (name, id) in &other.kinds {
            let mine = self.kind(name);
            self.merge_node(mine, other, *id, place);
        }
    }

    fn merge_node(
        &mut self,
        mine: NodeId,
        other: &Shapes,
        theirs: NodeId,
        place: &impl Fn(Place) -> Place,
    ) {
        let Some(from) = other.nodes.get(theirs as usize) else { return };
        if let Some(node) = self.nodes.get_mut(mine as usize) {
            node.count += from.count;
            for (count, more) in node.types.iter_mut().zip(from.types) {
                *count += more;
            }
            for (first, other) in node.first.iter_mut().zip(from.first) {
                *first = [*first, other.map(place)].into_iter().flatten().min();
            }
            for (count, more) in node.formats.iter_mut().zip(from.formats) {
                *count += more;
            }
            node.values.merge(&from.values);
        }
        for child in &from.children {
            let key = other.nodes.get(*child as usize).map_or("", |node| &node.key);
            let (id, _) = self.child(mine, key.as_bytes(), usize::MAX);
            self.merge_node(id, other, *child, place);
        }
        if let Some(items) = from.items {
            let id = self.items_of(mine);
            self.merge_node(id, other, items, place);
        }
    }
}

/// A field with its path in the kind it belongs to.
#[derive(Debug, Clone)]
pub struct Field<'a> {
    /// Names from the record down to the field.
    pub path: String,
    /// Counts of the field.
    pub node: &'a Node,
    /// How many objects could have had it.
    pub of: u64,
}

/// Objects whose keys are data.
const MAPS: [&str; 9] = [
    "trackedFileBackups",
    "answers",
    "annotations",
    "modelUsage",
    "wordCounts",
    "env",
    "headers",
    "_meta",
    "mcpMeta",
];

/// Whether a key says something about the data instead of naming a field: a path, an id, a number,
/// a sentence.
fn is_data(parent: &str, key: &[u8]) -> bool {
    let named = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    let digits = key.iter().filter(|byte| byte.is_ascii_digit()).count();
    MAPS.contains(&parent)
        || key.is_empty()
        || key.len() > 48
        || key.first().is_some_and(u8::is_ascii_digit)
        || digits > 4
        || !key.iter().all(|byte| named(*byte))
}
