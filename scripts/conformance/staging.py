"""Places session files where a reader of Claude Code's folder expects them.

A staged configuration folder is `LAYER/projects/KEY/ID.jsonl`. Two files with
one session id cannot stand in the same folder tree, because the official
reader looks a session up by id alone: each repetition goes to a further layer.
Nothing here looks at more of a file than is needed to learn its session id.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import stat
import tarfile
import uuid
from pathlib import Path

SESSION_ID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Staged:
    """One session file in its place; `label` names the file it is a copy of."""

    config: Path
    path: Path
    label: str

    @property
    def id(self) -> str:
        return self.path.stem


def unpack(archive: Path, into: Path) -> None:
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(into, filter="data")
        else:
            packed.extractall(into)


def first_session_id(path: Path) -> str | None:
    """The session id of the first record that has one."""
    with path.open("rb") as file:
        for line in file:
            if b'"sessionId"' not in line:
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict) and isinstance(record.get("sessionId"), str):
                return record["sessionId"]
    return None


def session_id_for(path: Path, label: str) -> str:
    """File name, else recorded id, else a folder's name, else one made from the label."""
    recorded = first_session_id(path)
    for candidate in (path.stem, recorded, path.parent.name):
        if candidate and SESSION_ID.match(candidate):
            return candidate.lower()
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"backstory:{label}"))


def project_key(text: str) -> str:
    key = re.sub(r"[^A-Za-z0-9]", "-", text)
    return key if len(key) <= 120 else key[-120:]


def is_agent_file(path: Path) -> bool:
    return path.name.startswith("agent-")


def stage_files(files: list[Path], base: Path, into: Path) -> list[Staged]:
    """Copies loose session files, and agent files beside the session they belong to."""
    staged: list[Staged] = []
    taken: list[set[str]] = []
    homes: dict[tuple[Path, str], Path] = {}
    sessions = [path for path in files if not is_agent_file(path)]
    # An agent file whose session is not there is staged as a session of its own.
    agents = [path for path in files if is_agent_file(path)]
    known = {(path.parent, session_id_for(path, "")) for path in sessions}
    alone = [path for path in agents if (path.parent, first_session_id(path)) not in known]
    for path in sorted(sessions) + sorted(alone):
        label = str(path.relative_to(base))
        session = session_id_for(path, label)
        layer = next((n for n, ids in enumerate(taken) if session not in ids), len(taken))
        if layer == len(taken):
            taken.append(set())
        taken[layer].add(session)
        config = into / f"{layer:03}"
        folder = config / "projects" / project_key(str(path.parent.relative_to(base)))
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{session}.jsonl"
        shutil.copy2(path, target)
        homes.setdefault((path.parent, session), folder)
        staged.append(Staged(config, target, label))
    for path in agents:
        folder = homes.get((path.parent, first_session_id(path)))
        if folder is not None and path not in alone:
            shutil.copy2(path, folder / path.name)
    return staged


def copy_regular(source: Path, target: Path) -> None:
    """Copies a tree without anything that is not a regular file or a folder."""
    for folder, folders, names in os.walk(source):
        place = target / Path(folder).relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        folders.sort()
        for name in names:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode) and os.access(path, os.R_OK):
                shutil.copy2(path, place / name)


def stage_tree(tree: Path, into: Path) -> list[Staged]:
    """Copies a configuration folder's projects; its sessions are the files named by an id."""
    copy_regular(tree / "projects", into / "projects")
    staged = []
    for path in sorted((into / "projects").glob("*/*.jsonl")):
        if SESSION_ID.match(path.stem):
            staged.append(Staged(into, path, f"{tree.name}/{path.parent.name}/{path.name}"))
    return staged


def staged_below(sessions: list[Path], trees: list[Path], into: Path) -> dict[Path, list[Staged]]:
    """Everything that the named folders hold, by folder: loose files of `sessions`, whole trees below `trees`.

    A folder that holds nothing ends the check: it was named to be compared.
    """
    found: dict[Path, list[Staged]] = {}
    for number, folder in enumerate(sessions):
        files = sorted(folder.rglob("*.jsonl"))
        found[folder] = stage_files(files, folder, into / f"sessions-{number}")
    for number, folder in enumerate(trees):
        below = sorted({place.parent for place in folder.rglob("projects") if place.is_dir()})
        staged = (stage_tree(tree, into / f"tree-{number}-{at}") for at, tree in enumerate(below))
        found[folder] = [one for members in staged for one in members]
    if not found:
        raise SystemExit("failed: no folder is named")
    if empty := [str(folder) for folder, staged in found.items() if not staged]:
        raise SystemExit(f"failed: no session in {', '.join(empty)}")
    return found
