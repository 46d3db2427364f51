"""A session near the limit of a model, as a client of 2.1.x would have left it.

Its last answer counts more tokens than clients allow before they compact, and there is as much text to match.
"""

import json

SESSION = "1a29e000-0000-4000-8000-0000000000ff"
TURNS = 24
TOKENS = 190_000
"""What the last answer counts. Clients compact above 167,000 or less where a model reads 200,000."""
OVERHEAD = 16_000
"""What every request counts besides the conversation: instructions and tools."""


def write(folder):
    """Writes the session into a folder; returns its path."""
    path = folder / f"{SESSION}.jsonl"
    records = list(conversation())
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def conversation():
    parent = None
    for number, (kind, message, more) in enumerate(messages()):
        uuid = f"{number:08x}-0000-4000-8000-0000000000ff"
        yield {
            "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/dev/kiln",
            "sessionId": SESSION, "version": "2.1.207", "gitBranch": "main", "type": kind, "message": message,
            "uuid": uuid, "timestamp": f"2026-01-01T{10 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
            **more,
        }
        parent = uuid


def messages():
    each = (TOKENS - OVERHEAD) // TURNS
    for turn in range(TURNS):
        call, tokens = f"toolu_01Large{turn:04d}", OVERHEAD + each * turn
        # About four characters to a token.
        listing = "".join(f"{line:4}  let glaze_{line} = kiln.fire({turn}, {line * 37 % 1000});\n" for line in range(each // 12))
        yield "user", {"role": "user", "content": f"Which glazes does part {turn} fire?"}, {}
        yield "assistant", answer(turn, "a", tokens, [
            {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": f"/home/dev/kiln/part{turn}.rs"}},
        ], "tool_use"), {}
        result = {"type": "tool_result", "tool_use_id": call, "content": listing}
        yield "user", {"role": "user", "content": [result]}, {"toolUseResult": listing[:200]}
        text = f"Part {turn} fires {each // 12} glazes, each once."
        yield "assistant", answer(turn, "b", tokens + each, [{"type": "text", "text": text}], "end_turn"), {}


def answer(turn, part, tokens, content, reason):
    usage = {
        "input_tokens": 4, "cache_creation_input_tokens": 1_000, "cache_read_input_tokens": tokens - 1_034,
        "output_tokens": 30, "service_tier": "standard",
    }
    return {
        "id": f"msg_01Large{turn:04d}{part}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
        "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage,
    }
