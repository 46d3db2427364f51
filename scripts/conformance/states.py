#!/usr/bin/env python3
"""`backstory export --to trace-state` beside the official reader and a plain reading of the files.

usage: states.py --binary BACKSTORY [--sessions DIR]... [--trees DIR]...    (in the venv of `venv`)

For each session: a state for every model message on the official reader's chain (on the client's, where a
rule says that clients resume another one), but for those that the client made itself, those without words
and calls and those with nothing before them; no history holds a part of its own answer; ids are
the same in a second run; the compact form expands to the full one; the fates of records add up to the
file. Then the three longest sessions by the naive way (a state for each assistant record in file order):
how many of its states have half of their answer in the history.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

# The modules below are in the venv only.
if {"-h", "--help"} & {*sys.argv[1:]}:
    print(__doc__.strip())
    sys.exit(0)

import rules  # noqa: E402
from official import conversation  # noqa: E402
from ours import Backstory  # noqa: E402
from reference import Reference, salvage  # noqa: E402
from staging import Staged, staged_below  # noqa: E402


def expand(line: dict[str, Any]) -> list[dict[str, Any]]:
    """The reader of the compact form."""
    states = []
    for state in line["states"]:
        kept, begin, end = state.pop("kept"), state.pop("from"), state.pop("upto")
        told = line["system"] + [line["messages"][at] for at in kept] + line["messages"][begin:end]
        states.append({"messages": told, **state})
    return states


def records_of(path: Path) -> list[dict[str, Any]]:
    records = []
    for line in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            records += salvage(line)
            continue
        if isinstance(value, dict):
            records.append(value)
    return records


def is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def key_of(record: dict[str, Any]) -> str:
    message = record.get("message")
    name = message.get("id") if isinstance(message, dict) else None
    return name if isinstance(name, str) and name else str(record.get("uuid"))


class Truth:
    """Model messages by id, from the plain records."""

    def __init__(self, path: Path) -> None:
        self.records = records_of(path)
        # The official reader passes over lines that are not one object, which we read.
        self.plain = all(is_object(line) for line in path.read_bytes().split(b"\n") if line.strip())
        self.uuids: dict[str, str] = {}
        self.calls: dict[str, set[str]] = collections.defaultdict(set)
        self.says: dict[str, bool] = collections.defaultdict(bool)
        self.made_up: set[str] = set()
        # Clients around 2.1.2x wrote the last text of a turn only into the file that guesses the next prompt.
        lost = [record for file in path.parent.glob("**/agent-aprompt_suggestion-*.jsonl") for record in records_of(file)]
        for record in self.records + lost:
            if record.get("type") != "assistant" or not isinstance(record.get("uuid"), str):
                continue
            key = key_of(record)
            self.uuids.setdefault(record["uuid"], key)
            message = record.get("message") if isinstance(record.get("message"), dict) else {}
            if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage") is True:
                self.made_up.add(key)
            for block in blocks(record):
                if block.get("type") == "tool_use":
                    self.calls[key].add(str(block.get("id")))
                    self.says[key] = True
                elif block.get("type") not in ("thinking", "redacted_thinking"):
                    self.says[key] |= block.get("type") != "text" or bool(str(block.get("text") or "").strip())


def states_of(binary: str, path: Path, folder: Path, *more: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    out, stats = folder / "out.jsonl", folder / "stats.json"
    out.unlink(missing_ok=True)
    words = ["--quiet", "export", path, "--to", "trace-state", "--raw", "--out", out, "--stats", stats, *more]
    done = subprocess.run([binary, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{path}: exit {done.returncode}: {done.stderr}")
    with out.open() as lines:
        return [json.loads(line) for line in lines], json.loads(stats.read_text())


def check(
    binary: str, staged: Staged, folder: Path, totals: collections.Counter[str], shared_id: bool
) -> list[str]:
    truth = Truth(staged.path)
    states, stats = states_of(binary, staged.path, folder)
    again, _ = states_of(binary, staged.path, folder)
    compact, told = states_of(binary, staged.path, folder, "--compact")
    faults = []
    if [state["state_id"] for state in states] != [state["state_id"] for state in again]:
        faults.append("ids differ in a second run")
    if [state for line in compact for state in expand(json.loads(json.dumps(line)))] != states:
        faults.append("the compact form does not expand to the full one")

    # As many states as the official reader's chain has messages of models, but for the named skips.
    reference = Reference(staged.path)
    folders = reference.folders if shared_id else []
    answer = conversation(staged.config, staged.id, folders[0] if folders else None)
    if not truth.plain:
        totals.update(faulty_files=1)
    elif shared_id and not folders:
        # The official reader is asked by id alone, and two files have this one.
        totals.update(same_id=1)
    elif answer.raised is None:
        uuids = answer.uuids
        session, reason = Backstory(Path(binary)).show(staged.path, staged.config)
        if session is None:
            faults.append(reason)
        elif rules.broken_links(uuids, reference) or rules.resumed(uuids, session["chain"], reference):
            # scripts/forge/chain.py holds this chain against the client's.
            uuids = [entry["uuid"] for entry in session["chain"]]
            totals.update(clients_chain=1)
        chain = {truth.uuids[uuid] for uuid in uuids if uuid in truth.uuids}
        wanted = {key for key in chain if key not in truth.made_up and truth.says[key]}
        made = [truth.uuids.get(state["meta"]["uuid"]) for state in states]
        unprompted = stats["states"]["no_prompt"]
        for name, keys, allowed in (
            ("no state", wanted - set(made), unprompted), ("a state too much", set(made) - wanted, 0)
        ):
            if len(keys) > allowed:
                faults.append(f"{name} for {len(keys)} messages, such as {sorted(map(str, keys))[0]}")
        if len(made) != len(set(made)):
            faults.append("a message has two states")
        totals.update(chain=len(chain), made_up=len(chain & truth.made_up),
                      silent=len(chain - truth.made_up) - len(wanted))
    else:
        totals.update(unread=1)

    # No history holds a part of its own answer.
    for line in compact:
        for state in line["states"]:
            key = truth.uuids.get(state["meta"]["uuid"], "")
            ids = [{call["id"] for call in message.get("tool_calls", [])} for message in line["messages"]]
            seen = [*state["kept"], *range(state["from"], state["upto"])]
            own = truth.calls[key]
            once = {one for one in own if sum(one in told for told in ids) == 1}
            if once & {one for at in seen for one in ids[at]}:
                faults.append(f"{state['state_id']}: its history holds one of its own calls")
            # Its answer stands right behind its history, so it cannot stand in it.
            behind = line["messages"][state["upto"]] if state["upto"] < len(line["messages"]) else {}
            action = state["student_action"]
            if behind.get("role") != "assistant" or (action != behind["content"].strip() if not behind.get("tool_calls")
                                                     else json.loads(action)[-1].get("type") is None):
                faults.append(f"{state['state_id']}: its answer does not follow its history")

    figures, records = stats["states"], stats["input"]
    skipped = sum(figures[name] for name in ("off_chain", "synthetic", "subagent", "empty_action", "short_action",
                                             "without_uuid", "too_long", "version", "no_prompt"))
    if figures["messages"] != figures["states"] - figures["extra_states"] + skipped:
        faults.append(f"messages do not add up: {figures}")
    if records["records"] != records["answers"] + records["history"] + sum(records["skipped"].values()):
        faults.append("fates of records do not add up")
    if records["records"] != sum(records["records_by_type"].values()) or told["input"] != records:
        faults.append("records do not add up")
    if records["bytes"] < staged.path.stat().st_size:
        faults.append("bytes of the file are missing")
    totals.update(sessions=1, states=len(states), records=records["records"], answers=records["answers"],
                  history=records["history"], off_chain=figures["off_chain"])
    return faults


def naive(path: Path) -> tuple[int, int]:
    """States by the naive way, and those of which the history holds the beginning of the answer."""
    seen: set[str] = set()
    states = halves = 0
    for record in records_of(path):
        if record.get("type") != "assistant" or not isinstance(record.get("message"), dict):
            continue
        said = [block for block in blocks(record) if block.get("type") == "tool_use"
                or block.get("type") == "text" and block.get("text")]
        key = key_of(record)
        if said:
            states += 1
            halves += key in seen
        # Thinking is taken out of the history, so it alone is no half.
        if any(block.get("type") not in ("thinking", "redacted_thinking") for block in blocks(record)):
            seen.add(key)
    return states, halves


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--sessions", type=Path, action="append", default=[])
    parser.add_argument("--trees", type=Path, action="append", default=[])
    options = parser.parse_args()
    totals: collections.Counter[str] = collections.Counter()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="backstory-states-") as scratch:
        below = staged_below(options.sessions, options.trees, Path(scratch))
        staged = [one for members in below.values() for one in members]
        ids = collections.Counter((one.config, one.id) for one in staged)
        for one in staged:
            faults = check(options.binary, one, Path(scratch), totals, ids[one.config, one.id] > 1)
            failed += bool(faults)
            for fault in faults[:5]:
                print(f"  {one.label}: {fault}")
        longest = sorted(staged, key=lambda one: -one.path.stat().st_size)[:3]
        print("session       records  naive states  of these, halves  ours")
        for one in longest:
            states, halves = naive(one.path)
            ours, stats = states_of(options.binary, one.path, Path(scratch))
            name = hashlib.sha256(one.path.read_bytes()).hexdigest()[:12]
            print(f"{name} {stats['input']['records']:>8,} {states:>13,} {halves:>16,} {len(ours):>5,}")
    print(", ".join(f"{name} {count:,}" for name, count in totals.items()))
    print(f"states: {len(staged) - failed} sessions passed, {failed} failed")
    # Without the chain of the official reader there is nothing to hold the states against.
    return 1 if failed or not totals["states"] or not totals["chain"] else 0


if __name__ == "__main__":
    sys.exit(main())
