#!/usr/bin/env python3
"""Writes a tree of small random sessions: links, repeats and orders that no client writes.

usage: random_sessions.py DIR [--sessions N] [--seed N]

The same arguments give the same bytes. The chain rules of two readers agree on
these only when they agree on every tie and every broken link.
"""

from __future__ import annotations

import argparse
import json
import random
import uuid
from pathlib import Path
from typing import Any


class Writer:
    """One session under construction."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.session = self.identifier()
        self.uuids = [self.identifier() for _ in range(chance.randint(2, 30))]
        self.calls: list[tuple[str, str]] = []
        self.message = "msg_0"
        self.clock = 0

    def identifier(self) -> str:
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def odds(self, percent: float) -> bool:
        return self.chance.random() * 100 < percent

    def parent(self, place: int) -> str | None:
        draw = self.chance.random() * 100
        if place == 0 or draw < 5:
            return None
        if draw < 72:
            return self.uuids[place - 1]
        if draw < 92:
            return self.uuids[self.chance.randrange(place)]
        if draw < 96:
            return self.chance.choice(self.uuids)
        return self.identifier() if draw < 99 else self.uuids[place]

    def assistant(self, place: int) -> dict[str, Any]:
        if self.odds(55):
            self.message = f"msg_{place}" if self.odds(90) else f"msg_{self.chance.randrange(place + 1)}"
        blocks: list[dict[str, Any]] = []
        for _ in range(1 if self.odds(90) else 2):
            kind = self.chance.choice(["text", "thinking", "tool_use", "tool_use"])
            if kind == "tool_use":
                call = f"toolu_{place}_{len(blocks)}"
                if self.calls and self.odds(6):
                    call = self.chance.choice(self.calls)[0]
                self.calls.append((call, self.uuids[place]))
                blocks.append({"type": kind, "id": call, "name": "Bash", "input": {}})
            else:
                blocks.append({"type": kind, kind: f"{kind} {place}"})
        message = {"role": "assistant", "model": "claude-opus-4-7", "id": self.message, "content": blocks}
        if self.odds(4):
            del message["id"]
        return {"message": message}

    def user(self, place: int) -> dict[str, Any]:
        if not self.calls or self.odds(40):
            content: Any = f"prompt {place}" if self.odds(70) else [{"type": "text", "text": f"prompt {place}"}]
            return {"message": {"role": "user", "content": content}}
        call, owner = self.calls[-1] if self.odds(50) else self.chance.choice(self.calls)
        if self.odds(4):
            call = "toolu_unknown"
        record: dict[str, Any] = {
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "ok"}]}
        }
        if self.odds(50):
            record["parentUuid"] = owner
        if self.odds(50):
            record["sourceToolAssistantUUID"] = owner
        return record

    def record(self, place: int) -> dict[str, Any]:
        kind = self.chance.choices(["user", "assistant", "progress", "system", "attachment"], [42, 42, 6, 5, 5])[0]
        record: dict[str, Any] = {
            "type": kind, "parentUuid": self.parent(place), "uuid": self.uuids[place], "sessionId": self.session,
            "cwd": "/home/u/proj", "version": "2.1.143", "isSidechain": self.odds(7),
        }
        if self.odds(0.3) and place:
            record["uuid"] = self.uuids[place - 1]
        if kind == "assistant":
            record.update(self.assistant(place))
        elif kind == "user":
            record.update(self.user(place))
        elif kind == "system" and self.odds(30):
            record.update(subtype="compact_boundary", parentUuid=None, logicalParentUuid=record["parentUuid"])
        for field, percent in (("isMeta", 6), ("isCompactSummary", 2)):
            if kind == "user" and self.odds(percent):
                record[field] = True
        if self.odds(2):
            record["teamName"] = "red"
        if self.odds(4):
            record["agentId"] = self.chance.choice(["a1", "a2"])
        self.clock += self.chance.choice([0, 1, 1, 2, 7, -3])
        if self.odds(95):
            record["timestamp"] = f"2026-05-16T04:{20 + self.clock // 60 % 40:02}:{self.clock % 60:02}.000Z"
        return record

    def lines(self) -> list[bytes]:
        records = [self.record(place) for place in range(len(self.uuids))]
        if self.odds(10):
            place = self.chance.randrange(len(records))
            records.append(records.pop(place))
        if self.odds(10):
            records.insert(self.chance.randrange(len(records)) + 1, self.chance.choice(records))
        return [json.dumps(record, separators=(",", ":")).encode() for record in records]


def write(folder: Path, sessions: int, seed: int) -> None:
    chance = random.Random(seed)
    place = folder / "projects" / "-home-u-proj"
    place.mkdir(parents=True)
    for _ in range(sessions):
        writer = Writer(chance)
        (place / f"{writer.session}.jsonl").write_bytes(b"\n".join(writer.lines()) + b"\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    write(options.folder, options.sessions, options.seed)
