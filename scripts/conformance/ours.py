"""Runs the program and keeps what a check needs of its answer.

Each call has an empty home folder, so that nothing of the machine's own
sessions can enter an answer.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class Answer:
    """How one call ended. A signal is a negative `status`."""

    status: int
    stdout: bytes
    stderr: bytes

    def fault(self) -> str | None:
        """Why this is not the answer of a healthy program, or None."""
        if self.status < 0:
            return f"killed by signal {-self.status}"
        if self.status not in (0, 1, 2):
            return f"exit status {self.status}"
        if b"panicked at" in self.stderr:
            return "panicked"
        return None


class Backstory:
    """The program under test."""

    def __init__(self, binary: Path, timeout: float = 120.0) -> None:
        self.binary = binary
        self.timeout = timeout
        self.home = tempfile.TemporaryDirectory(prefix="backstory-home-")

    def environment(self, config: Path | None = None) -> dict[str, str]:
        kept = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
        variables = {name: os.environ[name] for name in kept if name in os.environ}
        variables["HOME"] = self.home.name
        variables["RUST_BACKTRACE"] = "0"
        if config is not None:
            variables["CLAUDE_CONFIG_DIR"] = str(config)
        return variables

    def run(self, *arguments: str | Path, config: Path | None = None) -> Answer:
        command = [str(self.binary), *map(str, arguments)]
        if config is not None:
            # The check runs inside a repository, to which the program would limit itself.
            command.append("--everywhere")
        try:
            done = subprocess.run(
                command,
                env=self.environment(config),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Answer(-9, b"", f"still running after {self.timeout:.0f} s".encode())
        return Answer(done.returncode, done.stdout, done.stderr)

    def show(self, path: Path, config: Path | None = None) -> tuple[dict[str, Any] | None, str]:
        """The session as JSON, or None and the reason."""
        answer = self.run("show", path, "--format", "json", config=config)
        reason = answer.fault()
        if reason is None and answer.status == 2:
            reason = answer.stderr.decode(errors="replace").strip() or "exit status 2"
        if reason is not None:
            return None, reason
        try:
            return json.loads(answer.stdout), ""
        except ValueError as error:
            return None, f"stdout is not JSON: {error}"

    def listing(self, config: Path, *options: str) -> tuple[list[dict[str, Any]], str]:
        """The rows of `ls --json` for a configuration folder, or none and the reason."""
        answer = self.run("ls", "--json", *options, config=config)
        reason = answer.fault()
        if reason is None and answer.status == 2:
            reason = answer.stderr.decode(errors="replace").strip() or "exit status 2"
        if reason is not None:
            return [], reason
        return [json.loads(line) for line in answer.stdout.splitlines() if line], ""


def agents_within(session: dict[str, Any]) -> list[dict[str, Any]]:
    """Every subagent of a session, nested ones included, parents first."""
    found = []
    for agent in session.get("subagents") or []:
        found.append(agent)
        found.extend(agents_within(agent))
    return found
