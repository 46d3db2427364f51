"""A recorded request, judged as the Messages API would, and held against the conversation it should carry."""

import json


CLIENTS_WORDS = ["No response requested."]
"""What clients put in place of an answer behind a prompt that has none."""


def items(content):
    """The blocks of a message; a string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def turns(messages):
    """Messages with neighbours of one role put together, as the API does; reminders of the system left out."""
    joined = []
    for message in messages:
        if message.get("role") == "system":
            continue
        if joined and joined[-1][0] == message["role"]:
            joined[-1][1].extend(items(message["content"]))
        else:
            joined.append((message["role"], items(message["content"])))
    return joined


def rejections(body):
    """Why the API would refuse the request; empty if it would not."""
    found = []
    messages = body.get("messages") or []
    for number, message in enumerate(messages):
        if message.get("role") not in ("user", "assistant", "system"):
            found.append(f"message {number}: role {message.get('role')!r}")
        blocks = items(message.get("content"))
        # The newest client sends settings as messages of the system without content.
        if not blocks and message.get("role") != "system":
            found.append(f"message {number}: no content")
        for block in blocks:
            found += [f"message {number}: {fault}" for fault in block_faults(block)]
        if message.get("role") == "assistant" and blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
            found.append(f"message {number}: ends with thinking")
    joined = turns(messages)
    if not joined or joined[0][0] != "user":
        found.append("the first message is not the user's")
    if joined and joined[-1][0] != "user":
        found.append("the last message is not the user's")
    return found + pairing(joined)


def block_faults(block):
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        if not isinstance(text, str) or not text.strip():
            yield "text content blocks must be non-empty"
    elif kind == "thinking":
        if not isinstance(block.get("thinking"), str) or not isinstance(block.get("signature"), str):
            yield "thinking without text or signature"
    elif kind == "redacted_thinking":
        if not isinstance(block.get("data"), str):
            yield "redacted thinking without data"
    elif kind == "tool_use":
        if not isinstance(block.get("input"), dict):
            yield "tool_use.input: not an object"
        if not block.get("name") or len(block["name"]) > 200 or not block.get("id"):
            yield "tool_use: name or id"
    elif kind == "tool_result":
        content = block.get("content")
        if content is not None and not isinstance(content, (str, list)):
            yield "tool_result.content: neither text nor list"
        for part in items(content) if isinstance(content, list) else []:
            if part.get("type") == "text" and not part.get("text"):
                yield "tool_result: empty text"
    elif kind in ("image", "document"):
        if not isinstance(block.get("source"), dict):
            yield f"{kind} without source"


def pairing(joined):
    """Every call is answered once, at the start of the next message; nothing else is answered."""
    found, seen = [], set()
    for number, (role, blocks) in enumerate(joined):
        if role == "assistant":
            calls = [block.get("id") for block in blocks if block.get("type") == "tool_use"]
            for call in calls:
                if call in seen:
                    found.append(f"turn {number}: `tool_use` ids must be unique: {call}")
                seen.add(call)
            after = joined[number + 1][1] if number + 1 < len(joined) else []
            answered = [block.get("tool_use_id") for block in after if block.get("type") == "tool_result"]
            for call in calls:
                if answered.count(call) != 1:
                    found.append(f"turn {number}: call {call} has {answered.count(call)} results")
        else:
            before = joined[number - 1][1] if number else []
            calls = {block.get("id") for block in before if block.get("type") == "tool_use"}
            other = False
            for block in blocks:
                if block.get("type") != "tool_result":
                    other = True
                    continue
                if block.get("tool_use_id") not in calls:
                    found.append(f"turn {number}: unexpected `tool_use_id` {block.get('tool_use_id')}")
                if other:
                    found.append(f"turn {number}: a tool result behind other content")
    return found


def spoken(body):
    """What the request says, as a list: who, what kind, and the text or call id."""
    said = []
    for message in body.get("messages") or []:
        for block in items(message.get("content")):
            if not isinstance(block, dict):
                continue
            kind = block.get("type")
            if kind == "text":
                said.append((message["role"], "text", block.get("text") or ""))
            elif kind == "tool_use":
                said.append(("assistant", "call", block.get("id")))
            elif kind == "tool_result":
                said.append(("user", "result", block.get("tool_use_id")))
    return said


def planned(path, uuids=None):
    """What a file holds, in the order of the plan (else all of it); and texts that a client may send or not."""
    records = {}
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and "uuid" in record and isinstance(record.get("message"), dict):
                records[record["uuid"]] = record
    wanted, optional = [], []
    for uuid in records if uuids is None else uuids:
        record = records[uuid]
        if is_local(record):
            blocks = items(record["message"].get("content"))
            optional += [block["text"].strip() for block in blocks if block.get("type") == "text"]
            continue
        role = record["type"]
        for block in items(record["message"].get("content")):
            kind = block.get("type")
            if kind == "text" and block["text"].strip():
                wanted.append((role, "text", block["text"].strip()))
            elif kind == "tool_use":
                wanted.append((role, "call", block["id"]))
            elif kind == "tool_result":
                wanted.append((role, "result", block["tool_use_id"]))
    return wanted, optional


def is_local(record):
    """What clients wrote themselves: errors of the API shown as answers, words for a turn without one."""
    message = record.get("message") or {}
    synthetic = message.get("model") == "<synthetic>"
    return bool(record.get("isApiErrorMessage")) or synthetic


def differences(wanted, said, optional=()):
    """What was planned and is not said, in this order; and what the model is said to have said, and did not."""
    found, at = [], 0
    for role, kind, value in wanted:
        for place in range(at, len(said)):
            if said[place][1] == kind and fits(kind, value, said[place][2]):
                # Texts of one message may be joined, so the place may serve again.
                at = place if kind == "text" else place + 1
                break
        else:
            found.append(f"not sent: {role} {kind} {str(value)[:80]!r}")
    texts = [value for _, kind, value in wanted if kind == "text"] + [*optional, *CLIENTS_WORDS]
    calls = {value for _, kind, value in wanted if kind in ("call", "result")}
    for role, kind, value in said:
        if kind == "text" and role == "assistant" and not any(fits("text", text, value) for text in texts):
            found.append(f"not planned: {role} text {value[:80]!r}")
        elif kind == "call" and value not in calls:
            found.append(f"not planned: call {value}")
    return found


def fits(kind, wanted, sent):
    if kind != "text":
        return wanted == sent
    return wanted in sent or sent.strip() == wanted or normal(wanted) in normal(sent)


def normal(text):
    """Lone surrogates and other characters that no request can carry become marks."""
    return text.encode("utf-8", "replace").decode("utf-8", "replace").replace("\ufffd", "?")
