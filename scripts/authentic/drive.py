#!/usr/bin/env python3
"""Drives one real agent through the story, offline, and writes down what really happened.

    drive.py AGENT VERSION OUT

leaves OUT/project, OUT/home and OUT/truth.json: the counts, from what the scripted model served and was told, and where
the agent left its trace, which is not read. Exit 0: played; 3: the agent cannot be had or cannot run here (the reason is
printed); 1: its installer failed, or it did not do what was scripted.
"""

import argparse
import ctypes
import importlib
import json
import os
import pathlib
import shutil
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "forge")]
sys.dont_write_bytecode = True

import install  # noqa: E402
import namespace  # noqa: E402
import scene as scenes  # noqa: E402


def names():
    return sorted(path.stem.replace("_", "-") for path in (HERE / "agents").glob("*.py"))


def driver(name):
    return importlib.import_module(f"agents.{name.replace('-', '_')}")


ADOPT = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""


def end_what_is_left():
    """Ends the processes that an agent left in the background; they became children of this one."""
    listed = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
    while children := listed.read_text().split() if listed.exists() else []:
        for child in map(int, children):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def drive(name, version, out):
    player = driver(name)
    program = player.install(version)
    reason = namespace.isolate()
    if reason:
        print(f"running without isolation: {reason}", file=sys.stderr)
    shutil.rmtree(out, ignore_errors=True)
    if hasattr(library := ctypes.CDLL(None), "prctl"):
        library.prctl(ADOPT, 1, 0, 0, 0)
    try:
        found = player.play(scenes.Scene(out), program)
    finally:
        end_what_is_left()
    found = {"agent": name, "version": version, "blame": hasattr(player, "BLAME"), **found}
    (out / "truth.json").write_text(json.dumps(found, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", choices=names())
    parser.add_argument("version")
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    try:
        drive(options.agent, options.version, options.out)
    except install.Unavailable as reason:
        print(f"skipped: {reason}")
        return 3
    except (install.NotInstalled, scenes.Failed) as reason:
        print(f"failed: {reason}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
