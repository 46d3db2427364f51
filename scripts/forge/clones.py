#!/usr/bin/env python3
"""Resumes clones with the real client and judges what it would send.

usage: clones.py --binary BACKSTORY [--sessions DIR]... [--forged DIR]... [--large] [--versions V,V,...]
                 [--presets P,P,...] [--limit N] [--table FILE] [--workers N] [--quiet]

Every session (of --sessions: .jsonl files; of --forged: what run.py left) is cloned with every preset, and each
clone is resumed with one prompt by each version of the client: offline, in a configuration folder of its own, against
an API on loopback that records the request. The request is judged as the API would, and its conversation is held
against the plan. --limit takes that many pairs of session and preset, spread over all. --large adds a session near
the limit of a model: the client must compact it whole (preset none) before it sends anything, and no smaller clone.

A clone that is refused, or says something else than planned, is a failure, unless the client does not resume the
source either, or leaves the same out of the source; those are listed as excluded. Exit 0: none failed; 1: some did, or a
version that is named cannot be had or resumed no clone as planned; 3: the registry of the clients gives no answer.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import client
import large
import namespace
import check_status
import process
import purpose
import request as requests
import script as scripts
import server

VERSIONS = ["2.1.325", "2.1.207", "2.1.98", "2.1.50", "2.0.76"]
PRESETS = {
    "none": [],
    "default": ["--preset", "default"],
    "aggressive": ["--preset", "aggressive"],
    "heavy": ["--preset", "heavy"],
    "extreme": ["--preset", "extreme"],
    "quick-clean": ["--preset", "quick-clean"],
    "heavy-trim": ["--preset", "heavy-trim"],
    "preserve-recent": ["--preset", "preserve-recent"],
    "tools-only": ["--tools", "remove", "--thinking", "keep"],
    "bands": ["--compress", "0-100:compress", "--include-user", "--thinking", "remove"],
}
PROMPT = "Forge asks: are you still there?"
TIMED_OUT = "the client did not finish in time"
COMPACTED = "the client compacts it before it sends the prompt"
WINDOW = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}
"""The newest clients compact before they send only where they are told a limit; older ones always."""
SMALL = 120_000
"""Tokens of a clone that no client has a reason to compact."""


class Room:
    """A project and a configuration folder for one client process."""

    def __init__(self, scratch):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
        self.project, self.config = self.folder / "project", self.folder / "config"
        self.project.mkdir()
        (self.folder / "home").mkdir()
        process.prepare_config(self.config, self.project)
        key = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(self.project.resolve()))
        self.sessions = self.config / "projects" / key
        self.sessions.mkdir(parents=True)

    def resume(self, version, session, limits=WINDOW):
        """The request that a resume sends, or why there was none. `limits` are variables about compaction."""
        script = scripts.Script({})
        script.begin_run(0, {"prompts": [], "replies": [{"blocks": [{"type": "text", "text": "I am."}]}]})
        log = self.folder / "requests.jsonl"
        log.unlink(missing_ok=True)
        api = server.start(script, {"title": "t", "compaction": "c"}, True, log)
        variables = process.environment(self.folder / "home", self.config, api.server_port) | limits
        words = [str(client.installed(version)), "-p", "--resume", session, *client.mode_flags(version)]
        try:
            code, results = process.run_print(words, [{"text": PROMPT}], self.project, variables)
        except subprocess.TimeoutExpired:
            return None, TIMED_OUT
        except process.Failed as error:
            return None, f"client: {str(error)[:200]}"
        finally:
            api.shutdown()
            api.server_close()
        said = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        if any(purpose.purpose_of(one["body"]) == "compaction" for one in said):
            return None, COMPACTED
        asked = [one["body"] for one in said if any(PROMPT in text for text in last_texts(one["body"]))]
        asked = [body for body in asked if body.get("tools")]
        if not asked:
            return None, f"no request (exit {code}): {[r.get('result') for r in results]}"
        return asked[0], None

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def last_texts(body):
    messages = [m for m in body.get("messages") or [] if m.get("role") == "user"]
    return [b.get("text") or "" for b in requests.items(messages[-1]["content"])] if messages else []


def clone(binary, source, room, words):
    done = subprocess.run(
        [str(binary), "clone", str(source), "--json", "--quiet", "--out", f"{room.sessions}/", *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120,
    )
    return (json.loads(done.stdout), None) if done.returncode == 0 else (None, done.stderr.splitlines()[0])


def judge(body, wanted, optional):
    faults = [f"refused: {fault}" for fault in requests.rejections(body)]
    return faults + requests.differences(wanted, requests.spoken(body), optional)


def resume_source(source, version, scratch):
    """The request with which the client resumes the source itself, or why there is none that the API would take."""
    room = Room(scratch)
    try:
        first = next((json.loads(line) for line in open(source, encoding="utf-8", errors="replace")
                      if '"sessionId"' in line and valid(line)), {})
        name = source.stem if len(source.stem) == 36 else first.get("sessionId", "")
        shutil.copy(source, room.sessions / f"{name}.jsonl")
        body, reason = room.resume(version, name)
        reason = reason or "; ".join(requests.rejections(body)[:2])
        return (None, reason) if reason else (body, None)
    finally:
        room.close()


def sent_of_source(wanted, source, body):
    """The plan without what the source holds word for word and the client leaves out of the source, too."""
    held = {(kind, value) for _, kind, value in requests.planned(source)[0]}
    said = requests.spoken(body)
    sent = [one for one in wanted if any(one[1] == kind and requests.fits(kind, one[2], value) for _, kind, value in said)]
    return [one for one in wanted if one in sent or (one[1], one[2]) not in held]


def valid(line):
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def try_one(binary, source, preset, version, scratch):
    """(outcome, detail): ok, failed, excluded (the source does not resume either), not cloned or timed out."""
    room = Room(scratch)
    try:
        told, reason = clone(binary, source, room, PRESETS[preset])
        if told is None:
            return "not cloned", reason
        body, reason = room.resume(version, told["id"])
        if source.stem == large.SESSION and not PRESETS[preset]:
            return ("ok", None) if reason == COMPACTED else ("failed", "nothing is proved: the whole is not compacted")
        if reason == COMPACTED and told["after"]["tokens"] < SMALL:
            return "failed", reason
        wanted, optional = requests.planned(told["path"], [m["uuid"] for m in told["messages"]])
        faults = [reason] if reason else judge(body, wanted, optional)
        if not faults:
            return "ok", None
        if reason == TIMED_OUT:
            return "timed out", reason
        whole, apart = resume_source(source, version, scratch)
        if apart:
            return "excluded", f"{faults[0]} (source: {apart})"
        if body and not judge(body, sent_of_source(wanted, source, whole), optional):
            return "excluded", f"{faults[0]} (the client leaves it out of the source, too)"
        return "failed", "; ".join(faults[:3])
    finally:
        room.close()


def find_sources(sessions, forged):
    found = []
    for folder in sessions:
        found += [path for path in sorted(folder.rglob("*.jsonl"))
                  if not path.name.startswith("agent-") and "subagents" not in path.parts]
    for folder in forged:
        found += [path for path in sorted(folder.rglob("config/projects/*/*.jsonl"))
                  if not path.name.startswith("agent-")]
    return found


def spread(pairs, limit):
    """So many of all, the same each time."""
    if not limit or limit >= len(pairs):
        return pairs
    return random.Random(1).sample(pairs, limit)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--sessions", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--forged", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--versions", default=",".join(VERSIONS))
    parser.add_argument("--presets", default=",".join(PRESETS))
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--quiet", action="store_true", help="name no session: for data that is not to be quoted")
    options = parser.parse_args()
    programs, missing = client.install_all(options.versions.split(","))
    status = check_status.of_missing(missing)
    if not programs:
        return status
    versions = list(programs)
    reason = namespace.isolate()
    if reason:
        print(f"clones: running without isolation: {reason}", file=sys.stderr)
    sources = find_sources(options.sessions, options.forged)
    scratch = tempfile.mkdtemp(prefix="backstory-resumes-")
    if options.large:
        sources.append(large.write(pathlib.Path(scratch)))
    presets = options.presets.split(",")
    pairs = spread([(source, preset) for preset in presets for source in sources], options.limit)
    jobs = [(source, preset, version) for source, preset in pairs for version in versions]
    counts, lines = collections.Counter(), []
    try:
        with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
            outcomes = pool.map(lambda job: try_one(options.binary.resolve(), *job, scratch), jobs)
            for (source, preset, version), (outcome, detail) in zip(jobs, outcomes):
                counts[version, outcome] += 1
                if outcome != "ok":
                    name = "/".join(source.parts[-5:]) if options.forged else source.name
                    lines.append(f"{outcome}: {version} {preset} {name}: {detail}")
                    if options.quiet:
                        print(f"{outcome}: {version} {preset}", flush=True)
                    else:
                        print(lines[-1], flush=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    outcomes = ["ok", "failed", "excluded", "not cloned", "timed out"]
    table = ["| client | " + " | ".join(outcomes) + " |", "|---|" + "---|" * len(outcomes)]
    table += [f"| {v} | " + " | ".join(str(counts[v, o]) for o in outcomes) + " |" for v in versions]
    print(f"{len(pairs)} clones, {len(jobs)} resumes\n" + "\n".join(table))
    if options.table:
        options.table.write_text("\n".join([*table, "", *lines]) + "\n", encoding="utf-8")
    bad = [v for v in versions if counts[v, "failed"] or counts[v, "timed out"] or not counts[v, "ok"]]
    return check_status.worst(status, check_status.FAILED if bad else check_status.FINE)


if __name__ == "__main__":
    sys.exit(main())
