//! What a row has besides its messages: tools, where the trace holds them, and where it comes from.

use super::{SftFormat, Writer};
use crate::definition::{Wrapped, write_definition};
use crate::escape::{unescaped, write_text};
use backstory_model::Step;
use backstory_store::StoreError;

impl Writer<'_, '_, '_> {
    /// Where the tools of a row stand, with their key.
    pub(super) fn tools(&mut self, member: usize, steps: &[&Step]) -> Result<usize, StoreError> {
        let mut names: Vec<String> = Vec::new();
        let mut seen = hashbrown::HashSet::new();
        let timeline = &self.context.timeline;
        for step in steps {
            for name in self.shapes.available(timeline, member, step) {
                if seen.insert(name) {
                    names.push(name.clone());
                }
            }
        }
        names.sort();
        if let Some(at) = self.tools_of.get(&names) {
            return Ok(*at);
        }
        let outer = self.canon.begin_nested();
        let format = self.sft.format;
        let wrapped = match format {
            SftFormat::LlamaFactory => Wrapped::No,
            _ => Wrapped::Yes,
        };
        self.shapes.write_named_tools(&names, &mut self.fetcher, self.canon, |canon, tool| {
            let name = tool.get_text("name").unwrap_or_default();
            write_definition(canon, tool, &format.fitting(&name), wrapped);
        })?;
        let list = self.canon.end_nested(outer);
        let mut bytes = Vec::new();
        match self.sft.format {
            SftFormat::OpenAi if names.is_empty() => {}
            SftFormat::LlamaFactory => {
                let text = if names.is_empty() { String::new() } else { unescaped(&list) };
                bytes.extend_from_slice(b", \"tools\": ");
                write_text(&text, &mut bytes);
            }
            _ => {
                bytes.extend_from_slice(b", \"tools\": ");
                bytes.extend_from_slice(&list);
            }
        }
        let at = self.tools.len();
        self.tools.push(bytes);
        self.tools_of.insert(names, at);
        Ok(at)
    }

    /// The end of a row.
    pub(super) fn meta(&mut self, member: usize, steps: &[&Step]) -> Vec<u8> {
        if self.sft.format == SftFormat::OpenAi {
            // Unknown fields are refused there.
            return b"}\n".to_vec();
        }
        let session = self.context.timeline.members.get(member);
        let id = session.map_or("", |session| session.id.as_str());
        let first = steps.first();
        let uuid = first.and_then(|step| step.uuids.first()).map_or("", |uuid| uuid);
        let canon = &mut *self.canon;
        let outer = canon.begin_nested();
        canon.open();
        canon.key("id");
        canon.id(&format!("{id}:{uuid}"));
        canon.key("session_id");
        canon.id(id);
        canon.key("agent");
        canon.plain(self.context.session.agent.name());
        canon.key("model");
        canon.id_or_null(first.and_then(|step| step.model.as_deref()));
        canon.key("version");
        canon.id_or_null(first.and_then(|step| step.version.as_deref()));
        canon.key("answers");
        canon.number(steps.len() as u64);
        canon.close();
        let mut tail = b", \"meta\": ".to_vec();
        tail.extend(canon.end_nested(outer));
        tail.extend_from_slice(b"}\n");
        tail
    }
}
