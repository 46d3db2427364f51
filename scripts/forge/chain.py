#!/usr/bin/env python3
"""Resumes sessions with the real client and holds what it sends against our active chain.

usage: chain.py --binary BACKSTORY [--sessions DIR]... [--trees DIR]... [--versions V,V,...] [--limit N]
                [--table FILE] [--workers N] [--quiet]

Every session (.jsonl files below --sessions, session files of the projects below --trees) is resumed with one prompt
by each version of the client: offline, in a configuration folder of its own, against an API on loopback that records
the request. Calls and texts of the request must be those of `chain` in `backstory show --format json`: whatever is on
the chain is sent, and whatever the file holds besides is not. What the client leaves out for the API's sake has a
name in RULES. Our chain is that of the newest client; where an older one differs, or any from us, a difference counts
as explained only when it is gone from a copy of the file that is changed as that client reads it (readings.py).
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
import readings
import request as requests

VERSIONS = ["2.1.327", "2.1.143", "2.0.76"]

RULES = {
    "unanswered": "a call without result, or what was said with it: clients leave both out",
    "unasked": "a result without its call",
    "repeated": "a call id that two messages claim: the client sends it once",
    "made-up": "an answer that the client wrote itself, such as an error of the API",
    "not-text": "a message that the API would refuse: nothing in it, or a block of no known shape",
    "nothing": "neither the client nor we find a conversation",
    "client-fails": "the client stops with an error of its own while it reads the file",
    "no-time": "the last message has no time, and the client does not find it",
    "below-a-subagent": "the last record hangs from a subagent's, where the client finds nothing; ours is what there was",
    "compacted": "the client compacts it whatever it is told, so that nothing can be compared",
    "attachment": "older clients stop without a word at an attachment with text where they expect a list",
    "circle": "older clients never come out of a circle of parents",
    "rewound-to-nothing": "the conversation was taken back to before its first prompt; ours is what there was",
}

LISTS = {"todo_reminder", "hook_additional_context", "invoked_skills", "hook_blocking_error"}
"""Attachments in which clients write more than text."""

CIRCLES = "2.1.70"
"""The first release that leaves a circle of parents."""

WHOLE = {"DISABLE_AUTO_COMPACT": "1"}
"""A session near the model's limit is sent as it is instead of being compacted first."""

UUID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
SHORTEST = 6
"""Shorter texts occur by chance, so that their absence cannot be seen."""


class Session:
    """A file as it is read: its records by line, and which of them are on our chain of it."""

    def __init__(self, copy, chain, original):
        records = {at + 1: record for at, record in copy.records.items()}
        lines = [link["line"] for link in chain or [] if put_back(link, records) in (None, *copy.put_back)]
        cut = [place for place, line in enumerate(lines) if is_boundary(records.get(line, {}))]
        lines = lines[cut[-1]:] if cut else lines
        self.on_chain = [records[line] for line in lines if line in records]
        marked = set(lines)
        self.others = [record for line, record in records.items() if line not in marked]
        self.others += [record for at, record in original.records.items() if record != records.get(at + 1)]
        notes = [record for record in records.values() if record.get("type") == "last-prompt" and "leafUuid" in record]
        self.last_note = notes[-1] if notes else {}
        self.records = list(records.values())

    def ends_below_a_subagent(self):
        """Whether the record written last, or the one that a note names, hangs from a subagent's message."""
        known = {record["uuid"]: record for record in self.records if isinstance(record.get("uuid"), str)}
        ends = [uuid for uuid, record in known.items() if not record.get("isSidechain") and record["type"] != "progress"]
        for at in {*ends[-1:], self.last_note.get("leafUuid")}:
            for _ in known:
                record = known.get(at, {})
                if record.get("type") in ("user", "assistant", None):
                    break
                at = record.get("parentUuid")
            if known.get(at, {}).get("isSidechain"):
                return True
        return False


def put_back(link, records):
    """How a record came onto our chain: None for those of the way."""
    record = records.get(link["line"], {})
    if link["recovered"] != "result":
        return link["recovered"]
    answers = {one.get("uuid"): message_of(one) for one in records.values() if one.get("type") == "assistant"}
    called = {message_of(one) for one in records.values() for call in ids(one, "tool_use", "id")
              if call in ids(record, "tool_result", "tool_use_id")}
    return "result" if answers.get(record.get("parentUuid")) in called else "stray"


def message_of(record):
    return str((record.get("message") or {}).get("id"))


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
            owners[call].add(message_of(record))
    unanswered = {message_of(record) for record in session.on_chain
                  for call in ids(record, "tool_use", "id") if call not in answered}
    found = []
    for record in session.on_chain:
        message = message_of(record)
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
    known = [text for record in session.on_chain for text in every_text(record)] + requests.CLIENTS_WORDS
    known = requests.normal("\n".join(known))
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


def explain(binary, data, version, judge, scratch):
    """The readings that a release needs so that nothing differs but what a rule explains; None if that is not enough.

    `judge` says what differs from a session.
    """
    original = readings.Copy(data)

    def fits(names):
        copy, _ = readings.read(data, names)
        with tempfile.NamedTemporaryFile(dir=scratch, suffix=".jsonl") as file:
            file.write(copy.data())
            file.flush()
            chain = show(binary, file.name)
        return all(rule for rule, _ in judge(Session(copy, chain, original)))

    needed = readings.read(data, readings.of(version))[1]
    if not needed or not fits(needed):
        return None
    for name in list(needed):
        rest = [other for other in needed if other != name]
        if rest and fits(rest):
            needed = rest
    return needed


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


def try_one(binary, path, chain, version, scratch):
    """(outcome, details): equal, explained, differs or not resumed."""
    data = path.read_bytes()
    room = clones.Room(scratch)
    try:
        name = session_id(path)
        shutil.copyfile(path, room.sessions / f"{name}.jsonl")
        body, reason = room.resume(version, name, WHOLE)
    finally:
        room.close()
    if reason == clones.TIMED_OUT:
        copy, _ = readings.read(data, readings.of(version))
        never = client.within(version, until=CIRCLES) and readings.way_up(copy)[1]
        return ("explained", [("circle", reason)]) if never else ("timed out", [(None, reason)])

    def judge(session):
        return [(nothing_rule(session, reason), reason)] if body is None else compare(session, body)

    copy = readings.Copy(data)
    found = judge(Session(copy, chain, copy))
    if not found:
        return "equal", []
    if not all(rule for rule, _ in found):
        needed = explain(binary, data, version, judge, scratch)
        found = [(rule or ", ".join(needed or []) or None, what) for rule, what in found]
    return ("explained" if all(rule for rule, _ in found) else "differs"), found


def nothing_rule(session, reason):
    """Why the client has no conversation to resume where we have one."""
    if re.search(r"(undefined|null) is not an? |Failed to resume session|Cannot read propert|cli\.js:\d+:\d+", reason):
        return "client-fails"
    talk = [record for record in session.on_chain if record.get("type") in ("user", "assistant")]
    answered = {call for record in talk for call in ids(record, "tool_result", "tool_use_id")}
    open_ones = {message_of(record) for record in talk if not answered.issuperset(ids(record, "tool_use", "id"))}
    if not any(texts_of(record) or ids(record, "tool_use", "id") for record in talk
               if record["type"] == "user" or message_of(record) not in open_ones):
        return "nothing"
    if reason == clones.COMPACTED:
        return "compacted"
    if reason.startswith("no request (exit 0)") and any(is_flat(record) for record in session.on_chain):
        return "attachment"
    if session.ends_below_a_subagent():
        return "below-a-subagent"
    if not isinstance(talk[-1].get("timestamp"), str):
        return "no-time"
    note = session.last_note
    if note.get("leafUuid") is None and note.get("explicit") is True:
        return "rewound-to-nothing"
    return None


def is_flat(record):
    """An attachment that holds text where clients write a list or an object."""
    attachment = record.get("attachment") if isinstance(record.get("attachment"), dict) else {}
    return attachment.get("type") in LISTS and isinstance(attachment.get("content"), str)


def meaning(rule):
    return RULES.get(rule) or "; ".join(readings.READINGS[name][1] for name in rule.split(", "))


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
            for (path, _, version), (outcome, found) in zip(jobs, pool.map(lambda job: try_one(binary, *job, scratch), jobs)):
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
        print(f"  {version}: {rule} in {number}: {meaning(rule)}")
    if options.table:
        options.table.write_text("\n".join([*table, "", *lines]) + "\n", encoding="utf-8")
    bad = [v for v in versions if counts[v, "differs"] or counts[v, "timed out"] or not counts[v, "equal"]]
    return check_status.worst(status, check_status.FAILED if bad else check_status.FINE)


if __name__ == "__main__":
    sys.exit(main())
