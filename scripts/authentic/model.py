"""A model on the loopback, behind two APIs: it answers what a script says, one answer for each request.

An answer has `text`, `thinking`, `calls` (each with `id`, `name` and `arguments`, or `input` for a tool that takes plain
text) and `usage` (`input`, of which `cached`, and `output`). The same script speaks the Responses API (`/responses`)
and Chat Completions (`/chat/completions`), streamed or not. What was served and what was asked is kept: that is the
truth, no file of an agent is read for it.
"""

import http.server
import json
import threading


class Model:
    """A server that plays a script; use it in a `with` statement."""

    def __init__(self, script):
        self.script, self.served, self.requests, self.refused = script, [], [], 0
        self.lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def next(self, asked):
        """The number of the answer and the answer; None when the script is over."""
        with self.lock:
            self.requests.append(asked)
            number = len(self.served)
            if number >= len(self.script):
                self.refused += 1
                return number, None
            self.served.append(self.script[number])
            return number, self.script[number]

    def answered_calls(self):
        """Ids of the served calls whose outcome the agent sent back."""
        made = {call["id"] for answer in self.served for call in answer["calls"]}
        told = set()
        for asked in self.requests:
            for message in asked.get("messages", []):
                told.add(message.get("tool_call_id"))
            items = asked.get("input")
            for item in items if isinstance(items, list) else []:
                if str(item.get("type")).endswith("_call_output"):
                    told.add(item.get("call_id"))
        return made & told

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def handler(model):
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            self.send_json({"object": "list", "data": [], "models": []})

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            number, answer = model.next(asked)
            if answer is None:
                self.send_json({"error": {"message": "the script is over"}}, status=400)
            elif self.path.endswith("/responses"):
                self.send_events(responses(number, answer))
            elif asked.get("stream"):
                self.send_events(("", chunk) for chunk in chunks(number, answer))
            else:
                self.send_json(completion(number, answer))

        def send_json(self, value, status=200):
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def send_events(self, events):
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            name = ""
            for name, data in events:
                head = f"event: {name}\n" if name else ""
                self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
            if not name:
                self.wfile.write(b"data: [DONE]\n\n")

    return Handler


def responses(number, answer):
    """An answer as events of the Responses API."""
    items = []
    if answer["thinking"]:
        items.append({"type": "reasoning", "id": f"rs_{number}", "encrypted_content": "x",
                      "summary": [{"type": "summary_text", "text": answer["thinking"]}]})
    if answer["text"]:
        items.append({"type": "message", "id": f"msg_{number}", "role": "assistant",
                      "content": [{"type": "output_text", "text": answer["text"]}]})
    for call in answer["calls"]:
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
    # The first clients go by the statuses.
    items = [{**item, "status": "completed"} for item in items]
    yield "response.created", {"type": "response.created", "response": {"id": name}}
    for place, item in enumerate(items):
        for kind in ("response.output_item.added", "response.output_item.done"):
            yield kind, {"type": kind, "output_index": place, "item": item}
    done = "response.completed"
    yield done, {"type": done, "response": {"id": name, "status": "completed", "output": items, "usage": told}}


def message(answer):
    said = {"role": "assistant", "content": answer["text"]}
    calls = [{"index": place, "id": call["id"], "type": "function",
              "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])}}
             for place, call in enumerate(answer["calls"])]
    return {**said, "tool_calls": calls} if calls else said


def usage_of(answer):
    usage = answer["usage"]
    told = {"prompt_tokens": usage["input"], "completion_tokens": usage["output"],
            "total_tokens": usage["input"] + usage["output"]}
    return {**told, "prompt_tokens_details": {"cached_tokens": usage["cached"]}}


def base(number, kind):
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 1772000000, "model": "scripted"}


def finish(answer):
    return "tool_calls" if answer["calls"] else "stop"


def completion(number, answer):
    """An answer of Chat Completions."""
    choice = {"index": 0, "finish_reason": finish(answer), "message": message(answer)}
    return {**base(number, "chat.completion"), "choices": [choice], "usage": usage_of(answer)}


def chunks(number, answer):
    """The same, streamed."""
    head = base(number, "chat.completion.chunk")
    yield {**head, "choices": [{"index": 0, "delta": message(answer), "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish(answer)}]}
    yield {**head, "choices": [], "usage": usage_of(answer)}
