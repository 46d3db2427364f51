"""Tests of how checks end: what was asked for and not compared must not pass.

Clients are small scripts in a cache of their own, and registries are servers on loopback, so that no network is needed.
"""

import contextlib
import http.server
import io
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
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import blame  # noqa: E402
import client  # noqa: E402
import clones  # noqa: E402
import check_status  # noqa: E402
import process  # noqa: E402

MATRIX = HERE.parent / "forge-matrix"


class Refuses(http.server.BaseHTTPRequestHandler):
    """A registry that answers, and has nothing."""

    def do_GET(self):
        self.send_response(404)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"error": "not found"}')

    def log_message(self, *words):
        pass


@contextlib.contextmanager
def registry():
    """The address of a registry that answers."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuses)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def nobody():
    """The address of a registry that gives no answer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/"


class WithCache(unittest.TestCase):
    """An empty cache of clients, and a program that is never asked."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.cache = self.folder / "clients"
        self.cache.mkdir()
        patch = mock.patch.dict(os.environ, {"BACKSTORY_FORGE_CACHE": str(self.cache)})
        patch.start()
        self.addCleanup(patch.stop)

    def plant(self, version):
        """A client that is installed and does nothing that a scenario asks for."""
        program = self.cache / version / client.PROGRAM
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
        (self.cache / version / "ready").touch()

    def run_script(self, address, *words):
        """Exit status and output of a check with this registry."""
        variables = {**os.environ, "npm_config_registry": address, "npm_config_cache": str(self.folder / "npm")}
        done = subprocess.run([sys.executable, *map(str, words)], env=variables, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=300)
        return done.returncode, done.stdout + done.stderr

    def checks(self):
        """Each check that plays released clients, asked for one release."""
        sample = self.folder / "sessions"
        sample.mkdir(exist_ok=True)
        (sample / "a.jsonl").write_text("{}\n")
        return {
            "forge-matrix": [MATRIX, "--binary", "/bin/false", "--scenario", "plain", "2.0.1"],
            "blame.py": [HERE / "blame.py", "--binary", "/bin/false", "--scripts", "1", "2.0.1"],
            "clones.py": [HERE / "clones.py", "--binary", "/bin/false", "--sessions", sample, "--versions", "2.0.1"],
        }


class Registries(WithCache):
    def test_a_registry_without_an_answer_is_a_skip(self):
        for name, words in self.checks().items():
            status, said = self.run_script(nobody(), *words)
            self.assertEqual(status, check_status.SKIPPED, f"{name}: {said}")
            self.assertRegex(said, r"(?m)^skipped: 2\.0\.1: ", name)

    @unittest.skipUnless(shutil.which("npm"), "no npm")
    def test_a_release_that_the_registry_does_not_have_fails(self):
        with registry() as address:
            for name, words in self.checks().items():
                status, said = self.run_script(address, *words)
                self.assertEqual(status, check_status.FAILED, f"{name}: {said}")
                self.assertIn("failed: 2.0.1 was asked for", said, name)

    def test_one_missing_release_of_two_is_not_passed_over(self):
        self.plant("2.0.1")
        refused = client.Unavailable("npm cannot install it: npm error code ETARGET")
        with mock.patch.object(client, "fetch", side_effect=refused):
            programs, missing = client.install_all(["2.0.1", "2.0.2"])
        self.assertEqual(list(programs), ["2.0.1"])
        self.assertEqual(self.ending(missing), check_status.FAILED)

    def test_a_registry_that_answered_once_is_no_excuse(self):
        def fetch(version, folder):
            if version == "2.0.2":
                raise client.Unreachable("npm cannot install it: npm error code ECONNRESET")
            self.plant(version)
            return folder / client.PROGRAM

        with mock.patch.object(client, "fetch", side_effect=fetch):
            _, missing = client.install_all(["2.0.2", "2.0.3"])
        self.assertEqual(self.ending(missing), check_status.FAILED)

    def ending(self, missing):
        with contextlib.redirect_stdout(io.StringIO()):
            return check_status.of_missing(missing)

    def test_words_of_installers(self):
        for said, silent in (
            ("npm error code EAI_AGAIN\nnpm error syscall getaddrinfo", True),
            ("npm ERR! code ENOTFOUND", True),
            ("npm error code ETARGET\nnpm error notarget No matching version", False),
            ("npm error code E404", False),
            ("WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError'", True),
            ("ERROR: No matching distribution found for nothing==1", False),
        ):
            self.assertEqual(check_status.unanswered(said), silent, said)


class Playing(WithCache):
    def test_clients_are_installed_before_the_network_is_cut_off(self):
        order = []

        def install(version):
            order.append(f"install {version}")
            raise client.Unavailable("not now")

        self.plant("2.0.1")
        words = ["blame.py", "--binary", "/bin/false", "--scripts", "0", "2.0.1", "2.0.2"]
        real = client.install
        fake = lambda version: real(version) if version == "2.0.1" else install(version)  # noqa: E731
        with mock.patch.object(sys, "argv", words), mock.patch.object(client, "install", fake), \
                mock.patch.object(blame.namespace, "isolate", lambda: order.append("isolate")), \
                contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(blame.main(), check_status.FAILED)
        self.assertEqual(order, ["install 2.0.2", "isolate"])

    def play(self, **patches):
        self.plant("2.0.1")
        words = ["blame.py", "--binary", "/bin/false", "--scripts", "2", "2.0.1"]
        with mock.patch.object(sys, "argv", words), mock.patch.object(blame.namespace, "isolate", lambda: None), \
                mock.patch.object(blame, "play", **patches), contextlib.redirect_stdout(io.StringIO()) as said:
            return blame.main(), said.getvalue()

    def test_scripts_that_are_not_played_fail(self):
        status, said = self.play(side_effect=process.Failed("the client said nothing"))
        self.assertEqual(status, check_status.FAILED, said)
        self.assertIn("2 not played", said)

    def test_no_line_compared_fails(self):
        self.assertEqual(self.play(return_value=([], 0))[0], check_status.FAILED)

    def test_lines_without_a_difference_pass(self):
        self.assertEqual(self.play(return_value=([], 9))[0], check_status.FINE)
        self.assertEqual(self.play(return_value=(["line 1 is not theirs"], 9))[0], check_status.FAILED)

    def test_a_client_that_stumbles_once_is_tried_again(self):
        self.assertEqual(self.play(side_effect=[process.Failed("slow"), ([], 9), ([], 9)])[0], check_status.FINE)

    def test_no_clone_resumed_fails(self):
        self.plant("2.0.1")
        words = ["clones.py", "--binary", "/bin/false", "--sessions", str(self.folder), "--versions", "2.0.1"]
        with mock.patch.object(sys, "argv", words), mock.patch.object(clones.namespace, "isolate", lambda: None), \
                contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(clones.main(), check_status.FAILED)

    def test_a_matrix_that_played_nothing_fails(self):
        self.plant("1.0.1")
        # Too old for this scenario, which is no reason to pass when it was all that was asked for.
        words = [MATRIX, "--binary", "/bin/false", "--scenario", "interrupted", "1.0.1"]
        status, said = self.run_script(nobody(), *words)
        self.assertEqual(status, check_status.FAILED, said)
        self.assertIn("failed: 1.0.1: no scenario was played", said)

    def test_a_folder_that_was_not_forged_fails(self):
        status, said = self.run_script(nobody(), HERE / "check.py", "--binary", "/bin/false", self.folder)
        self.assertEqual(status, check_status.FAILED, said)


class Statuses(unittest.TestCase):
    def test_a_failure_outweighs_a_skip(self):
        self.assertEqual(check_status.worst(check_status.FINE, check_status.SKIPPED, check_status.FAILED), check_status.FAILED)
        self.assertEqual(check_status.worst(check_status.FINE, check_status.SKIPPED), check_status.SKIPPED)
        self.assertEqual(check_status.worst(), check_status.FINE)


if __name__ == "__main__":
    unittest.main()
