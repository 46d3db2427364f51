#!/usr/bin/env python3
"""Exports sessions in every format and lets the formats' own packages judge.

usage: exports.py --binary FILE [--agent-trace SCHEMA.json] PATH...

  PATH           sessions: files, or folders that hold them
  --agent-trace  the specification's own JSON Schema, where it is at hand

For each format and version: the export must give the same bytes twice, be plain
ASCII, and validate; see valid_opentraces.py and valid_atif.py. Environments that
cannot be made are skipped with the reason. Exit status 1 if anything failed, 3 if
nothing could be validated.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from ours import Backstory

HERE = Path(__file__).resolve().parent
CASES = [
    ("opentraces", "0.9.0", "opentraces", "valid_opentraces.py"),
    ("opentraces", "0.3.0", "opentraces-0.3", "valid_opentraces.py"),
    ("atif", "1.7", "atif", "valid_atif.py"),
    ("atif", "1.8", "atif", "valid_atif.py"),
    ("agent-trace", "0.1.0", "atif", "valid_atif.py"),
]


def python_of(environment: str) -> tuple[str | None, str]:
    made = subprocess.run([HERE / "venv", environment], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return None, (made.stderr.strip().splitlines() or ["no reason given"])[-1]
    return made.stdout.strip(), ""


def check(backstory: Backstory, options: argparse.Namespace, case: tuple[str, str, str, str], out: Path) -> str | None:
    """Why the format is wrong, or None; raises for an environment that is not there."""
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
    python, reason = python_of(environment)
    if python is None:
        raise LookupError(reason)
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
    failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="backstory-exports-") as scratch:
        for case in CASES:
            name = f"{case[0]} {case[1]}"
            try:
                fault = check(backstory, options, case, Path(scratch, name.replace(" ", "-")))
            except LookupError as reason:
                print(f"{name}: skipped: {reason}")
                skipped += 1
                continue
            if fault:
                print(f"{name}: FAILED: {fault}")
                failed += 1
    return 1 if failed else 3 if skipped == len(CASES) else 0


if __name__ == "__main__":
    sys.exit(main())
