"""Runs another exporter over a tree of sessions; for scripts/bench.

usage: export_peers.py opentraces ROOT   parser alone, records serialised, nothing written

Run with the interpreter of the environment that has the package. Prints sessions and bytes.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path


def main() -> int:
    logging.disable(logging.CRITICAL)
    from opentraces.capture.claude_code.parse import ClaudeCodeParser

    sessions = size = 0
    parser = ClaudeCodeParser()
    for path in sorted(Path(sys.argv[2]).glob("projects/*/*.jsonl")):
        record = parser.parse_session(path)
        if record is not None:
            sessions += 1
            size += len(record.to_jsonl_line())
    print(sessions, size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
