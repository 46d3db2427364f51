"""Tests of the harness itself: that a right answer passes and every kind of wrong answer is noticed.

    python3 -m unittest discover -s scripts/forge

No client is run: truth and answer are written by hand here, as small as they can be.
"""

import copy
import unittest

import compare
import purpose
import scenario


def usage(number):
    return {
        "input_tokens": number,
        "cache_creation_input_tokens": 10 + number,
        "cache_read_input_tokens": 100 + number,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": number},
        "output_tokens": 1000 + number,
    }


def reply(message, agent, blocks, number):
    return {
        "message_id": message,
        "request_id": f"req_{message}",
        "agent": agent,
        "run": 0,
        "model": "claude-x",
        "stop_reason": "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn",
        "blocks": blocks,
        "usage": usage(number),
        "end": "served",
    }


def call(identity, owner, message, expect, agent=None):
    return {
        "id": identity,
        "owner": owner,
        "message_id": message,
        "expect": expect,
        "expect_text": None,
        "agent": agent,
        "reported": {"is_error": expect != "ok", "text": "", "kinds": []},
    }


START = {"type": "tool_use", "id": "c1", "name": "Agent", "input": {"prompt": "look"}}

TRUTH = {
    "version": "2.1.325",
    "project": "/project",
    "sessions": [{"id": "s1-long-id", "runs": [0], "from": None, "by": "new"}],
    "turns": [
        {
            "run": 0,
            "kind": "human",
            "text": "Go.",
            "also": [],
            "picture": False,
            "local": False,
            "abandoned": False,
            "replies": ["m1", "m2"],
            "interjections": ["And mind."],
            "outcome": "completed",
        }
    ],
    "replies": [
        reply("m1", "main", [{"type": "thinking", "thinking": "hm", "signature": "s"}, START], 1),
        reply("a1", "scout", [{"type": "text", "text": "seen"}], 2),
        reply("m2", "main", [{"type": "text", "text": "done"}], 3),
    ],
    "calls": [call("c1", "main", "m1", "ok", "scout")],
    "agents": [{"name": "scout", "prompt": "look", "call": "c1", "session": "s1-long-id", "replies": ["a1"]}],
    "compactions": [],
    "expect": {"title": {"text": "Going", "source": "ai"}, "cwds": ["/project"], "branches": ["side"]},
}


def step(truth_reply, blocks):
    counts = truth_reply["usage"]
    return {
        "message_id": truth_reply["message_id"],
        "request_id": truth_reply["request_id"],
        "model": truth_reply["model"],
        "stop_reason": truth_reply["stop_reason"],
        "synthetic": False,
        "blocks": blocks,
        "usage": {
            "input": counts["input_tokens"],
            "output": counts["output_tokens"],
            "cache_read": counts["cache_read_input_tokens"],
            "cache_write": counts["cache_creation_input_tokens"],
            "incomplete": False,
        },
    }


def answer():
    """What a tool without fault says about TRUTH."""
    first, looked, last = TRUTH["replies"]
    start = {
        "kind": "call",
        "id": "c1",
        "name": "Agent",
        "input": {"prompt": "look", "added": False},
        "result": {"status": "ok", "text": "seen", "blocks": []},
        "subagent": "agent-1",
    }
    thinking = {"kind": "thinking", "text": "hm", "signature": True}
    turn = {
        "kind": "human",
        "prompt": {"text": "Go."},
        "interjections": [{"text": "And mind."}],
        "outcome": "completed",
        "events": [],
        "steps": [step(first, [thinking, start]), step(last, [{"kind": "text", "text": "done"}])],
    }
    agent = {
        "id": "agent-1",
        "kind": "task",
        "parent": {"call": "c1"},
        "problems": [],
        "subagents": [],
        "turns": [
            {"kind": "task", "prompt": {"text": "look"}, "steps": [step(looked, [{"kind": "text", "text": "seen"}])]}
        ],
    }
    return {
        "schema": "backstory.session/1",
        "id": "s1-long-id",
        "kind": "session",
        "versions": ["2.1.325"],
        "models": ["claude-x"],
        "project": {"path": "/project"},
        "problems": [],
        "continues": [],
        "cwds": ["/project"],
        "git_branches": ["side"],
        "title": {"text": "Going", "source": "ai"},
        "turns": [turn],
        "abandoned": [],
        "compactions": [],
        "counts": {"calls": 1, "orphan_results": 0},
        "usage": {"input": 4, "output": 2004, "cache_read": 204, "cache_write": 24, "messages": 2, "incomplete": False},
        "subagents": [agent],
    }


def set_at(path, value):
    """A change to an answer: the value at a path of keys and indices."""

    def change(shown):
        place = shown
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


FIRST, LAST = ("turns", 0, "steps", 0), ("turns", 0, "steps", 1)

MISTAKES = {
    "turn kind": set_at(("turns", 0, "kind"), "queued-not"),
    "prompt": set_at(("turns", 0, "prompt", "text"), "Gone."),
    "outcome": set_at(("turns", 0, "outcome"), "open"),
    "interjection": set_at(("turns", 0, "interjections"), []),
    "message lost": lambda shown: shown["turns"][0]["steps"].pop(),
    "message order": lambda shown: shown["turns"][0]["steps"].reverse(),
    "model": set_at((*FIRST, "model"), "claude-y"),
    "text": set_at((*LAST, "blocks", 0, "text"), "don"),
    "block lost": lambda shown: shown["turns"][0]["steps"][0]["blocks"].pop(0),
    "input": set_at((*FIRST, "blocks", 1, "input"), {"prompt": "looked"}),
    "result lost": set_at((*FIRST, "blocks", 1, "result"), None),
    "result state": set_at((*FIRST, "blocks", 1, "result", "status"), "error"),
    "usage": set_at((*FIRST, "usage", "cache_read"), 0),
    "usage of the stream's start": set_at((*FIRST, "usage", "output"), 1),
    "usage called incomplete": set_at((*FIRST, "usage", "incomplete"), True),
    "sum": set_at(("usage", "output"), 3005),
    "sum counts twice": set_at(("usage", "messages"), 3),
    "directory": set_at(("cwds",), []),
    "branch": set_at(("git_branches",), ["main"]),
    "title": set_at(("title", "source"), "custom"),
    "problem": set_at(("problems",), [{"id": "torn-line", "severity": "error", "line": 3}]),
    "origin": set_at(("continues",), ["s0"]),
    "compaction": set_at(("compactions",), [{"kind": "full", "trigger": "auto"}]),
    "subagent lost": set_at(("subagents",), []),
    "subagent's call": set_at(("subagents", 0, "parent", "call"), None),
    "call's subagent": set_at((*FIRST, "blocks", 1, "subagent"), None),
    "subagent's message": set_at(("subagents", 0, "turns", 0, "steps"), []),
    "calls": set_at(("counts", "calls"), 2),
}


class Compare(unittest.TestCase):
    def test_a_right_answer_has_no_difference(self):
        self.assertEqual(compare.differences(TRUTH, {"s1-long-id": answer()}), [])

    def test_every_mistake_is_noticed(self):
        for name, change in MISTAKES.items():
            with self.subTest(name):
                shown = answer()
                change(shown)
                self.assertNotEqual(compare.differences(TRUTH, {"s1-long-id": shown}), [])

    def test_old_versions_must_not_claim_counts_they_do_not_have(self):
        truth, shown = copy.deepcopy(TRUTH), answer()
        truth["version"] = "2.1.50"
        shown["versions"] = ["2.1.50"]
        shown["turns"][0]["steps"][0]["usage"].update(output=1, incomplete=True)
        shown["usage"].update(output=1004, incomplete=True)
        self.assertEqual(compare.differences(truth, {"s1-long-id": shown}), [])
        shown["turns"][0]["steps"][0]["usage"]["incomplete"] = False
        self.assertNotEqual(compare.differences(truth, {"s1-long-id": shown}), [])


class Purpose(unittest.TestCase):
    def test_the_session_id_is_read_in_both_forms(self):
        identity = "a6ed5c9b-0cc0-4466-a6f0-64840425d73b"
        for user in (f"user_17c5_account__session_{identity}", f'{{"device_id":"b0","session_id":"{identity}"}}'):
            self.assertEqual(purpose.session_of({"metadata": {"user_id": user}}), identity)

    def test_side_business_is_told_from_turns(self):
        turn = {"tools": [{}], "messages": [{"role": "user", "content": "Do it."}]}
        self.assertEqual(purpose.purpose_of(turn), "turn")
        summary = {"tools": [{}], "messages": [{"role": "user", "content": f"Now {purpose.COMPACTION} it."}]}
        self.assertEqual(purpose.purpose_of(summary), "compaction")
        summary["messages"] += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "Thanks."}]
        self.assertEqual(purpose.purpose_of(summary), "turn")
        title = {"system": "Write a title.", "messages": [{"role": "user", "content": "Do it."}]}
        self.assertEqual(purpose.purpose_of(title), "title")


class Scenarios(unittest.TestCase):
    def test_every_scenario_is_understood_for_old_and_new_versions(self):
        for name in scenario.names():
            for version in ("1.0.31", "2.0.76", "2.1.325"):
                with self.subTest(f"{name} {version}"):
                    try:
                        play = scenario.load(name, version, "/project")
                    except scenario.Unsupported as reason:
                        self.assertTrue(str(reason))
                        continue
                    self.assertTrue(play["about"])

    def test_tools_have_the_name_of_their_time(self):
        old = scenario.load("subagent", "2.1.62", "/project")["runs"][0]["replies"][0]["blocks"][1]
        new = scenario.load("subagent", "2.1.325", "/project")["runs"][0]["replies"][0]["blocks"][1]
        self.assertEqual((old["name"], new["name"]), ("Task", "Agent"))
        self.assertIs(new["input"]["run_in_background"], False)

    def test_a_queue_that_is_written_down_holds_the_prompt(self):
        def recorded(version):
            return scenario.load("queued", version, "/project")["runs"][0]["prompts"][1]["recorded"]

        versions = ("1.0.60", "1.0.64", "2.0.29", "2.0.30", "2.0.55", "2.0.56", "2.1.45", "2.1.47")
        self.assertEqual([version for version in versions if recorded(version)], ["1.0.60", "2.0.30", "2.0.55", "2.1.47"])


if __name__ == "__main__":
    unittest.main()
