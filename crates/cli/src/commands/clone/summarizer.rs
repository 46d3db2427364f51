//! Compressing texts with a program of the user's: JSON in, JSON out.
//!
//! One process per text. What it prints is taken only if it is the JSON that was asked for and ends
//! in time; everything else is a failure, and the text stays as it was.

use backstory_claude::clone::{Answer, Engine, Piece};
use backstory_session::wire::SUMMARIZE_SCHEMA;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program, and how patient to be with it.
#[derive(Debug)]
pub(super) struct Summarizer {
    pub(super) command: String,
    pub(super) limit: Duration,
    pub(super) retries: u32,
}

/// No answer is longer.
const LONGEST: u64 = 16 << 20;

#[derive(Debug, Deserialize)]
struct Reply {
    text: String,
}

impl Engine for Summarizer {
    fn shorten(&self, pieces: &[Piece]) -> Vec<Answer> {
        pieces.par_iter().map(|piece| self.one(piece)).collect()
    }

    fn is_repeatable(&self) -> bool {
        false
    }
}

impl Summarizer {
    fn one(&self, piece: &Piece) -> Answer {
        let request = json!({
            "schema": SUMMARIZE_SCHEMA,
            "level": piece.level.name(),
            "target_percent": piece.level.percent(),
            "role": piece.speaker.name(),
            "text": piece.text,
        });
        let request = format!("{request}\n");
        let mut reason = String::new();
        for _ in 0..=self.retries {
            match self.ask(&request) {
                Ok(text) if text.trim().is_empty() => reason = "an empty text".to_owned(),
                Ok(text) if text.len() >= piece.text.len() => return Answer::AsItIs,
                Ok(text) => return Answer::Shorter(text),
                Err(why) => reason = why,
            }
        }
        Answer::Failed(reason)
    }

    fn ask(&self, request: &str) -> Result<String, String> {
        let mut child = self.start().map_err(|error| format!("cannot start: {error}"))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let answered = std::thread::scope(|scope| {
            scope.spawn(move || {
                // A program that does not read its input may still answer.
                drop(input.map(|mut input| input.write_all(request.as_bytes())));
            });
            let reading = scope.spawn(move || {
                let mut text = Vec::new();
                let read = output.map(|output| output.take(LONGEST).read_to_end(&mut text));
                read.map(|read| read.map(|_| text))
            });
            let ended = self.wait(&mut child);
            let text = reading.join().ok().flatten();
            ended.map(|()| text)
        })?;
        let text = answered.ok_or("no output")?.map_err(|error| error.to_string())?;
        let reply: Reply = serde_json::from_slice(&text)
            .map_err(|error| format!("not the JSON asked for: {error}"))?;
        Ok(reply.text)
    }

    fn start(&self) -> std::io::Result<Child> {
        #[cfg(unix)]
        let mut command = {
            use std::os::unix::process::CommandExt as _;
            let mut command = Command::new("sh");
            command.arg("-c").arg(&self.command).process_group(0);
            command
        };
        #[cfg(not(unix))]
        let mut command = {
            let mut command = Command::new("cmd");
            command.arg("/C").arg(&self.command);
            command
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    }

    /// Waits for the end, or ends it with all it started.
    fn wait(&self, child: &mut Child) -> Result<(), String> {
        let deadline = Instant::now() + self.limit;
        let mut pause = Duration::from_millis(1);
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    end(child);
                    return Err(status.to_string());
                }
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(50));
                }
                Ok(None) => {
                    end(child);
                    return Err(format!("not done after {} s", self.limit.as_secs()));
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

/// Ends the program and whatever it started: none of them may keep the pipe open.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
    }
    drop(child.kill());
    drop(child.wait());
}
