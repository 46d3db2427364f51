#!/usr/bin/env python3
"""Compares the program with the official reader, session by session.

usage: compare.py --binary FILE [--sessions DIR]... [--trees DIR]...
                  [--report FILE] [--quiet]

  --sessions DIR  loose session files, staged by their own session id
  --trees DIR     a folder of such trees: every folder below it that has `projects`
  --report FILE   write every difference as one JSON object per line
  --quiet         print the totals only

Runs with the interpreter that scripts/conformance/venv prints. Everything the
official reader returns must be returned by us, in the same order; whatever we
return beyond it, or say otherwise, must be explained by a rule of rules.py.
Exit status 1 when something is not, and when a folder that is named gave nothing to compare.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True

# The modules below are in the venv only.
if {"-h", "--help"} & {*sys.argv[1:]}:
    print(__doc__.strip())
    sys.exit(0)

import official  # noqa: E402
import rules  # noqa: E402
from ours import Backstory, agents_within  # noqa: E402
from reference import Reference, instant  # noqa: E402
from staging import SESSION_ID, Staged, staged_below  # noqa: E402


class Report:
    """Totals, the uses of each rule, and what no rule explains."""

    def __init__(self) -> None:
        self.totals: collections.Counter[str] = collections.Counter()
        self.rules: collections.Counter[tuple[str, str]] = collections.Counter()
        self.failures: list[str] = []
        self.differences: list[dict[str, Any]] = []

    def count(self, what: str, number: int = 1) -> None:
        self.totals[what] += number

    def explain(self, staged: Staged, field: str, rule: str | None, **values: Any) -> None:
        self.differences.append({"session": staged.label, "field": field, "rule": rule, **values})
        if rule is None:
            self.failures.append(f"{staged.label}: {field}: {values}")
        else:
            self.rules[(field, rule)] += 1

    def fail(self, staged: Staged, field: str, **values: Any) -> None:
        self.explain(staged, field, None, **values)


def compare_chain(
    report: Report, staged: Staged, field: str, theirs: list[str],
    chain: list[dict[str, Any]], reference: Reference, other: str | None = None,
) -> None:
    """`chain` holds our visible records in order; `other` is the rule for an end that is not the official one."""
    expected = set(theirs)
    mine = [entry.get("uuid") for entry in chain]
    report.count(f"{field}: official", len(theirs))
    report.count(f"{field}: ours", len(mine))
    report.count(f"{field}: marked recovered", sum(bool(entry.get("recovered")) for entry in chain))
    broken = rules.broken_links(theirs, reference)
    missing = [uuid for uuid in theirs if uuid not in set(mine)]
    common = [uuid for uuid in mine if uuid in expected]
    if missing:
        rule = rules.left_out(missing, mine, theirs, reference) or other
        report.explain(staged, field, rule, missing=len(missing), first=missing[0])
    elif common != theirs:
        report.explain(staged, field, broken or other, order="differs")
    salvaged_later = False
    for entry in reversed(chain):
        salvaged = reference.is_salvaged(entry["line"])
        if entry.get("uuid") not in expected:
            if entry.get("recovered"):
                rule = "recovered"
            elif salvaged:
                rule = "salvaged"
            else:
                rule = "behind-salvaged" if salvaged_later else broken or other
            report.explain(staged, field, rule, uuid=entry.get("uuid"), line=entry["line"])
        salvaged_later = salvaged_later or salvaged


def compare_agents(
    report: Report, staged: Staged, theirs: list[official.Agent], session: dict[str, Any]
) -> None:
    mine = {agent["id"]: agent for agent in agents_within(session)}
    report.count("subagents: official", len(theirs))
    report.count("subagents: ours", len(mine))
    for agent in theirs:
        found = mine.get(agent.id)
        if found is None:
            report.fail(staged, "subagents", missing=agent.id)
            continue
        talk = [e for e in found["chain"] if e.get("type") in ("user", "assistant")]
        compare_chain(report, staged, "subagent messages", agent.uuids, talk,
                      Reference(Path(found["path"])))
        call = (found.get("parent") or {}).get("call")
        if agent.call is not None and agent.call != call:
            report.fail(staged, "subagent call", official=agent.call, ours=call)
    home = staged.path.with_suffix("") / "subagents"
    named = {agent.id for agent in theirs}
    for name, agent in mine.items():
        if name in named:
            continue
        place = Path(agent["path"])
        rule = None
        if place == staged.path:
            rule = "embedded"
        elif home not in place.parents:
            rule = "beside"
        report.explain(staged, "subagents", rule, only_ours=name, path=str(place))


def compare_session(
    report: Report, staged: Staged, session: dict[str, Any] | None, reason: str, shared_id: bool
) -> None:
    report.count("sessions")
    if session is None:
        report.fail(staged, "show", reason=reason)
        return
    reference = Reference(staged.path)
    if shared_id and not reference.folders:
        report.explain(staged, "messages", "same-id")
        return
    theirs = official.conversation(staged.config, staged.id, reference.folders[0] if shared_id else None)
    if theirs.raised:
        report.explain(staged, "messages", "official-raises", error=theirs.raised)
        return
    visible = [entry for entry in session["chain"] if entry["visible"]]
    other = rules.resumed(theirs.uuids, session["chain"], reference)
    compare_chain(report, staged, "messages", theirs.uuids, visible, reference, other)
    compare_agents(report, staged, theirs.agents, session)


def compare_row(
    report: Report, staged: Staged, row: dict[str, Any], info: Any, folder: str | None
) -> None:
    reference = Reference(staged.path)
    moment = instant(row.get("started"))
    checks = [
        ("title", row.get("title"), info.summary, lambda: rules.title(row, info.summary, reference)),
        ("branch", row.get("branch") or None, info.git_branch or None,
         lambda: rules.branch(row.get("branch"), info.git_branch, reference)),
        ("folder", folder, info.cwd, lambda: rules.folder(folder, info.cwd, reference)),
        ("created", moment, info.created_at, lambda: rules.created(row.get("started"), reference)),
        ("bytes", row.get("bytes"), info.file_size, lambda: None),
        ("modified", instant(row.get("modified")), info.last_modified, lambda: None),
    ]
    for field, mine, theirs, rule in checks:
        report.count(f"{field}: compared")
        # The SDK rounds the file's time through a floating-point number.
        near = field == "modified" and mine is not None and abs(mine - theirs) <= 1
        if mine == theirs or near:
            report.count(f"{field}: equal")
        else:
            report.explain(staged, field, rule(), ours=mine, official=theirs)


def compare_fast(report: Report, backstory: Backstory, config: Path, one: Staged, rows: list[dict[str, Any]]) -> None:
    """`ls --fast` may leave a column out, but not contradict the full reading."""
    fast, reason = backstory.listing(config, "--fast")
    if reason or {row["path"] for row in fast} != {row["path"] for row in rows}:
        report.fail(one, "ls --fast", reason=reason or "lists other sessions")
        return
    full = {row["path"]: row for row in rows}
    for row in fast:
        for field, value in row.items():
            if value is not None and value != full[row["path"]][field]:
                report.fail(one, "ls --fast", path=row["path"], column=field, fast=value, full=full[row["path"]][field])


def compare_listing(
    report: Report, backstory: Backstory, config: Path, staged: list[Staged],
    folders: dict[Path, str | None],
) -> None:
    rows, reason = backstory.listing(config)
    if reason:
        report.fail(staged[0], "ls", reason=reason)
        return
    compare_fast(report, backstory, config, staged[0], rows)
    theirs = official.listing(config)
    report.count("listing: official", len(theirs))
    report.count("listing: ours", len(rows))
    by_path = {os.path.realpath(row["path"]): row for row in rows}
    places = {os.path.realpath(one.path): one for one in staged}
    listed = {row["id"] for row in rows}
    for session in theirs:
        if session not in listed:
            report.failures.append(f"{config}: listing: {session} is not in ours")
    for place, row in by_path.items():
        one = places.get(place) or Staged(config, Path(place), Path(place).name)
        info = theirs.get(row["id"])
        kept = info is not None and info.file_size == row["bytes"]
        if kept:
            compare_row(report, one, row, info, folders.get(one.path))
            continue
        rule = rules.unlisted(bool(SESSION_ID.match(Path(place).stem)), Reference(Path(place)), info is not None)
        report.explain(one, "listing", rule, only_ours=row["id"])


def check(report: Report, backstory: Backstory, staged: list[Staged]) -> None:
    folders: dict[Path, str | None] = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        answers = pool.map(lambda one: backstory.show(one.path, one.config), staged)
        ids = collections.Counter((one.config, one.id) for one in staged)
        for one, (session, reason) in zip(staged, answers):
            compare_session(report, one, session, reason, ids[(one.config, one.id)] > 1)
            folders[one.path] = ((session or {}).get("project") or {}).get("path")
    layers: dict[Path, list[Staged]] = collections.defaultdict(list)
    for one in staged:
        layers[one.config].append(one)
    for config, members in layers.items():
        compare_listing(report, backstory, config, members, folders)


def nothing_compared(report: Report) -> list[str]:
    """An answer of the official reader for everything is no comparison when the answer is an exception each time."""
    wanted = ["sessions", "messages: official", "listing: official"]
    return [f"nothing compared: {what}" for what in wanted if not report.totals[what]]


def print_report(name: str, report: Report, quiet: bool) -> None:
    print(f"conformance: {name}")
    for what, number in report.totals.items():
        print(f"  {what:28} {number:>8,}")
    if not quiet:
        for (field, rule), number in sorted(report.rules.items()):
            print(f"  {field} beyond or unlike: {rule} × {number}: {rules.RULES[rule]}")
    for failure in report.failures[:20]:
        print(f"  not explained: {failure[:400]}")
    if len(report.failures) > 20:
        print(f"  … and {len(report.failures) - 20} more")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--sessions", type=Path, action="append", default=[])
    parser.add_argument("--trees", type=Path, action="append", default=[])
    parser.add_argument("--report", type=Path)
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    backstory = Backstory(options.binary.resolve())
    failed, differences = 0, []
    with tempfile.TemporaryDirectory(prefix="backstory-conformance-") as scratch:
        for name, staged in staged_below(options.sessions, options.trees, Path(scratch)).items():
            report = Report()
            check(report, backstory, staged)
            report.failures += nothing_compared(report)
            print_report(str(name), report, options.quiet)
            failed += len(report.failures)
            differences += report.differences
    if options.report:
        options.report.write_text("".join(json.dumps(d, default=str) + "\n" for d in differences))
    print(f"conformance: {failed} differences without an explanation")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
