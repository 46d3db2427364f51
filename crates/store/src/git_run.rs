//! Running git: the one place that starts it.
//!
//! A repository may come from anybody, and its configuration can name programs. What the calls made
//! here could reach is switched off three times over: by settings that go before the repository's
//! (hooks, file monitors, pagers, editors, signatures, external differs), by words of each call
//! (`--no-textconv`, `--no-ext-diff`), and by the environment for what a repository could set past
//! any setting. That last one matters for missing objects: `protocol.ext.allow` of a repository goes
//! before `protocol.allow`, and git before 2.45 does not know `GIT_NO_LAZY_FETCH`, but every git
//! obeys `GIT_ALLOW_PROTOCOL`.
//!
//! A call that says nothing for a while is ended with everything it started: an included file that
//! is a named pipe would hold it for ever. The user's own configuration is not read, with one
//! exception: git may work in a repository of another user only if the user said so there.

use crate::git::{Git, GitError};
use backstory_format::slice::Part;
use std::io::{Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Which configuration holds besides the repository's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Configuration {
    /// Ours, which goes before the repository's.
    Ours,
    /// The user's, and ours before all.
    UsersAndOurs,
    /// The user's alone: the call must be one that runs nothing.
    Users,
}

/// One call of git.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'c> {
    pub(super) words: &'c [&'c str],
    pub(super) input: &'c [u8],
    pub(super) environment: &'c [(String, String)],
}

const SWITCHED_OFF: [&str; 30] = [
    // Programs.
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=false",
    "core.askPass=",
    "core.editor=:",
    "core.pager=cat",
    "core.sshCommand=false",
    "credential.helper=",
    "diff.external=",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.ssh.defaultKeyCommand=false",
    "gpg.x509.program=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    // Files outside of the repository.
    "core.attributesFile=/dev/null",
    "diff.orderFile=/dev/null",
    "blame.ignoreRevsFile=",
    "mailmap.file=/dev/null",
    // Other answers.
    "blame.markIgnoredLines=false",
    "blame.markUnblamableLines=false",
    "core.bigFileThreshold=512m",
    "core.quotePath=false",
    "diff.noprefix=false",
    "log.diffMerges=off",
    "log.follow=false",
    "log.showRoot=true",
];

/// Variables that would make git look elsewhere or answer otherwise.
const UNSET: [&str; 17] = [
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_CONFIG",
];

const SET: [(&str, &str); 12] = [
    // No name of a protocol begins with a dash, so this allows none, whatever is configured.
    ("GIT_ALLOW_PROTOCOL", "-"),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_PROXY_COMMAND", "false"),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

impl Git {
    pub(super) fn run(&self, words: &[&str]) -> Result<Vec<u8>, GitError> {
        self.run_with(words, &[])
    }

    /// The same with something to read on standard input.
    pub(super) fn run_with(&self, words: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        self.call(Call { words, input, environment: &[] })
    }

    /// The repository may belong to somebody else. Then git itself decides, by what the user's
    /// configuration says of it.
    pub(super) fn call(&self, call: Call<'_>) -> Result<Vec<u8>, GitError> {
        if self.trusted.get() == Some(&true) {
            return self.call_as(call, Configuration::UsersAndOurs);
        }
        match self.call_as(call, Configuration::Ours) {
            Err(GitError::NotOwned { .. }) => {
                let asked =
                    Call { words: &["rev-parse", "--git-dir"], input: &[], environment: &[] };
                self.call_as(asked, Configuration::Users)?;
                let _ = self.trusted.set(true);
                self.call_as(call, Configuration::UsersAndOurs)
            }
            answer => answer,
        }
    }

    pub(super) fn call_as(
        &self,
        call: Call<'_>,
        configuration: Configuration,
    ) -> Result<Vec<u8>, GitError> {
        let limit = self.store.git_limit();
        if self.store.was_silent(self.top()) {
            return Err(GitError::Silent(limit));
        }
        let mut command = self.command(call, configuration);
        let child = command.spawn().map_err(GitError::Start)?;
        let Some(answer) =
            wait_for_answer(child, call.input.to_vec(), limit).map_err(GitError::Start)?
        else {
            self.store.note_silent(self.top());
            return Err(GitError::Silent(limit));
        };
        if answer.status.success() {
            Ok(answer.out)
        } else {
            Err(self.failure(call.words, &String::from_utf8_lossy(&answer.stderr)))
        }
    }

    fn command(&self, call: Call<'_>, configuration: Configuration) -> Command {
        let mut command = Command::new("git");
        command.arg("--no-pager").arg("--literal-pathspecs");
        if configuration != Configuration::Users {
            command.args(SWITCHED_OFF.iter().flat_map(|setting| ["-c", setting]));
        }
        for name in UNSET {
            command.env_remove(name);
        }
        if configuration == Configuration::Ours {
            command.env_remove("GIT_CONFIG_PARAMETERS").env_remove("GIT_CONFIG_COUNT");
            command.env("GIT_CONFIG_NOSYSTEM", "1");
            command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        }
        command.envs(SET).envs(call.environment.iter().map(|(name, value)| (name, value)));
        command.args(call.words).current_dir(self.top());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that all of it can be ended.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    fn failure(&self, words: &[&str], stderr: &str) -> GitError {
        // `unsafe repository` is what the first versions that look at owners say.
        if stderr.contains("detected dubious ownership") || stderr.contains("unsafe repository") {
            return GitError::NotOwned { top: self.top().to_path_buf() };
        }
        let fatal = stderr.lines().find_map(|line| line.strip_prefix("fatal: "));
        let message = fatal.or(stderr.lines().next()).unwrap_or_default();
        for lacking in ["unable to read ", "bad object ", "could not read "] {
            let rest = message.strip_prefix(lacking);
            if let Some(id) = rest.filter(|id| crate::git::is_id(id)) {
                return GitError::Missing(id.to_owned());
            }
        }
        GitError::Failed {
            command: words.first().copied().unwrap_or_default().to_owned(),
            message: message.to_owned(),
        }
    }
}

/// The output of a git command.
struct Answer {
    status: ExitStatus,
    out: Vec<u8>,
    stderr: Vec<u8>,
}

enum Output {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
}

/// Writes `input` and reads until git has ended; none if there was no output for too long.
fn wait_for_answer(
    mut child: Child,
    input: Vec<u8>,
    limit: Duration,
) -> Result<Option<Answer>, std::io::Error> {
    // In threads of their own: git may answer before it has read everything, and what it started
    // may hold its ends open after it is gone.
    if let Some(mut stdin) = child.stdin.take().filter(|_| !input.is_empty()) {
        std::thread::spawn(move || stdin.write_all(&input));
    }
    let (sender, received) = channel();
    if let Some(stdout) = child.stdout.take() {
        let sender = sender.clone();
        std::thread::spawn(move || forward(stdout, &sender, Output::Stdout));
    }
    if let Some(stderr) = child.stderr.take() {
        std::thread::spawn(move || forward(stderr, &sender, Output::Stderr));
    }
    let (mut out, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match received.recv_timeout(limit) {
            Ok(Output::Stdout(more)) if out.is_empty() => out = more,
            Ok(Output::Stdout(more)) => out.extend(more),
            Ok(Output::Stderr(more)) => stderr.extend(more),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                end(&mut child);
                return Ok(None);
            }
        }
    }
    // Both ends are closed, so it is as good as gone.
    let closed = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(Answer { status, out, stderr }));
        }
        if closed.elapsed() > limit {
            end(&mut child);
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn forward(mut from: impl Read, to: &Sender<Output>, received: impl Fn(Vec<u8>) -> Output) {
    let mut buffer = vec![0; 128 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let part = buffer.part(..count).to_vec();
                if to.send(received(part)).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Ends a call and everything that it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}
