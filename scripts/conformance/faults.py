"""The known faults of ai-blame as small projects with a known truth.

A case gives three short texts: the truth, the peer's answer and ours. Texts are
compared, so they say only what the fault is about.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from traces import ID, Trace

OLD, NEW = "claude-opus-4-5", "claude-sonnet-4-6"
CODEX = "gpt-5.2-codex"
WORDS = {OLD: "first", NEW: "second", CODEX: "codex"}


@dataclasses.dataclass
class Sides:
    """Both programs; each works in a home of its own."""

    theirs: Path
    ours: Path
    scratch: Path

    def both(self, fixture: Callable[[Trace], None], ask: Callable[[Side], str], folder: str = "repo",
             saved: Callable[[Trace], Path | None] = Trace.save) -> tuple[str, str]:
        """Asks both. The peer is told where the sessions lie, unless `saved` keeps that to itself."""
        answers = []
        for name, program in (("theirs", self.theirs), ("ours", self.ours)):
            trace = Trace(self.scratch / name, folder)
            fixture(trace)
            place = saved(trace)
            answers.append(ask(Side(program, trace, name == "theirs", place)))
        return answers[0], answers[1]


@dataclasses.dataclass
class Side:
    program: Path
    trace: Trace
    is_peer: bool
    place: Path | None

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        environment = {"HOME": str(self.trace.home), "PATH": os.environ["PATH"], "NO_COLOR": "1", **more}
        if self.is_peer and self.place:
            words = (*words, "--trace-dir", str(self.place))
        return subprocess.run([self.program, *words], cwd=self.trace.folder, env=environment,
                              capture_output=True, text=True, check=False, timeout=60)

    def models(self, name: str, *options: str, **more: str) -> str:
        """For each line which model it is credited to."""
        if self.is_peer:
            shown = self.run("blame", name, "--no-header", *options, **more).stdout
            rows = [line for line in shown.splitlines() if re.search(r"^.{20} .{16} +\d+ \|", line)]
            found = [row[:20].strip() for row in rows]
        else:
            answer = self.run("blame", name, "--json", **more).stdout
            if not answer.strip():
                return "nothing"
            blame = json.loads(answer)
            edits = [edit["model"] for edit in blame["edits"]]
            found = [edits[line["edit"]] if line.get("edit") is not None else "-" for line in blame["lines"]]
        return " ".join(WORDS.get(model, model or "-") for model in found) or "nothing"

    def edits(self, *ours: str) -> str:
        """How many edits it counts; `ours` is what to ask backstory."""
        if self.is_peer:
            said = re.search(r"Total successful edits: (\d+)", self.run("stats", "--no-cache").stdout)
            return f"edits: {said.group(1) if said else 'unknown'}"
        return f"edits: {len(json.loads(self.run(*ours, '--json').stdout)['edits'])}"

    def annotate(self, times: int = 1) -> None:
        for _ in range(times):
            self.run("annotate", *(() if self.is_peer else (".", "--write")))

    def read(self, name: str) -> str:
        path = self.trace.folder / name
        return path.read_text() if path.exists() else ""


@dataclasses.dataclass
class Case:
    number: int
    name: str
    play: Callable[[Sides], tuple[str, str, str]]


CASES: list[Case] = []


def fault(number: int, name: str) -> Callable[[Callable[[Sides], tuple[str, str, str]]], None]:
    def add(play: Callable[[Sides], tuple[str, str, str]]) -> None:
        CASES.append(Case(number, name, play))
    return add


def lines(number: int, name: str, file: str, truth: str, fixture: Callable[[Trace], None]) -> None:
    """A fault that shows in who is credited with the lines of one file."""
    fault(number, name)(lambda sides: (truth, *sides.both(fixture, lambda side: side.models(file))))


def parallel(trace: Trace) -> None:
    names = [("a.py", OLD), ("b.py", NEW)]
    calls = [trace.call(model, "Write", {"file_path": trace.path(name), "content": "x = 1\n"}) for name, model in names]
    for call, (name, _) in zip(calls, names):
        trace.result(call, "done", {"type": "create", "filePath": trace.path(name), "content": "x = 1\n", "structuredPatch": []})
        trace.file(name, "x = 1\n")


lines(1, "models of parallel calls", "b.py", "second", parallel)


def three_files(trace: Trace) -> None:
    for name in ("a.py", "b.py", "c.py"):
        trace.create(OLD, name, "one = 1\n")


@fault(2, "one question spoils the next")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        side.models("a.py")
        return side.models("c.py")
    return ("first", *sides.both(three_files, ask))


@fault(3, "a cache that cannot be rebuilt")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        side.models("a.py")
        return side.models("c.py", "--rebuild-cache")
    return ("first", *sides.both(three_files, ask))


def overwrite(trace: Trace) -> None:
    before, after = "first = 1\nsecond = 2\n", "first = 1\nsecond = 22\nthird = 3\n"
    trace.write(OLD, "b.py", None, before)
    trace.write(NEW, "b.py", before, after)
    trace.file("b.py", after)


lines(4, "a file rewritten", "b.py", "first second second", overwrite)


def part_of_a_line(trace: Trace) -> None:
    text = "a = 1\nb = 2\nc = 3\n"
    trace.write(OLD, "a.py", None, text)
    trace.edit(NEW, "a.py", text, "= 3", "= 33")
    trace.file("a.py", "a = 1\nb = 2\nc = 33\n")


lines(5, "an edit of part of a line", "a.py", "first first second", part_of_a_line)


def by_hand(trace: Trace) -> None:
    trace.write(OLD, "a.py", None, "a = 1\nb = 2\n")
    trace.file("a.py", "a = 1\ntyped_by_hand = True\nb = 2\n")


lines(6, "a line a person added", "a.py", "first - first", by_hand)


def everywhere(trace: Trace) -> None:
    text = "use(old)\nkeep()\nuse(old)\n"
    trace.write(OLD, "c.py", None, text)
    trace.edit(NEW, "c.py", text, "old", "new", every=True)
    trace.file("c.py", "use(new)\nkeep()\nuse(new)\n")


lines(7, "replace_all", "c.py", "second first second", everywhere)


def context(trace: Trace) -> None:
    text = "def one():\n    return 1\n\ndef two():\n    return 2\n"
    trace.write(OLD, "d.py", None, text)
    trace.edit(NEW, "d.py", text, "    return 1\n\ndef two():", "    return 1\n\nextra = 0\n\ndef two():")
    trace.file("d.py", "def one():\n    return 1\n\nextra = 0\n\ndef two():\n    return 2\n")


@fault(8, "context of an edit")
def _(sides: Sides) -> tuple[str, str, str]:
    ask = lambda side: f"{side.models('d.py').split().count('second')} lines are the edit's"  # noqa: E731
    return ("2 lines are the edit's", *sides.both(context, ask))


def document(trace: Trace) -> None:
    trace.create(OLD, "doc.md", "# Title\n")
    trace.file(".ai-blame.yaml", "rules:\n  - pattern: \"*.md\"\n    policy: comment\n    comment_syntax: html\n")


@fault(9, "a comment added twice")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        side.annotate(times=2)
        return f"blocks: {side.read('doc.md').count('edit_history')}"
    return ("blocks: 1", *sides.both(document, ask))


def numbers(trace: Trace) -> None:
    for name, text in (("d.json", '{\n    "zebra": 12345678901234567890123,\n    "apple": 1.50\n}\n'), ("arr.json", "[1, 2]\n")):
        trace.create(OLD, name, text)


@fault(10, "numbers and order of JSON")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        side.annotate()
        text = side.read("d.json")
        kept = '"zebra": 12345678901234567890123,\n    "apple": 1.50' in text
        return f"{'kept' if kept else 'changed'}, {'annotated' if 'edit_history' in text else 'not annotated'}"
    return ("kept, annotated", *sides.both(numbers, ask))


@fault(10, "JSON that is a list")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        side.annotate()
        beside = [path for path in side.trace.folder.glob("arr*history*") if OLD in path.read_text()]
        same = "untouched" if side.read("arr.json") == "[1, 2]\n" else "rewritten"
        return f"{same}, {'history next to it' if beside else 'no history'}"
    return ("untouched, history next to it", *sides.both(numbers, ask))


def yaml_list(trace: Trace) -> None:
    trace.create(OLD, "l.yaml", "- one\n- two\n")


@fault(11, "YAML that is a list")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        side.annotate()
        text = side.read("l.yaml")
        # A key of a mapping at the level of a list's items is no YAML.
        return "invalid" if re.search(r"(?m)^- one$", text) and re.search(r"(?m)^edit_history:", text) else "valid"
    return ("valid", *sides.both(yaml_list, ask))


def same_stem(trace: Trace) -> None:
    for name in ("m.py", "m.js"):
        trace.create(OLD, name, "x\n")


@fault(12, "sidecars of m.py and m.js")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        side.annotate()
        return f"sidecars: {len(list(side.trace.folder.glob('m*history*')))}"
    return ("sidecars: 2", *sides.both(same_stem, ask))


def one_file(trace: Trace) -> None:
    trace.create(OLD, "a.py", "x = 1\n")


@fault(13, "a folder with an underscore")
def _(sides: Sides) -> tuple[str, str, str]:
    def saved(trace: Trace) -> None:
        trace.save()
    return ("first", *sides.both(one_file, lambda side: side.models("a.py"), folder="my_proj", saved=saved))


@fault(13, "CLAUDE_CONFIG_DIR")
def _(sides: Sides) -> tuple[str, str, str]:
    def saved(trace: Trace) -> None:
        trace.save(trace.home / "elsewhere" / "projects")
    def ask(side: Side) -> str:
        return side.models("a.py", CLAUDE_CONFIG_DIR=str(side.trace.home / "elsewhere"))
    return ("first", *sides.both(one_file, ask, saved=saved))


@fault(14, "a copy of a session")
def _(sides: Sides) -> tuple[str, str, str]:
    def saved(trace: Trace) -> Path:
        trace.save(session="bbbbbbbb-0000-4000-8000-000000000002")
        return trace.save()
    return ("edits: 1", *sides.both(one_file, lambda side: side.edits("blame", "a.py"), saved=saved))


def long_file(trace: Trace) -> None:
    text = "".join(f"line {number} of a file that is longer than a pipe\n" for number in range(20_000))
    trace.create(OLD, "long.txt", text)


@fault(15, "a closed pipe")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        environment = {"HOME": str(side.trace.home), "PATH": os.environ["PATH"]}
        where = ["--trace-dir", str(side.place)] if side.is_peer else []
        child = subprocess.Popen([side.program, "blame", "long.txt", *where], cwd=side.trace.folder, env=environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.read(100)
        child.stdout.close()
        said = child.stderr.read()
        child.wait()
        return "panic" if b"panicked" in said else ("quiet" if not said else "words on stderr")
    return ("quiet", *sides.both(long_file, ask))


def fragments(trace: Trace) -> None:
    for text in ("a", "b", "c"):
        trace.push("assistant", {
            "role": "assistant", "type": "message", "id": "msg_1", "model": OLD, "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn", "usage": {"input_tokens": 71, "output_tokens": 9}})


@fault(16, "tokens of a streamed message")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        if not side.is_peer:
            usage = json.loads(side.run("show", "latest", "--format", "json").stdout)["usage"]
            return f"{usage['input']} in, {usage['output']} out"
        told = json.loads(side.run("transcript", "view", ID, "--format", "json").stdout)
        found = dict(numbers_of(told))
        read = next((value for key, value in found.items() if "total" in key and "input" in key), None)
        wrote = next((value for key, value in found.items() if "total" in key and "output" in key), None)
        return f"{read} in, {wrote} out"
    return ("71 in, 9 out", *sides.both(fragments, ask))


def numbers_of(value: object, name: str = "") -> list[tuple[str, int]]:
    if isinstance(value, dict):
        return [pair for key, inner in value.items() for pair in numbers_of(inner, f"{name}.{key}")]
    return [(name, value)] if isinstance(value, int) and not isinstance(value, bool) else []


PATCH = """*** Begin Patch
*** Add File: a.py
+one = 1
+two = 2
*** End Patch
"""


def rollout(trace: Trace) -> Path:
    """The same project, worked on by Codex instead; gives the folder of the day."""
    def line(kind: str, payload: dict[str, object], second: int) -> str:
        return json.dumps({"timestamp": f"2026-03-01T10:00:{second:02}.000Z", "type": kind, "payload": payload}) + "\n"
    place = trace.home / ".codex" / "sessions" / "2026" / "03" / "01"
    place.mkdir(parents=True, exist_ok=True)
    text = [
        line("session_meta", {"id": ID, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": str(trace.folder),
                              "originator": "codex_cli_rs", "cli_version": "0.80.0", "model_provider": "openai"}, 0),
        line("turn_context", {"cwd": str(trace.folder), "model": CODEX, "approval_policy": "never"}, 1),
        line("response_item", {"type": "message", "role": "user",
                               "content": [{"type": "input_text", "text": "Write a.py"}]}, 2),
        line("event_msg", {"type": "user_message", "message": "Write a.py"}, 2),
        line("response_item", {"type": "custom_tool_call", "status": "completed", "call_id": "call_1",
                               "name": "apply_patch", "input": PATCH}, 3),
        line("response_item", {"type": "custom_tool_call_output", "call_id": "call_1",
                               "output": "Success. Updated the following files:\nA a.py\n"}, 4),
    ]
    (place / f"rollout-2026-03-01T10-00-00-{ID}.jsonl").write_text("".join(text))
    return place


@fault(17, "an edit of Codex")
def _(sides: Sides) -> tuple[str, str, str]:
    def fixture(trace: Trace) -> None:
        trace.file("a.py", "one = 1\ntwo = 2\n")
    return ("codex codex", *sides.both(fixture, lambda side: side.models("a.py"), saved=rollout))


@fault(17, "edits of Codex, counted")
def _(sides: Sides) -> tuple[str, str, str]:
    def fixture(trace: Trace) -> None:
        trace.file("a.py", "one = 1\ntwo = 2\n")
    return ("edits: 1", *sides.both(fixture, lambda side: side.edits("log"), saved=rollout))


def blocks(trace: Trace) -> None:
    call = trace.call(OLD, "Bash", {"command": "ls"})
    trace.result(call, [{"type": "text", "text": "seen it"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}])


@fault(18, "a result given as blocks")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        words = ("transcript", "view", ID, "--format", "text", "--full", "--show-tools") if side.is_peer else (
            "show", "latest", "--format", "text", "--full")
        shown = side.run(*words).stdout
        return f"text {'shown' if 'seen it' in shown else 'lost'}, image {'named' if 'image' in shown else 'lost'}"
    return ("text shown, image named", *sides.both(blocks, ask))


def any_script(trace: Trace) -> None:
    name = "größe/目次 — naïve 🚀 日本語のとても長い名前のファイル.txt"
    trace.create(OLD, name, "x\n")


@fault(19, "a name in another script")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        done = side.run("timeline" if side.is_peer else "log")
        if "panicked" in done.stderr:
            return "panic"
        return "listed" if "ファイル" in done.stdout else "not listed"
    return ("listed", *sides.both(any_script, ask))


def several(trace: Trace) -> None:
    edits = [{"old_string": "one", "new_string": "uno", "replace_all": False},
             {"old_string": "two", "new_string": "due", "replace_all": False}]
    call = trace.call(OLD, "MultiEdit", {"file_path": trace.path("m.py"), "edits": edits})
    trace.result(call, "done", {"filePath": trace.path("m.py"), "edits": edits,
                                "originalFileContents": "one\nkept\ntwo\n", "structuredPatch": []})
    trace.file("m.py", "uno\nkept\ndue\n")


lines(20, "MultiEdit", "m.py", "first - first", several)


def review(trace: Trace) -> None:
    call = trace.call(OLD, "Write", {"file_path": trace.path("r.py"), "content": "proposed\nalso proposed\n"})
    trace.result(call, "done", {"type": "create", "filePath": trace.path("r.py"), "content": "proposed\nchanged in review\n",
                                "structuredPatch": [], "userModified": True})
    trace.file("r.py", "proposed\nchanged in review\n")


lines(20, "an edit changed in review", "r.py", "first -", review)


def command(trace: Trace) -> None:
    trace.write(OLD, "s.py", None, "alpha\n")
    call = trace.call(OLD, "Bash", {"command": "sed -i s/alpha/beta/ s.py"})
    trace.result(call, "", {"stdout": "", "stderr": "", "interrupted": False})
    trace.file("s.py", "beta\n")


lines(20, "a file changed by a command", "s.py", "-", command)


def small(trace: Trace) -> None:
    states = ["a\n", "a\nb1\n", "a\nb1\nc\n"]
    trace.write(OLD, "x.txt", None, states[0])
    trace.edit(OLD, "x.txt", states[0], "a\n", states[1])
    trace.edit(OLD, "x.txt", states[1], "b1\n", "b1\nc\n")
    trace.file("x.txt", states[2])


@fault(21, "small first and last edits")
def _(sides: Sides) -> tuple[str, str, str]:
    def ask(side: Side) -> str:
        if side.is_peer:
            shown = side.run("report", "-m", "50", "--no-cache").stdout
            return f"{len(re.findall(r'^- timestamp', shown, re.M))} kept"
        log = json.loads(side.run("log", "--json", "--min-change", "5").stdout)
        return f"{len(log['edits'])} kept"
    return ("2 kept", *sides.both(small, ask))
