"""Tests of the judge of requests: every rule is broken once and named."""

import copy
import json
import pathlib
import tempfile
import unittest

import request

CALL = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "a.txt"}
GOOD = {
    "messages": [
        {"role": "user", "content": "List the files"},
        {"role": "system", "content": []},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, CALL]},
        {"role": "user", "content": [RESULT, {"type": "text", "text": "a reminder"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "One file."}]},
        {"role": "user", "content": [{"type": "text", "text": "Thanks"}]},
    ]
}


def broken(change):
    body = copy.deepcopy(GOOD)
    change(body["messages"])
    return request.rejections(body)


class Rejections(unittest.TestCase):
    def test_a_good_request_passes(self):
        self.assertEqual(request.rejections(GOOD), [])

    def test_every_fault_is_named(self):
        faults = {
            "non-empty": lambda m: m[4]["content"].append({"type": "text", "text": " "}),
            "no content": lambda m: m[4].update(content=[]),
            "results": lambda m: m[3]["content"].pop(0),
            "unexpected": lambda m: m[5]["content"].insert(0, RESULT),
            "behind other": lambda m: m[3]["content"].reverse(),
            "unique": lambda m: m[4]["content"].append(CALL),
            "first message": lambda m: m.pop(0),
            "last message": lambda m: m.pop(),
            "not an object": lambda m: m[2]["content"][1].update(input="ls"),
            "name or id": lambda m: m[2]["content"][1].update(name="x" * 201),
            "signature": lambda m: m[2]["content"][0].pop("signature"),
            "ends with thinking": lambda m: m[4]["content"].append({"type": "thinking", "thinking": "", "signature": "s"}),
            "neither text nor list": lambda m: m[3]["content"][0].update(content=7),
            "role": lambda m: m[4].update(role="narrator"),
        }
        for words, change in faults.items():
            self.assertTrue(any(words in fault for fault in broken(change)), words)


class Differences(unittest.TestCase):
    def planned(self, records):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "clone.jsonl")
            path.write_text("".join(json.dumps(record) + "\n" for record in records))
            return request.planned(path, [record["uuid"] for record in records])[0]

    def test_a_plan_is_found_in_order(self):
        records = [
            {"uuid": "1", "type": "user", "message": {"content": "List the files"}},
            {"uuid": "2", "type": "assistant", "message": {"content": [CALL]}},
            {"uuid": "3", "type": "user", "message": {"content": [RESULT]}},
            {"uuid": "4", "type": "assistant", "message": {"content": [{"type": "text", "text": "One file."}]}},
        ]
        said = request.spoken(GOOD)
        self.assertEqual(request.differences(self.planned(records), said), [])
        self.assertTrue(request.differences(self.planned(records[::-1]), said))
        self.assertTrue(request.differences(self.planned(records[:3]), said), "an answer that was not planned")
        self.assertTrue(request.differences(self.planned([records[0], records[3]]), said), "a call that was not planned")
        more = {"uuid": "5", "type": "user", "message": {"content": "Never sent"}}
        self.assertTrue(request.differences(self.planned([*records, more]), said))


if __name__ == "__main__":
    unittest.main()
