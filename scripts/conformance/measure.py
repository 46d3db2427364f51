"""Runs one command and measures wall time, processor time and peak memory.

The peak that the kernel reports for a child includes what its parent had in
memory when it started it. So the command is started by a fresh interpreter
that holds nothing: this file, run as a program, is that interpreter. Where GNU
time is installed, `exact_peak` puts it in between, which is smaller still:
otherwise no peak below the interpreter's 12 MB can be seen.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time


@dataclasses.dataclass(frozen=True)
class Cost:
    """`peak` is in bytes; a signal is a negative `status`."""

    status: int
    wall: float
    processor: float
    peak: int


def measure(
    command: list[str], environment: dict[str, str] | None = None, timeout: float = 900.0,
    stdout: str = os.devnull, stdin: str = os.devnull,
) -> Cost:
    order = json.dumps({"command": command, "timeout": timeout, "stdout": stdout, "stdin": stdin})
    done = subprocess.run(
        [sys.executable, "-I", "-S", os.path.abspath(__file__), order],
        env=environment, capture_output=True, check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return Cost(**json.loads(done.stdout))


def exact_peak(command: list[str], environment: dict[str, str] | None = None, timeout: float = 900.0) -> Cost:
    """Like `measure`; the wall time is a little longer, the peak is the command's own."""
    gnu_time = shutil.which("time")
    if gnu_time is None:
        return measure(command, environment, timeout)
    with tempfile.NamedTemporaryFile("r") as report:
        cost = measure([gnu_time, "-q", "-f", "%M", "-o", report.name, *command], environment, timeout)
        said = report.read().split()
        return dataclasses.replace(cost, peak=int(said[-1]) * 1024) if said else cost


def run(command: list[str], timeout: float, stdout: str, stdin: str) -> Cost:
    with open(stdout, "wb") as sink, open(stdin, "rb") as source:
        began = time.monotonic()
        child = subprocess.Popen(command, stdin=source, stdout=sink, stderr=subprocess.DEVNULL)
        alarm = threading.Timer(timeout, child.kill)
        alarm.start()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - began
        alarm.cancel()
        child.returncode = 0
    return Cost(os.waitstatus_to_exitcode(status), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


if __name__ == "__main__":
    print(json.dumps(dataclasses.asdict(run(**json.loads(sys.argv[1])))))
