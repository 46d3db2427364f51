//! The yardstick of the benchmark: a bare typed parse of the same bytes with serde_json.
//!
//! Reads every session and subagent below the given roots on all threads and parses each line into structs
//! that hold what the model holds: the envelope, the message, its blocks and usage. Nothing is
//! built from them.
#![allow(clippy::print_stdout, dead_code)]

use backstory_session::discover::{Root, discover};
use backstory_store::Store;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    uuid: Option<&'a str>,
    parent_uuid: Option<&'a str>,
    session_id: Option<&'a str>,
    timestamp: Option<&'a str>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    version: Option<&'a str>,
    #[serde(borrow)]
    git_branch: Option<Cow<'a, str>>,
    is_sidechain: Option<bool>,
    is_meta: Option<bool>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<&'a str>,
    model: Option<&'a str>,
    stop_reason: Option<&'a str>,
    usage: Option<Usage>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    id: Option<&'a str>,
    tool_use_id: Option<&'a str>,
    name: Option<&'a str>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
}

fn main() {
    let roots: Vec<Root> =
        std::env::args_os().skip(1).map(|root| Root { path: root.into() }).collect();
    let found = discover(&roots, &Store::default());
    let agents = found.sessions.iter().flat_map(|session| &session.agents);
    let agents = agents.chain(&found.stray_agents).map(|agent| &agent.path);
    let files: Vec<&PathBuf> =
        found.sessions.iter().map(|session| &session.path).chain(agents).collect();
    let (bytes, records, blocks) = files
        .par_iter()
        .with_max_len(1)
        .map(|path| {
            let Ok(text) = std::fs::read(path) else { return (0, 0, 0) };
            let (mut records, mut blocks) = (0u64, 0u64);
            for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                if let Ok(record) = serde_json::from_slice::<Record<'_>>(line) {
                    records += 1;
                    let content = record.message.and_then(|message| message.content);
                    if let Some(content) = content.filter(|content| content.get().starts_with('['))
                    {
                        blocks += serde_json::from_str::<Vec<Block<'_>>>(content.get())
                            .map_or(0, |list| list.len() as u64);
                    }
                }
            }
            (text.len() as u64, records, blocks)
        })
        .reduce(|| (0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2));
    println!("files {}, bytes {bytes}, records {records}, blocks {blocks}", files.len());
}
