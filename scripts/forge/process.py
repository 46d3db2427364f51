"""One process of the client: its environment, its command line, and talking to it.

Either it gets one prompt as an argument and prints one result, or it takes prompts as JSON lines on standard input,
which allows several, typed in turn or while the model works, and answers to its questions for permission.
"""

import json
import os
import queue
import subprocess
import threading
import time

import scenario as scenarios

KEY = "forge-key-0000000000000000000000000000"
TOOLS = "Write Edit MultiEdit NotebookEdit Bash Read Glob Grep Task Agent TodoWrite"
LIMIT = 180.0
"""Seconds that a client may take for one thing: a busy machine is slow, and a client that hangs is rare."""


class Failed(Exception):
    """The client did not play along; the message says how."""


def environment(home, config, port):
    """A clean environment: nothing of the caller's but PATH."""
    return {
        "HOME": str(home),
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "CLAUDE_CONFIG_DIR": str(config),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def prepare_config(config, project):
    """As after a first start: the key approved and the folder trusted, which headless runs cannot be asked."""
    config.mkdir(parents=True)
    settings = {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True, "allowedTools": []}},
    }
    (config / ".claude.json").write_text(json.dumps(settings), encoding="utf-8")


def command(program, run, session):
    words = [str(program), "-p", "--allowedTools", *run.get("allow", TOOLS).split(), *run.get("flags", [])]
    if run.get("resume") and session:
        words += ["--resume", session]
        if run["resume"] == "fork":
            words.append("--fork-session")
    return words


def run_print(words, prompts, where, variables):
    """One prompt, one process."""
    [prompt] = prompts
    done = subprocess.run(
        [*words, "--output-format", "json", prompt["text"]],
        cwd=where,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    try:
        said = list(json_values(done.stdout))
    except ValueError:
        raise Failed(f"the client said: {done.stdout[-300:]}{done.stderr[-300:]} (exit {done.returncode})") from None
    parts = [part for value in said for part in (value if isinstance(value, list) else [value])]
    return done.returncode, [part for part in parts if part.get("type", "result") == "result"]


def json_values(text):
    """The JSON values of a text, one or more: 2.1.160 prints a result for each turn that a background agent adds."""
    text, decoder = text.strip(), json.JSONDecoder()
    while True:
        value, end = decoder.raw_decode(text)
        yield value
        text = text[end:].strip()
        if not text:
            return


class Stream:
    """A client that takes prompts on standard input as JSON lines, and answers there."""

    def __init__(self, words, where, variables, deny):
        self.deny, self.results, self.lines, self.controls = deny, [], queue.Queue(), 0
        self.records = {}
        self.process = subprocess.Popen(
            [*words, "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"],
            cwd=where,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.complaints = []
        threading.Thread(target=self.read_output, daemon=True).start()
        threading.Thread(target=lambda: self.complaints.extend(self.process.stderr), daemon=True).start()

    def read_output(self):
        for line in self.process.stdout:
            try:
                self.lines.put(json.loads(line))
            except ValueError:
                self.complaints.append(line)
        self.lines.put(None)

    def send(self, value):
        try:
            self.process.stdin.write(json.dumps(value, ensure_ascii=False) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Failed(f"the client hung up: {''.join(self.complaints)[-300:]}") from error

    def prompt(self, content):
        message = {"role": "user", "content": content}
        self.send({"type": "user", "message": message, "parent_tool_use_id": None, "session_id": ""})

    def control(self, request):
        """Asks the client itself for something, such as to interrupt or to rename the session."""
        self.controls += 1
        self.send({"type": "control_request", "request_id": f"forge-{self.controls}", "request": request})

    def wait_for(self, kind):
        """Reads output up to a line of a kind, answering the client's questions on the way.

        Returns the line, or None when the output ended.
        """
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise Failed(f"no {kind} in {LIMIT:.0f} s: {''.join(self.complaints)[-300:]}") from None
            if line is None:
                return None
            if line.get("type") == "result":
                self.results.append(line)
            if line.get("type") == "assistant" and "uuid" in line:
                self.records[line["message"]["id"]] = line["uuid"]
            if line.get("type") == "control_request" and line["request"].get("subtype") == "can_use_tool":
                self.answer_question(line)
            if line.get("type") == kind:
                return line

    def answer_question(self, line):
        name = line["request"].get("tool_name")
        if name in self.deny:
            answer = {"behavior": "deny", **self.deny[name]}
        else:
            answer = {"behavior": "allow", "updatedInput": line["request"].get("input", {})}
        body = {"subtype": "success", "request_id": line["request_id"], "response": answer}
        self.send({"type": "control_response", "response": body})

    def finish(self):
        """Closes standard input and waits for the end, counting turns that still come."""
        self.process.stdin.close()
        while self.wait_for("result"):
            pass
        return self.process.wait(timeout=LIMIT)


def run_stream(words, run, script, first, where, variables):
    """Several prompts into one process: in turn, or while a reply is on its way."""
    stream = Stream(words, where, variables, run.get("deny", {}))
    try:
        for number, prompt in enumerate(run["prompts"]):
            during = prompt.get("during_reply")
            if during is None:
                if number:
                    stream.wait_for("result")
                stream.prompt(scenarios.prompt_content(prompt, where))
            else:
                if not script.wait_for_request("main", first + during, LIMIT):
                    raise Failed(f"reply {during} was never asked for, so prompt {number} could not be sent during it")
                stream.prompt(scenarios.prompt_content(prompt, where))
                script.release(("prompt", first + during))
        if "interrupt_during_reply" in run:
            script.wait_for_request("main", first + run["interrupt_during_reply"], LIMIT)
            # What the client has printed it has heard; how long that takes depends on the machine.
            stream.wait_for("assistant")
            time.sleep(1.0)
            stream.control({"subtype": "interrupt"})
        stream.wait_for("result")
        for request in run.get("controls", []):
            stream.control(request)
            answer = (stream.wait_for("control_response") or {}).get("response", {})
            if answer.get("subtype") != "success":
                raise Failed(f"{request['subtype']}: {answer.get('error', 'no answer')}")
        code = stream.finish()
    finally:
        if stream.process.poll() is None:
            stream.process.kill()
    return code, stream.results, stream.records
