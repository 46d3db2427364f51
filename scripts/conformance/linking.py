"""A repository of many commits and sessions that edited many of its files, for the cost of `link`."""

from __future__ import annotations

import datetime
import json
import random
import subprocess
from pathlib import Path

COMMITS, FILES, SESSIONS, EDITED = 4300, 1200, 4, 195
BEGIN = 1_770_000_000


def name(number: int) -> str:
    return f"src/part{number % 8}/group{number // 8 % 8}/module_{number}.py"


def write_repository(folder: Path) -> tuple[Path, Path]:
    """The repository and a folder with the sessions; each session wrote lines that were committed later."""
    repository, sessions = folder / "repository", folder / "sessions"
    if repository.exists():
        return repository, sessions
    chance = random.Random(7)
    content = {number: [f"def f_{number}_{line}(x): return x * {line} + {number}" for line in range(40)]
               for number in range(FILES)}
    stream: list[bytes] = []
    written: dict[int, list[tuple[int, str]]] = {number: [] for number in range(SESSIONS)}
    for commit in range(COMMITS):
        time = BEGIN + 600 * commit
        message = f"Commit {commit}".encode()
        stream.append(b"commit refs/heads/main\ncommitter T <t@example.com> %d +0000\ndata %d\n%s\n"
                      % (time, len(message), message))
        for number in range(FILES) if commit == 0 else chance.sample(range(FILES), chance.randint(1, 6)):
            if commit:
                line = f"def changed_{commit}_{number}(value): return value - {chance.randrange(10**6)}  # as of now"
                content[number][chance.randrange(40)] = line
                if number < EDITED:
                    written[commit % SESSIONS].append((number, line))
            text = ("\n".join(content[number]) + "\n").encode()
            stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name(number).encode(), len(text), text))
    repository.mkdir(parents=True)
    git = ["git", "-C", str(repository)]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    subprocess.run([*git, "fast-import", "--quiet"], input=b"".join(stream), check=True)
    subprocess.run([*git, "gc", "-q"], check=True)
    sessions.mkdir()
    for number, lines in written.items():
        write_session(sessions, number, repository.resolve(), lines)
    return repository, sessions


def write_session(folder: Path, number: int, repository: Path, lines: list[tuple[int, str]]) -> None:
    """Edits of every file, all before the first commit that holds one of them."""
    session = f"11111111-1111-4111-8111-{number:012}"
    time = datetime.datetime.fromtimestamp(BEGIN + 60, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    records: list[dict] = []

    def add(kind: str, message: dict, **more: object) -> None:
        parent = records[-1]["uuid"] if records else None
        records.append({"type": kind, "uuid": f"22222222-{number:04}-4111-8111-{len(records):012}", "parentUuid": parent,
                        "sessionId": session, "cwd": str(repository), "version": "2.1.100", "isSidechain": False,
                        "userType": "external", "timestamp": time, "message": message, **more})

    add("user", {"role": "user", "content": "Work."})
    by_file: dict[int, list[str]] = {file: [] for file in range(EDITED)}
    for file, line in lines:
        by_file[file].append(line)
    for file, own in by_file.items():
        path, text = str(repository / name(file)), "\n".join([f"# module {file}", *own]) + "\n"
        add("assistant", {"id": f"msg_{number}_{file}", "role": "assistant", "model": "claude-opus-5", "stop_reason": "tool_use",
                          "content": [{"type": "tool_use", "id": f"toolu_{file}", "name": "Write",
                                       "input": {"file_path": path, "content": text}}],
                          "usage": {"input_tokens": 1, "output_tokens": 1}})
        add("user", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{file}", "content": "ok"}]},
            toolUseResult={"type": "create", "filePath": path, "content": text, "structuredPatch": [], "originalFile": None})
    (folder / f"{session}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
