"""The real agents: where they are kept and how one is installed.

They are kept outside the project, in $BACKSTORY_AUTHENTIC_CACHE or ~/.cache/backstory-authentic, one folder for each
agent and version. What cannot be installed is told with the last words of the installer: as `Unavailable` where the
machine lacks something or a registry gives no answer, as `NotInstalled` otherwise.
"""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "forge"))

import check_status  # noqa: E402

LIMIT = 1200

LITELLM = "litellm==1.81.10"
"""What several agents speak to models with; 1.106 does not start without packages that it does not ask for."""


class Unavailable(Exception):
    """The agent cannot be had or cannot run here; the message says why."""


class NotInstalled(Exception):
    """The agent was asked for and its installer failed; the message says how."""


def cache():
    told = os.environ.get("BACKSTORY_AUTHENTIC_CACHE")
    return pathlib.Path(told) if told else pathlib.Path.home() / ".cache" / "backstory-authentic"


def interpreter(*versions):
    """The first Python of these versions that works; a name that only points to a manager is no Python."""
    for version in versions:
        names = [f"python{version}", *sorted(map(str, pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))]
        for name in names:
            program = shutil.which(name)
            if program and subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode == 0:
                return program
    raise Unavailable(f"no Python {' or '.join(versions)}")


def python(name, version, requirements, versions):
    """A virtual environment with these packages; returns its folder of programs."""
    folder = cache() / f"{name}-{version}"

    def fill(new):
        run([interpreter(*versions), "-m", "venv", new], "no virtual environment")
        pip = [new / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        run([*pip, *requirements], "pip cannot install it")

    return prepare(folder, fill) / "bin"


def node(name, version, packages):
    """A folder with these packages of npm; returns its folder of programs."""
    if shutil.which("npm") is None:
        raise Unavailable("no npm")
    folder = cache() / f"{name}-{version}"

    def fill(new):
        new.mkdir()
        words = ["npm", "install", "--loglevel", "error", "--no-audit", "--no-fund", "--prefix", new, *packages]
        run(words, "npm cannot install it")

    return prepare(folder, fill) / "node_modules" / ".bin"


def prepare(folder, fill):
    """Fills a folder once: a half-filled one is thrown away and never used."""
    done = folder / "installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            fill(folder)
        except (Unavailable, NotInstalled):
            shutil.rmtree(folder, ignore_errors=True)
            raise
        done.touch()
    return folder


def run(words, fault):
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=LIMIT, check=False)
    except OSError as error:
        raise Unavailable(f"{fault}: {error}") from None
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"{fault}: {error}") from None
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip() and "complete log" not in line]
        kind = Unavailable if check_status.unanswered(done.stderr) else NotInstalled
        raise kind(f"{fault}: {said[-1][:200] if said else f'status {done.returncode}'}")
