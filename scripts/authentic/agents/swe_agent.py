"""SWE-agent, from its repository: what PyPI has under its name is not it. It runs without a container, its fixed places
below /root covered by a layer to throw away. One call for each answer, edits through `str_replace_editor`.
"""

import json
import os
import pathlib
import re

import install as installer
import model as models
import overlay
import story

VERSIONS = ["1.1.0"]
BLAME = True
SOURCE = "https://github.com/SWE-agent/SWE-agent"


def install(version):
    """$BACKSTORY_SWE_AGENT names a checkout; without it the release is fetched."""
    if os.geteuid() != 0:
        raise installer.Unavailable("without a container it writes to /root, and only root can cover that")
    checkout = os.environ.get("BACKSTORY_SWE_AGENT")
    if not checkout:
        checkout = installer.prepare(installer.cache() / f"swe-agent-source-{version}", lambda folder: installer.run(
            ["git", "clone", "-q", "--depth", "1", "--branch", f"v{version}", SOURCE, folder], "no source"))
    programs = installer.python("swe-agent", version, [str(checkout), installer.LITELLM], ["3.11", "3.12"])
    return programs / "sweagent", pathlib.Path(checkout)


def caller(project):
    def call(action):
        match action:
            case story.Shell("submit"):
                return {"name": "submit", "arguments": {}}
            case story.Shell(command):
                return {"name": "bash", "arguments": {"command": command}}
        return {"name": "str_replace_editor", "arguments": story.editor(action, project)}

    return call


def config(checkout, project, url):
    bundles = [{"path": str(checkout / "tools" / name)} for name in ("registry", "edit_anthropic", "submit")]
    model = {"name": "openai/scripted", "api_base": url, "api_key": "scripted", "per_instance_cost_limit": 0,
             "total_cost_limit": 0, "per_instance_call_limit": 0, "max_input_tokens": 0, "retry": {"retries": 1}}
    tools = {"bundles": bundles, "enable_bash_tool": True, "parse_function": {"type": "function_calling"}}
    repository = {"type": "preexisting", "repo_name": str(project).lstrip("/"), "reset": False}
    return {"agent": {"model": model, "tools": tools, "templates": {"instance_template": "{{problem_statement}}"}},
            "env": {"deployment": {"type": "local"}, "repo": repository},
            "problem_statement": {"type": "text", "text": story.PROMPT, "id": "greeting"}}


def play(scene, program):
    path, checkout = program
    layer, kept = scene.out / "layer", scene.out / "trajectories"
    layer.mkdir()
    kept.mkdir()
    reason = overlay.cover("/root", layer)
    if reason:
        raise installer.Unavailable(reason)
    told = story.one_call_each([*story.STORY[:-1], (story.STORY[-1][0], [story.Shell("submit")])])
    settings = scene.out / "config.json"
    with models.Model(story.answers(told, caller(scene.project))) as model:
        settings.write_text(json.dumps(config(checkout, scene.project, model.url)))
        scene.run([path, "run", "--config", settings, "--output_dir", kept], PIP_NO_INDEX="1",
                  SWE_AGENT_CONFIG_DIR=checkout / "config", SWE_AGENT_TOOLS_DIR=checkout / "tools",
                  SWE_AGENT_TRAJECTORY_DIR=kept)
        trace = scene.trace(kept, "**/*.traj")
        # The outcome of `submit` is told to no model. A status is not kept. The tokens are the program's own count: its
        # log says which.
        counted = re.findall(r"total_tokens_sent=([\d,]+), total_tokens_received=([\d,]+)",
                             scene.trace(kept, "**/*.trace.log").read_text())
        sent, received = (int(number.replace(",", "")) for number in counted[-1])
        return scene.truth(model, trace, told, results=len(model.answered_calls()) + 1, failed=0, input=sent,
                           cache_read=0, output=received)
