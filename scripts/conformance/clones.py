#!/usr/bin/env python3
"""Clones every session with every preset and reads the clones with the official reader.

usage: clones.py --binary BACKSTORY [--sessions DIR]... [--trees DIR]... [--quiet]

For each clone: `get_session_messages` returns exactly the messages of the plan, in its order; `get_session_info`
shows the title; `fork_session` works and its copy has the same number of messages; `clone --verify` makes the same
bytes again; the source has the bytes it had. A session that cannot be cloned is listed apart, and is a failure if
a check says that it resumes; so is a folder that gave no clone that the official reader reads.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

# The modules below are in the venv only.
if {"-h", "--help"} & {*sys.argv[1:]}:
    print(__doc__.strip())
    sys.exit(0)

import claude_agent_sdk as sdk  # noqa: E402
import official  # noqa: E402
from ours import Backstory  # noqa: E402
from staging import Staged, staged_below  # noqa: E402

PRESETS = {
    "(none)": [],
    **{
        name: ["--preset", name]
        for name in (
            "default", "aggressive", "heavy", "extreme", "quick-clean", "heavy-trim", "preserve-recent",
        )
    },
    "bands": ["--compress", "0-40:heavy-compress", "--compress", "40-80:light", "--include-user", "--thinking", "remove"],
    "dropped": ["--tools", "truncate", "--drop", "meta,progress,snapshots,images"],
    "branches": ["--all-branches", "--with-subagents"],
}


class Tally:
    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.failures: list[str] = []
        self.apart: dict[str, str] = {}
        self.unlike: dict[str, str] = {}

    def fail(self, one: Staged, preset: str, what: str) -> None:
        self.failures.append(f"{one.label}: {preset}: {what}")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def ask(config: Path, question):
    """An answer of the official reader, or the name of what it raised."""
    try:
        return official.within(config, question), None
    except Exception as error:  # whatever it raises is its answer
        return None, f"{type(error).__name__}: {error}"


class Source:
    """What the official reader makes of the source: its clones can fare no better."""

    def __init__(self, one: Staged) -> None:
        session = one.path.stem
        messages, self.raised = ask(one.config, lambda: sdk.get_session_messages(session))
        self.empty = self.raised is None and not messages


def is_split_elsewhere(path: Path) -> bool:
    """Whether lines hold characters (U+2028, U+0085 …) at which the official fork ends a line, too."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return len(text.splitlines()) > text.count("\n")


def check_clone(tally: Tally, backstory: Backstory, one: Staged, preset: str, told: dict, source: Source) -> None:
    path = Path(told["path"])
    if source.raised:
        tally.unlike[one.label] = "the official reader stops at the source, too"
    else:
        check_reading(tally, one, preset, told)
    proof = backstory.run("clone", "--verify", path, "--json", config=one.config)
    outcome = json.loads(proof.stdout)["proof"]["outcome"] if proof.stdout else "none"
    if proof.status != 0 or outcome != "same":
        tally.fail(one, preset, f"proof: {outcome}, exit {proof.status}")
    if path.stat().st_mode & 0o777 != 0o600:
        tally.fail(one, preset, "others may read it")


def check_reading(tally: Tally, one: Staged, preset: str, told: dict) -> None:
    clone, path = told["id"], Path(told["path"])
    tally.counts["read"] += 1
    planned = [message["uuid"] for message in told["messages"]]
    read, raised = ask(one.config, lambda: [m.uuid for m in sdk.get_session_messages(clone)])
    if raised or read != planned:
        tally.fail(one, preset, raised or f"{len(planned)} messages planned, {len(read)} read")
    info, raised = ask(one.config, lambda: sdk.get_session_info(clone))
    if raised or info is None or info.custom_title != told["title"]:
        tally.fail(one, preset, raised or f"title {info and info.custom_title!r} for {told['title']!r}")
    fork, raised = ask(one.config, lambda: sdk.fork_session(clone))
    if raised:
        tally.fail(one, preset, f"fork: {raised}")
    else:
        copied, raised = ask(one.config, lambda: sdk.get_session_messages(fork.session_id))
        if raised is None and len(copied) < len(planned) and is_split_elsewhere(path):
            tally.unlike[one.label] = "the official fork ends lines at other characters, too"
        elif raised or len(copied) != len(planned):
            tally.fail(one, preset, raised or f"fork: {len(copied)} of {len(planned)} messages")
        path.with_name(f"{fork.session_id}.jsonl").unlink()


def resumes(backstory: Backstory, one: Staged) -> bool:
    said = backstory.run("check", one.path, "--json", config=one.config)
    return json.loads(said.stdout)["resume"]["verdict"] == "yes"


def check_session(tally: Tally, backstory: Backstory, one: Staged) -> None:
    source = Source(one)
    before, names = digest(one.path), set(os.listdir(one.path.parent))
    for preset, words in PRESETS.items():
        made = backstory.run("clone", one.path, "--json", "--quiet", *words, config=one.config)
        if made.fault():
            tally.fail(one, preset, made.fault() or "")
            continue
        if made.status != 0:
            reason = made.stderr.decode().splitlines()[0].split(": ", 2)[-1]
            tally.counts["refused"] += 1
            tally.apart.setdefault(one.label, reason)
            if not source.empty and resumes(backstory, one):
                tally.fail(one, preset, f"refused although the source resumes: {reason}")
        else:
            tally.counts["clones"] += 1
            told = json.loads(made.stdout)
            check_clone(tally, backstory, one, preset, told, source)
            Path(told["path"]).unlink()
            for folder, _, files in os.walk(Path(told["path"]).with_suffix(""), topdown=False):
                tally.counts["subagents copied"] += sum(name.endswith(".jsonl") for name in files)
                for name in files:
                    os.unlink(Path(folder, name))
                os.rmdir(folder)
        if digest(one.path) != before or set(os.listdir(one.path.parent)) != names:
            tally.fail(one, preset, "the source or its folder changed")
            break
    tally.counts["sessions"] += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--sessions", type=Path, action="append", default=[])
    parser.add_argument("--trees", type=Path, action="append", default=[])
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    backstory = Backstory(options.binary.resolve())
    tally = Tally()
    idle = 0
    with tempfile.TemporaryDirectory(prefix="backstory-clones-") as scratch:
        for staged in staged_below(options.sessions, options.trees, Path(scratch)).values():
            before = tally.counts["read"]
            for one in staged:
                check_session(tally, backstory, one)
            idle += tally.counts["read"] == before
    print("clones: " + ", ".join(f"{count:,} {what}" for what, count in sorted(tally.counts.items())))
    for reason, count in collections.Counter(tally.apart.values()).most_common():
        print(f"  {count} sources that do not resume, or hold nothing: {reason}")
    for reason, count in collections.Counter(tally.unlike.values()).most_common():
        print(f"  {count} sources: {reason}")
    if not options.quiet:
        for label, reason in sorted({**tally.apart, **tally.unlike}.items()):
            print(f"    {label}: {reason}")
    for failure in tally.failures[:30]:
        print(f"  FAILED: {failure[:300]}")
    print(f"clones: {len(tally.failures)} failures" + (f", {idle} folders without a clone" if idle else ""))
    return 1 if tally.failures or idle else 0


if __name__ == "__main__":
    sys.exit(main())
