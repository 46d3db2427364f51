"""What happens in every run, in the words of no agent: a driver says it in the words of its own tools.

The usage of every answer differs from all others, so that sums cannot agree by chance.
"""

import dataclasses

PROMPT = "Write a greeting program and try it."
SECOND_PROMPT = "Thanks. One line that says what it does, please."

FILE = "greet.py"
CREATED = "def greet(name):\n    return 'hi ' + name\n\n\nprint(greet('you'))\n"
OLD = "    return 'hi ' + name\n"
NEW = "    # Politely.\n    return 'hello ' + name\n"
FINAL = CREATED.replace(OLD, NEW)
OWNERS = [0, 1, 1, 0, 0, 0]
"""For each line of FINAL the edit that wrote it: 0 the creation, 1 the replacement."""

BY_HAND = "print('by hand')\n"
"""A line that a person adds to the file afterwards."""


@dataclasses.dataclass(frozen=True)
class Shell:
    """A command; `fails` when its status is not 0."""

    command: str
    fails: bool = False


@dataclasses.dataclass(frozen=True)
class Write:
    """A new file through the agent's own tool."""

    path: str
    content: str


@dataclasses.dataclass(frozen=True)
class Replace:
    """A passage replaced through the agent's own tool."""

    path: str
    old: str
    new: str


def editor(action, project):
    """The words of an edit for the editing tool that SWE-agent and OpenHands took over from Anthropic."""
    match action:
        case Write(path, content):
            return {"command": "create", "path": str(project / path), "file_text": content}
        case Replace(path, old, new):
            return {"command": "str_replace", "path": str(project / path), "old_str": old, "new_str": new}


STORY = [
    ("I look around first.", [Shell("ls -a")]),
    ("Now the program.", [Write(FILE, CREATED)]),
    ("", [Shell(f"cat {FILE}"), Shell("cat no-such-file", fails=True)]),
    ("More politely:", [Replace(FILE, OLD, NEW)]),
    ("The program greets; try `python3 greet.py`.", []),
]
SECOND = [("It greets whom it is told to greet.", [])]


def usage(number):
    """Tokens of an answer, below a thousand, where every agent still writes them out."""
    return {"input": 411 + 97 * number, "cached": 128 + 61 * number, "output": 23 + 7 * number}


def answers(story, call, start=0):
    """A story as answers of the model; `call` gives a tool's name and arguments for an action."""
    made = []
    for number, (text, actions) in enumerate(story, start):
        calls = [{"id": f"call_{number}_{place}", **call(action)} for place, action in enumerate(actions)]
        made.append({"text": text, "thinking": "", "calls": calls, "usage": usage(number)})
    return made


def one_call_each(story):
    """The same story for an agent that does one thing at a time."""
    single = []
    for text, actions in story:
        single += [(text or "Next.", [action]) for action in actions] or [(text, [])]
    return single


def edits(story):
    return sum(isinstance(action, (Write, Replace)) for _, actions in story for action in actions)


def failing(story):
    return sum(getattr(action, "fails", False) for _, actions in story for action in actions)
