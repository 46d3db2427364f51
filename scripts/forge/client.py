"""The released clients: where they are kept, how one is installed, what differs between them.

Every release of Claude Code is on npm. They are kept outside the project, in $BACKSTORY_FORGE_CACHE or
~/.cache/backstory-forge, one folder per version. From 2.1.113 on the package is a native program that comes as an
optional dependency for the platform and is put into place by the package's install script; before, it is a script
for node.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess

import check_status

PACKAGE = "@anthropic-ai/claude-code"
PROGRAM = "node_modules/.bin/claude"

OLD_MIDDLE_NEW = ["1.0.100", "2.1.50", "2.1.325"]
"""What every check runs: history copied on resume, placeholder usage, and the newest records."""

REGIMES = [
    "1.0.31",
    "1.0.60",
    "1.0.100",
    "2.0.14",
    "2.0.29",
    "2.0.76",
    "2.1.20",
    "2.1.50",
    "2.1.70",
    "2.1.98",
    "2.1.143",
    "2.1.207",
    "2.1.232",
    "2.1.325",
]
"""Every regime of the format that is known: see docs/format.md."""


BACKGROUND_BY_DEFAULT = "2.1.198"
"""From here on a subagent runs in the background unless the call says otherwise."""


FINAL_COUNTS = "2.1.59"
"""From here on the file holds the final token counts of a message, at least in its last record."""


AUTO_MODE = ("2.1.284", "2.1.302")
"""Between these a model judges each call unless a mode is named; 2.1.283 and 2.1.302 ask as others do."""


class Unavailable(Exception):
    """The client cannot be had here; the message says why."""


class Unreachable(Unavailable):
    """Nobody could be asked for the client: the registry gives no answer, or there is no npm."""


def number(version):
    """`2.1.50` as a tuple that sorts."""
    return tuple(int(part) for part in version.split("."))


def within(version, since=None, until=None):
    """Whether a version lies in [since, until)."""
    return (since is None or number(version) >= number(since)) and (until is None or number(version) < number(until))


def tool_name(version, name):
    """The name a version knows a tool by. Scenarios use the newest name."""
    if name == "Agent" and within(version, until="2.1.63"):
        return "Task"
    return name


def mode_flags(version):
    """What makes a version ask for permission by the rules, as all others do."""
    return ["--permission-mode", "default"] if within(version, *AUTO_MODE) else []


def cache():
    given = os.environ.get("BACKSTORY_FORGE_CACHE")
    return pathlib.Path(given) if given else pathlib.Path.home() / ".cache" / "backstory-forge"


def installed(version):
    """The program of a version whose installation was finished, or None."""
    folder = cache() / version
    return folder / PROGRAM if (folder / "ready").exists() else None


def install_all(versions):
    """Installs all that are named, so that a check can cut itself off from the network after.

    Returns the programs by version, and what is missing as check_status.of_missing takes it. A registry that answered
    for one version was reachable for all.
    """
    programs, missing, answered = {}, {}, False
    for version in dict.fromkeys(versions):
        try:
            fresh = installed(version) is None
            programs[version] = install(version)
            answered |= fresh
        except Unavailable as reason:
            missing[version] = reason
            answered |= not isinstance(reason, Unreachable)
    return programs, {version: (str(reason), not answered) for version, reason in missing.items()}


def install(version):
    """The path of a version's program, installed first if need be."""
    folder = cache() / version
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(cache() / f"{version}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return installed(version) or fetch(version, folder)
    except OSError as error:
        raise Unavailable(f"{folder}: {error.strerror}") from error


def fetch(version, folder):
    if not shutil.which("npm") or not shutil.which("node"):
        raise Unreachable("npm and node are needed to install the client")
    command = [
        "npm",
        "install",
        "--prefix",
        str(folder),
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        "--fetch-retries=2",
        "--fetch-retry-mintimeout=1000",
        "--fetch-timeout=60000",
    ]
    try:
        run = subprocess.run(
            [*command, f"{PACKAGE}@{version}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable("npm did not finish installing it in 300 s") from error
    if run.returncode != 0:
        said = [line for line in run.stderr.splitlines() if "error" in line.lower()]
        kind = Unreachable if check_status.unanswered(run.stderr) else Unavailable
        raise kind(f"npm cannot install it: {said[0].strip() if said else f'exit {run.returncode}'}")
    program = folder / PROGRAM
    check_start(program, version)
    (folder / "ready").touch()
    return program


def check_start(program, version):
    """Where npm is told to run no install scripts, the native program is missing and only a stub starts."""
    try:
        run = subprocess.run(
            [program, "--version"],
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(cache())},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"the installed client does not start: {error}") from error
    if version not in run.stdout:
        raise Unavailable(f"the installed client does not start: {(run.stderr or run.stdout).strip()[:200]}")
