"""Sessions made up for checks about files: who edited what, as the client writes it down."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ID = "aaaaaaaa-0000-4000-8000-000000000001"


class Trace:
    """A session that works in `home/FOLDER`."""

    def __init__(self, home: Path, folder: str = "repo") -> None:
        self.home, self.folder = home, home / folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.records: list[dict[str, Any]] = []
        self.push("user", {"role": "user", "content": "Please work on these files"})

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def push(self, kind: str, message: dict[str, Any], told: Any = None) -> None:
        count = len(self.records) + 1
        record = {
            "type": kind, "uuid": f"00000000-0000-4000-8000-{count:012}",
            "parentUuid": self.records[-1]["uuid"] if self.records else None, "sessionId": ID,
            "cwd": str(self.folder), "version": "2.0.75", "isSidechain": False, "message": message,
            "timestamp": f"2026-03-01T10:{count // 60:02}:{count % 60:02}.000Z",
        }
        if told is not None:
            record["toolUseResult"] = told
        self.records.append(record)

    def call(self, model: str, tool: str, given: dict[str, Any]) -> str:
        name = f"toolu_{len(self.records):04}"
        block = {"type": "tool_use", "id": name, "name": tool, "input": given}
        self.push("assistant", {
            "role": "assistant", "type": "message", "id": f"msg_{name}", "model": model, "content": [block],
            "stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 7}})
        return name

    def result(self, call: str, said: Any, told: Any = None) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": said, "is_error": False}
        self.push("user", {"role": "user", "content": [block]}, told)

    def write(self, model: str, name: str, before: str | None, content: str) -> None:
        call = self.call(model, "Write", {"file_path": self.path(name), "content": content})
        self.result(call, "done", {
            "type": "create" if before is None else "update", "filePath": self.path(name), "content": content,
            "originalFile": before, "structuredPatch": []})

    def edit(self, model: str, name: str, before: str, old: str, new: str, every: bool = False) -> None:
        call = self.call(model, "Edit", {
            "file_path": self.path(name), "old_string": old, "new_string": new, "replace_all": every})
        self.result(call, "done", {
            "filePath": self.path(name), "oldString": old, "newString": new, "originalFile": before,
            "structuredPatch": [], "userModified": False, "replaceAll": every})

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def create(self, model: str, name: str, text: str) -> None:
        """A file that the model wrote and that is still as it wrote it."""
        self.write(model, name, None, text)
        self.file(name, text)

    def text(self, session: str = ID) -> str:
        return "".join(json.dumps({**record, "sessionId": session}) + "\n" for record in self.records)

    def save(self, projects: Path | None = None, session: str = ID) -> Path:
        """Puts it where the client would."""
        key = re.sub(r"[^A-Za-z0-9]", "-", str(self.folder))
        place = (projects or self.home / ".claude" / "projects") / key
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{session}.jsonl").write_text(self.text(session))
        return place
