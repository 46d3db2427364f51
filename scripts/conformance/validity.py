"""Goes over the documents of a file, one to a line, and tells which are bad."""

from __future__ import annotations

from collections.abc import Callable

SHOWN = 5


def judge(title: str, path: str, faults: Callable[[str], list[str]]) -> int:
    """The exit status: 1 if a document is bad, or if there is none."""
    count = bad = 0
    with open(path, encoding="ascii") as lines:
        for count, line in enumerate(lines, 1):
            found = faults(line)
            bad += bool(found)
            for fault in found[:SHOWN]:
                print(f"  document {count}: {fault}")
    print(f"{title}: {count} documents, {bad} bad")
    return 1 if bad or not count else 0
