"""The Python environments of the checks, and how a check that cannot have one ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "forge"))

from check_status import FAILED, FINE, SKIPPED  # noqa: E402


class Skipped(Exception):
    """The environment cannot be made on this machine: no Python, or the package index gives no answer."""


class Broken(Exception):
    """The environment was asked for and its packages do not install."""


def python_of(name: str = "") -> str:
    """The interpreter of an environment, made once by `venv`."""
    return answered([HERE / "venv", *([name] if name else [])])


def answered(command: list[str | Path]) -> str:
    """What a command printed; its exit status 3 is a skip, every other one a failure."""
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode == FINE:
        return made.stdout.strip()
    reason = (made.stderr.strip().splitlines() or [f"exit {made.returncode}"])[-1]
    raise Skipped(reason) if made.returncode == SKIPPED else Broken(reason)


def python_or_exit(name: str = "") -> str:
    """The interpreter, or the end of this check with the status and the words that scripts/test looks for."""
    try:
        return python_of(name)
    except Skipped as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    except Broken as reason:
        print(f"failed: {reason}")
        sys.exit(FAILED)
