"""Tests of the harness: the model, the story, and that a difference is seen."""

import json
import pathlib
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import drive  # noqa: E402
import model as models  # noqa: E402
import run  # noqa: E402
import story  # noqa: E402


def ask(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def call(action):
    return {"name": "tool", "arguments": {"what": repr(action)}}


class Story(unittest.TestCase):
    def test_every_line_has_an_owner(self):
        self.assertEqual(len(story.FINAL.splitlines()), len(story.OWNERS))
        for line, owner in zip(story.FINAL.splitlines(True), story.OWNERS):
            self.assertEqual(line in story.NEW.splitlines(True), owner == 1, line)

    def test_no_usage_repeats(self):
        used = [tuple(story.usage(number).values()) for number in range(8)]
        self.assertEqual(len(set(used)), len(used))
        self.assertTrue(all(cached < asked < 1000 + 100 for asked, cached, _ in used))

    def test_one_call_each(self):
        single = story.one_call_each(story.STORY)
        self.assertTrue(all(len(actions) <= 1 for _, actions in single))
        self.assertEqual(story.edits(single), story.edits(story.STORY))


class Model(unittest.TestCase):
    def test_both_apis_say_the_same(self):
        script = story.answers(story.STORY, call)
        with models.Model(script) as model:
            plain = json.loads(ask(f"{model.url}/chat/completions", {"messages": []}))
            streamed = ask(f"{model.url}/chat/completions", {"stream": True, "messages": []})
            events = ask(f"{model.url}/responses", {"input": [{"type": "function_call_output", "call_id": "call_0_0"}]})
        self.assertEqual(plain["choices"][0]["message"]["tool_calls"][0]["id"], "call_0_0")
        self.assertIn('"id": "call_1_0"', streamed)
        self.assertTrue(streamed.endswith("data: [DONE]\n\n"))
        self.assertIn('"call_id": "call_2_1"', events)
        self.assertIn(f'"input_tokens": {story.usage(2)["input"]}', events)
        self.assertEqual(model.answered_calls(), {"call_0_0"})

    def test_a_script_ends(self):
        with models.Model([]) as model:
            with self.assertRaises(urllib.error.HTTPError):
                ask(f"{model.url}/chat/completions", {})
        self.assertEqual(model.refused, 1)


class Judging(unittest.TestCase):
    def judge(self, counts, lines, traced=len(story.OWNERS)):
        """The verdict on a program that says this."""
        with tempfile.TemporaryDirectory() as scratch:
            out = pathlib.Path(scratch)
            (out / "project").mkdir()
            (out / "project" / story.FILE).write_text(story.FINAL)
            truth = dict.fromkeys(run.COUNTS, 1)
            (out / "truth.json").write_text(json.dumps({"agent": "codex", "blame": True, "trace": "t", "counts": truth}))
            told = {**counts, "tokens": {name: counts[name] for name in ("input", "cache_read", "output")}}
            blamed = [{"text": text, "edit": edit} for text, edit in lines]
            program = out / "program"
            ranges = [{"start_line": 1, "end_line": traced}]
            trace = {"files": [{"path": story.FILE, "conversations": [{"ranges": ranges}]}]}
            said = {"*blame*": {"lines": blamed}, "*agent-trace*": trace, "*": {"other_agents": {"codex": told}}}
            cases = "".join(f"{what}) cat <<'E'\n{json.dumps(value)}\nE\n;;\n" for what, value in said.items())
            program.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}esac\n')
            program.chmod(0o755)
            return run.judge(program, out)[2]

    def test_a_difference_is_seen(self):
        lines = list(zip((story.FINAL + story.BY_HAND).splitlines(), [*story.OWNERS, None]))
        counts = dict.fromkeys(run.COUNTS, 1)
        self.assertEqual(self.judge(counts, lines), [])
        for name in run.COUNTS:
            self.assertEqual(len(self.judge({**counts, name: 2}, lines)), 1, name)
        self.assertEqual(len(self.judge(counts, [*lines[:-1], (lines[-1][0], 1)])), 1)
        self.assertEqual(len(self.judge(counts, lines[:-1])), 1)
        self.assertEqual(len(self.judge(counts, lines, traced=2)), 1)


class Drivers(unittest.TestCase):
    def test_every_driver_is_whole(self):
        self.assertIn("codex", drive.names())
        for name in drive.names():
            player = drive.driver(name)
            self.assertTrue(player.VERSIONS and player.__doc__ and callable(player.install) and callable(player.play), name)


if __name__ == "__main__":
    unittest.main()
