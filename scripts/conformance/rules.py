"""The documented differences from the official reader, each with a name.

A difference that none of these explains is a failure. `docs` of each rule is
what the report prints.
"""

from __future__ import annotations

from typing import Any

from reference import Reference, instant, plain, same_words

RULES = {
    # records on the chain
    "recovered": "a block or a result that hangs off the chain, marked `recovered`",
    "salvaged": "a record on a line that is not one JSON object (torn, glued, NUL bytes, byte order mark)",
    "behind-salvaged": "a record that the chain reaches only through a salvaged one",
    "second-result": "a further result of a call whose result is on our chain already",
    "duplicate-uuid": "of two different records with one uuid ours uses the first, the official reader the last",
    "parent-cycle": "the official chain runs into a circle of parents, which ours cuts in another place",
    "no-leaf": "every record of a circle has a child, so the official reader finds no end and returns nothing",
    "newest-branch": "the record written last is on another branch than the newest end that the official reader takes: an"
    " injected record, a team's or a notice ends it; clients resume there",
    "noted-place": "the client noted another place as the end of the conversation (`last-prompt`), and resumes there",
    "newest-below": "other records hang from the one written last: clients go on to the newest of them",
    "nothing-above": "no message stands above the record written last: clients take the end that is newest by its time",
    "bridged": "a parent is not in the file or leads in a circle: clients go on with the record before it in time",
    "kept": "what a compaction kept of the conversation before it: clients put it behind the summary",
    "split-answer": "a compaction stands between the records of one answer, which no client writes: ours puts them together",
    "official-raises": "the official reader stops with an exception",
    # sessions and subagents
    "name-not-an-id": "the official listing takes only files named by a UUID",
    "empty": "the official listing leaves out files of no bytes",
    "sidechain": "the official listing leaves out files whose first line is a sidechain record",
    "no-title": "the official listing leaves out sessions in which it finds no title and no prompt",
    "same-id": "of two files with one id the official listing keeps the newer",
    "beside": "subagent files beside the session, which the official reader does not list",
    "embedded": "subagents inside the session's own file, which the official reader does not list",
    # fields of a row
    "wording": "equal except for whitespace, or for where a long text is cut",
    "window": "the value stands outside the first and last 64 KiB that the official listing reads",
    "nested": "the official listing took a field from inside a record's data, or from a line that is not JSON",
    "sidechain-prompt": "the official listing took the prompt of a subagent inside the file",
    "marks": "equal except for marks of Markdown",
    "first-words": "the first heading or sentence of a prompt, without stock words and Markdown marks",
    "human-prompt": "the first prompt a human wrote, where the official listing takes text of the client",
    "foreign-summary": "a summary line that names a record of another session is not this session's title",
    "last-branch": "the last branch recorded, where the official listing falls back to the first",
    "record-time": "the time of the first record that has one, where the official listing takes one inside a record",
    "earliest-time": "the smallest time of all records, where the official listing takes the first in the file",
}

PRECEDENCE = ["custom", "ai", "last-prompt", "summary"]
# How text of the client begins that stands where a human's words may stand.
CLIENT_TEXT = ("<", "[Request interrupted", "Caveat:")


def broken_links(theirs: list[str], reference: Reference) -> str | None:
    """The rule for a file in which the official chain itself is a matter of choice, or None."""
    if reference.conflicting_uuids:
        return "duplicate-uuid"
    if not theirs and reference.in_cycles:
        return "no-leaf"
    return "parent-cycle" if reference.in_cycles.intersection(theirs) else None


def resumed(theirs: list[str], chain: list[dict[str, Any]], reference: Reference) -> str | None:
    """Why the chain of the clients, and so ours, is not the official one; or None. `chain` is our whole chain."""
    uuids = [entry["uuid"] for entry in chain]
    talk = [uuid for uuid in uuids if uuid in reference.talk]
    if reference.kept and (not talk or any(uuid in reference.kept for uuid in uuids)):
        return "kept"
    if reference.last_message is None:
        return "nothing-above"
    if theirs and talk and theirs[-1] != talk[-1]:
        if talk[-1] == reference.last_message:
            return "newest-branch"
        if reference.noted:
            return "noted-place"
        if reference.last_message in talk:
            return "newest-below"
    elif any(reference.is_lost(uuid) for uuid in uuids[1:]):
        return "bridged"
    return "split-answer" if reference.split_answers.intersection(uuids) else None


def left_out(missing: list[str], mine: list[str | None], theirs: list[str], reference: Reference) -> str | None:
    """The rule for messages that only the official chain has, or None."""
    answered = {call for uuid in mine if uuid for call in reference.answers.get(uuid, ())}
    calls = [reference.answers.get(uuid, set()) for uuid in missing]
    if all(one and one <= answered for one in calls):
        return "second-result"
    return broken_links(theirs, reference)


def justified(text: str | None, source: str | None, reference: Reference) -> bool:
    """Does a whole reading of the file give this title by the documented precedence?"""
    given = next((name for name in PRECEDENCE if reference.titles[name]), None)
    if given is not None:
        return source == given and same_words(bare(text), bare(reference.titles[given][-1]))
    if source == "first-prompt":
        words = [prompt for prompt in reference.prompts if "<command-name>" not in prompt]
        return any(
            plain(prompt).startswith(plain(text)) or same_words(text, prompt) or unmarked(text) in unmarked(prompt)
            for prompt in words
        )
    if source == "command":
        return any(f"<command-name>{(text or '').split()[0]}" in prompt for prompt in reference.prompts)
    return source is None and not reference.prompts


def bare(text: str | None) -> str:
    """A text without the marks of Markdown."""
    return " ".join((text or "").translate(str.maketrans("", "", "*`#>")).split())


def unmarked(text: str | None) -> str:
    """The same without the sign that it was cut."""
    return bare(text).removesuffix("…").rstrip()


def title(row: dict[str, Any], official: str, reference: Reference) -> str | None:
    """The rule that explains a title unlike the official `summary`, or None."""
    ours = row.get("title")
    if same_words(ours, official):
        return "wording"
    if not justified(ours, row.get("title_source"), reference):
        return None
    checks = {
        "marks": same_words(bare(ours), bare(official)),
        "foreign-summary": any(same_words(official, text) for text in reference.foreign),
        "salvaged": any(same_words(ours, text) for text in reference.salvaged_texts),
        "sidechain-prompt": any(same_words(official, text) for text in reference.sidechain_prompts),
        "first-words": row.get("title_source") == "first-prompt"
        and any(
            unmarked(ours) in unmarked(prompt) and same_words(official, prompt) for prompt in reference.prompts
        ),
        "human-prompt": plain(official).startswith(CLIENT_TEXT),
        "window": not reference.in_windows(ours or "")
        or any(plain(text).startswith(plain(ours)) for text in reference.late_prompts),
    }
    return next((rule for rule, holds in checks.items() if holds), "nested")


def branch(ours: str | None, official: str | None, reference: Reference) -> str | None:
    last = reference.branches[-1] if reference.branches else None
    if (ours or None) != last:
        return None
    if official in reference.branches:
        return "last-branch" if reference.in_windows(last or "") else "window"
    return "window" if official is None else "nested"


def folder(ours: str | None, official: str | None, reference: Reference) -> str | None:
    first = reference.folders[0] if reference.folders else None
    if (ours or None) != first:
        return None
    return "window" if official is None else "nested"


def created(ours: str | None, reference: Reference) -> str | None:
    moment = instant(ours)
    if moment == next(iter(reference.instants), None):
        return "record-time"
    return "earliest-time" if moment == min(reference.instants, default=None) else None


def unlisted(path_stem_is_id: bool, reference: Reference, listed_elsewhere: bool) -> str | None:
    """Why the official listing leaves a file out, or None."""
    if not path_stem_is_id:
        return "name-not-an-id"
    if not reference.bytes:
        return "empty"
    if listed_elsewhere:
        return "same-id"
    first = reference.lines[0]
    if b'"isSidechain":true' in first or b'"isSidechain": true' in first:
        return "sidechain"
    return "no-title"
