"""What it costs to turn a tree into pages and documents, beside two peers."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

from build import ROOT, Programs
from measure import Cost, exact_peak

PEERS = ["claude-code-log==1.7.0", "claude-code-transcripts==0.6"]


@dataclasses.dataclass
class Rendering:
    name: str
    output: Path
    cost: Cost

    @property
    def size(self) -> int:
        return sum(path.stat().st_size for path in self.output.rglob("*") if path.is_file())


def peers() -> Path | None:
    """The folder of the peers' programs, installed once into .cache/peers."""
    folder = ROOT / ".cache" / "peers"
    if not (folder / "bin" / "claude-code-transcripts").exists():
        made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, check=False)
        pip = [folder / "bin" / "python", "-m", "pip", "install", "-q", *PEERS]
        if made.returncode != 0 or subprocess.run(pip, capture_output=True, check=False).returncode != 0:
            print("note: the peers cannot be installed", file=sys.stderr)
            return None
    return folder / "bin"


def rendering(programs: Programs, root: Path, scratch: Path, environment: dict[str, str]) -> list[str]:
    ours, projects = str(programs.backstory), str(root / "projects")
    commands = {
        f"show --all, {name}": lambda out, name=name: [ours, "show", "--all", "--root", str(root), "--format", name, "--out", out, "-q"]
        for name in ("html", "md")
    }
    folder = peers()
    if folder:
        log, transcripts = str(folder / "claude-code-log"), str(folder / "claude-code-transcripts")
        every = ["--all-projects", "--projects-dir", projects, "-j", "2"]
        commands |= {
            "claude-code-log, html": lambda out: [log, *every, "-o", out],
            "claude-code-log, md": lambda out: [log, *every, "-f", "md", "-o", out],
            "claude-code-transcripts, html": lambda out: [transcripts, "all", "-s", projects, "-o", out, "--include-agents", "-q"],
        }
    size = sum(path.stat().st_size for path in root.rglob("*.jsonl"))
    done: dict[str, Rendering] = {}
    for name, command in commands.items():
        mine = name.startswith("show")
        best: Rendering | None = None
        for number in range(3 if mine else 1):
            output = scratch / "rendered" / f"{len(done)}-{number}"
            home = scratch / "rendered" / f"home-{len(done)}-{number}"
            home.mkdir(parents=True)
            # One peer keeps what it parsed beside the sessions; every run starts cold.
            (root / "projects" / "claude-code-log-cache.db").unlink(missing_ok=True)
            cost = exact_peak(command(str(output)), {**environment, "HOME": str(home)}, timeout=1800)
            if cost.status != 0:
                print(f"note: `{name}` ended with status {cost.status}", file=sys.stderr)
            one = Rendering(name, output, cost)
            if best is None or cost.processor < best.cost.processor:
                best = one
            os.sync()
        done[name] = best
    again = exact_peak(commands["show --all, html"](str(done["show --all, html"].output)), environment)
    lines = [f"## Rendering {size / 1e6:,.0f} MB", "",
             "| command | s | CPU s | peak MB | output ÷ input |", "|---|---:|---:|---:|---:|"]
    for one in done.values():
        lines.append(f"| {one.name} | {one.cost.wall:.2f} | {one.cost.processor:.2f} | {one.cost.peak / (1 << 20):.0f}"
                     f" | {one.size / size:.2f} |")
    lines += [f"| show --all, html, nothing changed | {again.wall:.2f} | {again.processor:.2f} | {again.peak / (1 << 20):.0f} | |", ""]
    for peer, mine, wanted in (
        ("claude-code-log, html", "show --all, html", 40),
        ("claude-code-transcripts, html", "show --all, html", 15),
        ("claude-code-log, md", "show --all, md", 40),
    ):
        if peer in done:
            ratio = done[peer].cost.processor / done[mine].cost.processor
            memory = done[peer].cost.peak / done[mine].cost.peak
            lines.append(f"{peer} ÷ {mine}: CPU {ratio:.0f} (aim: {wanted}), peak {memory:.1f} (aim: 4).")
    (root / "projects" / "claude-code-log-cache.db").unlink(missing_ok=True)
    shutil.rmtree(scratch / "rendered", ignore_errors=True)
    return lines


def opening(programs: Programs, path: Path, environment: dict[str, str]) -> list[str]:
    """Seconds until a terminal has the first screen of one large session, beside `cat` and `wc -l` of the file."""
    import time
    commands = {
        "show": [str(programs.backstory), "show", str(path), "--format", "terminal", "-q"],
        "cat": ["sh", "-c", 'cat "$0" | tail -c 1', str(path)],
        "wc -l": ["wc", "-l", str(path)],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(7):
        for name, command in commands.items():
            began = time.perf_counter()
            child = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
            child.stdout.read(4096 if name == "show" else -1)
            times[name].append(time.perf_counter() - began)
            child.stdout.close()
            child.wait()
    size = path.stat().st_size / 1e6
    best = {name: min(list_of) for name, list_of in times.items()}
    median = sorted(times["show"])[len(times["show"]) // 2]
    return [f"First screen of a session of {size:.0f} MB: best {1000 * best['show']:.0f} ms, median {1000 * median:.0f} ms"
            f" (aim: 300); {best['show'] / best['cat']:.1f} × `cat`, {best['show'] / best['wc -l']:.1f} × `wc -l`."]
