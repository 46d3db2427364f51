"""A scripted Messages API on loopback: what the real client talks to instead of a model.

It answers each request from a script and notes what it served, so the notes are the truth about a session:
message ids, blocks, usage, which agent asked, which tool results came back. It never looks at a session file.

Requests without tools are side business of the client (titles, command prefixes) and use up no scripted reply.

Surprising: replies are streamed with pauses. A client that receives a whole reply in one packet writes the final
token counts into records that in real use hold only the counts of the stream's start.
"""

import http.server
import json
import sys
import threading
import time

import purpose

EVENT_PAUSE = 0.005
BLOCK_PAUSE = 0.12
"""After a block that is not the last: longer than the client's write buffer waits (100 ms in 2.x)."""
FINAL_PAUSE = 0.04
"""Between the last block and the final counts, for clients that write each block at once (until 2.1.58)."""
STALL_LIMIT = 120.0


def usage_of(conversation, index):
    """Token counts that differ for every message, so that a mistaken sum is a wrong sum."""
    number = conversation.ordinal * 40 + index
    short, long = 31 + number, 5 + number
    return {
        "input_tokens": 11 + 7 * number,
        "cache_creation_input_tokens": short + long,
        "cache_read_input_tokens": 2000 + 13 * number,
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long},
        "output_tokens": 300 + 17 * number,
        "service_tier": "standard",
    }


def finished_blocks(reply, conversation, index):
    """The blocks with their tool call ids filled in."""
    blocks = []
    for position, block in enumerate(reply["blocks"]):
        block = dict(block)
        if block["type"] == "tool_use":
            block.setdefault("id", f"toolu_01Forge{conversation.name.capitalize()}{index:04d}{position:02d}")
        blocks.append(block)
    return blocks


def wire_block(block):
    """A block as the API sends it: the scenario's own annotations left out."""
    kept = {"text": ("text",), "thinking": ("thinking", "signature"), "tool_use": ("id", "name", "input")}
    return {"type": block["type"], **{key: block[key] for key in kept[block["type"]] if key in block}}


def events(message, blocks, usage):
    """The server-sent events of one reply; the last two carry the final counts."""
    begun = {**usage, "output_tokens": 1 + usage["output_tokens"] % 3}
    yield "message_start", {"message": {**message, "content": [], "stop_reason": None, "usage": begun}}
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            start = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": part} for part in halves(block["text"])]
        elif block["type"] == "thinking":
            start = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        else:
            start = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
            written = json.dumps(block["input"], ensure_ascii=False)
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in halves(written)]
        yield "content_block_start", {"index": index, "content_block": start}
        for delta in deltas:
            yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    final = {key: usage[key] for key in usage if key.endswith("_tokens")}
    yield "message_delta", {"delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": final}
    yield "message_stop", {}


def halves(text):
    middle = len(text) // 2
    return [part for part in (text[:middle], text[middle:]) if part]


def chunk(name, data):
    """A server-sent event as a chunk of the body."""
    payload = f"event: {name}\ndata: {json.dumps({'type': name, **data}, ensure_ascii=False)}\n\n".encode()
    return f"{len(payload):x}\r\n".encode() + payload + b"\r\n"


class Api(http.server.BaseHTTPRequestHandler):
    """One connection of the client. The script hangs on the server object."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 20

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_json(200, {})

    do_GET = do_HEAD

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw or b"{}")
        script = self.server.script
        if self.server.log:
            with script.lock, open(self.server.log, "a", encoding="utf-8") as log:
                log.write(json.dumps({"path": self.path, "body": body}) + "\n")
        if "count_tokens" in self.path:
            return self.send_json(200, {"input_tokens": 100})
        if "/messages" not in self.path:
            return self.send_json(200, {})
        kind = purpose.purpose_of(body)
        if kind != "turn":
            return self.serve_side(body, kind)
        conversation, request, reply = script.take(body)
        script.hold(reply)
        if "error" in reply:
            return self.refuse(request, reply["error"])
        self.serve(body, conversation, request, reply)

    def refuse(self, request, error):
        script = self.server.script
        with script.lock:
            script.refusals.append(
                {"request": request["number"], "run": request["run"], "agent": request["agent"], **error}
            )
        self.send_json(
            error["status"],
            {"type": "error", "error": {"type": error["type"], "message": error["message"]}},
            {"retry-after": "0", "x-should-retry": "true" if error.get("retry") else "false"},
        )

    def serve(self, body, conversation, request, reply):
        script, index = self.server.script, request["index"]
        blocks = finished_blocks(reply, conversation, index)
        usage = {**usage_of(conversation, index), **reply.get("usage", {})}
        calls = any(block["type"] == "tool_use" for block in blocks)
        message = {
            "id": f"msg_01Forge{conversation.name.capitalize()}{index:04d}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "claude"),
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
        }
        note = {
            "agent": conversation.name,
            "index": index,
            "request": request["number"],
            "request_id": f"req_01Forge{conversation.name.capitalize()}{index:04d}",
            "run": request["run"],
            "session": request["session"],
            "message_id": message["id"],
            "model": message["model"],
            "stop_reason": message["stop_reason"],
            "blocks": blocks,
            "usage": usage,
            "end": None,
        }
        with script.lock:
            script.replies.append(note)
        end = self.send_message(body, message, blocks, usage, note["request_id"], reply)
        with script.lock:
            note["end"] = "cut" if reply.get("cut") else "broken" if "break" in reply else end
            note["blocks"] = blocks[: reply.get("stall", reply.get("break", len(blocks))) + 1]
            script.lock.notify_all()

    def serve_side(self, body, kind):
        script = self.server.script
        text = purpose.side_answer(body, kind, self.server.side_texts)
        with script.lock:
            number = len(script.side)
            note = {"purpose": kind, "run": script.run, "session": purpose.session_of(body), "text": text}
            if kind == "compaction":
                note["after"] = len(script.requests)
                script.results.update(purpose.results_of(body))
                script.conversation_of(body).compacted()
            script.side.append(note)
        message = {
            "id": f"msg_01ForgeSide{number:04d}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "claude"),
            "stop_reason": "end_turn",
            "stop_sequence": None,
        }
        usage = {"input_tokens": 3, "output_tokens": 4, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        self.send_message(body, message, [{"type": "text", "text": text}], usage, f"req_01ForgeSide{number:04d}", {})

    def send_message(self, body, message, blocks, usage, request_id, reply):
        """Sends a reply; returns "served", or "aborted" when the client hung up before its end."""
        blocks = [wire_block(block) for block in blocks]
        try:
            if body.get("stream"):
                self.stream(list(events(message, blocks, usage)), request_id, reply)
            else:
                self.send_json(200, {**message, "content": blocks, "usage": usage}, {"request-id": request_id})
        except OSError:
            self.close_connection = True
            return "aborted"
        return "served"

    def stream(self, sequence, request_id, reply):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("request-id", request_id)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        last = max(data["index"] for name, data in sequence if name == "content_block_stop")
        for name, data in sequence:
            if name == "content_block_start" and data["index"] > 0:
                time.sleep(BLOCK_PAUSE)
            self.wfile.write(chunk(name, data))
            if name == "content_block_stop" and data["index"] == reply.get("stall"):
                self.stall()
            if name == "content_block_stop" and data["index"] == reply.get("break"):
                raise BrokenPipeError
            if name == "content_block_stop" and data["index"] == last:
                self.wait_for_final_counts()
            elif name != "message_delta":
                self.pause(EVENT_PAUSE)
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def wait_for_final_counts(self):
        """With the real API the final counts follow the last block at once.

        A client that keeps records back for 100 ms therefore writes the last one with them; so that this is no
        race, such a client gets both in one packet. A client that writes each block at once has to have done so.
        """
        if not self.server.buffered:
            self.pause(FINAL_PAUSE)

    def pause(self, seconds):
        """Sends what there is, as a packet of its own."""
        self.wfile.flush()
        time.sleep(seconds)

    def stall(self):
        """Sends nothing but pings until the client hangs up: a reply that is to be interrupted."""
        deadline = time.monotonic() + STALL_LIMIT
        while time.monotonic() < deadline:
            self.wfile.write(chunk("ping", {}))
            self.pause(0.1)

    def send_json(self, status, value, headers=None):
        payload = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload)
        self.wfile.flush()


class LoopbackServer(http.server.ThreadingHTTPServer):
    """Listens until the process ends; a client that hangs up is nothing to report."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def start(script, side_texts, buffered, log):
    """Starts the API in a thread; returns the server, whose `server_port` is what to talk to."""
    server = LoopbackServer(("127.0.0.1", 0), Api)
    server.script, server.side_texts, server.log = script, side_texts, log
    server.buffered = buffered
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
