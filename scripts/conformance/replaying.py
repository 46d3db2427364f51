"""How near `backstory replay` comes to what its concurrency allows, and what memory it takes.

usage: replaying.py FOLDER   (the folder that holds backstory and backstory-teacher)

A scripted teacher answers after 50 ms. Ideal is calls x 50 ms / concurrency; measured is the time
from the first line `sent` of the journal to the last line `call`. Bare is a loop of Python's http.client
that posts the same bodies on as many threads and does nothing else: on a busy machine no client reaches
the ideal, and that is what there is to reach. Memory is the peak at two numbers of
states that differ by a factor of ten, in conversations of the same length.
"""

from __future__ import annotations

import datetime
import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True

from measure import exact_peak  # noqa: E402

LATENCY = 0.05


def write_states(path: Path, conversations: int, each: int) -> int:
    with path.open("w") as out:
        for number in range(conversations):
            messages, states = [], []
            for at in range(each):
                messages.append({"role": "user", "content": f"session {number} state {at}: " + "go on " * 60})
                states.append({"kept": [], "from": 0, "upto": len(messages), "meta": {"session_id": f"s{number}"},
                               "state_id": f"s{number}:{at}", "student_action": "done"})
                messages.append({"role": "assistant", "content": "done " * 20})
            line = {"session_id": f"s{number}", "system": [], "tools": [], "messages": messages, "states": states}
            out.write(json.dumps(line) + "\n")
    return conversations * each


class Teacher:
    """A scripted teacher for as long as it is needed."""

    def __init__(self, program: Path, latency: float) -> None:
        command = [str(program), "--latency", str(round(latency * 1000)), "--quit-on-input"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def __enter__(self) -> Teacher:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait()


def replay(program: Path, folder: Path, url: str, concurrency: int, environment: dict[str, str]):
    """One run; its cost, and the seconds from the first call to the last."""
    settings = folder / "teachers.toml"
    settings.write_text(
        f'[[teacher]]\nid = "t"\nmodel = "m"\nbase_url = "{url}"\nconcurrency = {concurrency}\n'
        "price = { input = 1, output = 1 }\n"
    )
    journal = folder / "run.jsonl"
    for old in (journal, folder / "run.states.jsonl"):
        old.unlink(missing_ok=True)
    command = [str(program), "replay", str(folder / "states.jsonl"), "--send", "--teachers-from", str(settings),
               "--journal", str(journal)]
    cost = exact_peak(command, environment)
    if cost.status != 0:
        raise RuntimeError(f"replay ended with {cost.status}")
    times = []
    calls = 0
    with journal.open() as lines:
        for line in lines:
            entry = json.loads(line)
            if entry["kind"] in ("sent", "call"):
                times.append(datetime.datetime.fromisoformat(entry["at"][:26].rstrip("Z") + "+00:00"))
                calls += entry["kind"] == "call"
    return cost, calls, (max(times) - min(times)).total_seconds()


def bare(url: str, bodies: list[list[bytes]], concurrency: int) -> float:
    """Seconds that plain threads need for the same calls, conversation by conversation."""
    address = url.removeprefix("http://").removesuffix("/v1")
    waiting = list(bodies)
    lock = threading.Lock()

    def work() -> None:
        connection = http.client.HTTPConnection(address)
        while True:
            with lock:
                if not waiting:
                    return
                conversation = waiting.pop()
            for body in conversation:
                connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
                connection.getresponse().read()

    threads = [threading.Thread(target=work) for _ in range(concurrency)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - began


def bodies_of(program: Path, folder: Path, environment: dict[str, str]) -> list[list[bytes]]:
    """What would be sent, by conversation."""
    command = [str(program), "replay", str(folder / "states.jsonl"), "--preview", str(folder / "preview.jsonl"),
               "--teachers-from", str(folder / "teachers.toml"), "--journal", str(folder / "none.jsonl")]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    told: dict[str, list[bytes]] = {}
    with (folder / "preview.jsonl").open() as lines:
        for line in lines:
            session = json.loads(line)["state_id"].split(":")[0]
            told.setdefault(session, []).append(line.split('"body":', 1)[1].rstrip()[:-1].encode())
    return list(told.values())


def replaying(programs: Path, environment: dict[str, str]) -> list[str]:
    backstory, teacher = programs / "backstory", programs / "backstory-teacher"
    lines = ["## Replay against a teacher that takes 50 ms", "",
             "| concurrency | calls | measured | ideal | share of ideal | bare | share of bare | CPU |",
             "|---:|---:|---:|---:|---:|---:|---:|---:|"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for concurrency in (4, 16, 64):
            total = write_states(folder / "states.jsonl", concurrency * 2, 30)
            with Teacher(teacher, LATENCY) as there:
                cost, calls, seconds = replay(backstory, folder, there.url, concurrency, environment)
            with Teacher(teacher, LATENCY) as there:
                plain = bare(there.url, bodies_of(backstory, folder, environment), concurrency)
            if calls != total:
                raise RuntimeError(f"{calls} calls of {total}")
            ideal = calls * LATENCY / concurrency
            lines.append(f"| {concurrency} | {calls:,} | {seconds:.2f} s | {ideal:.2f} s | "
                         f"{100 * ideal / seconds:.0f}% | {plain:.2f} s | {100 * plain / seconds:.0f}% | "
                         f"{cost.processor:.2f} s |")
        lines += ["", "| states | peak memory |", "|---:|---:|"]
        for conversations in (100, 1000):
            total = write_states(folder / "states.jsonl", conversations, 20)
            with Teacher(teacher, 0) as there:
                cost, _, _ = replay(backstory, folder, there.url, 8, environment)
            lines.append(f"| {total:,} | {cost.peak / 1e6:.1f} MB |")
    return lines


if __name__ == "__main__":
    print("\n".join(replaying(Path(sys.argv[1]), {"HOME": tempfile.gettempdir(), "PATH": "/usr/bin:/bin"})))
