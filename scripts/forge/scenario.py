"""Scenarios: what the people and the model of a session are to do, as data in scenarios/*.json.

A scenario names its client processes (`runs`), their prompts and the model's replies, and the replies of each
subagent. This file reads one, fills in what depends on the machine and the client's version, and refuses what it
does not understand. See README.md for the fields.
"""

import base64
import json
import pathlib
import struct
import zlib

import client

FOLDER = pathlib.Path(__file__).resolve().parent / "scenarios"

KNOWN = {
    "": {"about", "unsupported", "files", "settings", "title", "compaction", "agents", "runs", "expect"},
    "run": {
        "mode",
        "prompts",
        "resume",
        "rewind_to",
        "flags",
        "replies",
        "allow",
        "deny",
        "interrupt_during_reply",
        "controls",
        "exits",
    },
    "prompt": {"text", "kind", "during_reply", "wire", "also", "picture", "unrecorded"},
    "reply": {
        "blocks",
        "usage",
        "error",
        "repeat",
        "after",
        "stall",
        "break",
        "cut",
        "spare",
        "since",
        "until",
    },
    "block": {"text", "thinking", "call", "input", "expect", "expect_text", "agent", "background", "since", "until"},
    "agent": {"prompt", "replies"},
}


class Unsupported(Exception):
    """This version cannot play the scenario; the message says why."""


def names():
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name, version, project):
    """The scenario with everything filled in, or Unsupported."""
    scenario = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    check_keys(scenario, "", name)
    for entry in scenario.get("unsupported", []):
        if client.within(version, entry.get("since"), entry.get("until")):
            raise Unsupported(entry["why"])
    scenario = filled(scenario, {"{PROJECT}": str(project)})
    for number, run in enumerate(scenario["runs"]):
        check_keys(run, "run", f"{name} run {number}")
        run["prompts"] = [prompt if isinstance(prompt, dict) else {"text": prompt} for prompt in run["prompts"]]
        for prompt in run["prompts"]:
            check_keys(prompt, "prompt", name)
            prompt["recorded"] = not any(applies(entry, version) for entry in prompt.get("unrecorded", []))
        run["replies"] = replies_for(version, run.get("replies", []), name)
    resolve_expectations(scenario.setdefault("expect", {}), version)
    for agent in scenario.setdefault("agents", {}).values():
        check_keys(agent, "agent", name)
        agent["replies"] = replies_for(version, agent["replies"], name)
    return scenario


def resolve_expectations(expect, version):
    """Leaves only what a file of this version can be expected to hold."""
    compaction = expect.get("compaction")
    if compaction:
        compaction["recorded"] = not any(applies(entry, version) for entry in compaction.get("unrecorded", []))
    for field in ("cwds", "branches"):
        expect[field] = [entry["name"] for entry in expect.get(field, []) if applies(entry, version)]


def check_keys(value, kind, where):
    unknown = set(value) - KNOWN[kind]
    if unknown:
        raise ValueError(f"{where}: unknown {kind or 'scenario'} fields {sorted(unknown)}")


def filled(value, words):
    if isinstance(value, str):
        for word, text in words.items():
            value = value.replace(word, text)
        return value
    if isinstance(value, list):
        return [filled(item, words) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, words) for key, item in value.items()}
    return value


def applies(entry, version):
    return client.within(version, entry.get("since"), entry.get("until"))


def replies_for(version, replies, where):
    """Replies in full form: {"blocks": [API block with "expect" and "agent" for calls]} or {"error"}."""
    full = []
    for reply in replies:
        reply = dict(reply) if isinstance(reply, dict) else {"blocks": reply}
        check_keys(reply, "reply", where)
        if not applies(reply, version):
            continue
        if "blocks" in reply:
            reply["blocks"] = [api_block(version, block, where) for block in reply["blocks"] if applies(block, version)]
        full.append(reply)
    return full


def api_block(version, block, where):
    check_keys(block, "block", where)
    if "text" in block:
        return {"type": "text", "text": block["text"]}
    if "thinking" in block:
        signature = base64.b64encode(b"signature of " + block["thinking"].encode()).decode()
        return {"type": "thinking", "thinking": block["thinking"], "signature": signature}
    call = {"type": "tool_use", "name": client.tool_name(version, block["call"]), "input": dict(block["input"])}
    call["expect"] = block.get("expect", "ok")
    if "expect_text" in block:
        call["expect_text"] = block["expect_text"]
    if "agent" in block:
        call["agent"] = block["agent"]
        call["background"] = bool(block.get("background"))
        if call["background"] or client.within(version, since=client.BACKGROUND_BY_DEFAULT):
            call["input"]["run_in_background"] = call["background"]
    return call


def write_files(scenario, project):
    """Puts the scenario's files into the project: text, or {"png": [width, height]}."""
    for name, content in scenario.get("files", {}).items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif "png" in content:
            path.write_bytes(png(*content["png"]))
        else:
            path.write_text(content["line"] * content["times"], encoding="utf-8")
    if "settings" in scenario:
        folder = project / ".claude"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(scenario["settings"]), encoding="utf-8")


def prompt_content(prompt, project):
    """What is sent as a prompt: words, or words with a picture of the project."""
    if "picture" not in prompt:
        return prompt["text"]
    data = base64.b64encode((project / prompt["picture"]).read_bytes()).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return [{"type": "text", "text": prompt["text"]}, {"type": "image", "source": source}]


def png(width, height):
    """A small picture: every pixel its own shade."""
    rows = b"".join(
        b"\0" + b"".join(bytes((x * 255 // width, y * 255 // height, 128)) for x in range(width)) for y in range(height)
    )

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
