"""The analysis counted again, by nothing but json.loads.

Records are read line by line; a line that is not one JSON object is left out on
both sides (the analysis is told by `several-records` and the like, see
scripts/corpus's step on faults). Only figures that a plain reading can give are
compared: types and sub-types, blocks, roles, stop reasons, parents, calls.
"""

from __future__ import annotations

import collections
import json
from pathlib import Path
from typing import Any, Iterator


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Every object of the file, several on one line included."""
    decoder = json.JSONDecoder()
    for line in path.read_bytes().split(b"\n"):
        text = line.decode("utf-8", "replace").strip()
        while text:
            try:
                value, end = decoder.raw_decode(text)
            except json.JSONDecodeError:
                break
            if isinstance(value, dict):
                yield value
            text = text[end:].strip()


def kind(record: dict[str, Any]) -> str:
    name = record.get("type")
    if not isinstance(name, str):
        return "(no type)"
    below = {"system": record, "attachment": record.get("attachment"), "progress": record.get("data")}.get(name)
    key = "subtype" if name == "system" else "type"
    sub = below.get(key) if isinstance(below, dict) else None
    return f"{name}/{sub}" if isinstance(sub, str) else name


def recount(files: list[Path]) -> dict[str, int]:
    counts: collections.Counter[str] = collections.Counter()
    for path in files:
        for record in records(path):
            counts[f"kind {kind(record)}"] += 1
            if record.get("type") == "assistant" and isinstance(record.get("message"), dict):
                reason = record["message"].get("stop_reason")
                counts[f"stop_reason {reason}"] += "stop_reason" in record["message"]
            if record.get("type") in ("user", "assistant"):
                counts["null parents"] += record.get("parentUuid", 0) is None
                message = record.get("message")
                content = message.get("content") if isinstance(message, dict) else None
                for block in content if isinstance(content, list) else []:
                    if isinstance(block, dict):
                        counts[f"block {block.get('type')}"] += 1
    return {name: count for name, count in counts.items() if count}


def from_analysis(analysis: dict[str, Any]) -> dict[str, int]:
    """The same figures out of `backstory spec --format json`."""
    counts: collections.Counter[str] = collections.Counter()
    for name, found in analysis["groups"][""]["kinds"].items():
        if name.startswith("block/"):
            counts[f"block {name.removeprefix('block/')}"] += found["count"]
            continue
        if name.startswith(("input/", "result/", "result-block/")):
            continue
        counts[f"kind {name}"] += found["count"]
        fields = {field["path"]: field for field in found["fields"]}
        if name in ("user", "assistant"):
            counts["null parents"] += fields.get("parentUuid", {"types": {}})["types"].get("null", 0)
        if name == "assistant":
            stop = fields.get("message.stop_reason", {"types": {}, "values": {}})
            counts["stop_reason None"] += stop["types"].get("null", 0)
            for value, count in stop["values"].items():
                counts[f"stop_reason {value}"] += count
    return {name: count for name, count in counts.items() if count}


# What has been counted over a far larger set of real sessions and must hold here as well.
def invariants(analysis: dict[str, Any]) -> list[str]:
    faults = []
    kinds = analysis["groups"][""]["kinds"]
    for name, found in kinds.items():
        fields = {field["path"]: field for field in found["fields"]}
        if name.split("/")[0] not in ("user", "assistant", "system", "progress", "attachment"):
            continue
        for path in ("parentUuid", "uuid", "sessionId", "timestamp", "cwd", "version", "isSidechain", "userType", "type"):
            share = fields.get(path, {"count": 0})["count"] / found["count"]
            if share < 0.98:
                faults.append(f"{name}: {path} in only {share:.1%} of records")
    for name in ("file-history-snapshot", "summary", "queue-operation", "last-prompt", "permission-mode", "ai-title", "pr-link"):
        fields = {field["path"] for field in kinds.get(name, {"fields": []})["fields"]}
        if fields & {"uuid", "parentUuid"}:
            faults.append(f"{name} has a uuid")
    return faults
