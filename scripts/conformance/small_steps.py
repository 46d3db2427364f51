"""A tree of sessions whose steps are small: what a step costs shows there, and not what a byte costs.

One call of a tool and its result, 4 kB together, is a step; for scripts/bench.
"""

from __future__ import annotations

import json
import random
import uuid
from pathlib import Path

WORDS = ("the parser session trace record file line value index cache buffer state error result agent call message"
         " content stream chunk project path config option default test module function").split()
SESSIONS = 400
STEPS = 136


def write_tree(root: Path) -> None:
    """Writes about 218 MB with 54,400 steps in 400 files below `root`."""
    dice = random.Random(5)

    def prose(words: int) -> str:
        return " ".join(dice.choice(WORDS) for _ in range(words))

    def identifier() -> str:
        return str(uuid.UUID(int=dice.getrandbits(128), version=4))

    for number in range(SESSIONS):
        project = f"proj-{number % 24:02d}"
        folder = root / "projects" / f"-tmp-{project}"
        folder.mkdir(parents=True, exist_ok=True)
        session, parent, lines = identifier(), None, []

        def add(kind: str, fields: dict) -> None:
            nonlocal parent
            at = len(lines)
            record = {
                "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": f"/tmp/{project}",
                "sessionId": session, "version": "2.1.97", "gitBranch": "main", "type": kind, **fields, "uuid": identifier(),
                "timestamp": f"2026-10-0{1 + number % 9}T10:{at // 60 % 60:02d}:{at % 60:02d}.000Z",
            }
            parent = record["uuid"]
            lines.append(json.dumps(record, separators=(",", ":")))

        add("user", {"message": {"role": "user", "content": prose(40)}})
        for _ in range(STEPS):
            call = "toolu_01" + identifier().replace("-", "")[:22]
            usage = {"input_tokens": 5, "output_tokens": 100, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 10}
            content = [{"type": "text", "text": prose(30)},
                       {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "cat " + prose(3)}}]
            message = {"model": "claude-sonnet-4-5-20250929", "id": "msg_01" + identifier()[:22], "type": "message",
                       "role": "assistant", "content": content, "stop_reason": "tool_use", "stop_sequence": None, "usage": usage}
            add("assistant", {"message": message, "requestId": "req_011" + identifier()[:21]})
            output = "\n".join(prose(9) for _ in range(21))
            result = {"tool_use_id": call, "type": "tool_result", "content": output, "is_error": False}
            add("user", {"message": {"role": "user", "content": [result]},
                         "toolUseResult": {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}})
        (folder / f"{session}.jsonl").write_text("\n".join(lines) + "\n")
