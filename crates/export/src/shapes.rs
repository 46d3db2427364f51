//! System prompts and tools, from the few traces that hold them.

use crate::definition::defined;
use crate::fetch::Fetcher;
use crate::json::{CanonicalWriter, sha256};
use crate::options::SystemPrompt;
use crate::timeline::{Entry, Timeline};
use backstory_format::json::Kind;
use backstory_format::slice::Part;
use backstory_model::{Content, Step};
use backstory_store::StoreError;
use hashbrown::HashMap;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What requests carried, each once.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    /// Cleared system prompts by their names.
    pub(super) prompts: BTreeMap<String, String>,
    /// Name of the system prompt and names of the tools by member and shape.
    known: HashMap<(usize, u32), (Option<String>, Vec<String>)>,
    /// One place of each tool's definition, in order of appearance.
    pub(super) tools: Vec<(String, usize, Content, usize)>,
}

impl Shapes {
    /// Looks at the shapes that the timeline's messages used.
    pub(super) fn of(
        timeline: &Timeline<'_>,
        fetcher: &mut Fetcher<'_>,
        canon: &mut CanonicalWriter<'_>,
    ) -> Result<Shapes, StoreError> {
        let mut shapes = Shapes::default();
        for item in &timeline.items {
            let Entry::Step(step) = item.what else { continue };
            let Some(key) = key(timeline, item.member, step) else { continue };
            if shapes.known.contains_key(&key) {
                continue;
            }
            let shape = timeline
                .members
                .get(key.0)
                .and_then(|member| member.requests.shapes.get(key.1 as usize));
            let Some(shape) = shape else { continue };
            let mut prompt = None;
            if let Some(system) = &shape.system {
                let text = system_text(fetcher, key.0, system)?;
                let cleared = canon.clear(&text).into_owned();
                let digest = sha256(&cleared);
                let name = format!("sp_{}", digest.part(..12));
                shapes.prompts.insert(name.clone(), cleared);
                prompt = Some(name);
            }
            let mut names = Vec::new();
            if let Some(tools) = &shape.tools {
                let list = fetcher.json(key.0, tools)?;
                for (at, tool) in list.into_iter().flat_map(|list| list.items()).enumerate() {
                    let Some(name) = defined(tool).get_text("name") else { continue };
                    names.push(name.clone().into_owned());
                    if !shapes.tools.iter().any(|(known, ..)| *known == *name) {
                        shapes.tools.push((name.into_owned(), key.0, tools.clone(), at));
                    }
                }
            }
            shapes.known.insert(key, (prompt, names));
        }
        Ok(shapes)
    }

    /// Name of the system prompt of a message.
    pub(super) fn prompt(
        &self,
        timeline: &Timeline<'_>,
        member: usize,
        step: &Step,
    ) -> Option<&str> {
        self.known.get(&key(timeline, member, step)?)?.0.as_deref()
    }

    /// Tools that the model could use in a message.
    pub(super) fn available(
        &self,
        timeline: &Timeline<'_>,
        member: usize,
        step: &Step,
    ) -> &[String] {
        key(timeline, member, step)
            .and_then(|key| self.known.get(&key))
            .map_or(&[], |(_, names)| names.as_slice())
    }

    /// The system prompt of a message, cleared.
    pub(super) fn system<'a>(
        &'a self,
        timeline: &Timeline<'_>,
        member: usize,
        step: &Step,
        wanted: SystemPrompt<'a>,
        canon: &CanonicalWriter<'_>,
    ) -> Option<Cow<'a, str>> {
        match wanted {
            SystemPrompt::None => None,
            SystemPrompt::Text(text) => Some(canon.clear(text)),
            SystemPrompt::Auto => {
                let name = self.prompt(timeline, member, step)?;
                self.prompts.get(name).map(|text| Cow::Borrowed(text.as_str()))
            }
        }
    }

    /// [`write_tools`](Shapes::write_tools) for those of a sorted list of names.
    pub(super) fn write_named_tools(
        &self,
        names: &[String],
        fetcher: &mut Fetcher<'_>,
        canon: &mut CanonicalWriter<'_>,
        mut write: impl FnMut(&mut CanonicalWriter<'_>, backstory_format::json::Value<'_>),
    ) -> Result<(), StoreError> {
        self.write_tools(fetcher, canon, |canon, tool| {
            let name = tool.get_text("name").unwrap_or_default();
            if names.binary_search_by(|known| known.as_str().cmp(&name)).is_ok() {
                write(canon, tool);
            }
        })
    }

    /// Writes each definition with `write`, which gets description, schema and name.
    pub(super) fn write_tools(
        &self,
        fetcher: &mut Fetcher<'_>,
        canon: &mut CanonicalWriter<'_>,
        mut write: impl FnMut(&mut CanonicalWriter<'_>, backstory_format::json::Value<'_>),
    ) -> Result<(), StoreError> {
        canon.open_list();
        for (_, member, tools, at) in &self.tools {
            let list = fetcher.json(*member, tools)?;
            if let Some(tool) = list.and_then(|list| list.items().nth(*at)) {
                write(canon, defined(tool));
            }
        }
        canon.close_list();
        Ok(())
    }
}

fn key(timeline: &Timeline<'_>, member: usize, step: &Step) -> Option<(usize, u32)> {
    let requests = &timeline.members.get(member)?.requests;
    Some((member, requests.shape_of(step.message_id.as_deref())?))
}

/// The texts of a system prompt, one paragraph for each.
fn system_text(
    fetcher: &mut Fetcher<'_>,
    member: usize,
    content: &Content,
) -> Result<String, StoreError> {
    if !matches!(content, Content::Json(_)) {
        return fetcher.text(member, content).map(Cow::into_owned);
    }
    let mut text = String::new();
    let list = fetcher.json(member, content)?;
    if let Some(one) = list.and_then(|list| list.text()) {
        return Ok(one.into_owned());
    }
    for part in list.into_iter().flat_map(|list| list.items()) {
        let part = match part.kind() {
            Kind::String => part.text(),
            _ => part.get_text("text"),
        };
        if let Some(part) = part {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&part);
        }
    }
    Ok(text)
}
