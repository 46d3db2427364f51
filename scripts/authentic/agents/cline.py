"""Cline's command line, from npm, which writes the files of its SDK: one prompt, for without a terminal
it resumes no session."""

import install as installer
import model as models
import story

VERSIONS = ["3.0.65"]
BLAME = True


def install(version):
    return installer.node("cline", version, [f"cline@{version}"]) / "cline"


def caller(project):
    def call(action):
        match action:
            case story.Shell(command):
                return {"name": "run_commands", "arguments": {"commands": [command]}}
            case story.Write(path, content):
                return {"name": "editor", "arguments": {"path": str(project / path), "new_text": content}}
            case story.Replace(path, old, new):
                return {"name": "editor", "arguments": {"path": str(project / path), "old_text": old, "new_text": new}}

    return call


def play(scene, program):
    provider = ["-P", "openai-compatible", "-m", "scripted", "-k", "scripted"]
    sessions = scene.home / ".cline" / "data" / "sessions"
    with models.Model(story.answers(story.STORY, caller(scene.project))) as model:
        scene.run([program, "auth", "openai-compatible", "-k", "scripted", "-m", "scripted", "-b", model.url])
        scene.run([program, "--json", *provider, story.PROMPT])
        return scene.truth(model, scene.trace(sessions, "*/*.messages.json"), story.STORY)
