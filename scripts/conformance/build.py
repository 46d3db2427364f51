"""Builds the programs that the checks run, and says where they are: the release build, or the one
that BACKSTORY_PROFILE names."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Programs:
    """Paths of built programs; `example` gives those of a crate's examples folder."""

    folder: Path

    @property
    def backstory(self) -> Path:
        return self.folder / "backstory"

    @property
    def generate(self) -> Path:
        return self.folder / "backstory-generate"

    def example(self, name: str) -> Path:
        return self.folder / "examples" / name


def build() -> Programs:
    """One cargo call for everything, so that later steps find nothing to build."""
    profile = os.environ.get("BACKSTORY_PROFILE", "release")
    subprocess.run(
        ["cargo", "build", "--profile", profile, "--workspace", "--bins", "--examples", "--quiet"],
        cwd=ROOT,
        check=True,
    )
    answer = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version", "1"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return Programs(Path(json.loads(answer.stdout)["target_directory"]) / {"dev": "debug"}.get(profile, profile))


def account(programs: Programs, files: list[Path]) -> dict[Path, dict]:
    """What the record layer says of each file, by path."""
    told: dict[Path, dict] = {}
    for start in range(0, len(files), 500):
        batch = files[start : start + 500]
        done = subprocess.run(
            [str(programs.example("account")), *map(str, batch)],
            check=True,
            capture_output=True,
        )
        for line in done.stdout.splitlines():
            one = json.loads(line)
            told[Path(one["path"])] = one
    return told
