"""Small session files made from strings, for checks that need thousands of them."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from typing import Callable

SESSION = "11111111-1111-4111-8111-111111111111"


def identifier(number: int) -> str:
    return str(uuid.UUID(int=(0x4000 << 64) | (0x8 << 60) | number))


def record(number: int, kind: str, message: dict, **fields: object) -> bytes:
    whole = {
        "type": kind, "parentUuid": identifier(number - 1) if number > 1 else None, "isSidechain": False,
        "userType": "external", "cwd": "/home/u/proj", "sessionId": SESSION, "version": "2.1.143",
        "gitBranch": "main", "message": message, "uuid": identifier(number),
        "timestamp": f"2026-05-16T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
    }
    return json.dumps({**whole, **fields}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def prompt(number: int, text: str, **fields: object) -> bytes:
    return record(number, "user", {"role": "user", "content": text}, **fields)


def reply(number: int, text: str) -> bytes:
    return record(number, "assistant", {
        "role": "assistant", "model": "claude-opus-4-7", "id": f"msg_{number}", "type": "message",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    })


def call(number: int, name: str, data: object) -> bytes:
    return record(number, "assistant", {
        "role": "assistant", "model": "claude-opus-4-7", "id": f"msg_{number}", "type": "message",
        "content": [{"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": data}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1},
    })


def write(path: Path, *lines: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def session_of_prompts(path: Path, texts: list[str]) -> Path:
    """One turn for each text, each answered."""
    lines = []
    for place, text in enumerate(texts):
        lines += [prompt(2 * place + 1, text), reply(2 * place + 2, "Done.")]
    return write(path, *lines)


def sessions_of_names(folder: Path, texts: list[str]) -> None:
    """One session for each text, which stands wherever a listing may look."""
    for place, text in enumerate(texts, 1):
        name = str(uuid.UUID(int=(0x4000 << 64) | (0x8 << 60) | (1 << 40) | place))
        title = json.dumps({"type": "custom-title", "customTitle": text, "sessionId": name}).encode()
        write(
            folder / f"{name}.jsonl",
            prompt(1, text, sessionId=name, cwd="/home/u/" + text, gitBranch=text, version=text, slug=text),
            call(2, text, {text: text}), title,
        )


def odd_files(folder: Path) -> list[str]:
    """A projects folder of things that are not sessions; returns the ids that are."""
    projects = folder / "projects"
    good = projects / "-home-u-proj" / f"{SESSION}.jsonl"
    write(good, prompt(1, "Hello"), reply(2, "Done."))
    inside = good.parent
    other = SESSION.replace("1111-4111", "2222-4222")

    def name(number: int) -> Path:
        return inside / f"{other[:-4]}{number:04}.jsonl"

    os.mkfifo(name(1))
    name(2).symlink_to("/dev/zero")
    name(3).symlink_to(name(4))
    name(4).symlink_to(name(3))
    name(5).mkdir()
    name(6).symlink_to(inside / "not-there")
    (inside / "loop").symlink_to(projects)
    (projects / "root").symlink_to("/")
    (inside / SESSION).mkdir()
    (inside / SESSION / "subagents").symlink_to(inside)
    unreadable = name(7)
    unreadable.write_bytes(good.read_bytes())
    unreadable.chmod(0)
    os.makedirs(os.fsencode(projects) + b"/-caf\xe9-\xff", exist_ok=True)
    with open(os.fsencode(projects) + b"/-caf\xe9-\xff/\xfe.jsonl", "wb") as file:
        file.write(good.read_bytes())
    (projects / ("x" * 255)).mkdir()
    (projects / "\x1b]0;title\x07").mkdir()
    write(projects / "\x1b]0;title\x07" / ("y" * 249 + ".jsonl"), prompt(1, "Hello"))
    return [SESSION]


def tree_of_records(path: Path, records: int, parent_of: Callable[[int], int]) -> Path:
    """User and assistant records in turn; `parent_of` gives the number of each one's parent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for number in range(1, records + 1):
            parent = f'"{identifier(parent_of(number))}"' if number > 1 else "null"
            role = "user" if number % 2 else "assistant"
            file.write(
                f'{{"type":"{role}","parentUuid":{parent},"uuid":"{identifier(number)}","sessionId":"{SESSION}",'
                f'"message":{{"role":"{role}","content":"{number}"}}}}\n'.encode()
            )
    return path
