"""Sessions with one edit each whose two texts are hard to compare; for scripts/bench."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

SESSION = "33333333-3333-4333-8333-333333333333"
EDITED = "/w/app/edited.txt"


def digits(count: int, seed: int, kinds: int = 3) -> list[str]:
    dice = random.Random(seed)
    return [str(dice.randrange(kinds)) for _ in range(count)]


def shuffled(count: int) -> list[str]:
    lines = [f"line {number}" for number in range(count)]
    random.Random(7).shuffle(lines)
    return lines


# The lines before and after, for about as many lines as are asked for.
SHAPES: dict[str, Callable[[int], tuple[list[str], list[str]]]] = {
    "three lines at random": lambda n: (digits(n, 1), digits(n, 2)),
    "a hundred lines at random": lambda n: (digits(n, 1, 100), digits(n, 2, 100)),
    "the same line": lambda n: (["a"] * n, ["a"] * (n // 2) + ["b"] + ["a"] * (n // 3)),
    "two lines in turn": lambda n: (["a", "b"] * (n // 2), ["b", "a", "a"] * (n // 3)),
    "the other way round": lambda n: ([f"line {at}" for at in range(n // 4)], [f"line {at}" for at in reversed(range(n // 4))]),
    "in another order": lambda n: ([f"line {at}" for at in range(n // 4)], shuffled(n // 4)),
    "each line changed": lambda n: ([f"line {at}" for at in range(n // 4)], [f"lime {at}" for at in range(n // 4)]),
    "one line": lambda n: (["x" * 2 * n], ["y" + "x" * 2 * n]),
}


def write_session(root: Path, shape: str, megabytes: float) -> Path:
    """Writes a session of about so many megabytes below `root`; the texts stand in it three times."""
    before, after = ("\n".join(lines) + "\n" for lines in SHAPES[shape](int(megabytes * 1e6 / 12)))

    def record(kind: str, uuid: str, parent: str | None, message: dict, **more: object) -> str:
        return json.dumps({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "cwd": "/w/app",
                           "version": "2.1.0", "timestamp": "2026-01-01T00:00:00Z", "message": message, **more})

    call = {"file_path": EDITED, "old_string": before, "new_string": after}
    told = {"filePath": EDITED, "oldString": before, "newString": after, "originalFile": before, "structuredPatch": []}
    lines = [
        record("user", "u0", None, {"role": "user", "content": "Change it"}),
        record("assistant", "a1", "u0", {"id": "m1", "role": "assistant", "model": "m", "stop_reason": "tool_use",
                                         "content": [{"type": "tool_use", "id": "t1", "name": "Edit", "input": call}]}),
        record("user", "u1", "a1", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
               toolUseResult=told),
    ]
    folder = root / "projects" / "-w-app"
    folder.mkdir(parents=True)
    (folder / f"{SESSION}.jsonl").write_text("\n".join(lines) + "\n")
    # The file as somebody left it: the last lines of the edit, and one more.
    left = root / "edited.txt"
    left.write_text(after + "one line more\n")
    return left
