"""Counts the faults of session files with nothing but Python's JSON reader.

Independent of the record layer on purpose: the corpus check prints both, with
the counts of a wider survey of real sessions (135,393 lines) as a third column.
"""

from __future__ import annotations

import collections
import dataclasses
import json
from pathlib import Path
from typing import Any, Iterable

# The survey's counts; None where it has no figure of its own.
SURVEY = {
    "unreadable lines": 11,
    "several records on a line": 6,
    "torn or glued lines": 5,
    "lines that are not objects": None,
    "files without a final newline": 56,
    "blank lines": 2,
    "lines over 100 KB": 182,
    "lines over 1 MB": 7,
    "files with CRLF": 0,
    "files with a byte order mark": 0,
    "files with NUL bytes": 0,
    "lines with invalid UTF-8": 0,
    "lines with a lone surrogate": 0,
}
# How the record layer's problems add up to the same thing.
PROBLEMS = {
    "several records on a line": ["several-records"],
    "torn or glued lines": ["torn-line", "torn-tail", "glued-records", "stray-bytes", "invalid-json", "control-character"],
    "lines that are not objects": ["not-an-object"],
    "files without a final newline": ["no-final-newline"],
    "files with a byte order mark": ["byte-order-mark"],
    "files with NUL bytes": ["nul-bytes"],
    "lines with invalid UTF-8": ["invalid-utf-8"],
    "lines with a lone surrogate": ["lone-surrogate"],
}


def objects_on(line: bytes) -> list[Any] | None:
    """The JSON values that fill a line, or None when something else is on it."""
    text, values, place = line.decode("utf-8", "replace").strip(), [], 0
    decoder = json.JSONDecoder()
    while place < len(text):
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return None
        values.append(value)
        while place < len(text) and text[place] in " \t\r":
            place += 1
    return values


def has_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


@dataclasses.dataclass
class Hygiene:
    """One file. `by_type` counts the lines that are exactly one object."""

    bytes: int
    lines: int
    blank: int
    by_type: collections.Counter[str]
    faults: collections.Counter[str]

    @property
    def bad(self) -> int:
        return self.faults["unreadable lines"] + self.faults["lines that are not objects"]

    @staticmethod
    def of(data: bytes) -> Hygiene:
        pieces = data.split(b"\n")
        if pieces[-1] == b"":
            pieces.pop()
        types: collections.Counter[str] = collections.Counter()
        faults: collections.Counter[str] = collections.Counter()
        blank = 0
        for line in pieces:
            faults["lines over 100 KB"] += len(line) > 100_000
            faults["lines over 1 MB"] += len(line) > 1_000_000
            if not line.strip():
                blank += 1
                continue
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                faults["lines with invalid UTF-8"] += 1
            values = objects_on(line)
            if values is None or len(values) > 1:
                faults["unreadable lines"] += 1
                faults["torn or glued lines" if values is None else "several records on a line"] += 1
                continue
            value = values[0]
            if not isinstance(value, dict):
                faults["lines that are not objects"] += 1
                continue
            faults["lines with a lone surrogate"] += b"\\ud" in line.lower() and has_surrogate(value)
            name = value.get("type")
            types[name if isinstance(name, str) else "(none)"] += 1
        faults["blank lines"] = blank
        faults["files without a final newline"] = bool(data) and not data.endswith(b"\n")
        faults["files with CRLF"] = b"\r\n" in data
        faults["files with a byte order mark"] = data.startswith(b"\xef\xbb\xbf")
        faults["files with NUL bytes"] = b"\0" in data
        return Hygiene(len(data), len(pieces), blank, types, faults)


def told(name: str, accounts: Iterable[dict[str, Any]]) -> int | None:
    """What the record layer counts under a name of the survey, if it counts it."""
    if name == "blank lines":
        return sum(one["blank"] for one in accounts)
    if name not in PROBLEMS:
        return None
    return sum(one["problems"].get(problem, 0) for one in accounts for problem in PROBLEMS[name])


def table(accounts: list[dict[str, Any]], counted: list[Hygiene]) -> tuple[str, list[str]]:
    """The printed table, and the rows in which the two counts differ."""
    rows = [f"{'fault':32} {'ours':>8} {'counted':>8} {'survey':>8}"]
    differing = []
    for name, survey in SURVEY.items():
        ours = told(name, accounts)
        number = sum(int(one.faults[name]) for one in counted)
        cells = ["–" if cell is None else f"{cell:,}" for cell in (ours, number, survey)]
        rows.append(f"{name:32} {cells[0]:>8} {cells[1]:>8} {cells[2]:>8}")
        if ours is not None and ours != number:
            differing.append(f"{name}: {ours}, counted {number}")
    return "\n".join(rows), differing
