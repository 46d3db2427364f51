"""What counting tokens costs, beside ccusage, and where that program comes from."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

from build import ROOT

CCUSAGE = "20.0.24"


def ccusage() -> Path | None:
    """The native program of ccusage, installed once into .cache/ccusage with npm."""
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system())
    machine = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine())
    package = f"@ccusage/ccusage-{system}-{machine}"
    folder = ROOT / ".cache" / "ccusage"
    program = folder / "node_modules" / package / "bin" / "ccusage"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        words = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), f"{package}@{CCUSAGE}"]
        try:
            made = subprocess.run(words, capture_output=True, text=True, check=False)
        except OSError as error:
            print(f"note: ccusage cannot be installed: {error}", file=sys.stderr)
            return None
        if made.returncode != 0 or not program.exists():
            print(f"note: ccusage cannot be installed: {made.stderr.strip()[:200]}", file=sys.stderr)
            return None
        os.chmod(program, 0o755)
    return program


def words(program: Path) -> list[str]:
    """Its daily report, without asking the network for prices."""
    return [str(program), "claude", "daily", "--offline", "--json"]
