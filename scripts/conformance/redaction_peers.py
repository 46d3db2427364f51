"""Lets another program look for secrets in the texts of a tree of sessions; for scripts/bench.

usage: redaction_peers.py opentraces|detect-secrets ROOT

Run with the interpreter of the environment that has the package. Every string of every record is
given to it, decoded: to OpenTraces' tools `regex` and `entropy` (its smallest set), or line by line to
detect-secrets with its default plugins. Prints texts, bytes and findings.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from pathlib import Path
from typing import Any, Callable, Iterator


KEPT = contextlib.ExitStack()


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from texts(item)


def opentraces() -> Callable[[str], int]:
    from opentraces.security.pipeline import sanitize_text

    tools = ("regex", "entropy")
    return lambda text: len(sanitize_text(text, field_type="tool_input", tools=tools)[1])


def detect_secrets() -> Callable[[str], int]:
    from detect_secrets.core.scan import scan_line
    from detect_secrets.settings import default_settings

    # Kept: when it is dropped, so are its plugins, and nothing is found.
    KEPT.enter_context(default_settings())
    return lambda text: sum(len(list(scan_line(line))) for line in text.split("\n"))


def main() -> int:
    logging.disable(logging.CRITICAL)
    scan = {"opentraces": opentraces, "detect-secrets": detect_secrets}[sys.argv[1]]()
    count = size = found = 0
    for path in sorted(Path(sys.argv[2]).rglob("*.jsonl")):
        for line in path.read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            for text in texts(record):
                count += 1
                size += len(text)
                found += scan(text)
    print(count, size, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
