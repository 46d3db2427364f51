#!/usr/bin/env python3
"""Rows of `backstory pairs`, loaded by the trainers' own code.

usage: pairs.py --binary BACKSTORY [--training] PATH...

A journal of scripted teachers (scripted_journal.py) is made for the sessions below PATH; every format is written from it,
as JSONL and as Parquet, and every row must survive with all its calls:

  native, trl, kto, sft   `datasets` loads both files to equal rows; TRL's `apply_chat_template` renders each row with
                          the tool-aware templates that TRL ships
  llamafactory            its converter keeps each row with ranking, both answers in it
  axolotl                 its DPO strategies take each row
  openai                  the documented format as JSON Schema

With --training (PyTorch, six gigabytes with its dependencies) TRL's DPO and KTO trainers make a step on a tiny random
model, and the loss must be a finite number. The exit status is 1 when a row does not survive, 3 when the packages cannot
be had.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable

import scripted_journal
import trainers
from environments import python_or_exit

FORMATS = ["native", "trl", "kto", "sft", "llamafactory", "axolotl", "openai"]


class Rows(trainers.Rows):
    """One format: the lines as they are written, and the files."""

    def __init__(self, binary: str, journal: Path, folder: Path, name: str) -> None:
        self.name, self.per = name, "pair"
        self.jsonl, self.parquet = folder / f"{name}.jsonl", folder / f"{name}.parquet"
        self.stats: dict[str, Any] = {}
        for out in (self.jsonl, self.parquet):
            if out == self.parquet and name == "openai":
                continue
            words = ["pairs", journal, "--format", name, "--dedup", "off", "--out", out, "--stats", folder / "stats.json"]
            done = subprocess.run([binary, "--quiet", *map(str, words)], capture_output=True, text=True, check=False)
            if done.returncode != 0 or not out.exists():
                raise SystemExit(f"pairs: exit {done.returncode}: {done.stderr}")
            self.stats = json.loads((folder / "stats.json").read_text())
        with self.jsonl.open() as lines:
            self.rows = [json.loads(line) for line in lines]


def answers(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages that a row teaches or teaches not to write."""
    for names in (("chosen", "rejected"), ("completion",), ("preferred_output", "non_preferred_output")):
        if names[0] in row:
            return [row[name][0] if isinstance(row[name], list) else row[name] for name in names]
    raise SystemExit(f"no answer in {sorted(row)}")


def calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    if message.get("from") == "function_call":
        return json.loads(message["value"])
    return [call["function"] for call in message.get("tool_calls") or []]


def count_faults(rows: Rows, counts: dict[str, int]) -> list[str]:
    """Whether the numbers are those of the plan: what is no row has a reason."""
    stats = rows.stats
    no_pair, no_row = stats["no_pair"], stats["sft"]["no_row"]
    filters = ["invalid_tool", "invalid_arguments", "too_short", "too_long", "no_prompt", "duplicate", "near_duplicate",
               "secret"]
    wanted = {
        "states": (stats["states"], sum(counts.values())),
        "pairs": (stats["pairs"] + sum(no_pair[name] for name in filters), counts["otherwise"] + counts["two"]),
        "sft": (stats["sft"]["rows"] + sum(no_row[name] for name in filters), counts["agree"]),
        "no_consensus": (no_pair["no_consensus"], counts["none"]),
        "kto": (stats["kto"]["rows"], 2 * stats["pairs"] + stats["sft"]["rows"]),
        "rows": (len(rows.rows), {"kto": stats["kto"]["rows"], "sft": stats["sft"]["rows"]}.get(rows.name, stats["pairs"])),
    }
    return [f"{name}: {found}, not {right}" for name, (found, right) in wanted.items() if found != right]


def agreement(stats: dict[str, Any]) -> None:
    """The table of docs/pairs.md."""
    print("| level | states with an answer | consensus | same as the student | pairs |\n|---|---:|---:|---:|---:|")
    for level in stats["levels"]:
        print("| `{level}` | {states:,} | {consensus:,} | {agree_with_student:,} | {differ:,} |".format(**level))
    names = [level["level"].split(":")[0] for level in stats["levels"]]
    print(f"| teacher | answers | errors | in the consensus | {' | '.join(f'same as the student, {name}' for name in names)} |")
    print("|---|---:|---:|---:|" + "---:|" * len(names))
    for teacher in stats["teachers"]:
        same = " | ".join(f"{teacher['same_as_student'][name]:,}" for name in names)
        print("| {id} | {answers:,} | {errors:,} | {in_consensus:,} of {with_consensus:,} | ".format(**teacher) + f"{same} |")


def same_as_written(rows: Rows) -> list[str]:
    faults = []
    for kind, loaded in rows.loaded():
        if loaded != rows.rows:
            differ = next((at for at, (one, other) in enumerate(zip(loaded, rows.rows)) if one != other), "count")
            faults.append(f"datasets: {kind}: row {differ} is not what was written")
    return faults


def check_trl(rows: Rows) -> list[str]:
    from trl.data_utils import apply_chat_template, is_conversational

    faults = same_as_written(rows)
    done = collections.Counter()
    for name in trainers.TEMPLATES:
        reader = trainers.tokenizer(trainers.trl_template(name))
        for at, row in enumerate(rows.rows):
            row = {"prompt" if key == "state_messages" else key: value for key, value in row.items()}
            told = row["prompt"] + answers(row)
            if name in trainers.ONE_CALL and any(len(message.get("tool_calls") or []) > 1 for message in told):
                done[f"{name}: parallel"] += 1
                continue
            if not is_conversational(row):
                faults.append(f"row {at}: no conversation for TRL")
                continue
            row = {key: row[key] for key in ("prompt", "chosen", "rejected", "completion", "label") if key in row} | {
                "tools": row["tools"]}
            try:
                made = apply_chat_template(row, reader, tools=row["tools"] or None)
            except Exception as error:  # noqa: BLE001
                faults.append(f"{name}: row {at}: {type(error).__name__}: {error}"[:300])
                continue
            for part, message in zip(("chosen", "rejected") if "chosen" in row else ("completion",), answers(row)):
                lost = [call["name"] for call in calls(message) if not trainers.shown(call, made[part])]
                if lost or not made[part].strip():
                    faults.append(f"{name}: row {at}: {part}: {lost or 'empty'}")
            if "label" in row and made.get("label") != row["label"]:
                faults.append(f"{name}: row {at}: the label is lost")
            done[name] += 1
    print("    " + ", ".join(f"{name} {count}" for name, count in sorted(done.items())))
    return faults


check_native = check_kto = check_sft = check_trl


def check_llamafactory(rows: Rows) -> list[str]:
    from stand_in import stand_in_for

    stand_in_for(trainers.STAND_INS)
    from llamafactory.data.converter import SharegptDatasetConverter
    from llamafactory.data.parser import DatasetAttr

    attributes = DatasetAttr("file", "rows", formatting="sharegpt", ranking=True, system="system", tools="tools",
                             chosen="chosen", rejected="rejected")
    convert = SharegptDatasetConverter(attributes, None)
    faults = []
    for kind, loaded in rows.loaded():
        for at, (row, written) in enumerate(zip(loaded, rows.rows, strict=True)):
            made = convert(row)
            if len(made["_prompt"]) != len(written["conversations"]) or len(made["_response"]) != 2:
                faults.append(f"{kind}: row {at} is dropped or cut")
                continue
            for message, answer in zip(made["_response"], answers(written)):
                if message["content"] != answer["value"]:
                    faults.append(f"{kind}: row {at}: an answer is changed")
            if made["_system"] != written["system"] or made["_tools"] != written["tools"]:
                faults.append(f"{kind}: row {at}: system prompt or tools are lost")
    return faults


def check_axolotl(rows: Rows) -> list[str]:
    from stand_in import stand_in_for

    stand_in_for(trainers.STAND_INS)
    from axolotl.prompt_strategies.dpo.chat_template import default

    class Settings(dict):
        """Axolotl's own class needs `addict`, for which there is a stand-in only."""

        def __getattr__(self, name: str) -> Any:
            return self.get(name)

    reader = trainers.tokenizer(trainers.trl_template("qwen3"))
    config = Settings(chat_template="qwen3", datasets=[Settings(type="chat_template.default")])
    transform, _ = default(config)
    faults = same_as_written(rows)
    for at, row in enumerate(rows.rows):
        made = transform(dict(row), tokenizer=reader)
        for part, message in zip(("chosen", "rejected"), answers(row)):
            if message["content"].strip() not in made[part]:
                faults.append(f"row {at}: {part} is lost: {made[part][:100]!r}")
        last = row["messages"][-1]["content"].strip()
        if last not in made["prompt"]:
            faults.append(f"row {at}: the prompt is lost")
        if any("<tool_call>" in message["content"] for message in answers(row)) and "<tool_call>" not in (
                made["chosen"] + made["rejected"]):
            faults.append(f"row {at}: a call is lost")
    return faults


def check_openai(rows: Rows) -> list[str]:
    import jsonschema

    sft = trainers.openai_schema()
    messages = sft["properties"]["messages"]
    assistant = {**messages["items"]["oneOf"][0]}
    output = {"type": "array", "minItems": 1, "maxItems": 1, "items": assistant}
    schema = {"type": "object", "additionalProperties": False, "required": ["input", "preferred_output", "non_preferred_output"],
              "properties": {"input": {**sft, "properties": {**sft["properties"], "messages": {**messages, "minItems": 1}}},
                             "preferred_output": output, "non_preferred_output": output}}
    validator = jsonschema.Draft202012Validator(schema)
    faults = []
    for at, row in enumerate(rows.rows):
        faults += [f"row {at}: {error.json_path}: {error.message}"[:300] for error in validator.iter_errors(row)]
        for call in (call for message in answers(row) for call in calls(message)):
            if not isinstance(json.loads(call["arguments"]), dict):
                faults.append(f"row {at}: arguments are {call['arguments'][:80]}")
    return faults


def inside(options: argparse.Namespace) -> int:
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", HF_DATASETS_DISABLE_PROGRESS_BARS="1")
    # Before any stand-in, so that these see what is really installed.
    import datasets  # noqa: F401
    import trl.data_utils  # noqa: F401

    failed = 0
    with tempfile.TemporaryDirectory(prefix="backstory-pairs-") as scratch:
        folder = Path(scratch)
        journal, counts = scripted_journal.write(options.binary, options.paths, folder)
        print(f"{sum(counts.values()):,} states: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))
        formats = options.format or FORMATS
        if options.training:
            import pairs_training

            formats = ["trl", "kto"]
        for name in formats:
            rows = Rows(options.binary, journal, folder, name)
            total = sum(len(calls(message)) for row in rows.rows for message in answers(row))
            if name == "axolotl":
                total = sum(message["content"].count("<tool_call>") for row in rows.rows for message in answers(row))
            if name == formats[0]:
                agreement(rows.stats)
            print(f"{name}: {len(rows.rows):,} rows, {total:,} calls in answers", flush=True)
            check: Callable[[Rows], list[str]] = globals()[f"check_{name}"]
            if options.training:
                check = getattr(pairs_training, f"train_{name}")
            faults = count_faults(rows, counts) + check(rows) + ([] if total else ["no calls at all"])
            failed += trainers.told(name, faults)
    print(f"{len(formats) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="load rows of pairs with the trainers' own code")
    parser.add_argument("--binary", required=True)
    parser.add_argument("--format", action="append", choices=FORMATS)
    parser.add_argument("--training", action="store_true", help="make a step with PyTorch instead")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    if options.inside:
        return inside(options)
    python = python_or_exit("training" if options.training else "trainers")
    return subprocess.run([python, __file__, "--inside", *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
