#!/usr/bin/env python3
"""What OpenTraces' own quality engine says of our records and of its importer's.

usage: quality.py OURS.jsonl ROOT...   (with the interpreter of `venv opentraces`)

  OURS.jsonl  an export of the same sessions
  ROOT        folders that hold projects/*/SESSION.jsonl

Prints Markdown: the average score by persona over the sessions that both have, and
the checks of the conformance rubric that differ. Exit status 1 if the importer has
the better average of conformance, or if it is better in a single session by a check
that is not one of those explained in docs/export.md.
"""

from __future__ import annotations

import collections
import json
import logging
import statistics
import sys
from pathlib import Path

# The modules below are in the venv only.
if {"-h", "--help"} & {*sys.argv[1:]}:
    print(__doc__.strip())
    sys.exit(0)

from opentraces.capture.claude_code.parse import ClaudeCodeParser  # noqa: E402
from opentraces.quality.engine import assess_trace  # noqa: E402
from opentraces_schema import TraceRecord  # noqa: E402

# The importer gives every unknown model the price of another, and counts the text of edits that
# failed as code.
EXPLAINED = {"metrics.estimated_cost_usd > 0", "snippets extracted from tool results"}


def main() -> int:
    logging.disable(logging.CRITICAL)
    ours_path, *roots = sys.argv[1:]
    ours = {}
    for line in open(ours_path, encoding="ascii"):
        record = TraceRecord.model_validate_json(line)
        ours[record.session_id] = record
    scores: dict[str, tuple[list[float], list[float]]] = collections.defaultdict(lambda: ([], []))
    checks: collections.Counter[tuple[str, str]] = collections.Counter()
    both = refused = 0
    worse = []
    for path in sorted(path for root in roots for path in Path(root).rglob("projects/*/*.jsonl")):
        record = ours.get(path.stem)
        if record is None or path.stem.startswith("agent-"):
            continue
        try:
            theirs = ClaudeCodeParser().parse_session(path)
        except Exception:  # noqa: BLE001 - the importer fails on some faulty files
            theirs = None
        if theirs is None:
            refused += 1
            continue
        theirs = TraceRecord.model_validate_json(theirs.to_jsonl_line())
        both += 1
        mine, other = assess_trace(record).persona_scores, assess_trace(theirs).persona_scores
        for name in mine:
            if not mine[name].skipped and not other[name].skipped:
                scores[name][0].append(mine[name].total_score)
                scores[name][1].append(other[name].total_score)
        lower = []
        for one, two in zip(mine["conformance"].items, other["conformance"].items):
            if one.score != two.score:
                checks[one.name, "ours" if one.score > two.score else "importer"] += 1
                lower += [one.name] if one.score < two.score else []
        if mine["conformance"].total_score < other["conformance"].total_score and not EXPLAINED.issuperset(lower):
            worse.append((path.stem, lower))
    print(f"{both} sessions that both have; {len(ours)} records of ours; {refused} sessions the importer refuses.\n")
    print("| persona | ours | importer |\n|---|---:|---:|")
    for name, (mine, other) in scores.items():
        print(f"| {name} | {statistics.fmean(mine):.1f} | {statistics.fmean(other):.1f} |")
    print("\n| check of conformance | ours better in | importer better in |\n|---|---:|---:|")
    for name in sorted({name for name, _ in checks}):
        print(f"| {name} | {checks[name, 'ours']} | {checks[name, 'importer']} |")
    for session, names in worse:
        print(f"\nlower: {session}: {', '.join(names)}")
    mine, other = scores.get("conformance", ([], []))
    return 1 if worse or not both or statistics.fmean(mine) < statistics.fmean(other) else 0


if __name__ == "__main__":
    sys.exit(main())
