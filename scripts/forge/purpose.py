"""What a request of the client is for, and what can be read off it.

The client asks the API for more than turns: it wants titles, summaries for compaction, command prefixes. This file
knows them by a few words of their prompts; it holds no prompt of the client beyond these words.
"""

import json
import re

COMPACTION = "create a detailed summary of"
TITLE = re.compile(r"(?i)\btitle\b|under 50 characters|5-10 words")
NEW_TOPIC = "isNewTopic"
WARMUP = "Warmup"
"""All that a subagent is told which the client starts for itself, to fill the cache before one is wanted (2.1.0)."""


def texts_of(message):
    """Every text of a message, in order."""
    if isinstance(message.get("content"), str):
        return [message["content"]]
    return [block["text"] for block in blocks_of(message) if block.get("type") == "text"]


def blocks_of(message):
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def user_messages(body):
    return [message for message in body.get("messages", []) if message.get("role") == "user"]


def opening_text(body):
    """The first user message: what tells one conversation from another."""
    messages = user_messages(body)
    return "\n".join(texts_of(messages[0])) if messages else ""


def closing_text(body):
    messages = user_messages(body)
    return "\n".join(texts_of(messages[-1])) if messages else ""


def system_text(body):
    system = body.get("system") or ""
    return system if isinstance(system, str) else "\n".join(block.get("text", "") for block in system)


def session_of(body):
    """The session id, which the client puts into every request."""
    user = (body.get("metadata") or {}).get("user_id") or ""
    found = re.search(r'session_(?:id":\s*")?([0-9a-f-]{36})', user)
    return found.group(1) if found else None


def prompt_texts(body):
    """All texts that are not the model's: prompts, and reminders, which may be in a message of the system
    (2.1.3xx) or at the end of a tool result (2.1.20 to 2.1.98)."""
    return said_in(body.get("messages", []))


def newest_texts(body):
    """The same, since the model's last answer: a conversation may quote what the client says."""
    messages = body.get("messages", [])
    answers = [at for at, message in enumerate(messages) if message.get("role") == "assistant"]
    return said_in(messages[answers[-1] + 1 if answers else 0:])


def said_in(messages):
    texts = []
    for message in messages:
        if message.get("role") != "assistant":
            texts += texts_of(message)
            texts += [
                text for block in blocks_of(message) if block.get("type") == "tool_result" for text in texts_of(block)
            ]
    return texts


def results_of(body):
    """The tool results of a request by call id: how the client itself reports each call's outcome."""
    results = {}
    for message in user_messages(body):
        for block in blocks_of(message):
            if block.get("type") == "tool_result":
                results[block["tool_use_id"]] = {
                    "is_error": bool(block.get("is_error")),
                    "text": "\n".join(texts_of(block)),
                    "kinds": [part.get("type") for part in blocks_of(block)],
                }
    return results


def purpose_of(body):
    """turn, warmup, compaction, title, new-topic, probe or other."""
    if any(COMPACTION in text for text in newest_texts(body)):
        return "compaction"
    if body.get("max_tokens") == 1:
        return "probe"
    if opening_text(body) == WARMUP:
        return "warmup"
    if body.get("tools") and not wants_json(body):
        return "turn"
    asked = system_text(body) + closing_text(body)
    if NEW_TOPIC in asked:
        return "new-topic"
    return "title" if TITLE.search(asked) else "other"


def wants_json(body):
    """Whether the answer has to follow a JSON schema, as title requests of 2.1.x ask."""
    return "format" in (body.get("output_config") or {}) or "output_format" in body


def side_answer(body, kind, texts):
    """The text to answer side business with. `texts` has the scripted "title" and "compaction"."""
    if kind == "compaction":
        return f"<summary>\n{texts['compaction']}\n</summary>"
    if kind == "new-topic":
        return json.dumps({"isNewTopic": True, "title": texts["title"]})
    if kind == "title":
        return json.dumps({"title": texts["title"]}) if wants_json(body) else texts["title"]
    return "none"
