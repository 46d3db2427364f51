"""What may not reach a terminal, and a terminal to try it with."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
import unicodedata

# Characters without a shape of their own that change how the rest is shown.
INVISIBLE = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C, *range(0xE0000, 0xE0080)}
COLOUR = re.compile(r"\x1b\[[0-9;:]*m")


def control_characters(output: bytes, also_invisible: bool) -> str | None:
    """Names the first control character of an output, or None."""
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start}"
    for place, character in enumerate(text):
        if character == "\n" or character.isascii() and character.isprintable():
            continue
        point = ord(character)
        if unicodedata.category(character) == "Cc" or also_invisible and point in INVISIBLE:
            return f"U+{point:04X} at character {place}"
    return None


def run_on_terminal(command: list[str], environment: dict[str, str], timeout: float = 60.0) -> tuple[int, bytes]:
    """Exit status and what a terminal of 100 columns received on standard output."""
    lead, follow = pty.openpty()
    variables = {**environment, "TERM": "xterm-256color", "COLUMNS": "100", "PAGER": "cat"}
    child = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=follow, stderr=subprocess.DEVNULL)
    os.close(follow)
    received, deadline = b"", time.monotonic() + timeout
    while time.monotonic() < deadline:
        ready, _, _ = select.select([lead], [], [], 0.2)
        if not ready:
            if child.poll() is not None:
                break
            continue
        try:
            piece = os.read(lead, 65536)
        except OSError:
            break
        if not piece:
            break
        received += piece
    os.close(lead)
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    return child.returncode, received


def terminal_fault(received: bytes) -> str | None:
    """Colour is ours; every other control sequence came from content."""
    text = COLOUR.sub("", received.decode("utf-8", "replace")).replace("\r\n", "\n")
    return control_characters(text.encode(), also_invisible=True)
