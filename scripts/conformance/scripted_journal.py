"""A journal as `backstory replay` writes it, of three teachers that answer by a plan instead of a network.

For checks of what comes after a replay. `write` exports the states of sessions and adds answers: by turns all teachers
do something else, all do what the student did, two of three do something else, and none does what another does.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

TEACHERS = ["first", "second", "third"]
PLANS = ["otherwise", "agree", "two", "none"]


def call(name: str, **given: Any) -> str:
    return json.dumps([{"input": given, "name": name, "type": "tool_use"}], sort_keys=True)


def answers(plan: str, student: str) -> list[str | None]:
    words = not student.startswith("[")
    other = call("Read", file_path="/srv/app/CONTRIBUTING.md") if words else "I would rather ask: which of the two is meant?"
    third = call("Bash", command="make --dry-run", description="What would be done")
    if plan == "otherwise":
        return [third, third, third]
    if plan == "agree":
        return [student, student, None]
    if plan == "two":
        return [student, third, third]
    return [other, third, call("Grep", pattern="needle")]


def write(binary: str, paths: list[str], folder: Path) -> tuple[Path, dict[str, int]]:
    """Writes FOLDER/run.jsonl and FOLDER/run.states.jsonl; returns the journal and how many states have which plan."""
    states = folder / "run.states.jsonl"
    words = [binary, "--quiet", "export", *paths, "--to", "trace-state", "--compact", "--out", states]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2) or not states.exists():
        raise SystemExit(f"export: exit {done.returncode}: {done.stderr}")
    counts = dict.fromkeys(PLANS, 0)
    seen = set()
    at = "2026-01-01T00:00:00Z"
    with (folder / "run.jsonl").open("w") as journal:
        def note(**line: Any) -> None:
            journal.write(json.dumps(line) + "\n")

        note(kind="run", v=1, id="run", at=at, program="0", states=states.name,
             teachers=[{"id": name, "model": f"model-{name}", "api": "openai"} for name in TEACHERS])
        for line in states.read_text().splitlines():
            for state in json.loads(line)["states"]:
                if state["state_id"] in seen:
                    continue
                plan = PLANS[len(seen) % len(PLANS)]
                seen.add(state["state_id"])
                counts[plan] += 1
                for name, action in zip(TEACHERS, answers(plan, state["student_action"])):
                    note(kind="call", state_id=state["state_id"], teacher_id=name, model=f"model-{name}", prompt_hash="0",
                         action=action, raw=None, finish_reason="stop", usage=None, cost_usd=0.001, latency_ms=1, attempts=1,
                         error=None if action else {"what": "timeout", "message": "no answer"}, at=at)
    return folder / "run.jsonl", counts
