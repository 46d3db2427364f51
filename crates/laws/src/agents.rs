//! What must hold for any file of any agent: its reader ends, counts what is there, and everything
//! it cites can be fetched. The first byte of the data says which file it is.

use backstory_agents as agents;
use backstory_model::{Block, Call, Content, Session};
use backstory_session::discover::{Root, discover};
use backstory_store::{ReadContext, SourceReader, Store};

/// Names by which files are recognised.
pub const AGENT_FILES: [&str; 13] = [
    "sessions/2026/01/31/rollout-2026-01-31T09-30-00-11111111-aaaa-4bbb-8ccc-000000000001.jsonl",
    "rollout-2025-05-01-old.json",
    "trajectory.json",
    "output.jsonl",
    "events.jsonl",
    "conversation/events/event-00000-a.json",
    "task.traj",
    "task.traj.json",
    "rows.json",
    "rows.jsonl",
    ".aider.chat.history.md",
    "tasks/1769851800000/api_conversation_history.json",
    "s/s.messages.json",
];

/// Reads the data as a file of one agent; gives how many sessions it held.
pub fn agents(data: &[u8]) -> usize {
    let Some((kind, content)) = data.split_first() else { return 0 };
    let name = AGENT_FILES[usize::from(*kind) % AGENT_FILES.len()];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, content).expect("a file");
    if name.contains("/events/") {
        std::fs::write(folder.path().join("conversation/base_state.json"), b"{}").expect("a file");
    }
    let found = discover(&[Root { path: folder.path().to_path_buf() }], &Store::default());
    for files in &found.sessions {
        if let Ok((session, _)) = agents::read(files, &mut ReadContext::default()) {
            texts(&session);
        }
    }
    found.sessions.len()
}

/// Checks the counts of a session and fetches everything it cites.
pub(crate) fn texts(session: &Session) -> Vec<String> {
    let counts = &session.counts;
    assert_eq!(counts.calls, counts.results + counts.orphan_calls);
    assert!(counts.errors <= counts.results);
    let mut reader = session.source.open().expect("the file is still there");
    let mut texts = Texts { reader: &mut reader, found: Vec::new() };
    let left = session.abandoned.iter().flat_map(|branch| &branch.turns);
    for turn in session.turns.iter().chain(left) {
        let prompt = turn.prompt.blocks.iter().map(|part| &part.block);
        let answers = turn.steps.iter().flat_map(|step| &step.blocks);
        prompt.chain(answers).for_each(|block| texts.block(block));
        let events = turn.events.iter().filter_map(|event| event.text.as_ref());
        events.for_each(|text| texts.text(text));
    }
    if let Some(patch) = session.benchmark.as_ref().and_then(|run| run.patch.as_ref()) {
        texts.text(patch);
    }
    texts.found
}

struct Texts<'r> {
    reader: &'r mut SourceReader,
    found: Vec<String>,
}

impl Texts<'_> {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Text(text) => self.text(text),
            Block::Thinking { text: Some(text), .. } => self.text(text),
            Block::Call(call) => self.call(call),
            _ => {}
        }
    }

    fn call(&mut self, call: &Call) {
        if let Some(input) = &call.input {
            self.text(input);
        }
        if let Some(result) = &call.result {
            for text in result.text.iter().chain(&result.structured) {
                self.text(text);
            }
            result.blocks.iter().for_each(|block| self.block(block));
        }
    }

    fn text(&mut self, content: &Content) {
        let text = self.reader.text(content).expect("cited content exists");
        self.found.push(text.into_owned());
    }
}
