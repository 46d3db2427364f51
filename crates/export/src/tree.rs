//! Conversations inside conversations: what belongs to which.

use crate::context::Context;
use hashbrown::HashMap;

/// Trajectories nested deeper than this stand beside their parents.
const DEEPEST: usize = 16;

/// Which items and which members belong to each member.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) items: Vec<Vec<usize>>,
    pub(super) children: Vec<Vec<usize>>,
    /// Members by the item and the call that started them.
    pub(super) started: HashMap<Box<str>, Vec<usize>>,
}

impl Tree {
    pub(super) fn of(context: &Context<'_>) -> Tree {
        let timeline = &context.timeline;
        let count = timeline.members.len();
        let (mut items, mut children) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let mut started: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        let mut depth = vec![0usize; count];
        for (at, item) in timeline.items.iter().enumerate() {
            let Some(own) = items.get_mut(item.member) else { continue };
            own.push(at);
            if own.len() > 1 || item.member == 0 {
                continue;
            }
            // The first item of a subagent: hang it under the conversation that started it.
            let above = item.parent.and_then(|parent| timeline.items.get(parent));
            let mut holder = above.map_or(0, |above| above.member);
            let level = depth.get(holder).copied().unwrap_or(0) + 1;
            if level > DEEPEST {
                holder = 0;
            }
            if let Some(slot) = depth.get_mut(item.member) {
                *slot = level;
            }
            if let Some(list) = children.get_mut(holder) {
                list.push(item.member);
            }
            let member = timeline.members.get(item.member);
            let call = member.and_then(|member| member.parent.as_ref()?.call.clone());
            if let Some(call) = call {
                started.entry(call).or_default().push(item.member);
            }
        }
        Tree { items, children, started }
    }
}
