"""How a check ends: 0 it compared everything it was asked for, 1 it did not or something differs, 3 it cannot run here.

A check that leaves out what it was asked for must not pass. The one excuse is a package registry that gives no answer
at all: then the check is skipped, and its last line that begins with `skipped: ` says what and why. scripts/test
counts skipped checks and names them.
"""

import re

FINE, FAILED, SKIPPED = 0, 1, 3

NPM_CODE = re.compile(r"^npm (?:ERR!|error) code (\S+)", re.MULTILINE)
NO_ANSWER = {
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTCACHED",
    "ENOTFOUND",
    "ERR_SOCKET_TIMEOUT",
    "ETIMEDOUT",
    "E502",
    "E503",
    "E504",
}
"""npm's codes for a registry that did not answer; all others, such as E404 and ETARGET, are answers."""

OTHERS = ("after connection broken by", "Could not resolve host", "Failed to connect to")
"""What pip and git say of a host that did not answer."""


def unanswered(said):
    """Whether npm, pip or git, which said this and failed, got no answer from the other side."""
    return bool(set(NPM_CODE.findall(said)) & NO_ANSWER) or any(words in said for words in OTHERS)


def worst(*statuses):
    """The status of a check with several parts: a failure outweighs a skipped part."""
    return next((status for status in (FAILED, SKIPPED) if status in statuses), FINE)


def of_missing(missing):
    """Says what was asked for and is not there, as {name: (reason, whether the registry gave no answer)}."""
    failed = {name: reason for name, (reason, silent) in missing.items() if not silent}
    for name, reason in failed.items():
        print(f"failed: {name} was asked for and cannot be had: {reason}", flush=True)
    if failed:
        return FAILED
    if missing:
        [(reason, _), *_] = missing.values()
        print(f"skipped: {', '.join(missing)}: {reason}", flush=True)
        return SKIPPED
    return FINE
