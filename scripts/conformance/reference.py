"""A third, slow reading of a session file, to say who is right when two differ.

The official listing searches the first and the last 64 KiB of a file for
`"key":"value"` without parsing, so it can miss a value and can take one from
inside a message. This reads every line as JSON and looks at top-level fields
only. It is evidence for the named rules of `rules.py`, never an expectation.
"""

from __future__ import annotations

import datetime
import functools
import json
import re
from pathlib import Path
from typing import Any

TITLE_FIELDS = {"custom": "customTitle", "ai": "aiTitle", "last-prompt": "lastPrompt", "summary": "summary"}
WINDOW = 64 * 1024
STARTS = ('{"parentUuid"', '{"type"', '{"uuid"', '{"summary"')


def instant(text: Any) -> int | None:
    """Milliseconds since 1970 of an RFC 3339 time, or None."""
    if not isinstance(text, str) or not re.match(r"^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d", text):
        return None
    whole = re.sub(r"[Zz]$", "+00:00", text)
    whole = re.sub(r":60(?=[.+-])", ":59", whole)  # a leap second
    # Python 3.10 reads only three or six digits of a second's fraction.
    whole = re.sub(r"\.(\d+)", lambda part: "." + (part.group(1) + "000000")[:6], whole)
    try:
        moment = datetime.datetime.fromisoformat(whole)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    if moment.year == 9999 and moment.month == 12 and moment.day == 31:
        return None  # no time zone could show it
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (moment - epoch) // datetime.timedelta(milliseconds=1)


def salvage(line: bytes) -> list[dict[str, Any]]:
    """The objects on a line that is not one object, as far as they are easy to find."""
    text = line.decode("utf-8", "replace").strip("\ufeff\0 \t\r")
    decoder, found, place = json.JSONDecoder(), [], 0
    while place < len(text):
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place = min((n for n in (text.find(head, place + 1) for head in STARTS) if n > 0), default=len(text))
            continue
        if isinstance(value, dict):
            found.append(value)
        while place < len(text) and text[place] in " \t\r\0":
            place += 1
    return found


def prompt_of(record: dict[str, Any]) -> str | None:
    """The words of a user record that answers no tool and was not injected."""
    message = record.get("message")
    if record.get("type") != "user" or record.get("isMeta") or record.get("isCompactSummary"):
        return None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    blocks = [block for block in content if isinstance(block, dict)]
    if any(block.get("type") == "tool_result" for block in blocks):
        return None
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    own = [text for text in texts if not text.lstrip().startswith(("<ide_opened_file>", "<ide_selection>"))]
    return " ".join(own)


def answered_calls(record: dict[str, Any]) -> set[str]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else []
    return {
        block["tool_use_id"] for block in blocks
        if isinstance(block, dict) and block.get("type") == "tool_result" and isinstance(block.get("tool_use_id"), str)
    }


class Reference:
    """Everything the rules need to know of one file."""

    def __init__(self, path: Path) -> None:
        self.bytes = path.read_bytes()
        self.lines = self.bytes.split(b"\n")
        self.titles: dict[str, list[str]] = {source: [] for source in TITLE_FIELDS}
        self.foreign: list[str] = []
        self.prompts: list[str] = []
        self.sidechain_prompts: list[str] = []
        # Prompts of which the official listing cannot see the whole line.
        self.late_prompts: list[str] = []
        self.branches: list[str] = []
        self.folders: list[str] = []
        self.instants: list[int] = []
        self.unreadable: set[int] = set()
        self.salvaged_texts: list[str] = []
        self._summaries: list[tuple[str, Any]] = []
        self._uuids: set[str] = set()
        self._links: dict[str, Any] = {}
        self._records: dict[str, Any] = {}
        self.conflicting_uuids = False
        # Prompts and answers; the last record of the conversation; places that the client noted; what compactions kept.
        self.talk: set[str] = set()
        self._last: str | None = None
        self.noted = False
        self.kept: set[str] = set()
        self._boundaries: set[str] = set()
        # Records of each answer of a model.
        self._parts: dict[str, list[str]] = {}
        # By uuid of a record, the calls it holds results of.
        self.answers: dict[str, set[str]] = {}
        self._end = 0
        for number, line in enumerate(self.lines, 1):
            self._end += len(line) + 1
            self._read(number, line)
        for text, leaf in self._summaries:
            (self.titles["summary"] if leaf in self._uuids else self.foreign).append(text)

    def _read(self, number: int, line: bytes) -> None:
        if not line.strip():
            return
        try:
            record = json.loads(line.decode("utf-8").strip())
            records = [record] if isinstance(record, dict) else []
        except (ValueError, RecursionError):
            self.unreadable.add(number)
            records = salvage(line)
        for record in records:
            self._note(record, number in self.unreadable)

    def _note(self, record: dict[str, Any], salvaged: bool) -> None:
        texts = []
        for source, field in TITLE_FIELDS.items():
            value = record.get(field)
            if isinstance(value, str) and value.strip():
                texts.append(value)
                if source == "summary":
                    self._summaries.append((value, record.get("leafUuid")))
                else:
                    self.titles[source].append(value)
        prompt = prompt_of(record)
        if prompt and prompt.strip():
            texts.append(prompt)
            if self._end > WINDOW:
                self.late_prompts.append(prompt)
            (self.sidechain_prompts if record.get("isSidechain") else self.prompts).append(prompt)
        if salvaged:
            self.salvaged_texts += texts
        for field, values in (("gitBranch", self.branches), ("cwd", self.folders)):
            value = record.get(field)
            if isinstance(value, str) and value:
                values.append(value)
        moment = instant(record.get("timestamp"))
        if moment is not None:
            self.instants.append(moment)
        own = record.get("uuid")
        if isinstance(own, str):
            self.conflicting_uuids |= self._records.setdefault(own, record) != record
            self._links.setdefault(own, record.get("parentUuid"))
            self._uuids.add(own)
            self.answers[own] = answered_calls(record)
            if record.get("type") in ("user", "assistant"):
                self.talk.add(own)
            message = record.get("message")
            if record.get("type") == "assistant" and isinstance(message, dict) and isinstance(message.get("id"), str):
                self._parts.setdefault(message["id"], []).append(own)
            if record.get("subtype") == "compact_boundary":
                self._boundaries.add(own)
            if record.get("type") in ("user", "assistant", "system", "attachment") and not record.get("isSidechain"):
                self._last = own
        data = record.get("compactMetadata")
        if isinstance(data, dict):
            self.kept |= set((data.get("preservedMessages") or {}).get("uuids") or [])
            if data.get("preservedSegment"):
                self.kept |= {data["preservedSegment"].get("headUuid"), data["preservedSegment"].get("tailUuid")}
        self.noted |= record.get("type") == "last-prompt" and bool(record.get("leafUuid"))

    @functools.cached_property
    def last_message(self) -> str | None:
        """The record written last that is not a subagent's, or the message above it."""
        passed: set[str] = set()
        current = self._last
        while current is not None and current not in self.talk and current not in passed:
            passed.add(current)
            current = self._links.get(current)
        return current if current in self.talk else None

    @functools.cached_property
    def split_answers(self) -> set[str]:
        """Records of answers of which a compaction separates some records from the others."""
        parts = [uuids for uuids in self._parts.values() if len({self._boundary(uuid) for uuid in uuids}) > 1]
        return {uuid for uuids in parts for uuid in uuids}

    def _boundary(self, uuid: str) -> str | None:
        """The compaction that a record follows."""
        passed: set[str] = set()
        current: Any = uuid
        while isinstance(current, str) and current not in self._boundaries and current not in passed:
            passed.add(current)
            current = self._links.get(current)
        return current if current in self._boundaries else None

    def is_lost(self, uuid: str) -> bool:
        """Whether the parent of a record is named and not in the file, or leads in a circle."""
        parent = self._links.get(uuid)
        return isinstance(parent, str) and (parent not in self._links or uuid in self.in_cycles)

    @functools.cached_property
    def in_cycles(self) -> set[str]:
        """Records from which following parents comes back to themselves."""
        members: set[str] = set()
        done: set[str] = set()
        for start in self._links:
            walked: dict[str, None] = {}
            current: Any = start
            while isinstance(current, str) and current in self._links and current not in done and current not in walked:
                walked[current] = None
                current = self._links[current]
            if current in walked:
                order = list(walked)
                members.update(order[order.index(current):])
            done.update(walked)
        return members

    def is_salvaged(self, number: int) -> bool:
        """True for a line that is not one JSON object: only recovery reads it."""
        return number in self.unreadable

    def in_windows(self, text: str) -> bool:
        """True when the official listing's windows hold the beginning of a value."""
        start = text[:60]
        forms = (json.dumps(start, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass"), json.dumps(start)[1:-1].encode())
        return any(form in window for form in forms for window in (self.bytes[:WINDOW], self.bytes[-WINDOW:]))


def plain(text: str | None) -> str:
    """White space folded, so that only words are compared."""
    return " ".join((text or "").split())


def same_words(one: str | None, other: str | None) -> bool:
    """Equal but for white space and for where a long text was cut."""
    left, right = plain(one), plain(other)
    if left == right:
        return True
    for short, long in ((left, right), (right, left)):
        stem = short.removesuffix("…").rstrip()
        if short.endswith("…") and stem and long.startswith(stem):
            return True
    return False
