#!/usr/bin/env python3
"""Drives real agents offline and compares what backstory reads in their files with what they really did.

    scripts/authentic/run.py --binary target/release/backstory [--out DIR] [AGENT[=VERSION]...]

Every agent plays the same story (story.py) against a scripted model on the loopback. Counts of sessions, prompts,
messages of the model, calls, results, failed calls, edits and tokens are compared with the script's; where an agent has
edits, `export --to agent-trace` must give the session every line that it wrote, and `blame` name the right edit for
each line of the file, and none for a line that a person added.
Exit 1 for a difference, an agent that cannot be installed or did not do what was scripted; 3 when an agent cannot be
had or cannot run on this machine, or its registry gives no answer.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import drive
import check_status
import story

COUNTS = ["sessions", "prompts", "messages", "calls", "results", "failed", "edits", "input", "cache_read", "output"]
LIMIT = 2400


def read(binary, trace):
    """What backstory counts in a trace."""
    done = subprocess.run([str(binary), "--quiet", "spec", trace, "--format", "json"], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        return None, f"status {done.returncode}: {done.stderr.strip()[:200]}"
    agents = json.loads(done.stdout)["other_agents"]
    if len(agents) != 1:
        return None, f"agents {list(agents)}"
    [(name, counts)] = agents.items()
    return {**counts, **counts["tokens"], "messages": counts["messages"], "agent": name}, None


def blame(binary, trace, file):
    """Faults in the attribution of a file to which a person added a line."""
    with file.open("a") as more:
        more.write(story.BY_HAND)
    done = subprocess.run([str(binary), "--quiet", "--root", trace, "blame", str(file), "--json"], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        return [f"blame: status {done.returncode}: {done.stderr.strip()[:200]}"]
    answer = json.loads(done.stdout)
    wanted = list(zip((story.FINAL + story.BY_HAND).splitlines(), [*story.OWNERS, None]))
    found = [(line["text"], line["edit"]) for line in answer["lines"]]
    faults = [f"blame: line {number}: {have[1]}, not {want[1]}"
              for number, (have, want) in enumerate(zip(found, wanted), 1) if have != want]
    if len(found) != len(wanted):
        faults.append(f"blame: {len(found)} lines, not {len(wanted)}")
    return faults


def exported(binary, trace):
    """Faults in the lines that the Agent Trace export gives to the session: all that it wrote."""
    done = subprocess.run([str(binary), "--quiet", "export", trace, "--to", "agent-trace", "--no-git", "--raw"],
                          capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        return [f"agent-trace: status {done.returncode}: {done.stderr.strip()[:200]}"]
    files = [file for line in done.stdout.splitlines() for file in json.loads(line)["files"]]
    ranges = [one for file in files if file["path"].endswith(story.FILE)
              for talk in file["conversations"] for one in talk["ranges"]]
    found = sorted(line for one in ranges for line in range(one["start_line"], one["end_line"] + 1))
    wanted = list(range(1, len(story.OWNERS) + 1))
    return [] if found == wanted else [f"agent-trace: lines {found}, not {wanted}"]


def judge(binary, out):
    """The counts of a played agent, of both sides, and what is wrong."""
    truth = json.loads((out / "truth.json").read_text())
    found, fault = read(binary, truth["trace"])
    if fault:
        return {}, {}, [fault]
    wanted = truth["counts"]
    faults = [f"{name}: {found[name]}, not {wanted[name]}" for name in COUNTS if found[name] != wanted[name]]
    if found["agent"] != truth["agent"]:
        faults.append(f"agent {found['agent']}")
    if truth["blame"]:
        found["blamed"] = len(story.OWNERS) + 1
        faults += exported(binary, truth["trace"])
        faults += blame(binary, truth["trace"], out / "project" / story.FILE)
    return wanted, found, faults


def play(name, version, out):
    """Drives an agent in a process of its own, for it is cut off from the network there."""
    words = [sys.executable, str(drive.HERE / "drive.py"), name, version, str(out)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return 1, f"failed: no end after {LIMIT} s"
    said = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode, said[-1] if said else ""


def chosen(words):
    for word in words or drive.names():
        name, _, version = word.partition("=")
        for one in [version] if version else drive.driver(name).VERSIONS:
            yield name, one


def compare(binary, out, words):
    compared = bad = 0
    missing = {}
    print(f"{'agent':16} {'version':9} " + " ".join(f"{name:>11}" for name in COUNTS) + "  blame")
    for name, version in chosen(words):
        place = out / f"{name}-{version}"
        code, said = play(name, version, place)
        head = f"{name:16} {version:9}"
        if code == 3:
            print(f"{head} {said}", flush=True)
            missing[f"{name} {version}"] = (said.removeprefix("skipped: "), True)
            continue
        compared += 1
        if code:
            bad += 1
            print(f"{head} {said}", flush=True)
            continue
        wanted, found, faults = judge(binary, place)
        bad += bool(faults)
        cells = [f"{wanted.get(one)}" if wanted.get(one) == found.get(one) else f"{wanted.get(one)}≠{found.get(one)}"
                 for one in COUNTS]
        lines = found.get("blamed", "–")
        print(f"{head} " + " ".join(f"{cell:>11}" for cell in cells) + f"  {lines!s:>5}  {'differs' if faults else 'ok'}")
        for fault in faults:
            print(f"  {fault}", flush=True)
    print(f"{compared} agents compared, {bad} differ")
    return check_status.worst(check_status.of_missing(missing), check_status.FAILED if bad else check_status.FINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", metavar="AGENT")
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, help="keep what the agents left here")
    options = parser.parse_args()
    if unknown := [word for word in options.agents if word.partition("=")[0] not in drive.names()]:
        parser.error(f"no agent {', '.join(unknown)}; there are {', '.join(drive.names())}")
    with tempfile.TemporaryDirectory(prefix="backstory-authentic-") as scratch:
        return compare(options.binary, options.out or pathlib.Path(scratch), options.agents)


if __name__ == "__main__":
    sys.exit(main())
