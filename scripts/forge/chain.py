#!/usr/bin/env python3
"""Resumes sessions with the real client and holds what it sends against our active chain.

usage: chain.py --binary BACKSTORY [--sessions DIR]... [--trees DIR]... [--versions V,V,...] [--limit N]
                [--table FILE] [--workers N] [--quiet]

Every session (.jsonl files below --sessions, session files of the projects below --trees) is resumed with one prompt
by each version of the client: offline, in a configuration folder of its own, against an API on loopback that records
the request. Calls and texts of the request must be those of `chain` in `backstory show --format json`: whatever is on
the chain is sent, and whatever the file holds besides is not. What the client leaves out for the API's sake has a
name in RULES. Our chain is that of the newest client; where an older one is known to differ, OLDER says how.
--limit takes that many sessions, spread over all. Exit 0: all equal or explained; 1: some are not, or nothing was
compared; 3: no client can be had.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import uuid

sys.dont_write_bytecode = True

import check_status
import client
import clones
import namespace
import request as requests

VERSIONS = ["2.1.326", "2.1.143", "2.0.76"]

RULES = {
    "unanswered": "a call without result, or what was said with it: clients leave both out",
    "unasked": "a result without its call",
    "repeated": "a call id that two messages claim: the client sends it once",
    "made-up": "an answer that the client wrote itself, such as an error of the API",
    "not-text": "a message that the API would refuse: nothing in it, or a block of no known shape",
    "thinking-only": "an answer of which only thinking is left",
    "uuid-reused": "two different records have one uuid: the client takes the last, ours is the first",
    "uuid-not-text": "a uuid that is a number, which the client takes and no other reader does",
    "salvaged": "a record on a line that is not one JSON object, which the client skips",
    "nothing": "neither the client nor we find a conversation",
    "client-fails": "the client stops with an error of its own while it reads the file",
    "no-time": "the last message has no time, and the client does not find it",
    "rewound-to-nothing": "the conversation was taken back to before its first prompt; ours is what there was",
}

OLDER = {
    "gap": ("2.1.98", "a parent that is not in the file ends the chain of older clients"),
    "end": ("2.1.98", "older clients take the end of a branch that is newest by its time"),
    "parallel": ("2.1.20", "older clients put no parallel results back"),
    "kept": ("2.1.207", "older clients leave out what a compaction kept"),
    "hooks": ("2.1.325", "older clients leave out what hooks and the client wrote below parallel results"),
    "note": ("2.1.143", "older clients do not look at the place that a `last-prompt` record names"),
    "unread": ("2.1.207", "older clients stop at a message without content"),
}
"""What clients before a release do otherwise than the newest, for files that have the trait of this name."""

WHOLE = {"DISABLE_AUTO_COMPACT": "1"}
"""A session near the model's limit is sent as it is instead of being compacted first."""

UUID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
SHORTEST = 6
"""Shorter texts occur by chance, so that their absence cannot be seen."""


class Session:
    """One file: its records by line, and which of them are on our chain."""

    def __init__(self, path, chain):
        self.records, self.salvaged, self.conflicts, self.odd_uuid = {}, False, False, False
        seen = {}
        for number, line in enumerate(pathlib.Path(path).read_bytes().split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError):
                self.salvaged = True
                continue
            if isinstance(record, dict):
                self.records[number] = record
                self.odd_uuid |= isinstance(record.get("uuid"), (int, float))
                if isinstance(record.get("uuid"), str):
                    self.conflicts |= seen.setdefault(record["uuid"], record) != record
        self.chain = chain or []
        lines = [link["line"] for link in chain if link["recovered"] != "copy"] if chain else []
        cut = [place for place, line in enumerate(lines) if is_boundary(self.records.get(line, {}))]
        self.lines = lines[cut[-1]:] if cut else lines
        self.salvaged |= any(line not in self.records for line in self.lines)
        self.on_chain = [self.records[line] for line in self.lines if line in self.records]
        marked = set(self.lines)
        self.others = [record for line, record in self.records.items() if line not in marked]

    def traits(self):
        """What makes older clients resume other records."""
        uuids = {record.get("uuid") for record in self.records.values()}
        lost = [record for record in self.records.values()
                if record.get("parentUuid") and record["parentUuid"] not in uuids - {record.get("uuid")}]
        parents = {record.get("parentUuid") for record in self.records.values()}
        ends = [record for record in self.records.values() if record.get("uuid") and record["uuid"] not in parents]
        newest = max(ends, key=lambda record: str(record.get("timestamp") or ""), default={})
        on_chain = {link["uuid"] for link in self.chain}
        kept = [record for record in self.records.values() if isinstance(record.get("compactMetadata"), dict)
                and {"preservedMessages", "preservedSegment"} & {*record["compactMetadata"]}]
        talk = [record for record in self.records.values() if record.get("type") in ("user", "assistant")]
        return {
            "gap": bool(lost),
            "end": newest.get("uuid") not in on_chain or any(not isinstance(one.get("timestamp"), str) for one in talk),
            "hooks": any(link["recovered"] == "note" for link in self.chain),
            "parallel": any(link["recovered"] for link in self.chain),
            "kept": bool(kept),
            "note": bool(self.last_checkpoint().get("leafUuid")),
            "unread": any(not blocks_of(record) for record in talk),
        }

    def last_checkpoint(self):
        notes = [record for record in self.records.values() if record.get("type") == "last-prompt" and "leafUuid" in record]
        return notes[-1] if notes else {}


def is_boundary(record):
    return record.get("type") == "system" and record.get("subtype") == "compact_boundary"


def blocks_of(record):
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, (str, list)):
        return []
    return [block for block in requests.items(content) if isinstance(block, dict)]


def ids(record, kind, key):
    return [block[key] for block in blocks_of(record) if block.get("type") == kind and isinstance(block.get(key), str)]


def texts_of(record):
    if record.get("type") not in ("user", "assistant"):
        return []
    texts = [block.get("text") for block in blocks_of(record) if block.get("type") == "text"]
    return [text.strip() for text in texts if isinstance(text, str) and len(text.strip()) >= SHORTEST]


def compare(session, body):
    """Differences, each with the rule that explains it or None."""
    said = requests.spoken(body)
    sent_calls = {value for _, kind, value in said if kind == "call"}
    sent_texts = requests.normal("\n".join(value for _, kind, value in said if kind == "text"))
    answered = {call for record in session.on_chain for call in ids(record, "tool_result", "tool_use_id")}
    owners = collections.defaultdict(set)
    for record in session.on_chain:
        for call in ids(record, "tool_use", "id"):
            owners[call].add(str((record.get("message") or {}).get("id")))
    unanswered = {str((record.get("message") or {}).get("id")) for record in session.on_chain
                  for call in ids(record, "tool_use", "id") if call not in answered}
    found = []
    for record in session.on_chain:
        message = str((record.get("message") or {}).get("id"))
        for call in ids(record, "tool_use", "id"):
            if call not in sent_calls:
                rule = "unanswered" if call not in answered or message in unanswered else None
                rule = rule or ("repeated" if len(owners[call]) > 1 else None)
                found.append((rule or local_rule(record), f"on the chain, not sent: call {call}"))
        for text in texts_of(record):
            if requests.normal(text) not in sent_texts:
                rule = local_rule(record)
                if rule is None and record["type"] == "assistant" and message in unanswered:
                    rule = "unanswered"
                found.append((rule, f"on the chain, not sent: {record['type']} {text[:60]!r}"))
    known = requests.normal("\n".join(text for record in session.on_chain for text in every_text(record)))
    here = {call for record in session.on_chain for call in ids(record, "tool_use", "id")}
    for record in session.others:
        for call in ids(record, "tool_use", "id"):
            if call in sent_calls and call not in here:
                found.append((None, f"sent, not on the chain: call {call}"))
        for text in texts_of(record):
            if requests.normal(text) in sent_texts and requests.normal(text) not in known:
                found.append((None, f"sent, not on the chain: {record['type']} {text[:60]!r}"))
    return found


def every_text(value):
    """Every string in a record, since the client quotes some of them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from every_text(item)
    elif isinstance(value, list):
        for item in value:
            yield from every_text(item)


def local_rule(record):
    """Why a client sends no such message, whatever the conversation."""
    if requests.is_local(record) or record.get("isVisibleInTranscriptOnly") or record.get("isVirtual"):
        return "made-up"
    blocks = blocks_of(record)
    if not blocks or not all(isinstance(block.get("type"), str) for block in blocks):
        return "not-text"
    results = ids(record, "tool_result", "tool_use_id")
    return "unasked" if results else None


def explain(session, found, version):
    """Differences that a trait of the whole file explains."""
    traits = {"uuid-reused": session.conflicts, "uuid-not-text": session.odd_uuid, "salvaged": session.salvaged}
    own = session.traits()
    traits.update({name: own[name] for name, (since, _) in OLDER.items() if client.within(version, until=since)})
    trait = next((name for name, holds in traits.items() if holds), None)
    return [(rule or trait, what) for rule, what in found]


def show(binary, path):
    done = subprocess.run([str(binary), "show", str(path), "--format", "json"], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False, timeout=120, env={**os.environ, "HOME": "/nonexistent"})
    return json.loads(done.stdout)["chain"] if done.returncode == 0 and done.stdout else None


def session_id(path):
    """The name under which the client finds a copy of the file."""
    if UUID.match(path.stem):
        return path.stem
    for line in open(path, encoding="utf-8", errors="replace"):
        named = re.search(r'"sessionId": ?"([0-9a-f-]{36})"', line)
        if named and UUID.match(named.group(1)):
            return named.group(1)
    return str(uuid.uuid5(uuid.NAMESPACE_URL, path.name))


def try_one(path, chain, version, scratch):
    """(outcome, details): equal, explained, differs or not resumed."""
    session = Session(path, chain)
    room = clones.Room(scratch)
    try:
        name = session_id(path)
        shutil.copyfile(path, room.sessions / f"{name}.jsonl")
        body, reason = room.resume(version, name, WHOLE)
    finally:
        room.close()
    if reason == clones.TIMED_OUT:
        return "timed out", [(None, reason)]
    if body is None:
        found = [(nothing_rule(session, reason), reason)]
    else:
        found = compare(session, body)
    found = explain(session, found, version)
    if not found:
        return "equal", []
    return ("explained" if all(rule for rule, _ in found) else "differs"), found


def nothing_rule(session, reason):
    if re.search(r"(undefined|null) is not an? |Cannot read propert|cli\.js:\d+:\d+", reason):
        return "client-fails"
    talk = [record for record in session.on_chain if record.get("type") in ("user", "assistant")]
    if not any(texts_of(record) or ids(record, "tool_use", "id") for record in talk):
        return "nothing"
    if not isinstance(talk[-1].get("timestamp"), str):
        return "no-time"
    note = session.last_checkpoint()
    if note.get("leafUuid") is None and note.get("explicit") is True:
        return "rewound-to-nothing"
    return None


def find_sources(sessions, trees):
    """Files of sessions; the same bytes count once."""
    found = clones.find_sources(sessions, [])
    for folder in trees:
        found += [path for path in sorted(folder.rglob("projects/*/*.jsonl")) if not path.name.startswith("agent-")]
    return [path for path in found if path.is_file() and path.stat().st_size]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--sessions", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--trees", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--versions", default=",".join(VERSIONS))
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--quiet", action="store_true", help="name no session: for data that is not to be quoted")
    options = parser.parse_args()
    programs, missing = client.install_all(options.versions.split(","))
    status = check_status.of_missing(missing)
    if not programs:
        return status
    versions = list(programs)
    reason = namespace.isolate()
    if reason:
        print(f"chain: running without isolation: {reason}", file=sys.stderr)
    binary = options.binary.resolve()
    sources = clones.spread(find_sources(options.sessions, options.trees), options.limit)
    scratch = tempfile.mkdtemp(prefix="backstory-chain-")
    counts, rules, lines = collections.Counter(), collections.Counter(), []
    try:
        with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
            chains = list(pool.map(lambda path: show(binary, path), sources))
            jobs = [(path, chain, version) for path, chain in zip(sources, chains) for version in versions]
            for (path, _, version), (outcome, found) in zip(jobs, pool.map(lambda job: try_one(*job, scratch), jobs)):
                counts[version, outcome] += 1
                rules.update({(version, rule) for rule, _ in found if rule})
                if outcome not in ("equal", "explained"):
                    details = "; ".join(what for rule, what in found if rule is None)
                    lines.append(f"{outcome}: {version} {path.name}: {details[:400]}")
                    print(f"{outcome}: {version}" if options.quiet else lines[-1], flush=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    outcomes = ["equal", "explained", "differs", "timed out"]
    table = ["| client | " + " | ".join(outcomes) + " |", "|---|" + "---|" * len(outcomes)]
    table += [f"| {v} | " + " | ".join(str(counts[v, o]) for o in outcomes) + " |" for v in versions]
    print(f"{len(sources)} sessions, {len(jobs)} resumes\n" + "\n".join(table))
    for (version, rule), number in sorted(rules.items()):
        print(f"  {version}: {rule} in {number}: {RULES.get(rule) or OLDER[rule][1]}")
    if options.table:
        options.table.write_text("\n".join([*table, "", *lines]) + "\n", encoding="utf-8")
    bad = [v for v in versions if counts[v, "differs"] or counts[v, "timed out"] or not counts[v, "equal"]]
    return check_status.worst(status, check_status.FAILED if bad else check_status.FINE)


if __name__ == "__main__":
    sys.exit(main())
