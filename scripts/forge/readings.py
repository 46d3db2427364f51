"""A session file as a client reads it that reads it otherwise than we do.

A reading is a change to a copy of the file, line by line, so that our chain of the copy is what that client sends. A
difference is explained only when it goes away with the readings that are named for it.
"""

import datetime
import functools
import json
import math

import client

READINGS = {
    "uuid-reused": (None, "two different records have one uuid: the client takes the last, ours is the first"),
    "uuid-not-text": (None, "a uuid that is a number, which the client takes and no other reader does"),
    "salvaged": (None, "a record on a line that is not one JSON object, which the client skips"),
    "kept": ("2.1.143", "older clients leave out what a compaction kept"),
    "cut": ("2.1.207", "older clients lose the link of a record that hangs from what a compaction cut off"),
    "anchor": ("2.1.207", "older clients find nothing where what a compaction kept stands above its own anchor"),
    "progress": ("2.1.70", "a progress record, which older clients do not look past, ends their chain"),
    "gap": ("2.1.98", "a parent that is not in the file ends the chain of older clients"),
    "parallel": ("2.1.20", "older clients put nothing back that the way to the first record passes by"),
    "stray": ("2.1.300", "older clients put a result back only where it hangs from the answer that made the call"),
    "hooks": ("2.1.325", "older clients put nothing back that hooks and the client wrote below parallel results"),
    "note": ("2.1.143", "older clients do not look at the place that a `last-prompt` record names"),
    "time": ("2.1.143", "the conversation of older clients ends with the record that is newest by its time"),
    "written": ("2.1.300", "older clients end with the record written last, though others hang from it"),
}
"""What a reading is, and the first release that was tried and has it no more; in the order in which they are made."""


class Copy:
    """The lines of a file and the records on them. Lines that no reading changes stay as they are, byte for byte."""

    def __init__(self, data):
        self.lines = data.split(b"\n")
        self.records = {at: record for at, line in enumerate(self.lines) if (record := record_on(line)) is not None}
        self.put_back = {"sibling", "result", "stray", "note"}
        """What our chain may put back that the way passes by; a stray is a result that hangs from elsewhere."""

    def drop(self, at):
        self.lines[at] = b""
        self.records.pop(at, None)

    def put(self, at, record):
        self.lines[at], self.records[at] = json.dumps(record).encode(), record

    def change(self, at, **fields):
        self.put(at, {**self.records[at], **fields})

    def data(self):
        return b"\n".join(self.lines)


def record_on(line):
    try:
        record = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def last_of_one_uuid(copy):
    """Of two records with one uuid the last."""
    last = {}
    for at, record in copy.records.items():
        if isinstance(record.get("uuid"), str):
            last[record["uuid"]] = record
    for at, record in list(copy.records.items()):
        if isinstance(record.get("uuid"), str) and record != last[record["uuid"]]:
            copy.put(at, last[record["uuid"]])


def numbers_as_text(copy):
    for at, record in list(copy.records.items()):
        odd = {key: str(record[key]) for key in ("uuid", "parentUuid") if isinstance(record.get(key), (int, float))}
        if odd:
            copy.change(at, **odd)


def whole_lines(copy):
    for at, line in enumerate(copy.lines):
        if line.strip() and at not in copy.records:
            copy.drop(at)


def nothing_kept(copy):
    """Compactions as if they had kept nothing."""
    for at, record in list(copy.records.items()):
        data = record.get("compactMetadata")
        if isinstance(data, dict) and {"preservedMessages", "preservedSegment"} & {*data}:
            rest = {key: value for key, value in data.items() if not key.startswith("preserved")}
            copy.change(at, compactMetadata=rest)


def kept_of(record):
    """What a compaction kept, and the uuids that it names; nothing for other records."""
    data = record.get("compactMetadata")
    kept = next((data[name] for name in ("preservedMessages", "preservedSegment") if isinstance(data, dict)
                 and isinstance(data.get(name), dict)), {})
    return kept, {*kept.get("uuids", []), kept.get("headUuid"), kept.get("tailUuid")} - {None}


def nothing_joins_the_kept(copy):
    """A record whose parent was cut off hangs from nothing, instead of from the last record that was kept."""
    at = max((at for at, record in copy.records.items() if record.get("subtype") == "compact_boundary"), default=-1)
    kept, names = kept_of(copy.records.get(at, {}))
    if not kept:
        return
    known = {record["uuid"]: record for record in copy.records.values() if isinstance(record.get("uuid"), str)}
    tail = kept.get("tailUuid")
    while tail in known and tail != kept.get("headUuid") and len(names) <= len(known):
        tail = known[tail].get("parentUuid")
        names.add(tail)
    cut_off = {record.get("uuid") for place, record in copy.records.items() if place < at} - names
    for place, record in list(copy.records.items()):
        parent = record.get("parentUuid")
        for _ in known:
            if known.get(parent, {}).get("type") != "progress":
                break
            parent = known[parent].get("parentUuid")
        if place > at and parent in cut_off:
            copy.change(place, parentUuid="not-in-the-file")


def anchor_in_kept(copy):
    """No messages where a compaction put what it kept after something that hangs from it."""
    above = {record.get("uuid"): record.get("parentUuid") for record in copy.records.values()}
    for record in list(copy.records.values()):
        kept, names = kept_of(record)
        at = above.get(kept.get("anchorUuid"))
        for _ in above:
            if at in names:
                return drop_messages(copy)
            at = above.get(at)


def drop_messages(copy):
    for at, record in list(copy.records.items()):
        if record.get("type") in ("user", "assistant"):
            copy.drop(at)


def is_unread(record):
    """A message without content, which does not say where a conversation stands."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if record.get("type") not in ("user", "assistant"):
        return False
    if isinstance(content, str):
        return record["type"] == "assistant" and not content.strip()
    if isinstance(content, list):
        return bool(content) and not any(isinstance(one, dict) and isinstance(one.get("type"), str) for one in content)
    return True


def no_gaps(copy):
    """A record whose parent is not in the file begins a conversation."""
    named = {record.get("parentUuid") for record in copy.records.values() if isinstance(record.get("parentUuid"), str)}
    cut_links(copy, named - {record.get("uuid") for record in copy.records.values()})


def cut_links(copy, parents):
    for at, record in list(copy.records.items()):
        if isinstance(record.get("parentUuid"), str) and record["parentUuid"] in parents:
            copy.change(at, parentUuid=None)


def nothing_put_back(copy):
    copy.put_back.clear()


def no_strays_put_back(copy):
    copy.put_back.discard("stray")


def no_notes_put_back(copy):
    copy.put_back.discard("note")


def no_place(copy):
    """Nothing names the place where the conversation stands."""
    for at, record in list(copy.records.items()):
        if record.get("type") == "last-prompt":
            copy.drop(at)


def no_progress(copy):
    for at, record in list(copy.records.items()):
        if record.get("type") == "progress":
            copy.drop(at)


def newest_by_time(copy):
    """The conversation ends with the record that is newest by its time, whatever was written last.

    Sorted as JavaScript sorts: a record without a time keeps its place, and keeps others from passing it.
    """
    later = functools.cmp_to_key(lambda one, other: moment(other) - moment(one))
    end_with(copy, next(iter(sorted(held(copy), key=later)), None))


def moment(record):
    try:
        return datetime.datetime.fromisoformat(record["timestamp"].replace("Z", "+00:00")).timestamp()
    except (KeyError, AttributeError, TypeError, ValueError):
        return math.nan


def written_last(copy):
    """The conversation ends with the record written last, though others hang from it."""
    if not any(record.get("type") == "last-prompt" and record.get("leafUuid") for record in copy.records.values()):
        end_with(copy, next(reversed(held(copy)), None))


def held(copy):
    """Records that say where the conversation stands: a subagent's do not."""
    kinds = ("user", "assistant", "attachment", "system")
    return [record for record in copy.records.values() if record.get("type") in kinds
            and isinstance(record.get("uuid"), str) and not record.get("isSidechain") and not is_unread(record)]


def end_with(copy, record):
    if not record:
        return
    note = {"type": "last-prompt", "lastPrompt": "p", "leafUuid": record["uuid"], "explicit": True}
    copy.lines.append(b"")
    copy.put(len(copy.lines) - 1, note)
    way = {one["uuid"] for one in way_up(copy)[0]}
    messages = [at for at, one in copy.records.items() if one.get("type") in ("user", "assistant")]
    if not any(copy.records[at].get("uuid") in way for at in messages):
        return drop_messages(copy)
    for at in messages:
        if copy.records[at].get("uuid") in way and copy.records[at].get("isSidechain"):
            copy.change(at, isSidechain=False)


def way_up(copy):
    """Records from the end, as `end_with` set it, up by their links; and whether one of them comes again."""
    known = {record["uuid"]: record for record in copy.records.values() if isinstance(record.get("uuid"), str)}
    at = next((record["leafUuid"] for record in reversed(copy.records.values()) if record.get("leafUuid")), None)
    way = {}
    while isinstance(at, str) and at in known and at not in way:
        way[at] = known[at]
        at = known[at].get("parentUuid")
    return list(way.values()), at in way


CHANGES = {
    "uuid-reused": last_of_one_uuid,
    "uuid-not-text": numbers_as_text,
    "salvaged": whole_lines,
    "kept": nothing_kept,
    "cut": nothing_joins_the_kept,
    "anchor": anchor_in_kept,
    "progress": no_progress,
    "gap": no_gaps,
    "parallel": nothing_put_back,
    "stray": no_strays_put_back,
    "hooks": no_notes_put_back,
    "note": no_place,
    "time": newest_by_time,
    "written": written_last,
}


def of(version):
    """The readings of a release, in order."""
    return [name for name, (until, _) in READINGS.items() if client.within(version, until=until)]


def read(data, names):
    """A copy as these readings have it, and those of them that changed anything."""
    copy, made = Copy(data), []
    for name in names:
        before = list(copy.lines), set(copy.put_back)
        CHANGES[name](copy)
        if (copy.lines, copy.put_back) != before:
            made.append(name)
    return copy, made
