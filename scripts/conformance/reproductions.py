"""Runs the reproductions of known faults and checks that each is mended.

`SHARED/adversarial/repro.tar.gz` holds one small input or script for each fault.
Every reproduction prints one row: its name, what must hold, what was seen.
Expected values are derived from the inputs; none of their text is repeated here.
"""

from __future__ import annotations

import collections
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterable, Iterator

from measure import Cost, exact_peak
from ours import Backstory

BASE64_LINE = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")
PLACES = [
    r"^DB_PASSWORD=(?P<value>.*)$", r"^password: (?P<value>.*)$", r'^"password": "(?P<value>.*)"$',
    r"^--password (?P<value>.*)$", r"^postgres://u:(?P<value>.*)@h/db$", r"^<password>(?P<value>.*)</password>$",
    r"^mysql -u root -p'(?P<value>.*)'$", r"^password = '(?P<value>.*)'$", r"^Password is (?P<value>.*)$",
]
"""The nine places of `mysql/passwords.jsonl`."""

KNOWN = {"htmlesc-django": "HTML entities around a key that also holds the signs of a template; see LIMITS.md"}
"""Reproductions that still fail, with the reason."""

# A bait may cost at most this many times the processor time of ordinary text of the same size.
BAIT = 16
# A session may cost at most this many times the time of listing it, however its lines repeat.
COMPARISON = 40


class Reproductions:
    def __init__(self, backstory: Backstory, folder: Path, scratch: Path) -> None:
        self.backstory, self.folder, self.scratch = backstory, folder, scratch
        scratch.mkdir(parents=True, exist_ok=True)
        self.faults: list[str] = []
        self.rows = 0

    def row(self, name: str, expected: str, seen: str, holds: bool) -> None:
        self.rows += 1
        print(f"{'ok  ' if holds else 'BAD '} {name:34} {expected:46} {seen}")
        if not holds:
            self.faults.append(f"{name}: expected {expected}, saw {seen}")

    def all(self) -> list[str]:
        for check in (
            self.active_chain, self.email_addresses, self.labelled_values, self.passwords, self.commands, self.json_depth,
            self.private_keys, self.encodings, self.outputs, self.links_out, self.exceptions, self.missing_blob,
            self.bombs, self.comparisons, self.baits,
        ):
            check()
        if self.rows < 20:
            self.faults.append(f"only {self.rows} reproductions ran")
        return self.faults

    def active_chain(self) -> None:
        path = self.folder / "meta-leaf.jsonl"
        prompts = [
            record["message"]["content"] for record in records(path)
            if record["type"] == "user" and not record.get("isMeta") and isinstance(record["message"]["content"], str)
        ]
        session, reason = self.backstory.show(path)
        shown = [(turn.get("prompt") or {}).get("text") for turn in (session or {}).get("turns", [])]
        self.row(path.name, f"{len(prompts)} prompts on the active chain", reason or f"{len(shown)}", shown == prompts)

    def masked(self, texts: list[str], *options: str) -> list[str]:
        """Each text with what `redact --spans` found replaced by blanks."""
        source = self.scratch / "texts.jsonl"
        source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf8")
        answer = self.backstory.run("redact", *options, "--spans", source)
        if answer.fault() or answer.status == 2:
            self.faults.append(f"redact --spans: {answer.stderr.decode(errors='replace').strip()}")
            return texts
        masked = []
        for text, line in zip(texts, answer.stdout.splitlines(), strict=True):
            letters = list(text)
            for span in json.loads(line)["spans"]:
                begin, end = (span["start"], span["end"]) if isinstance(span, dict) else span[:2]
                letters[begin:end] = " " * (end - begin)
            masked.append("".join(letters))
        return masked

    def texts(self, *parts: str) -> list[str]:
        return [record["text"] for record in records(self.folder.joinpath(*parts))]

    def covered(self, name: str, texts: list[str], values: list[str], allowed: int, *options: str) -> None:
        masked = self.masked(texts, *options)
        left = [text for text, value, rest in zip(texts, values, masked, strict=True) if value in rest]
        self.row(name, f"at most {allowed} of {len(texts)} values left", f"{len(left)} left", len(left) <= allowed)
        for text in left:
            print(f"       left: {text[:110]!r}")

    def email_addresses(self) -> None:
        address = re.compile(r"[\w.+-]+@[\w-]+\.\w+")
        texts = self.texts("emails.jsonl")
        masked = self.masked(texts, "--redact", "people")
        left = [rest for rest in masked if address.search(rest)]
        self.row("emails.jsonl", f"no address left in {len(texts)} texts", f"{len(left)} left", not left)

    def labelled_values(self) -> None:
        texts = [text for text in self.texts("redact-misses.jsonl") if not text.startswith("{")]
        values = [max(re.findall(r"[^\s\"'{}\\:,()<>=]{7,}", text), key=odd) for text in texts]
        self.covered("redact-misses.jsonl", texts, values, 0)

    def passwords(self) -> None:
        texts, values = [], []
        for text in self.texts("mysql", "passwords.jsonl"):
            found = next((match for place in PLACES if (match := re.match(place, text))), None)
            if found is not None:
                texts.append(text)
                values.append(found["value"])
        self.covered("mysql/passwords.jsonl", texts, values, len(texts) // 20)

    def commands(self) -> None:
        texts = self.texts("mysql", "commands.jsonl")
        words = collections.Counter(word for text in texts for word in set(re.findall(r"[A-Za-z0-9]{10,}", text)))
        common = words.most_common(1)[0][0]
        values = [common if common in text else max(re.findall(r"[A-Za-z0-9]{10,}", text), key=odd) for text in texts]
        self.covered("mysql/commands.jsonl", texts, values, len(texts) // 20)

    def json_depth(self) -> None:
        texts = self.texts("json-depth.jsonl")
        values = [max(re.findall(r"[A-Za-z0-9]{16,}", text), key=odd) for text in texts]
        self.covered("json-depth.jsonl", texts, values, 0)

    def redacted(self, path: Path) -> str:
        out = self.scratch / "redacted.jsonl"
        out.unlink(missing_ok=True)
        answer = self.backstory.run("--quiet", "redact", path, "--out", out)
        if answer.fault() or not out.exists():
            self.faults.append(f"{path.name}: redact: {answer.stderr.decode(errors='replace').strip()}")
            return path.read_text(encoding="utf8")
        return out.read_text(encoding="utf8")

    def private_keys(self) -> None:
        for path in sorted(self.folder.glob("pem/*.jsonl")):
            source = path.read_text(encoding="utf8")
            key = set(BASE64_LINE.findall(source))
            redacted = self.redacted(path)
            left = [line for line in key if line in redacted]
            self.row(f"pem/{path.name}", f"none of {len(key)} lines of the key left", f"{len(left)} left", not left)

    def encodings(self) -> None:
        for path in sorted(self.folder.glob("redact-encodings/*.jsonl")):
            before = results(records(path))
            after = results(json.loads(line) for line in self.redacted(path).splitlines())
            # Neighbours of the secret may be odd words too, so a third of them may stay.
            words = [word for word in re.findall(r"[A-Za-z0-9]{8,}", before) if odd(word)[0] > 1]
            left = [word for word in words if word in after]
            share = sum(map(len, left)) / max(sum(map(len, words)), 1)
            holds = before != after and share <= 1 / 3
            if path.stem in KNOWN and not holds:
                print(f"left redact-encodings/{path.stem}: {KNOWN[path.stem]}")
                continue
            self.row(f"redact-encodings/{path.stem}", "changed, at most a third of odd words left",
                     f"{share:.0%} left: {after[:60]!r}", holds)

    def outputs(self) -> None:
        for option in ("--out", "--save-profile"):
            session = self.scratch / "session.jsonl"
            shutil.copy(self.folder / "analyze-overwrites" / "s.jsonl", session)
            before = session.read_bytes()
            answer = self.backstory.run("spec", session, option, session)
            kept = session.read_bytes() == before
            self.row(f"spec S {option} S", "refused, session kept", f"exit {answer.status}, {'kept' if kept else 'LOST'}",
                     kept and answer.status == 2)

    def script(self, *parts: str) -> str:
        path = self.folder.joinpath(*parts)
        environment = {**self.backstory.environment(), "BACKSTORY": str(self.backstory.binary.resolve())}
        # The scripts find their inputs from the folder that was unpacked.
        done = subprocess.run(["sh", str(path)], cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=120, check=False)
        return done.stdout + done.stderr

    def links_out(self) -> None:
        folder = self.scratch / "annotate"
        repository = folder / "r"
        repository.mkdir(parents=True)
        outside = folder / "outside"
        outside.write_text("alias x=y\n")
        git(repository, "init", "-q", ".")
        (repository / "docs.md").symlink_to(outside)
        rules = '[[annotate.rule]]\npattern = "{}"\npolicy = "comment"\n'
        (repository / ".backstory.toml").write_text(rules.format("**/*") + rules.format("*"))
        source = (self.folder / "annotate-symlink" / "ann.jsonl").read_text(encoding="utf8")
        session = folder / "s.jsonl"
        session.write_text(source.replace("/srv/demo/r", str(repository)), encoding="utf8")
        for words in (["annotate"], ["annotate", "--write"]):
            subprocess.run([self.backstory.binary.resolve(), *words, "--root", session], cwd=repository, check=False,
                           env=self.backstory.environment(), capture_output=True, timeout=60)
        kept = outside.read_text() == "alias x=y\n"
        self.row("annotate-symlink", "the file outside is kept", "kept" if kept else "CHANGED", kept)

    def exceptions(self) -> None:
        folder = self.scratch / "cfg"
        shutil.copytree(self.folder / "cfg-allow", folder)
        source = (folder / "s.jsonl").read_text(encoding="utf8")
        (folder / "s.jsonl").write_text(source.replace("/srv/demo/cfg", str(folder)), encoding="utf8")
        secrets = re.findall(r"ghp_\w+|(?<=SECRET_ACCESS_KEY=)[\w/+]+", source)
        for words in (["redact", "s.jsonl", "--out", "out.jsonl"], ["export", "s.jsonl", "--to", "atif", "--out", "out.jsonl"]):
            (folder / "out.jsonl").unlink(missing_ok=True)
            subprocess.run([self.backstory.binary.resolve(), *words], cwd=folder, check=False,
                           env=self.backstory.environment(), capture_output=True, timeout=60)
            written = (folder / "out.jsonl").read_text(encoding="utf8") if (folder / "out.jsonl").exists() else None
            left = None if written is None else [secret for secret in secrets if secret in written]
            self.row(f"cfg-allow: {words[0]}", f"none of {len(secrets)} secrets left",
                     "nothing written" if left is None else f"{len(left)} left", left == [])

    def missing_blob(self) -> None:
        said = self.script("git-lazyfetch", "run.sh").splitlines()
        for line in (line for line in said if line.startswith("git from")):
            self.row("git-lazyfetch", "nothing ran", line.rpartition(": ")[2], line.endswith("nothing ran"))
        if not any(line.startswith("git from") for line in said):
            self.faults.append("git-lazyfetch did not run")

    def cost(self, *words: str | Path) -> Cost:
        return exact_peak([str(self.backstory.binary), *map(str, words)], self.backstory.environment(), timeout=120)

    def bombs(self) -> None:
        for path in sorted(self.folder.glob("zstd-bomb/*.zst")):
            cost = self.cost("ls", "--root", path)
            answer = self.backstory.run("check", path)
            said = (answer.stderr + answer.stdout).decode(errors="replace").strip().splitlines()
            name = path.name[-20:]
            self.row(f"zstd-bomb/…{name}", "at most 500 MB and 20 s",
                     f"{cost.peak >> 20} MB, {cost.processor:.1f} s: {said[0][:60] if said else 'nothing said'}",
                     cost.peak < 500 << 20 and 0 <= cost.processor < 20)

    def comparisons(self) -> None:
        for path in sorted(self.folder.glob("quadratic-diff/*.jsonl")):
            plain = max(self.cost("ls", "--root", path).processor, 0.05)
            for words in (["log", "--root", path], ["export", path, "--to", "opentraces", "--out", self.fresh()]):
                spent = self.cost(*words)
                ratio = spent.processor / plain
                self.row(f"{path.name}: {words[0]}", f"at most {COMPARISON} x `ls`", f"{spent.processor:.2f} s, {ratio:.1f} x",
                         spent.status in (0, 1) and ratio <= COMPARISON)

    def fresh(self) -> Path:
        out = self.scratch / "fresh.jsonl"
        out.unlink(missing_ok=True)
        return out

    def baits(self) -> None:
        bait = self.folder / "redact-sk-1MB.jsonl"
        size = bait.stat().st_size
        plain = self.scratch / "plain.jsonl"
        text = "The quick brown fox jumps over the lazy dog and goes on to the next line.\n"
        plain.write_text(json.dumps({"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s",
                                     "message": {"role": "user", "content": text * (size // len(text))}}) + "\n")
        base = max(self.cost("redact", "--scan", plain).processor, 0.02)
        spent = self.cost("redact", "--scan", bait).processor
        self.row(bait.name, f"at most {BAIT} x plain text", f"{spent:.2f} s, {spent / base:.1f} x", spent / base <= BAIT)


def records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf8") as file:
        for line in file:
            yield json.loads(line)


def results(lines: Iterable[dict[str, Any]]) -> str:
    """The text of every tool result."""
    found = []
    for record in lines:
        content = (record.get("message") or {}).get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_result":
                found.append(block["content"] if isinstance(block["content"], str) else json.dumps(block["content"]))
    return "\n".join(found)


def odd(word: str) -> tuple[int, int]:
    """Orders words by how little they look like words: kinds of characters, then length."""
    kinds = sum(bool(re.search(kind, word)) for kind in (r"[a-z]", r"[A-Z]", r"\d", r"[^\w]"))
    return kinds, len(word)


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull})


def check_reproductions(backstory: Backstory, folder: Path, scratch: Path) -> list[str]:
    return Reproductions(backstory, folder, scratch).all()
