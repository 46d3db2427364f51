#!/usr/bin/env python3
"""Drives one released client through one scenario, offline, and writes down what really happened.

    run.py VERSION SCENARIO OUT

leaves OUT/config (the client's configuration folder with the session files), OUT/project, OUT/requests.jsonl and
OUT/truth.json. The truth comes from what the scripted API served and received and from what the client printed;
no session file is read for it. Exit 0: forged; 3: the version cannot play the scenario (the reason is printed);
1: the client did not do what was scripted.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

import client
import namespace
import process
import scenario as scenarios
import script as scripts
import server
import truth


class Play:
    """A scenario being played by one version of the client: its folders, its script and what its processes said."""

    def __init__(self, version, name, out):
        self.version, self.name, self.out = version, name, out.resolve()
        self.project, self.config = self.out / "project", self.out / "config"
        self.scenario = scenarios.load(name, version, self.project)
        self.script = scripts.Script(self.scenario["agents"])
        self.session, self.processes, self.records = None, [], {}

    def prepare(self):
        """Makes the folders and starts the API; returns the environment for the client."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.project.mkdir(parents=True)
        (self.out / "home").mkdir()
        process.prepare_config(self.config, self.project)
        scenarios.write_files(self.scenario, self.project)
        texts = {key: self.scenario.get(key, f"Forged {key}") for key in ("title", "compaction")}
        buffered = client.within(self.version, since=client.FINAL_COUNTS)
        api = server.start(self.script, texts, buffered, self.out / "requests.jsonl")
        return process.environment(self.out / "home", self.config, api.server_port)

    def run(self, number, program, variables):
        """Plays one process of the scenario."""
        run = self.scenario["runs"][number]
        first = self.script.begin_run(number, run)
        words = process.command(program, run, self.session) + client.mode_flags(self.version)
        if "rewind_to" in run:
            words += ["--resume-session-at", self.records[self.script.main_message(run["rewind_to"])]]
        if run.get("mode") == "stream":
            code, results, records = process.run_stream(words, run, self.script, first, self.project, variables)
            self.records.update(records)
        else:
            code, results = process.run_print(words, run["prompts"], self.project, variables)
        if code not in run.get("exits", [0]):
            raise process.Failed(f"run {number} ended with exit {code}: {[r.get('result') for r in results]}")
        sessions = [result["session_id"] for result in results if result.get("session_id")]
        before, self.session = self.session, sessions[-1] if sessions else self.script.last_session()
        self.processes.append({"session": self.session, "resumes": before if run.get("resume") else None})

    def write_truth(self):
        found = truth.build(self.version, self.name, self.project, self.scenario, self.script, self.processes)
        text = json.dumps(found, indent=1, ensure_ascii=False)
        (self.out / "truth.json").write_text(text, encoding="utf-8")
        problems = truth.unfulfilled(self.scenario, self.script, found)
        if problems:
            raise process.Failed("; ".join(problems))
        return found


def forge(version, name, out):
    """Plays the scenario; returns the truth, which is also written to OUT/truth.json."""
    play = Play(version, name, out)
    program = client.install(version)
    reason = namespace.isolate()
    if reason:
        print(f"forge: running without isolation: {reason}", file=sys.stderr)
    variables = play.prepare()
    for number in range(len(play.scenario["runs"])):
        play.run(number, program, variables)
    return play.write_truth()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("scenario", choices=scenarios.names(), metavar="SCENARIO")
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    try:
        found = forge(options.version, options.scenario, options.out)
    except scenarios.Unsupported as reason:
        print(f"not-supported: {reason}")
        return 3
    except (process.Failed, client.Unavailable, subprocess.TimeoutExpired) as reason:
        print(f"failed: {reason}")
        return 1
    print(f"forged: {len(found['replies'])} replies, sessions {', '.join(s['id'] for s in found['sessions'])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
