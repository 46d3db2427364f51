#!/usr/bin/env python3
"""Writes a tree of small random sessions: links, repeats and orders that no client writes.

usage: random_sessions.py DIR [--sessions N] [--seed N] [--kind plain|resumed]

The same arguments give the same bytes. The chain rules of two readers agree on
these only when they agree on every tie and every broken link. Every text occurs
once, so that a request tells which records were sent.

`resumed` sessions have what only a resume looks at: notes of where the
conversation stands, messages that a compaction kept, local commands at the end,
and no two records with one uuid.
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

    def __init__(self, chance: random.Random, resumed: bool) -> None:
        self.chance, self.resumed = chance, resumed
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
                blocks.append({"type": kind, kind: f"{kind} {place}, part {len(blocks)}."})
        message = {"role": "assistant", "model": "claude-opus-4-7", "id": self.message, "content": blocks}
        if self.odds(4):
            del message["id"]
        return {"message": message}

    def user(self, place: int) -> dict[str, Any]:
        if not self.calls or self.odds(40):
            content: Any = f"prompt {place}." if self.odds(70) else [{"type": "text", "text": f"prompt {place}."}]
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
        if not self.resumed and self.odds(0.3) and place:
            record["uuid"] = self.uuids[place - 1]
        if kind == "assistant":
            record.update(self.assistant(place))
        elif kind == "user":
            record.update(self.user(place))
        elif kind == "system" and self.odds(30):
            record.update(subtype="compact_boundary", parentUuid=None, logicalParentUuid=record["parentUuid"])
            if self.resumed and place > 1 and self.odds(50):
                record["compactMetadata"] = {"trigger": "auto", "preTokens": 9, **self.kept(place)}
        elif self.resumed and kind == "system":
            record.update(subtype="turn_duration", durationMs=1)
        elif self.resumed and kind == "attachment":
            record["attachment"] = {"type": "hook_success", "hookName": "h", "hookEvent": "Stop", "content": ""}
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

    def kept(self, place: int) -> dict[str, Any]:
        """Some records before a compaction that a resume puts behind its summary."""
        count = self.chance.randint(1, min(3, place - 1))
        kept = self.uuids[place - count:place]
        anchor = self.uuids[min(place + 1, len(self.uuids) - 1)] if self.odds(80) else self.uuids[place]
        if self.odds(50):
            return {"preservedMessages": {"anchorUuid": anchor, "uuids": kept}}
        return {"preservedSegment": {"headUuid": kept[0], "anchorUuid": anchor, "tailUuid": kept[-1]}}

    def ending(self) -> list[dict[str, Any]]:
        """What stands at the end after a local command: a notice, and words that nobody typed."""
        last = self.uuids[-1]
        base = {"sessionId": self.session, "cwd": "/home/u/proj", "version": "2.1.325", "isSidechain": False,
                "timestamp": "2026-05-16T04:59:59.000Z"}
        notice = {**base, "type": "system", "subtype": "local_command", "level": "info", "uuid": self.identifier(),
                  "parentUuid": last, "content": "<command-name>/context</command-name>"}
        words = {**base, "type": "user", "isMeta": True, "uuid": self.identifier(), "parentUuid": notice["uuid"],
                 "message": {"role": "user", "content": "words of the client."}}
        return [notice, words][: self.chance.randint(1, 2)]

    def note(self, records: list[dict[str, Any]]) -> dict[str, Any]:
        """Where the client says that the conversation stands: never in a subagent's."""
        places = [record["uuid"] for record in records[-6:] if not record["isSidechain"]]
        note: dict[str, Any] = {"type": "last-prompt", "lastPrompt": "p", "sessionId": self.session}
        if places:
            note["leafUuid"] = self.chance.choice(places)
        if self.odds(30):
            note["explicit"] = True
        return note

    def lines(self) -> list[bytes]:
        records = [self.record(place) for place in range(len(self.uuids))]
        if self.resumed:
            return self.written(self.with_notes(records))
        if self.odds(10):
            place = self.chance.randrange(len(records))
            records.append(records.pop(place))
        if self.odds(10):
            records.insert(self.chance.randrange(len(records)) + 1, self.chance.choice(records))
        return self.written(records)

    def with_notes(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        out = []
        noting = self.odds(50)
        for place, record in enumerate(records):
            out.append(record)
            if noting and self.odds(10):
                out.append(self.note(records[: place + 1]))
        if self.odds(25):
            out += self.ending()
        if noting and self.odds(40):
            out.append(self.note(records))
        return out

    def written(self, records: list[dict[str, Any]]) -> list[bytes]:
        return [json.dumps(record, separators=(",", ":")).encode() for record in records]


def write(folder: Path, sessions: int, seed: int, resumed: bool) -> None:
    chance = random.Random(seed)
    place = folder / "projects" / "-home-u-proj"
    place.mkdir(parents=True)
    for _ in range(sessions):
        writer = Writer(chance, resumed)
        (place / f"{writer.session}.jsonl").write_bytes(b"\n".join(writer.lines()) + b"\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=["plain", "resumed"], default="plain")
    options = parser.parse_args()
    write(options.folder, options.sessions, options.seed, options.kind == "resumed")
