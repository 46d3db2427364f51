#!/usr/bin/env python3
"""Asks backstory about forged sessions and compares its answer with the truth.

    check.py --binary backstory OUT...      OUT as run.py left it: truth.json and config/

Prints every difference. Exit 1 if there is any, and for a folder without truth.json.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import compare


def show(binary, session, config):
    """What the tool says about a session, as parsed JSON."""
    done = subprocess.run(
        [str(binary), "show", session, "--root", str(config), "--format", "json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    if done.returncode != 0:
        raise ValueError(f"`show {session}` ended with exit {done.returncode}: {done.stderr.strip()[:300]}")
    return json.loads(done.stdout)


def check_folder(folder, binary):
    """The differences for one folder that run.py left."""
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    try:
        shown = {s["id"]: show(binary, s["id"], folder / "config") for s in truth["sessions"]}
    except (ValueError, subprocess.TimeoutExpired) as error:
        return [str(error)]
    return compare.differences(truth, shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="OUT")
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    options = parser.parse_args()
    found = 0
    for folder in options.folders:
        if not (folder / "truth.json").exists():
            print(f"{folder.parent.name}/{folder.name}: not forged")
            found += 1
            continue
        lines = check_folder(folder, options.binary)
        found += len(lines)
        for line in lines:
            print(f"{folder.parent.name}/{folder.name}: {line}")
    print(f"{len(options.folders)} folders, {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
