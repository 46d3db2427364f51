"""Validates ATIF trajectories with the package `atif`, and Agent Trace records with a JSON Schema.

usage: valid_atif.py atif FILE.jsonl VERSION
       valid_atif.py agent-trace FILE.jsonl [SCHEMA.json]

References to subagents must lead to a trajectory that is there, and each has steps. Without SCHEMA.json
the schema is ours, made from the specification; in either, fields that it does not
name are refused. Exit status 1 if there is a bad document.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Iterator

from atif import Trajectory
from jsonschema import Draft202012Validator, FormatChecker
from pydantic import ValidationError

from validity import judge

CONTRIBUTOR = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"enum": ["human", "ai", "mixed", "unknown"]},
        "model_id": {"type": "string", "maxLength": 250},
    },
}
LINE = {"type": "integer", "minimum": 1}
RANGE = {
    "type": "object",
    "required": ["start_line", "end_line"],
    "properties": {
        "start_line": LINE, "end_line": LINE, "content_hash": {"type": "string"}, "contributor": CONTRIBUTOR,
    },
}
LINK = {"type": "string", "format": "uri"}
CONVERSATION = {
    "type": "object",
    "required": ["ranges"],
    "properties": {
        "url": LINK,
        "contributor": CONTRIBUTOR,
        "ranges": {"type": "array", "items": RANGE},
        "related": {"type": "array", "items": {
            "type": "object", "required": ["type", "url"], "properties": {"type": {"type": "string"}, "url": LINK},
        }},
    },
}
FILE = {
    "type": "object",
    "required": ["path", "conversations"],
    "properties": {"path": {"type": "string"}, "conversations": {"type": "array", "items": CONVERSATION}},
}
AGENT_TRACE = {
    "type": "object",
    "required": ["version", "id", "timestamp", "files"],
    "properties": {
        "version": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
        "id": {"type": "string", "format": "uuid"},
        "timestamp": {"type": "string", "format": "date-time"},
        "vcs": {"type": "object", "required": ["type", "revision"], "properties": {
            "type": {"enum": ["git", "jj", "hg", "svn"]}, "revision": {"type": "string"},
        }},
        "tool": {"type": "object", "properties": {"name": {"type": "string"}, "version": {"type": "string"}}},
        "files": {"type": "array", "items": FILE},
        "metadata": {"type": "object"},
    },
}


def closed(schema: Any) -> Any:
    """The schema, with fields that it does not name refused."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inside = {name: closed(one) for name, one in schema.items()}
    return {**inside, "additionalProperties": False} if "properties" in schema and schema.get("type") == "object" else inside


def dangling(trajectory: dict[str, Any]) -> Iterator[str]:
    if not trajectory["steps"]:
        yield "a trajectory without steps"
    inside = trajectory.get("subagent_trajectories", [])
    known = {one["trajectory_id"] for one in inside}
    for step in trajectory["steps"]:
        for result in step.get("observation", {}).get("results", []):
            for reference in result.get("subagent_trajectory_ref", []):
                if reference["trajectory_id"] not in known:
                    yield f"step {step['step_id']}: no trajectory {reference['trajectory_id']}"
    for one in inside:
        yield from dangling(one)


def atif_faults(line: str, version: str) -> list[str]:
    value = json.loads(line)
    try:
        Trajectory.model_validate_json(line, strict=True)
    except ValidationError as error:
        return [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False)]
    wrong = [] if value["schema_version"] == f"ATIF-v{version}" else [value["schema_version"]]
    return wrong + list(dangling(value))


def main() -> int:
    kind, path, *rest = sys.argv[1:]
    if kind == "agent-trace":
        schema = json.loads(Path(rest[0]).read_text()) if rest else AGENT_TRACE
        validator = Draft202012Validator(closed(schema), format_checker=FormatChecker())
        check = lambda line: [one.message[:100] for one in validator.iter_errors(json.loads(line))]
    else:
        check = lambda line: atif_faults(line, rest[0])
    return judge(f"{kind} {' '.join(Path(word).name for word in rest)}", path, check)


if __name__ == "__main__":
    sys.exit(main())
