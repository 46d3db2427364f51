"""A model behind two APIs on the loopback: it answers what a script says, one answer for each request.

An answer of a script has `text`, `calls` (each with `id`, `name` and `arguments`, or `input` for a tool that takes plain
text), `thinking` and `usage` (`input`, of which `cached`, and `output`). The same script speaks the Responses API
(`/responses`) and Chat Completions (`/chat/completions`), streamed or not. What was served is kept: it is the truth that
a reading of the agent's trace is compared with.
"""

from __future__ import annotations

import http.server
import json
import threading
from typing import Any


class Model:
    """A server that plays a script; use it in a `with` statement."""

    def __init__(self, script: list[dict[str, Any]]) -> None:
        self.script, self.served = script, []
        self.lock = threading.Lock()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self.send_json({"object": "list", "data": [], "models": []})

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
                number, answer = model.next()
                if answer is None:
                    self.send_json({"error": {"message": "the script is over"}}, status=400)
                elif self.path.endswith("/responses"):
                    self.send_events(responses(number, answer))
                elif asked.get("stream"):
                    self.send_events(("", chunk) for chunk in chunks(number, answer))
                else:
                    self.send_json(completion(number, answer))

            def send_json(self, value: Any, status: int = 200) -> None:
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def send_events(self, events: Any) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for name, data in events:
                    head = f"event: {name}\n" if name else ""
                    self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
                if not name:
                    self.wfile.write(b"data: [DONE]\n\n")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def next(self) -> tuple[int, dict[str, Any] | None]:
        with self.lock:
            number = len(self.served)
            if number >= len(self.script):
                return number, None
            self.served.append(self.script[number])
            return number, self.script[number]

    def __enter__(self) -> Model:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def responses(number: int, answer: dict[str, Any]):
    """An answer as events of the Responses API."""
    items: list[dict[str, Any]] = []
    if answer.get("thinking"):
        items.append({"type": "reasoning", "id": f"rs_{number}", "encrypted_content": "x",
                      "summary": [{"type": "summary_text", "text": answer["thinking"]}]})
    if answer.get("text"):
        items.append({"type": "message", "id": f"msg_{number}", "role": "assistant",
                      "content": [{"type": "output_text", "text": answer["text"]}]})
    for call in answer.get("calls", []):
        common = {"id": f"item_{call['id']}", "call_id": call["id"], "name": call["name"]}
        if "input" in call:
            items.append({"type": "custom_tool_call", **common, "input": call["input"]})
        else:
            items.append({"type": "function_call", **common, "arguments": json.dumps(call["arguments"])})
    usage = answer["usage"]
    told = {"input_tokens": usage["input"], "input_tokens_details": {"cached_tokens": usage["cached"]},
            "output_tokens": usage["output"], "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage["input"] + usage["output"]}
    name = f"resp_{number}"
    yield "response.created", {"type": "response.created", "response": {"id": name}}
    for place, item in enumerate(items):
        for kind in ("response.output_item.added", "response.output_item.done"):
            yield kind, {"type": kind, "output_index": place, "item": item}
    done = "response.completed"
    yield done, {"type": done, "response": {"id": name, "output": items, "usage": told}}


def message(answer: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": answer.get("text", "")}
    calls = [{"id": call["id"], "type": "function",
              "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])}}
             for call in answer.get("calls", [])]
    return {**said, "tool_calls": calls} if calls else said


def usage_of(answer: dict[str, Any]) -> dict[str, Any]:
    usage = answer["usage"]
    return {"prompt_tokens": usage["input"], "completion_tokens": usage["output"],
            "total_tokens": usage["input"] + usage["output"], "prompt_tokens_details": {"cached_tokens": usage["cached"]}}


def completion(number: int, answer: dict[str, Any]) -> dict[str, Any]:
    """An answer of Chat Completions."""
    reason = "tool_calls" if answer.get("calls") else "stop"
    return {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1772000000, "model": "scripted",
            "choices": [{"index": 0, "finish_reason": reason, "message": message(answer)}], "usage": usage_of(answer)}


def chunks(number: int, answer: dict[str, Any]):
    """The same, streamed."""
    base = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1772000000, "model": "scripted"}
    yield {**base, "choices": [{"index": 0, "delta": message(answer), "finish_reason": None}]}
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage_of(answer)}
