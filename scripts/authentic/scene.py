"""Where an agent is played: a home, a git repository and a clean environment of its own, all in a folder to throw away."""

import os
import subprocess

import story

LIMIT = 60


class Failed(Exception):
    """The agent did not do what was scripted; the message says what."""


class Scene:
    def __init__(self, out):
        self.out = out.resolve()
        self.home, self.project = self.out / "home", self.out / "project"
        self.home.mkdir(parents=True)
        self.project.mkdir()
        self.git("init", "-q", "-b", "main")
        (self.project / "notes.txt").write_text("Notes.\n")
        self.commit("Notes")

    def variables(self, **more):
        """Nothing of the caller's environment but PATH."""
        common = {"HOME": str(self.home), "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8", "TZ": "UTC",
                  "XDG_CONFIG_HOME": str(self.home / ".config"), "XDG_DATA_HOME": str(self.home / ".local" / "share"),
                  "GIT_CONFIG_GLOBAL": "/dev/null", "NO_COLOR": "1", "TERM": "dumb",
                  "OPENAI_API_KEY": "scripted", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        return {**common, **{name: str(value) for name, value in more.items()}}

    def run(self, words, typed=None, check=True, **more):
        """Runs a program of the agent; what it says is only shown when it fails."""
        spoken = {"input": typed} if typed is not None else {"stdin": subprocess.DEVNULL}
        try:
            done = subprocess.run([str(word) for word in words], cwd=self.project, env=self.variables(**more), text=True,
                                  errors="replace", capture_output=True, timeout=LIMIT, check=False, **spoken)
        except subprocess.TimeoutExpired as late:
            said = late.stdout or b""
            raise Failed(f"no end after {LIMIT} s: {said[-300:]!r}") from None
        (self.out / "said.txt").write_text(done.stdout + done.stderr)
        if check and done.returncode:
            raise Failed(f"status {done.returncode}: {(done.stdout + done.stderr).strip()[-400:]}")
        return done

    def git(self, *words):
        names = {"GIT_AUTHOR_NAME": "Tester", "GIT_AUTHOR_EMAIL": "tester@example.com",
                 "GIT_COMMITTER_NAME": "Tester", "GIT_COMMITTER_EMAIL": "tester@example.com"}
        done = subprocess.run(["git", *words], cwd=self.project, env=self.variables(**names), capture_output=True,
                              text=True, check=True)
        return done.stdout

    def commit(self, subject):
        self.git("add", "--all")
        self.git("commit", "-q", "-m", subject)

    def trace(self, where, pattern):
        """The one file or folder that the agent left."""
        found = sorted(where.glob(pattern))
        if len(found) != 1:
            raise Failed(f"{len(found)} traces {pattern} in {where.relative_to(self.out)}")
        return found[0]

    def truth(self, model, trace, told, **known):
        """What was served and done, in the counts that `backstory spec` gives. `known` overrides where a driver knows
        better, and says why there."""
        if len(model.served) != len(model.script) or model.refused:
            raise Failed(f"{len(model.served)} of {len(model.script)} answers asked for, {model.refused} too many")
        written = self.project / story.FILE
        if not written.exists() or written.read_text() != story.FINAL:
            raise Failed(f"{story.FILE} is not what was scripted")
        sums = {name: sum(answer["usage"][name] for answer in model.served) for name in ("input", "cached", "output")}
        counts = {
            "sessions": 1,
            "prompts": 1,
            "messages": len(model.served),
            "calls": sum(len(answer["calls"]) for answer in model.served),
            "results": len(model.answered_calls()),
            "failed": story.failing(told),
            "edits": story.edits(told),
            "input": sums["input"] - sums["cached"],
            "cache_read": sums["cached"],
            "output": sums["output"],
        }
        return {"trace": str(trace), "counts": {**counts, **known}}
