"""Tests of the readings: each changes what it names, and explains a difference only when that is gone."""

import json
import math
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True

import chain
import readings


def message(uuid, parent, second, **fields):
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"role": "user", "content": f"words of {uuid}"},
            "timestamp": f"2026-05-05T13:00:{second:02}.000Z", "isSidechain": False, **fields}


def file(*records):
    return b"\n".join(one if isinstance(one, bytes) else json.dumps(one).encode() for one in records) + b"\n"


def read(name, *records):
    copy, made = readings.read(file(*records), [name])
    return copy, made == [name]


def parents(copy):
    return {record["uuid"]: record["parentUuid"] for record in copy.records.values() if "parentUuid" in record}


class Readings(unittest.TestCase):
    def test_all_are_known_and_leave_a_plain_session_as_it_is(self):
        self.assertEqual(set(readings.READINGS), set(readings.CHANGES))
        data = file(message("a", None, 1), message("b", "a", 2), b"")
        names = [name for name in readings.READINGS if name not in ("parallel", "stray", "hooks", "time", "written")]
        copy, made = readings.read(data, names)
        self.assertEqual((copy.data(), made), (data, []))

    def test_a_release_has_those_that_end_after_it(self):
        self.assertEqual(readings.of("9.0.0"), ["uuid-reused", "uuid-not-text", "salvaged"])
        self.assertIn("time", readings.of("2.1.98"))
        self.assertNotIn("time", readings.of("2.1.143"))

    def test_of_two_records_with_one_uuid_the_last_counts(self):
        copy, made = read("uuid-reused", message("a", None, 1), message("a", None, 2))
        self.assertTrue(made)
        self.assertEqual({record["timestamp"][-7:] for record in copy.records.values()}, {"02.000Z"})

    def test_numbers_become_text_and_torn_lines_go(self):
        copy, made = read("uuid-not-text", message(7, None, 1), message("b", 7, 2))
        self.assertEqual((made, parents(copy)), (True, {"7": None, "b": "7"}))
        copy, made = read("salvaged", message("a", None, 1), b'\x00{"type":"user"}')
        self.assertEqual((made, copy.lines[1]), (True, b""))

    def test_links_are_cut(self):
        copy, made = read("gap", message("a", None, 1), message("c", "lost", 3))
        self.assertEqual((made, parents(copy)["c"]), (True, None))
        copy, made = read("progress", message("p", None, 1, type="progress"), message("c", "p", 3))
        self.assertEqual((made, list(parents(copy))), (True, ["c"]))

    def test_what_a_compaction_kept(self):
        kept = {"preservedMessages": {"anchorUuid": "c", "uuids": ["a", "b"]}, "trigger": "auto"}
        boundary = message("k", None, 3, type="system", subtype="compact_boundary", compactMetadata=kept)
        records = [message("a", None, 1), message("b", "a", 2), boundary, message("c", "k", 4)]
        copy, made = read("kept", *records)
        self.assertEqual((made, copy.records[2]["compactMetadata"]), (True, {"trigger": "auto"}))
        self.assertFalse(read("anchor", *records)[1] or read("cut", *records)[1])
        linked = [message("p", "z", 1, type="progress"), message("d", "p", 5), message("e", "b", 6)]
        copy, made = read("cut", message("z", None, 0), *records, *linked)
        self.assertEqual((made, parents(copy)["d"], parents(copy)["e"]), (True, "not-in-the-file", "b"))
        copy, made = read("anchor", *records[:3], message("c", "b", 4))
        self.assertEqual((made, list(parents(copy))), (True, ["k"]))

    def test_the_end_by_time_and_by_place(self):
        records = [message("a", None, 1), message("b", "a", 9), message("c", "a", 9), message("d", "a", 3)]
        self.assertEqual(self.end("time", records), "b")
        self.assertEqual(self.end("written", records), "d")
        empty = message("e", "a", 30, type="assistant", message={"role": "assistant", "content": " "})
        self.assertEqual(self.end("time", [records[0], empty]), "a")
        # A subagent's record says nothing, and a record without a time hides those after it.
        self.assertEqual(self.end("time", [records[0], message("s", "a", 20, isSidechain=True)]), "a")
        self.assertEqual(self.end("time", [records[0], message("x", "a", 2, timestamp=None), records[1]]), "a")
        self.assertTrue(math.isnan(readings.moment({"timestamp": "yesterday"})))

    def end(self, name, records):
        return read(name, *records)[0].records[len(records) + 1]["leafUuid"]

    def test_an_end_without_messages_leaves_none(self):
        copy, _ = read("time", message("a", None, 1), message("n", None, 2, type="system"))
        self.assertEqual([record["type"] for record in copy.records.values()], ["system", "last-prompt"])

    def test_a_circle_is_seen_from_the_end_only(self):
        circle = [message("a", "b", 1), message("b", "a", 2)]
        self.assertTrue(readings.way_up(read("time", *circle)[0])[1])
        self.assertFalse(readings.way_up(read("time", *circle, message("c", None, 3))[0])[1])


class Explanations(unittest.TestCase):
    records = [message("a", None, 1), message("b", "a", 2), message("c", "lost", 3)]

    def explain(self, version, sent):
        """What explains that only these were sent, where our chain is all of the file, or `c` where links end."""

        def show(_, path):
            linked = "lost" in pathlib.Path(path).read_text(encoding="utf-8")
            return [{"line": line, "recovered": None} for line in ([1, 2, 3] if linked else [3])]

        def judge(session):
            body = {"messages": [{"role": "user", "content": "\n".join(f"words of {uuid}" for uuid in sent)}]}
            return chain.compare(session, body)

        with tempfile.TemporaryDirectory() as scratch, mock.patch.object(chain, "show", show):
            return chain.explain("backstory", file(*self.records), version, judge, scratch)

    def test_a_difference_has_to_go(self):
        self.assertEqual(self.explain("2.1.70", ["c"]), ["gap"])
        self.assertIsNone(self.explain("2.1.70", ["b", "c"]))

    def test_a_release_without_the_reading_is_not_explained(self):
        self.assertIsNone(self.explain("2.1.327", ["c"]))


if __name__ == "__main__":
    unittest.main()
