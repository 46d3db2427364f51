//! The metadata file next to that of a subagent: `agent-*.meta.json`.

use backstory_format::Limits;
use backstory_format::json::{Tape, scan};
use backstory_model::AgentMeta;
use backstory_store::{LARGEST_META, read_small_text};
use std::path::Path;

/// Reads the file; none where it cannot be read.
pub fn agent_meta(path: &Path) -> Option<AgentMeta> {
    read_small_text(path, LARGEST_META).ok().map(|text| parsed(text.into()))
}

fn parsed(text: Box<str>) -> AgentMeta {
    let mut tape = Tape::new();
    let bytes = text.as_bytes();
    let sound = scan(bytes, 0, Limits::DEPTH, &mut tape).is_ok();
    let value = if sound { tape.root(bytes) } else { None };
    let field = |name| value.as_ref()?.get_text(name).map(|text| text.into_owned());
    let forks = value.as_ref().and_then(|value| value.get("isFork")?.boolean());
    AgentMeta {
        agent_type: field("agentType"),
        description: field("description"),
        call: field("toolUseId"),
        parent: field("parentAgentId"),
        is_fork: forks.unwrap_or(false),
        text: text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_one_by_one() {
        let text = r#"{"agentType":"Explore","description":7,"toolUseId":"t","isFork":true}"#;
        let meta = parsed(text.into());
        assert_eq!((meta.agent_type.as_deref(), meta.description), (Some("Explore"), None));
        assert_eq!((meta.call.as_deref(), meta.is_fork, &*meta.text), (Some("t"), true, text));
        assert_eq!(parsed("{".into()), AgentMeta { text: "{".into(), ..AgentMeta::default() });
    }
}
