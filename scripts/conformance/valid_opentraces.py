"""Validates OpenTraces records with the schema's own package, which must be importable.

usage: valid_opentraces.py FILE.jsonl VERSION

Each line must validate strictly, hold every field of the schema and no other (the
package itself passes unknown ones over), name this version, and carry the hash that
the package computes. Ids of steps and calls must be those the links name. Prints
one line per bad record, without its content; exit status 1 if there is one.
"""

from __future__ import annotations

import json
import sys
import typing
from typing import Any, Iterator

from opentraces_schema import SCHEMA_VERSION, TraceRecord
from pydantic import BaseModel, ValidationError

from validity import judge


def inner(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in typing.get_args(annotation) if (found := inner(part))), None)


def strays(model: type[BaseModel], value: dict[str, Any], place: str = "") -> Iterator[str]:
    """Fields that one of schema and record does not have."""
    for name in value.keys() - model.model_fields.keys():
        yield f"{place}{name} is unknown"
    for name, field in model.model_fields.items():
        if name not in value:
            yield f"{place}{name} is missing"
            continue
        child = inner(field.annotation)
        for one in value[name] if isinstance(value[name], list) else [value[name]]:
            if child and isinstance(one, dict):
                yield from strays(child, one, f"{place}{name}.")


def links(record: TraceRecord) -> Iterator[str]:
    steps = {step.step_index: step for step in record.steps}
    if list(steps) != list(range(1, len(record.steps) + 1)):
        yield "steps are not numbered from 1"
    for step in record.steps:
        calls = [call.tool_call_id for call in step.tool_calls]
        if [result.source_call_id for result in step.observations] != calls:
            yield f"step {step.step_index}: observations do not match the calls"
        if step.parent_step is not None and not step.parent_step < step.step_index:
            yield f"step {step.step_index}: stands before its parent"
        if step.system_prompt_hash and step.system_prompt_hash not in record.system_prompts:
            yield f"step {step.step_index}: unknown system prompt"
    for patch in getattr(record, "patches", []):
        step = steps.get(patch.step_index)
        if patch.tool_call_id and patch.tool_call_id not in {call.tool_call_id for call in step.tool_calls}:
            yield "a patch names a call that is not in its step"
    for file in record.attribution.files if record.attribution else []:
        ranges = sorted((one.start_line, one.end_line) for talk in file.conversations for one in talk.ranges)
        if any(first > last for first, last in ranges):
            yield "a range ends before it starts"
        if any(last >= first for (_, last), (first, _) in zip(ranges, ranges[1:])):
            yield "a line is attributed twice"


def faults(line: str) -> list[str]:
    try:
        record = TraceRecord.model_validate_json(line, strict=True)
    except ValidationError as error:
        return [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False)]
    found = sorted(set(strays(TraceRecord, json.loads(line))))
    if record.schema_version != SCHEMA_VERSION:
        found.append(f"version {record.schema_version}")
    if record.content_hash != record.compute_content_hash():
        found.append("the hash is another")
    return found + list(links(record))


def main() -> int:
    path, version = sys.argv[1:]
    if SCHEMA_VERSION != version:
        print(f"the package is {SCHEMA_VERSION}, not {version}")
        return 1
    return judge(f"opentraces-schema {version}", path, faults)


if __name__ == "__main__":
    sys.exit(main())
