"""Tests of the checks themselves: what cannot be compared is named, and nothing compared never passes.

    python3 -m unittest discover -s scripts/conformance

Package indexes are servers on loopback; scripts/test runs in a folder of its own with steps that do nothing.
"""

import contextlib
import http.server
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

# Only the comparison itself needs the official reader.
sys.modules.setdefault("claude_agent_sdk", mock.MagicMock())

import compare  # noqa: E402
import environments  # noqa: E402
import exports  # noqa: E402
import staging  # noqa: E402


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path


class Inputs(Scratch):
    def test_a_folder_without_sessions_ends_the_check(self):
        (self.folder / "empty").mkdir()
        for sessions, trees in (([self.folder / "empty"], []), ([], [self.folder / "empty"]), ([], [])):
            with self.assertRaises(SystemExit) as end:
                staging.staged_below(sessions, trees, self.folder / "into")
            self.assertIn("failed: ", str(end.exception))

    def test_trees_are_found_at_any_depth(self):
        session = "11111111-1111-4111-8111-111111111111"
        for name in ("one", "deep/two"):
            place = self.folder / "trees" / name / "projects" / "-home-u" / f"{session}.jsonl"
            place.parent.mkdir(parents=True)
            place.write_text("{}\n")
        [found] = staging.staged_below([], [self.folder / "trees"], self.folder / "into").values()
        self.assertEqual([one.id for one in found], [session, session])

    def test_a_reader_that_only_raises_compares_nothing(self):
        report = compare.Report()
        report.count("sessions", 7)
        self.assertEqual(len(compare.nothing_compared(report)), 2)
        report.count("messages: official", 3)
        report.count("listing: official", 3)
        self.assertEqual(compare.nothing_compared(report), [])


class Environments(Scratch):
    def answered(self, status):
        return environments.answered([self.program(self.folder / "venv", f"#!/bin/sh\necho made\necho why >&2\nexit {status}\n")])

    def test_statuses_of_venv(self):
        self.assertEqual(self.answered(0), "made")
        with self.assertRaisesRegex(environments.Skipped, "why"):
            self.answered(3)
        for status in (1, 2, 127):
            with self.assertRaisesRegex(environments.Broken, "why"):
                self.answered(status)

    def export(self, reason):
        """The status of exports.py when one of its packages cannot be had, the others can."""

        def check(backstory, options, case, out):
            if case[0] == "atif":
                raise reason
            return None

        words = ["exports.py", "--binary", "/bin/false", "testdata"]
        with mock.patch.object(sys, "argv", words), mock.patch.object(exports, "check", check), \
                open(os.devnull, "w", encoding="ascii") as quiet, contextlib.redirect_stdout(quiet):
            return exports.main()

    def test_one_format_that_is_not_validated_is_not_passed_over(self):
        self.assertEqual(self.export(environments.Skipped("no index")), environments.SKIPPED)
        self.assertEqual(self.export(environments.Broken("no such package")), environments.FAILED)

    def install(self, index):
        """The status of venv for a package that no index has."""
        folder = self.folder / "scripts" / "conformance"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "venv", folder / "venv")
        (folder / "requirements.txt").write_text("backstory-has-no-such-package==1\n")
        variables = {**os.environ, "PIP_INDEX_URL": index, "PIP_NO_INPUT": "1", "PIP_TRUSTED_HOST": "127.0.0.1"}
        variables.pop("PIP_EXTRA_INDEX_URL", None)
        done = subprocess.run([folder / "venv"], env=variables, capture_output=True, text=True, check=False, timeout=300)
        return done.returncode, done.stderr

    def test_an_index_without_an_answer_is_a_skip(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        status, said = self.install(f"http://127.0.0.1:{port}/simple")
        self.assertEqual(status, environments.SKIPPED, said)

    def test_a_package_that_the_index_does_not_have_fails(self):
        class Refuses(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_error(404)

            def log_message(self, *words):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuses)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        status, said = self.install(f"http://127.0.0.1:{server.server_port}/simple")
        self.assertEqual(status, environments.FAILED, said)


class Steps(Scratch):
    """scripts/test itself, with one step whose check is a program of ours."""

    def run_pages(self, check):
        (self.folder / "scripts").mkdir(exist_ok=True)
        shutil.copy(ROOT / "scripts" / "test", self.folder / "scripts" / "test")
        self.program(self.folder / "scripts" / "pages" / "check", f"#!/bin/sh\n{check}\n")
        self.program(self.folder / "bin" / "cargo", '#!/bin/sh\necho \'{"target_directory": "/nowhere"}\'\n')
        variables = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        done = subprocess.run([self.folder / "scripts" / "test", "pages"], env=variables, capture_output=True, text=True,
                              check=False, timeout=120)
        return done.returncode, done.stdout.splitlines()

    def test_a_skipped_check_is_counted_and_named_with_its_reason(self):
        status, said = self.run_pages("echo 'skipped: no browser'; exit 3")
        self.assertEqual(said[-1], "0 passed, 0 failed, 1 skipped")
        self.assertRegex(said[-2], r"^pages browser +skipped +\d+ s +no browser$")
        self.assertEqual(status, 0)

    def test_every_other_status_fails(self):
        self.assertEqual(self.run_pages("exit 0"), (0, mock.ANY))
        for code in (1, 2, 4, 127):
            status, said = self.run_pages(f"exit {code}")
            self.assertEqual((status, said[-1]), (1, "0 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
