#!/usr/bin/env python3
"""Exports sessions in every format and lets the formats' own packages judge.

usage: exports.py --binary FILE [--agent-trace SCHEMA.json] PATH...

  PATH           sessions: files, or folders that hold them
  --agent-trace  the specification's own JSON Schema, where it is at hand

For each format and version: the export must give the same bytes twice, be plain
ASCII, and validate; see valid_opentraces.py and valid_atif.py. Exit status 1 if
anything failed, 3 if a format could not be validated because its package cannot be
had on this machine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from environments import FAILED, FINE, HERE, SKIPPED, Broken, Skipped, python_of
from ours import Backstory

CASES = [
    ("opentraces", "0.9.0", "opentraces", "valid_opentraces.py"),
    ("opentraces", "0.3.0", "opentraces-0.3", "valid_opentraces.py"),
    ("atif", "1.7", "atif", "valid_atif.py"),
    ("atif", "1.8", "atif", "valid_atif.py"),
    ("agent-trace", "0.1.0", "atif", "valid_atif.py"),
]


def check(backstory: Backstory, options: argparse.Namespace, case: tuple[str, str, str, str], out: Path) -> str | None:
    """Why the format is wrong, or None; Skipped and Broken for an environment that is not there."""
    target, version, environment, checker = case
    words = ["--quiet", "export", *map(str, options.paths), "--to", target, "--schema", version, "--no-git"]
    again = out.with_suffix(".again")
    for place in (out, again):
        answer = backstory.run(*words, "--out", str(place))
        # Files that are no sessions among the paths end with 2; what is written counts.
        if answer.fault() or not place.exists():
            return answer.fault() or f"exit status {answer.status}: {answer.stderr.decode(errors='replace').strip()}"
    if out.read_bytes() != again.read_bytes():
        return "a second export has other bytes"
    if not out.read_bytes().isascii():
        return "not plain ASCII"
    python = python_of(environment)
    arguments = [target, str(out), version] if target == "atif" else [target, str(out)]
    if target == "agent-trace" and options.agent_trace:
        arguments.append(str(options.agent_trace))
    if target == "opentraces":
        arguments = [str(out), version]
    done = subprocess.run([python, HERE / checker, *arguments], check=False)
    return None if done.returncode == 0 else "does not validate"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--agent-trace", type=Path)
    parser.add_argument("paths", type=Path, nargs="+")
    options = parser.parse_args()
    backstory = Backstory(options.binary, timeout=600)
    failed, skipped = 0, []
    with tempfile.TemporaryDirectory(prefix="backstory-exports-") as scratch:
        for case in CASES:
            name = f"{case[0]} {case[1]}"
            try:
                fault = check(backstory, options, case, Path(scratch, name.replace(" ", "-")))
            except Skipped as reason:
                skipped.append(f"{name} ({reason})")
                continue
            except Broken as reason:
                fault = str(reason)
            if fault:
                print(f"{name}: FAILED: {fault}")
                failed += 1
    print(f"{len(CASES) - failed - len(skipped)} of {len(CASES)} formats validated, {failed} failed")
    if skipped:
        print(f"skipped: {'; '.join(skipped)}")
    return FAILED if failed else SKIPPED if skipped else FINE


if __name__ == "__main__":
    sys.exit(main())
