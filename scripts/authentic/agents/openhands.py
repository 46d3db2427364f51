"""OpenHands, its SDK and tools from PyPI: two prompts in one conversation, which the SDK keeps as a folder of events."""

import pathlib

import install as installer
import model as models
import story

VERSIONS = ["1.58.2"]
BLAME = True
PLAYER = pathlib.Path(__file__).resolve().parent.parent / "players" / "openhands_sdk.py"


def install(version):
    packages = [f"openhands-sdk=={version}", f"openhands-tools=={version}"]
    return installer.python("openhands", version, packages, ["3.12", "3.13"]) / "python"


def caller(project):
    def call(action):
        match action:
            case story.Shell(command):
                return {"name": "terminal", "arguments": {"command": command}}
        return {"name": "file_editor", "arguments": story.editor(action, project)}

    return call


def play(scene, program):
    told = story.STORY + story.SECOND
    kept = scene.home / ".openhands" / "conversations"
    with models.Model(story.answers(told, caller(scene.project))) as model:
        scene.run([program, PLAYER, model.url, scene.project, kept, story.PROMPT, story.SECOND_PROMPT],
                  OPENHANDS_SUPPRESS_BANNER="1", LMNR_DISABLED="1")
        trace = scene.trace(kept, "*/base_state.json").parent
        return scene.truth(model, trace, told, prompts=2)
