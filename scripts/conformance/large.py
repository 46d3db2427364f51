"""Inputs of up to 8 GB, one at a time, read within a limit of memory.

The limit is 64 MB and twice the largest record that is admitted. A line longer
than the limit for one record (256 MB) is passed over, so it does not count.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, BinaryIO, Callable

from measure import exact_peak
from ours import Backstory

MEGABYTE = 1 << 20
LARGEST_RECORD = 256 * MEGABYTE
TIMEOUT = 900.0


def inputs(generator: Any) -> dict[str, tuple[Callable[[BinaryIO], None], int, int]]:
    """How to write each input, the bytes of disk it takes, its longest line."""
    base = generator.BASE
    usual = max(map(len, base))

    def one_long_line(file: BinaryIO) -> None:
        head, tail = generator.J(generator.asst(2, "@")).split(b"@")
        file.write(base[0] + b"\n" + head)
        for _ in range(1024):
            file.write(b"y" * MEGABYTE)
        file.write(tail + b"\n" + base[3] + b"\n")

    def one_big_record(file: BinaryIO) -> None:
        file.write(generator.lines(base[0], generator.J(generator.asst(2, "z" * 12_800_000)), base[3]))

    def ten_million_lines(file: BinaryIO) -> None:
        block = generator.lines(*base) * 500
        for _ in range(10_000_000 // 4 // 500):
            file.write(block)

    def newlines(file: BinaryIO) -> None:
        for _ in range(1024):
            file.write(b"\n" * MEGABYTE)

    def brackets(file: BinaryIO) -> None:
        for _ in range(100):
            file.write(b"[" * MEGABYTE)

    def sparse(file: BinaryIO) -> None:
        file.write(base[0] + b"\n")
        file.truncate(8 << 30)

    return {
        "L1": (one_long_line, 1 << 30, 1 << 30),
        "L2": (one_big_record, 13 * MEGABYTE, 12_800_000),
        "L3": (ten_million_lines, 5 << 30, usual),
        "L4": (newlines, 1 << 30, 0),
        "L5": (brackets, 100 * MEGABYTE, 100 * MEGABYTE),
        "L6": (sparse, MEGABYTE, 8 << 30),
    }


def check_large(backstory: Backstory, generator: Any, folder: Path, names: list[str]) -> list[str]:
    faults = []
    folder.mkdir(parents=True)
    print(f"{'input':6} {'command':20} {'status':>6} {'seconds':>8} {'MB/s':>8} {'peak MB':>8} {'limit MB':>8}")
    for name, (write, disk, longest) in inputs(generator).items():
        if names and name not in names:
            continue
        if shutil.disk_usage(folder).free < disk + 2 * (1 << 30):
            faults.append(f"{name}: needs {disk >> 20} MB of disk")
            continue
        path = folder / f"{name}.jsonl"
        with path.open("wb") as file:
            write(file)
        admitted = longest if longest <= LARGEST_RECORD else 0
        limit = 64 * MEGABYTE + 2 * admitted
        size = path.stat().st_size
        commands = {
            "overview": ["--root", str(path)],
            "ls": ["ls", "--root", str(path)],
            "ls --fast": ["ls", "--fast", "--root", str(path)],
            "show --format json": ["show", str(path), "--format", "json"],
        }
        for command, arguments in commands.items():
            cost = exact_peak([str(backstory.binary), *arguments], backstory.environment(), TIMEOUT)
            print(
                f"{name:6} {command:20} {cost.status:6} {cost.wall:8.1f} {size / 1e6 / cost.wall:8.0f}"
                f" {cost.peak / MEGABYTE:8.0f} {limit / MEGABYTE:8.0f}", flush=True,
            )
            if cost.status not in (0, 1):
                faults.append(f"{name}: {command}: exit status {cost.status}")
            if cost.peak > limit:
                faults.append(f"{name}: {command}: {cost.peak >> 20} MB, limit {limit >> 20} MB")
        path.unlink()
    return faults
