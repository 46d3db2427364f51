#!/usr/bin/env python3
"""Random edit scripts played by real clients in real git repositories, against `backstory blame`.

    blame.py --binary backstory [--scripts N] VERSION...

Each script is a sequence of client processes (writes, edits, replace_all, subagents, different models) with people,
formatters and commits in between. A plain list of lines with their authors is kept on the side; every line of the
file that comes out is compared with what `backstory blame` says: the claimed edit must be the right one with the
right model, and no line of a person may be claimed. Exit 1 on any difference, and when a version that is named cannot
be had or does not play a script; 3 when the registry of the clients gives no answer.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import client
import namespace
import check_status
import process
import run as runs
import scenario as scenarios

MODELS = ["claude-opus-4-1-20250805", "claude-sonnet-4-20250514"]


class Story:
    """A file and what happens to it: `lines` are (text, number of the edit or None)."""

    def __init__(self, seed):
        self.chance, self.lines, self.edits, self.count = random.Random(seed), [], [], 0
        self.steps, self.agents = [], {}

    def line(self, who):
        self.count += 1
        return ("\t" * self.chance.randint(0, 2) + f"value_{self.count}_by_somebody := compute({self.count}, word)", who)

    def text(self):
        return "".join(text + "\n" for text, _ in self.lines)

    def person(self):
        for _ in range(self.chance.randint(1, 3)):
            at = self.chance.randrange(len(self.lines) + 1)
            kind = self.chance.choice(["insert", "delete", "change", "indent"])
            if kind == "insert" or at == len(self.lines):
                self.lines.insert(at, self.line(None))
            elif kind == "delete" and len(self.lines) > 3:
                self.lines.pop(at)
            elif kind == "indent":
                self.lines[at] = ("\t" + self.lines[at][0], self.lines[at][1])
            else:
                self.lines[at] = self.line(None)

    def edit(self, path):
        """One call of the model, and its effect."""
        number = len(self.edits)
        kind = self.chance.choice(["edit", "edit", "insert", "all", "write"])
        at = self.chance.randrange(len(self.lines))
        old = self.lines[at]
        if kind == "write":
            new = []
            for line in self.lines:
                new.append(line)
                if self.chance.random() < 0.3:
                    new.append(self.line(number))
            self.lines = new
            call = {"call": "Write", "input": {"file_path": path, "content": self.text()}}
        elif kind == "all":
            word, fresh = "word)", f"word{number})"
            if not any(word in text for text, _ in self.lines):
                return self.edit(path)
            self.lines = [(t.replace(word, fresh), number) if word in t else (t, w) for t, w in self.lines]
            call = {"call": "Edit", "input": {"file_path": path, "old_string": word, "new_string": fresh, "replace_all": True}}
        else:
            fresh = self.line(number)
            if self.text().count(old[0]) != 1:
                return self.edit(path)
            block = [old, fresh] if kind == "insert" else [fresh]
            self.lines[at : at + 1] = block
            new = "\n".join(text for text, _ in block)
            call = {"call": "Edit", "input": {"file_path": path, "old_string": old[0], "new_string": new}}
        self.edits.append(kind)
        return call

    def run(self, number, path):
        """The replies of one client process."""
        model = MODELS[number % len(MODELS)]
        replies = [[{"call": "Read", "input": {"file_path": path}}]] if self.lines else []
        if not self.lines:
            self.lines = [self.line(0) for _ in range(6)]
            self.edits.append("create")
            replies.append([{"call": "Write", "input": {"file_path": path, "content": self.text()}}])
        for _ in range(self.chance.randint(1, 3)):
            replies.append([self.edit(path)])
        if self.chance.random() < 0.4:
            name, prompt = f"helper{number}", f"Helper {number}: change the file as agreed."
            inner = [[{"call": "Read", "input": {"file_path": path}}], [self.edit(path)], [{"text": "Changed."}]]
            self.agents[name] = {"prompt": prompt, "replies": inner}
            given = {"description": "Change it", "prompt": prompt, "subagent_type": "general-purpose"}
            replies.append([{"call": "Agent", "input": given, "agent": name}])
        replies.append([{"text": f"Done {number}."}])
        return {"prompts": [f"Step {number}: work on the file."], "replies": replies, "flags": ["--model", model],
                "resume": number > 0 and self.chance.random() < 0.5}


def plan(seed, path):
    """All processes, and the file as people leave it before each of them."""
    story, processes, before = Story(seed), [], []
    if story.chance.random() < 0.5:
        story.lines = [story.line(None) for _ in range(6)]
    for number in range(3):
        if number and story.chance.random() < 0.8:
            story.person()
        before.append(story.text())
        processes.append(story.run(number, path))
    if story.chance.random() < 0.5:
        story.person()
    return story, processes, before


def git(folder, *words):
    quiet = ["-c", "user.name=Forge", "-c", "user.email=forge@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *quiet, *words], cwd=folder, check=True, capture_output=True)


def play(version, program, seed, out, binary):
    """Plays one script; returns the differences and how many lines were compared."""
    story, processes, before = plan(seed, "{PROJECT}/work.go")
    scenarios.FOLDER = out / "scenarios"
    scenarios.FOLDER.mkdir(parents=True)
    written = {"about": "random edits", "agents": story.agents, "runs": processes}
    (scenarios.FOLDER / "random.json").write_text(json.dumps(written))
    playing = runs.Play(version, "random", out / "play")
    variables = playing.prepare()
    file = playing.project / "work.go"
    git(playing.project, "init", "-q")
    for number in range(len(processes)):
        if before[number]:
            file.write_text(before[number])
        playing.run(number, program, variables)
        if number % 2 == 0:
            git(playing.project, "add", "-A")
            git(playing.project, "commit", "-q", "-m", f"Step {number}")
    file.write_text(story.text())
    return judge(story, playing, file, binary)


def judge(story, playing, file, binary):
    done = subprocess.run([str(binary), "--root", str(playing.config), "blame", str(file), "--json", "--git"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"blame ended with exit {done.returncode}: {done.stderr.strip()[:300]}"], 0
    answer = json.loads(done.stdout)
    problems = []
    asked = {request["model"] for request in playing.script.requests if request.get("model")}
    if len(answer["edits"]) != len(story.edits):
        problems.append(f"{len(answer['edits'])} edits found, {len(story.edits)} made")
    for edit in answer["edits"]:
        # Clients replace models that are retired, and choose those of subagents: what was asked for counts.
        if edit["model"] not in asked:
            problems.append(f"edit {edit['index']} has the model {edit['model']}, asked for were {sorted(asked)}")
    for line, (text, who) in zip(answer["lines"], story.lines):
        if line["text"] != text or line["edit"] != who:
            problems.append(f"line {line['line']}: {line['edit']} ({line['why']}), but it is {who}: {text.strip()}")
    return problems, len(story.lines)


def try_play(version, program, seed, binary):
    """A client that stumbles under load gets a second try; the last failure is raised."""
    for last in (False, True):
        with tempfile.TemporaryDirectory(prefix="forge-blame-") as scratch:
            try:
                return play(version, program, seed, pathlib.Path(scratch), binary)
            except (process.Failed, subprocess.TimeoutExpired):
                if last:
                    raise


def play_version(version, program, seeds, binary):
    """Plays the scripts with one version; returns how many lines were compared and how many faults there are."""
    lines = wrong = failed = 0
    for seed in seeds:
        try:
            problems, count = try_play(version, program, seed, binary)
        except (process.Failed, subprocess.TimeoutExpired) as reason:
            print(f"{version} script {seed}: not played: {str(reason)[:300]}")
            failed += 1
            continue
        lines += count
        wrong += len(problems)
        for problem in problems[:8]:
            print(f"{version} script {seed}: {problem}")
    print(f"{version}: {len(seeds) - failed} scripts, {lines} lines, {wrong} differences, {failed} not played", flush=True)
    return lines, wrong + failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--scripts", type=int, default=5)
    parser.add_argument("--first", type=int, default=1)
    options = parser.parse_args()
    programs, missing = client.install_all(options.versions)
    status = check_status.of_missing(missing)
    if not programs:
        return status
    reason = namespace.isolate()
    if reason:
        print(f"forge: running without isolation: {reason}", file=sys.stderr)
    seeds = range(options.first, options.first + options.scripts)
    for version, program in programs.items():
        lines, bad = play_version(version, program, seeds, options.binary.resolve())
        status = check_status.worst(status, check_status.FAILED if bad or not lines else check_status.FINE)
    return status


if __name__ == "__main__":
    sys.exit(main())
