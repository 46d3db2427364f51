"""Compares one message of the truth with a step of the tool: model, blocks, usage, results of its calls."""

import json

import client

ACCEPTED = {
    "ok": {"ok"},
    "error": {"error"},
    "rejected": {"rejected"},
    "denied": {"error", "rejected"},
}
"""Which result states fit a scripted outcome. A denial by rule or hook is told from an error only by its words."""

ADDED_BY_CLIENT = (False, None)
"""Values of input fields that the client adds to what the model sent: defaults such as `replace_all`."""


class Report:
    """Collects differences with the place they are at."""

    def __init__(self):
        self.lines = []

    def expect(self, where, what, wanted, got):
        if wanted != got:
            self.lines.append(f"{where}: {what}: expected {brief(wanted)}, got {brief(got)}")

    def fault(self, where, text):
        self.lines.append(f"{where}: {text}")


def brief(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else f"{text[:160]}…"


def check_step(report, where, truth, reply, step):
    place = f"{where} {reply['message_id']}"
    report.expect(place, "model", reply["model"], step.get("model"))
    # After a broken connection 2.1.50 names the request before; copied history names none.
    if step.get("request_id") is not None and all(r["end"] != "broken" for r in truth["replies"]):
        report.expect(place, "request", reply["request_id"], step.get("request_id"))
    if step.get("stop_reason") is not None:
        report.expect(place, "stop reason", reply["stop_reason"], step.get("stop_reason"))
    check_blocks(report, place, reply, step)
    check_usage(report, place, truth["version"], reply, step.get("usage"))


def check_blocks(report, place, reply, step):
    wanted, got = reply["blocks"], step.get("blocks", [])
    kinds = {"text": "text", "thinking": "thinking", "tool_use": "call"}
    report.expect(place, "blocks", [kinds[b["type"]] for b in wanted], [b.get("kind") for b in got])
    for block, seen in zip(wanted, got):
        if block["type"] == "text":
            report.expect(place, "text", block["text"], seen.get("text"))
        elif block["type"] == "thinking":
            if seen.get("text") not in ("", None):
                report.expect(place, "thinking", block["thinking"], seen.get("text"))
            report.expect(place, "signature", True, seen.get("signature"))
        else:
            report.expect(place, "call", [block["id"], block["name"]], [seen.get("id"), seen.get("name")])
            check_input(report, place, block["input"], seen.get("input"))


def check_input(report, place, wanted, got):
    if isinstance(got, dict):
        got = {key: value for key, value in got.items() if key in wanted or value not in ADDED_BY_CLIENT}
    report.expect(place, "input", wanted, got)


def check_usage(report, place, version, reply, usage):
    if usage is None:
        report.fault(place, "no usage")
        return
    wanted = reply["usage"]
    fields = {
        "input": wanted["input_tokens"],
        "cache_read": wanted["cache_read_input_tokens"],
        "cache_write": wanted["cache_creation_input_tokens"],
    }
    if usage.get("cache_write_5m") is not None:
        fields["cache_write_5m"] = wanted["cache_creation"]["ephemeral_5m_input_tokens"]
        fields["cache_write_1h"] = wanted["cache_creation"]["ephemeral_1h_input_tokens"]
    for field, value in fields.items():
        report.expect(place, f"usage {field}", value, usage.get(field))
    if reply["end"] == "broken":
        return  # 2.1.325 closes such a message with a stop reason and the counts of its start
    if reply["end"] == "served" and client.within(version, since=client.FINAL_COUNTS):
        report.expect(place, "usage incomplete", False, usage.get("incomplete"))
    elif reply["end"] == "aborted":
        report.expect(place, "usage incomplete", True, usage.get("incomplete"))
    if not usage.get("incomplete"):
        report.expect(place, "usage output", wanted["output_tokens"], usage.get("output"))
    elif not 0 <= usage.get("output", -1) <= wanted["output_tokens"]:
        report.fault(place, f"usage output {usage.get('output')} is no lower bound of {wanted['output_tokens']}")


def check_result(report, where, call, result):
    place = f"{where} {call['id']}"
    if result is None:
        report.fault(place, "no result")
        return
    if result.get("status") not in ACCEPTED[call["expect"]]:
        report.expect(place, "status", call["expect"], result.get("status"))
    if call["expect_text"] and call["expect_text"] not in (result.get("text") or ""):
        report.fault(place, f"{brief(call['expect_text'])} is not in {brief(result.get('text'))}")
    reported = call["reported"]
    if reported and "image" in reported["kinds"]:
        report.expect(place, "picture", True, any(b.get("kind") == "image" for b in result.get("blocks", [])))
    if reported and reported["text"].startswith("<persisted-output>") and not result.get("persisted"):
        report.fault(place, "the output was spilled to a file, which is not named")
