"""mini-swe-agent, from PyPI: every action is a shell command, so that there are no edits to find."""

import shlex

import install as installer
import model as models
import story

VERSIONS = ["2.4.6"]


def install(version):
    packages = [f"mini-swe-agent=={version}", installer.LITELLM]
    return installer.python("mini-swe-agent", version, packages, ["3.12", "3.11", "3.10"]) / "mini"


def command(action):
    match action:
        case story.Shell(words):
            return words
        case story.Write(path, content):
            return f"printf %s {shlex.quote(content)} > {path}"
        case story.Replace(path, old, new):
            words = "import sys; p, a, b = sys.argv[1:]; t = open(p).read(); open(p, 'w').write(t.replace(a, b))"
            return f"python3 -c {shlex.quote(words)} {path} {shlex.quote(old)} {shlex.quote(new)}"


def call(action):
    return {"name": "bash", "arguments": {"command": command(action)}}


def play(scene, program):
    end = story.Shell("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
    told = [*story.STORY[:-1], (story.STORY[-1][0], [end])]
    trace = scene.out / "task.traj.json"
    with models.Model(story.answers(told, call)) as model:
        scene.run([program, "--model", "openai/scripted", "--task", story.PROMPT, "--yolo", "--exit-immediately",
                   "--cost-limit", "0", "--output", trace],
                  OPENAI_API_BASE=model.url, OPENAI_BASE_URL=model.url, MSWEA_CONFIGURED="true",
                  MSWEA_GLOBAL_CONFIG_DIR=scene.home / ".config" / "mini-swe-agent", MSWEA_COST_TRACKING="ignore_errors",
                  MSWEA_SILENT_STARTUP="1")
        # The command that ends the program has an outcome that no model is told: "action was not executed", a failure.
        return scene.truth(model, trace, told, edits=0, results=len(model.answered_calls()) + 1,
                           failed=story.failing(told) + 1)
